/* The calls that change files: where their paths stand, what is kept before each of them goes on, and which are refused. */

#include "journal.h"

#include <linux/openat2.h>
#include <sys/types.h>

#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#define __NR_removexattrat 466
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2
#endif

struct settings settings;
char complaint[LONGEST + 256];

static struct object first, second;
static struct caller *calling;
static uint64_t committed; /* the sequence of the last change */

/* What was created last: most programs set the mode and times of that next, by the descriptor that they write it through. */
static struct {
    const struct action *action;
    pid_t tid;
    const struct holder *lender;
    uint64_t above; /* the identity of its folder */
    char path[LONGEST];
} newest;

#define PENDING 64
static struct pending {
    struct action *action;
    pid_t tid;
    uint64_t sequence, ino;
    dev_t dev;
    char *path;
} pending[PENDING];
static int pending_count;

bool is_within(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == 0 || path[length] == '/' || (length == 1 && *folder == '/'));
}

static int refuse(const char *what, const char *name) {
    snprintf(complaint, sizeof complaint, "interlock: %s refused: %s\n", name, what);
    return -EPERM;
}

/* The caller's own error where the path leads nowhere; ours where something is there that cannot be kept. */
static int missing(int error, const struct call *call) {
    if (*complaint) return error;
    switch (-error) {
        case ENOENT: case ENOTDIR: case ELOOP: case ENAMETOOLONG: case EINVAL: case EXDEV: case EBADF: case ESRCH: case EFAULT: return 0;
        case EACCES: return -EACCES;
        default: return refuse(strerror(-error), call->name);
    }
}

static bool is_spared(const struct object *object) { return settings.spare && is_within(object->path, settings.spare); }

static int check_guards(const struct object *object, const struct call *call, bool moves) {
    if (is_spared(object) && strcmp(object->path, settings.spare)) return 0;
    for (int i = 0; i < settings.guard_count; i++)
        if (is_within(object->path, settings.guards[i]) || (moves && is_within(settings.guards[i], object->path))) {
            char text[LONGEST + 64];
            snprintf(text, sizeof text, "%s belongs to Interlock", object->path);
            return refuse(text, call->name);
        }
    return 0;
}

static int skip_of(const struct object *object) {
    for (int i = 0; i < settings.skip_count; i++)
        if (is_within(object->path, settings.skips[i])) return i;
    return -1;
}

/* Whether nothing of this has to be kept: not on a disk, or in a folder that can be built again. */
static bool is_free(const struct object *object) {
    return skip_of(object) >= 0 || is_spared(object) || is_pseudo(object);
}

/* Whether the action created something: by its time of birth, as a new name may be that of an old file. That time comes from a clock which
 * lags behind by up to 10 ms, so that what is created at once may seem older, and is kept needlessly. */
static bool is_own(const struct object *object) {
    uint64_t id = identity(&object->st);
    if (set_has(&action->own, id)) return true;
    if (object->st.stx_mask & STATX_BTIME && (uint64_t)nanoseconds(&object->st.stx_btime) < action->start) return false;
    if (!set_has(&action->created, mix_text(object->path, strlen(object->path)))) return false;
    set_add(&action->own, id);
    return true;
}

/* Whether a descriptor of the caller is open on what it created last. */
static bool is_newest(const struct caller *caller, const struct statx *st) {
    static struct object object;
    if (newest.action != action || newest.tid != caller->tid) return false;
    if (!look_again(newest.lender, newest.above, newest.path, &object.st)) return false;
    if (identity(&object.st) != identity(st)) return false;
    strcpy(object.path, newest.path);
    return is_own(&object);
}

/* Adds the folder of a name, whose times the call changes. */
static int add_parent(const struct object *object) {
    static struct object parent;
    if (object->parent < 0) return 0;
    parent.fd = object->parent, parent.parent = -1, parent.st = object->above, parent.exists = true;
    uint64_t id = identity(&parent.st);
    if (set_has(&action->marked, id) || set_has(&action->holders, id) || set_has(&action->own, id)) return 0;
    strcpy(parent.path, object->path);
    char *slash = strrchr(parent.path, '/');
    slash[slash == parent.path] = 0;
    if (is_own(&parent)) return 0;
    int error = describe(&parent, PARENT, false, false);
    if (!error) set_add(&action->holders, id);
    return error;
}

static int commit(int error, const struct call *call) {
    if (!error && (error = record_commit()) == 0) {
        committed = action->sequence;
        if (calling->recorded != action) record_process(calling);
        return 0;
    }
    record_drop();
    return refuse(error == -EDQUOT || *keep_problem() ? keep_problem() : strerror(-error), call->name);
}

static int record_creation(struct caller *caller, struct object *object, struct object *source, const struct call *call) {
    record_begin('c', call->name, caller->tgid);
    describe_absent(object, TARGET);
    int error = source ? describe(source, SECOND, false, false) : 0;
    if (!error) error = add_parent(object);
    error = commit(error, call);
    if (error) return error;
    set_add(&action->created, mix_text(object->path, strlen(object->path)));
    newest.action = action, newest.tid = caller->tid, strcpy(newest.path, object->path);
    newest.lender = object->lender, newest.above = identity(&object->above);
    return 0;
}

static int record_content(struct caller *caller, struct object *object, const struct call *call, uint64_t id) {
    if (set_has(&action->written, id)) return 0; /* one content once */
    record_begin('w', call->name, caller->tgid);
    int error = commit(describe(object, TARGET, true, false), call);
    if (!error) set_add(&action->written, id), set_add(&action->marked, id);
    return error;
}

static uint64_t argument(const struct seccomp_data *data, int index) { return data->args[index]; }

static int directory(const struct seccomp_data *data, int index) {
    return index < 0 ? AT_FDCWD : (int)argument(data, index);
}

static int read_path(struct caller *caller, const struct seccomp_data *data, int index, char *into, const struct call *call) {
    int error = read_text(caller->tid, argument(data, index), into, PATH_MAX);
    if (error == -EPERM) return refuse("the memory of this process cannot be read", call->name);
    return error;
}

static int judge_open(struct caller *caller, const struct seccomp_data *data, const struct call *call) {
    char path[PATH_MAX];
    struct open_how how = {.flags = call->flags < 0 ? (uint64_t)call->constant : argument(data, call->flags)};
    if (call->nr == __NR_openat2 && read_bytes(caller->tid, argument(data, 2), &how, sizeof how)) return 0;
    if (how.flags & O_PATH || (how.flags & O_TMPFILE) == O_TMPFILE) return 0;
    bool writes = how.flags & (O_WRONLY | O_RDWR | O_TRUNC), creates = how.flags & O_CREAT;
    if (!writes && !creates) return 0;
    bool exclusive = creates && how.flags & O_EXCL;
    int error = read_path(caller, data, call->path, path, call);
    if (!error) error = find(caller, directory(data, call->dir), path, !(how.flags & O_NOFOLLOW) && !exclusive, how.resolve, &first);
    if (error) return missing(error, call);
    if (!first.exists) error = creates ? check_guards(&first, call, false) : 0;
    else error = S_ISREG(first.st.stx_mode) && writes && !exclusive ? check_guards(&first, call, false) : 0;
    if (error || is_free(&first)) return error;
    if (!first.exists) return creates ? record_creation(caller, &first, NULL, call) : 0;
    if (!S_ISREG(first.st.stx_mode) || !writes || exclusive || is_own(&first)) return 0;
    return record_content(caller, &first, call, identity(&first.st));
}

static int judge_truncate(struct caller *caller, const struct seccomp_data *data, const struct call *call) {
    char path[PATH_MAX];
    int error = read_path(caller, data, call->path, path, call);
    if (!error) error = find(caller, AT_FDCWD, path, true, 0, &first);
    if (error) return missing(error, call);
    if (!first.exists || !S_ISREG(first.st.stx_mode)) return 0;
    if ((error = check_guards(&first, call, false)) || is_free(&first) || is_own(&first)) return error;
    return record_content(caller, &first, call, identity(&first.st));
}

static int judge_create(struct caller *caller, const struct seccomp_data *data, const struct call *call) {
    char path[PATH_MAX];
    int error = read_path(caller, data, call->path, path, call);
    if (!error) error = find(caller, directory(data, call->dir), path, false, 0, &first);
    if (error) return missing(error, call);
    if (first.exists) return 0; /* EEXIST */
    if ((error = check_guards(&first, call, false)) || is_free(&first)) return error;
    return record_creation(caller, &first, NULL, call);
}

static int judge_link(struct caller *caller, const struct seccomp_data *data, const struct call *call) {
    char path[PATH_MAX], new[PATH_MAX];
    int flags = call->flags < 0 ? 0 : (int)argument(data, call->flags);
    int error = read_path(caller, data, call->path, path, call);
    if (!error) error = read_path(caller, data, call->path2, new, call);
    if (!error && !*path && flags & AT_EMPTY_PATH) error = find_descriptor(caller, directory(data, call->dir), &second);
    else if (!error) error = find(caller, directory(data, call->dir), path, flags & AT_SYMLINK_FOLLOW, 0, &second);
    bool unnamed = error == -EXDEV; /* a file of O_TMPFILE, which gets its first name */
    if (!error || unnamed) error = find(caller, directory(data, call->dir2), new, false, 0, &first);
    if (error) return missing(error, call);
    if (first.exists || (!unnamed && !second.exists)) return 0;
    if ((error = check_guards(&first, call, false)) || (!unnamed && (error = check_guards(&second, call, false)))) return error;
    if (skip_of(&first) >= 0 && !unnamed) settings.skips[skip_of(&first)] = "/dev/null/"; /* no longer of that folder alone */
    return is_pseudo(&first) ? 0 : record_creation(caller, &first, unnamed ? NULL : &second, call);
}

static int judge_remove(struct caller *caller, const struct seccomp_data *data, const struct call *call) {
    char path[PATH_MAX];
    bool folder = (call->flags < 0 ? call->constant : (int)argument(data, call->flags)) & AT_REMOVEDIR;
    int error = read_path(caller, data, call->path, path, call);
    if (!error && !strncmp(path, ASK, sizeof ASK - 1)) { /* a question that only a journal answers so */
        if (!strcmp(path, JOIN)) session_join(caller);
        return -EALREADY;
    }
    if (!error) error = find(caller, directory(data, call->dir), path, false, 0, &first);
    if (error) return missing(error, call);
    if (!first.exists || folder != (bool)S_ISDIR(first.st.stx_mode)) return 0; /* the call fails by itself */
    if ((error = check_guards(&first, call, true)) || is_free(&first) || is_own(&first)) return error;
    record_begin('u', call->name, caller->tgid);
    error = describe(&first, TARGET, true, true);
    if (!error) error = add_parent(&first);
    return commit(error, call);
}

static void forget_pending(struct pending *one) {
    pending_count -= one->path != NULL;
    free(one->path), one->path = NULL;
}

static void add_pending(struct caller *caller) {
    struct pending *one = pending;
    while (one < pending + PENDING - 1 && one->path) one++;
    forget_pending(one);
    *one = (struct pending){action, caller->tid, committed, first.st.stx_ino, device(&first.st), strdup(second.path)};
    pending_count += one->path != NULL;
}

/* Notes which renames have happened: the call itself may still fail after it was let go on. */
void renames_settle(const struct action *ended) {
    struct stat st;
    struct action *present = action;
    for (struct pending *one = pending; pending_count && one < pending + PENDING; one++) {
        if (!one->path) continue;
        bool there = lstat(one->path, &st) == 0 && st.st_ino == one->ino && st.st_dev == one->dev;
        if (there) {
            action = one->action;
            uint64_t sequence = action->sequence;
            action->sequence = one->sequence - 1;
            record_begin('d', "", 0);
            record_commit();
            action->sequence = sequence;
            action = present;
        }
        if (there || one->action == ended) forget_pending(one);
    }
}

static void drop_pending(pid_t tid) {
    for (struct pending *one = pending; pending_count && one < pending + PENDING; one++)
        if (one->path && one->tid == tid) forget_pending(one);
}

static int record_rename(struct caller *caller, bool exchange, const struct call *call) {
    record_begin(exchange ? 'x' : 'r', call->name, caller->tgid);
    is_own(&first); /* remembers it by its identity, since its name changes */
    int error = describe(&first, TARGET, false, false);
    if (!error && !second.exists) describe_absent(&second, SECOND);
    else if (!error) error = describe(&second, SECOND, !exchange && !is_own(&second), true);
    if (!error) error = add_parent(&first);
    if (!error) error = add_parent(&second);
    error = commit(error, call);
    holders_forget();
    if (!error) add_pending(caller);
    return error;
}

static int judge_rename(struct caller *caller, const struct seccomp_data *data, const struct call *call) {
    char from[PATH_MAX], to[PATH_MAX];
    unsigned flags = call->flags < 0 ? 0 : (unsigned)argument(data, call->flags);
    int error = read_path(caller, data, call->path, from, call);
    if (!error) error = read_path(caller, data, call->path2, to, call);
    if (!error) error = find(caller, directory(data, call->dir), from, false, 0, &first);
    if (!error) error = find(caller, directory(data, call->dir2), to, false, 0, &second);
    if (error) return missing(error, call);
    if (!first.exists || (second.exists && flags & RENAME_NOREPLACE)) return 0;
    if (second.exists && identity(&first.st) == identity(&second.st)) return 0;
    if ((error = check_guards(&first, call, true)) || (error = check_guards(&second, call, true))) return error;
    if (is_pseudo(&first)) return 0;
    int left = skip_of(&first), into = skip_of(&second);
    if (left >= 0 && left == into && strcmp(settings.skips[left], first.path) && strcmp(settings.skips[left], second.path)) return 0;
    if (left >= 0) settings.skips[left] = "/dev/null/"; /* what moves in or out is no longer of that folder alone */
    if (into >= 0) settings.skips[into] = "/dev/null/";
    return record_rename(caller, flags & RENAME_EXCHANGE, call);
}

static int judge_mark(struct caller *caller, const struct seccomp_data *data, const struct call *call) {
    char path[PATH_MAX] = "";
    int flags = call->flags < 0 ? 0 : (int)argument(data, call->flags), error = 0, fd = -1;
    if (call->fd >= 0) fd = (int)argument(data, call->fd);
    else if (argument(data, call->path) == 0) fd = directory(data, call->dir); /* utimensat(fd, NULL) */
    else if ((error = read_path(caller, data, call->path, path, call))) return missing(error, call);
    else if (!*path && flags & AT_EMPTY_PATH) fd = directory(data, call->dir);
    bool follow = call->follow && !(flags & AT_SYMLINK_NOFOLLOW);
    if (fd >= 0 && (error = status_of(caller, fd, &first.st))) return missing(error, call);
    if (fd >= 0 && (set_has(&action->own, identity(&first.st)) || is_newest(caller, &first.st))) return 0;
    if (fd >= 0) error = find_descriptor(caller, fd, &first);
    else if (!error) error = find(caller, directory(data, call->dir), *path ? path : ".", follow, 0, &first);
    if (error) return missing(error, call);
    if (!first.exists) return 0;
    if ((error = check_guards(&first, call, false)) || is_free(&first)) return error;
    if (set_has(&action->marked, identity(&first.st)) || is_own(&first) || (first.st.stx_mode & S_IFMT) == S_IFSOCK) return 0;
    record_begin('m', call->name, caller->tgid);
    error = commit(describe(&first, TARGET, false, false), call);
    if (!error) set_add(&action->marked, identity(&first.st));
    return error;
}

#define AT(name, judge, ...) {__NR_##name, #name, judge, .dir = -1, .path = -1, .dir2 = -1, .path2 = -1, .flags = -1, .fd = -1, ##__VA_ARGS__}
#pragma GCC diagnostic ignored "-Woverride-init"

const struct call CALLS[] = {
#ifdef __NR_open
    AT(open, judge_open, .path = 0, .flags = 1),
#endif
    AT(openat, judge_open, .dir = 0, .path = 1, .flags = 2),
    AT(openat2, judge_open, .dir = 0, .path = 1),
#ifdef __NR_creat
    AT(creat, judge_open, .path = 0, .constant = O_CREAT | O_WRONLY | O_TRUNC),
#endif
    AT(truncate, judge_truncate, .path = 0),
#ifdef __NR_unlink
    AT(unlink, judge_remove, .path = 0),
    AT(rmdir, judge_remove, .path = 0, .constant = AT_REMOVEDIR),
    AT(rename, judge_rename, .path = 0, .path2 = 1),
    AT(link, judge_link, .path = 0, .path2 = 1),
    AT(symlink, judge_create, .path = 1),
    AT(mkdir, judge_create, .path = 0),
    AT(mknod, judge_create, .path = 0),
#endif
    AT(unlinkat, judge_remove, .dir = 0, .path = 1, .flags = 2),
#ifdef __NR_renameat
    AT(renameat, judge_rename, .dir = 0, .path = 1, .dir2 = 2, .path2 = 3),
#endif
    AT(renameat2, judge_rename, .dir = 0, .path = 1, .dir2 = 2, .path2 = 3, .flags = 4),
    AT(linkat, judge_link, .dir = 0, .path = 1, .dir2 = 2, .path2 = 3, .flags = 4),
    AT(symlinkat, judge_create, .dir = 1, .path = 2),
    AT(mkdirat, judge_create, .dir = 0, .path = 1),
    AT(mknodat, judge_create, .dir = 0, .path = 1),
#ifdef __NR_chmod
    AT(chmod, judge_mark, .path = 0, .follow = true),
    AT(chown, judge_mark, .path = 0, .follow = true),
    AT(lchown, judge_mark, .path = 0),
    AT(utime, judge_mark, .path = 0, .follow = true),
    AT(utimes, judge_mark, .path = 0, .follow = true),
    AT(futimesat, judge_mark, .dir = 0, .path = 1, .follow = true),
#endif
    AT(fchmod, judge_mark, .fd = 0),
    AT(fchmodat, judge_mark, .dir = 0, .path = 1, .follow = true),
    AT(fchmodat2, judge_mark, .dir = 0, .path = 1, .flags = 3, .follow = true),
    AT(fchown, judge_mark, .fd = 0),
    AT(fchownat, judge_mark, .dir = 0, .path = 1, .flags = 4, .follow = true),
    AT(utimensat, judge_mark, .dir = 0, .path = 1, .flags = 3, .follow = true),
    AT(setxattr, judge_mark, .path = 0, .follow = true),
    AT(lsetxattr, judge_mark, .path = 0),
    AT(fsetxattr, judge_mark, .fd = 0),
    AT(setxattrat, judge_mark, .dir = 0, .path = 1, .flags = 2, .follow = true),
    AT(removexattr, judge_mark, .path = 0, .follow = true),
    AT(lremovexattr, judge_mark, .path = 0),
    AT(fremovexattr, judge_mark, .fd = 0),
    AT(removexattrat, judge_mark, .dir = 0, .path = 1, .flags = 2, .follow = true),
};
const size_t CALL_COUNT = sizeof CALLS / sizeof *CALLS;

static int judge_call(struct caller *caller, const struct seccomp_data *data, const struct call *call) {
    int error = session_on() ? session_choose(caller, data, call) : 0;
    return error ? error : call->judge(caller, data, call);
}

int judge(struct caller *caller, const struct seccomp_data *data) {
    renames_settle(NULL);
    drop_pending(caller->tid);
    calling = caller;
    first.fd = first.parent = second.fd = second.parent = -1, first.lender = second.lender = NULL;
    complaint[0] = 0, keep_clear();
    int answer = 0;
    if (data->nr == __NR_execve || data->nr == __NR_execveat) return session_exec(caller, data), 0;
    for (const struct call *call = CALLS; call < CALLS + CALL_COUNT; call++)
        if (call->nr == data->nr) {
            answer = judge_call(caller, data, call);
            break;
        }
    object_close(&first), object_close(&second);
    return answer;
}
