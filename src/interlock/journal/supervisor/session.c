/* A session of an agent: each of its calls is an action of its own, and so is what happens between them.
 *
 * A change belongs to the call whose shell is an ancestor of the process; else to the only open call that names the path; else it
 * happened between calls. A shell that the agent starts for a command begins a call, and so does `interlock journal`: this is seen when
 * a process becomes another program. A call ends when its shell and every process of it that changed something have ended. */

#include "journal.h"

#include <ctype.h>

#define MOST_CALLS 64
#define MOST_TEXT 65536
#define DEEPEST 64

static struct call_of_agent {
    struct action action; /* first, so that a pointer to it is one to this */
    struct process root;
    char *text; /* its command line, every word ended by a zero */
    size_t length;
    struct process *members;
    size_t count, room;
    struct set known; /* the same, as keys */
    bool open, used;  /* used: it changed something, and its action has a folder */
} calls[MOST_CALLS], between;

static struct process agent;
static const char *whose;

bool session_on(void) { return agent.pid > 0; }

void session_begin(pid_t pid, const char *label) {
    process_read(pid, &agent);
    agent.pid = pid, whose = label;
}

static uint64_t key_of(const struct process *one) { return mix((uint64_t)one->pid, one->start); }

static bool is_alive(const struct process *one) {
    struct process now;
    return process_read(one->pid, &now) && now.start == one->start;
}

/* Makes the folder of a call's action, which is the present one then. */
static int use_call(struct call_of_agent *call) {
    char *words[256], link[32], cwd[PATH_MAX];
    int count = 0, error = 0;
    action = &call->action;
    if (call->used) return 0;
    for (size_t at = 0; at < call->length && count < 255; at += strlen(call->text + at) + 1) words[count++] = call->text + at;
    words[count] = NULL;
    snprintf(link, sizeof link, "/proc/%d/cwd", call->root.pid);
    ssize_t there = readlink(link, cwd, sizeof cwd - 1);
    cwd[there > 0 ? there : 0] = 0;
    error = action_open(words, whose, cwd);
    call->used = !error;
    return error;
}

static void end_call(struct call_of_agent *call) {
    action = &call->action;
    if (call->used) action_end(-1), close(action->folder), close(action->journal), close(action->objects);
    callers_forget(action);
    free(call->text), free(call->members), free(call->known.at);
    *call = (struct call_of_agent){0};
}

static bool has_ended(const struct call_of_agent *call) {
    if (is_alive(&call->root)) return false;
    for (size_t i = 0; i < call->count; i++)
        if (is_alive(&call->members[i])) return false;
    return true;
}

bool session_settle(bool all) {
    bool left = false;
    for (struct call_of_agent *call = calls; call < calls + MOST_CALLS; call++) {
        if (call->open && (all || has_ended(call))) end_call(call);
        left |= call->open;
    }
    if (all && between.open) end_call(&between);
    return left;
}

static void add_member(struct call_of_agent *call, const struct process *one) {
    if (!set_add(&call->known, key_of(one))) return;
    if (call->count == call->room) {
        size_t room = call->room ? call->room * 2 : 16;
        struct process *wider = realloc(call->members, room * sizeof *wider);
        if (wider == NULL) return;
        call->members = wider, call->room = room;
    }
    call->members[call->count++] = *one;
}

/* The words of a command that a process is about to become, each ended by a zero; NULL where they cannot be read. */
static char *command_words(pid_t pid, uint64_t address, size_t *length) {
    char *text = malloc(MOST_TEXT);
    uint64_t word = 0;
    *length = 0;
    for (int i = 0; text && i < 255 && *length < MOST_TEXT - 1; i++) {
        if (read_bytes(pid, address + (uint64_t)i * 8, &word, 8) || !word) break;
        int error = read_text(pid, word, text + *length, MOST_TEXT - 1 - *length);
        if (error && error != -ENAMETOOLONG) break;
        *length += strnlen(text + *length, MOST_TEXT - 2 - *length), text[(*length)++] = 0;
    }
    if (text && *length) return text;
    return free(text), NULL;
}

/* Whether a command line is a shell that was given a command: `bash -lc TEXT`. */
static bool is_shell(const char *text, size_t length) {
    static const char *const SHELLS[] = {"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash"};
    const char *slash = strrchr(text, '/'), *name = slash ? slash + 1 : text;
    bool shell = false;
    name += *name == '-';
    for (size_t i = 0; i < sizeof SHELLS / sizeof *SHELLS; i++) shell |= !strcmp(name, SHELLS[i]);
    for (const char *word = text + strlen(text) + 1; shell && word < text + length && (*word == '-' || *word == '+'); word += strlen(word) + 1)
        if (word[0] == '-' && word[1] != '-' && strchr(word, 'c')) return true;
    return false;
}

/* Begins a call with this process, and ends what happened between calls; takes the text. */
static void begin_call(const struct process *root, char *text, size_t length) {
    session_settle(false);
    if (between.open && between.action.changes) end_call(&between);
    for (struct call_of_agent *call = calls; call < calls + MOST_CALLS; call++)
        if (!call->open) {
            *call = (struct call_of_agent){.root = *root, .text = text, .length = length, .open = true};
            return add_member(call, root);
        }
    free(text);
}

/* The process and its ancestors up to the agent, itself left out; found: whether the agent is one of them. */
static int chain_of(pid_t pid, struct process *chain, bool *found) {
    int count = 0;
    struct process one = {.parent = pid};
    while (count < DEEPEST && one.parent > 1 && process_read(one.parent, &one)) {
        if ((*found = one.pid == agent.pid)) return count;
        chain[count++] = one;
    }
    return count;
}

static struct call_of_agent *known_call(const struct process *chain, int count) {
    for (int i = 0; i < count; i++)
        for (struct call_of_agent *call = calls; call < calls + MOST_CALLS; call++)
            if (call->open && set_has(&call->known, key_of(&chain[i]))) return call;
    return NULL;
}

/* The call that a process began by joining, and whose command it becomes now. */
static struct call_of_agent *joined_call(pid_t pid) {
    for (struct call_of_agent *call = calls; call < calls + MOST_CALLS; call++)
        if (call->open && call->root.pid == pid && !call->length) return call;
    return NULL;
}

/* A process becomes another program: a shell for a command, of no call yet, begins one. */
void session_exec(struct caller *caller, const struct seccomp_data *data) {
    struct process chain[DEEPEST];
    bool below = false;
    size_t length;
    char *text = command_words(caller->tid, data->args[data->nr == __NR_execve ? 1 : 2], &length);
    if (!text) return;
    struct call_of_agent *joined = joined_call(caller->tgid);
    if (joined) return free(joined->text), joined->text = text, joined->length = length, (void)0;
    int count = is_shell(text, length) && caller->tgid != agent.pid ? chain_of(caller->tgid, chain, &below) : 0;
    if (!below || !count || known_call(chain, count)) free(text);
    else begin_call(&chain[0], text, length);
}

static bool in_word(char sign) { return (sign & 0x80) || isalnum((unsigned char)sign) || (sign && strchr("._-+~", sign)); }

/* Whether a command's words have this name, and not as a part of a longer one. */
static bool names(const struct call_of_agent *call, const char *name) {
    size_t length = strlen(name);
    const char *end = call->text + call->length;
    for (const char *at = call->text; (at = memmem(at, (size_t)(end - at), name, length)); at++)
        if ((at == call->text || !in_word(at[-1])) && (at + length == end || !in_word(at[length]))) return true;
    return false;
}

/* The only open call whose words have the name that the path ends with. */
static struct call_of_agent *naming_call(struct caller *caller, uint64_t address) {
    char path[PATH_MAX];
    struct call_of_agent *found = NULL;
    if (read_text(caller->tid, address, path, sizeof path)) return NULL;
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') path[--end] = 0;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) return NULL;
    for (struct call_of_agent *call = calls; call < calls + MOST_CALLS; call++)
        if (call->open && names(call, name) && !has_ended(call)) {
            if (found) return NULL;
            found = call;
        }
    return found;
}

static int choose_between(void) {
    if (!between.open) between = (struct call_of_agent){.root = agent, .open = true};
    return use_call(&between);
}

int session_choose(struct caller *caller, const struct seccomp_data *data, const struct call *call) {
    struct process chain[DEEPEST];
    bool below = false;
    int error = caller_refresh(caller);
    if (error) return error;
    if (caller->call) return action = (struct action *)caller->call, 0;
    int count = chain_of(caller->tgid, chain, &below);
    struct call_of_agent *found = known_call(chain, count);
    if (found) {
        for (int i = 0; i < count && key_of(&chain[i]) != key_of(&found->root); i++) add_member(found, &chain[i]);
        if ((error = use_call(found)) == 0) caller->call = action;
        return error;
    }
    found = call->path >= 0 ? naming_call(caller, data->args[call->path]) : NULL;
    return found ? use_call(found) : choose_between();
}

void session_join(struct caller *caller) {
    struct process chain[DEEPEST];
    bool below = false;
    int count = session_on() ? chain_of(caller->tgid, chain, &below) : 0;
    if (!count || known_call(chain, count)) return;
    char *text = calloc(1, 1);
    if (text) begin_call(&chain[0], text, 0);
    caller->call = NULL;
}
