/* An agent's hook input -> the daemon's answer, replayed; where nobody answers, the fallback; where that fails, the agent's own no.
 *
 *   interlock-hook AGENT EVENT
 *
 * Where the daemon is, whose it is, how long each agent waits and what it takes for a no are compiled in (TABLE, which the installation
 * writes): of the environment it passes on HOME alone, opens no file, and never answers yes by itself. */

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct agent {
    const char *word;
    long limit_ms;         /* how long the daemon may take */
    long grace_ms;         /* how long the fallback may take beyond that */
    int no_exit;           /* what the agent takes for a no */
    const char *no_stdout, *no_stderr;
};

#include TABLE /* SOCKET, OWNER, AGENTS, FALLBACK: an argument vector with two empty places at its end */

#define MOST_INPUT (16u << 20) /* bytes; whatever is longer is a no */
#define MOST_ANSWER (4u << 20)

struct bytes {
    char *at;
    size_t length, room;
};

static const struct agent *agent;
static const char *event;
static long long deadline;

static long long now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static long long left_ms(void) {
    long long left = deadline - now_ms();
    return left > 0 ? left : 0;
}

static int write_all(int to, const char *at, size_t length) {
    while (length > 0) {
        ssize_t done = write(to, at, length);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return -1;
        at += done, length -= (size_t)done;
    }
    return 0;
}

static _Noreturn void say_no(void) {
    write_all(STDOUT_FILENO, agent->no_stdout, strlen(agent->no_stdout));
    write_all(STDERR_FILENO, agent->no_stderr, strlen(agent->no_stderr));
    _exit(agent->no_exit);
}

static int grow(struct bytes *bytes) {
    if (bytes->length < bytes->room) return 0;
    size_t room = bytes->room ? bytes->room * 2 : 65536;
    char *at = realloc(bytes->at, room);
    if (at == NULL) return -1;
    bytes->at = at, bytes->room = room;
    return 0;
}

/* Everything there is to read, up to a limit; -1 when it is longer or does not come in time. */
static int read_all(int from, struct bytes *into, size_t most) {
    for (;;) {
        struct pollfd ready = {from, POLLIN, 0};
        int found = poll(&ready, 1, (int)left_ms());
        if (found < 0 && errno == EINTR) continue;
        if (found <= 0) return -1;
        if (into->length >= most || grow(into) < 0) return -1;
        ssize_t got = read(from, into->at + into->length, into->room - into->length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) return 0;
        into->length += (size_t)got;
    }
}

/* A connection to the daemon, and to nobody else who may have put a socket there; -1 where there is none. */
static int connected(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(SOCKET) >= sizeof name.sun_path) return -1;
    strcpy(name.sun_path, SOCKET);
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    long long left = left_ms();
    struct timeval patience = {left / 1000, left % 1000 * 1000 + 1}; /* for connecting too: a stopped daemon's queue can be full */
    if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0) return -1;
    if (connect(sock, (struct sockaddr *)&name, sizeof name) < 0) return -1;
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return -1;
    return peer.uid == 0 || peer.uid == (uid_t)OWNER ? sock : -1;
}

/* HOME as this process has it, or nothing where it could not stand in a header. */
static const char *home(void) {
    const char *found = getenv("HOME");
    if (found == NULL || found[0] != '/' || strlen(found) > 4096) return "";
    for (const unsigned char *at = (const unsigned char *)found; *at; at++)
        if (*at < 32 || *at == 127) return "";
    return found;
}

static int ask(int sock, const struct bytes *input) {
    char head[6144];
    int length = snprintf(
        head, sizeof head,
        "POST /api/v1/hook/%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "Interlock-Event: %s\r\nInterlock-Limit: %lld\r\n%s%s%sContent-Length: %zu\r\n\r\n",
        agent->word, event, left_ms(), *home() ? "Interlock-Home: " : "", home(), *home() ? "\r\n" : "", input->length);
    if (length < 0 || (size_t)length >= sizeof head) return -1;
    return write_all(sock, head, (size_t)length) < 0 ? -1 : write_all(sock, input->at, input->length);
}

/* The number in a header of the answer, -1 where it is not there. */
static long number(const char *head, const char *end, const char *name) {
    size_t length = strlen(name);
    for (const char *line = head; line < end; line++) {
        if (line != head && line[-1] != '\n') continue;
        if ((size_t)(end - line) > length + 1 && strncasecmp(line, name, length) == 0 && line[length] == ':') {
            char *rest;
            long found = strtol(line + length + 1, &rest, 10);
            return rest > line + length + 1 && (*rest == '\r' || *rest == '\n') ? found : -1;
        }
    }
    return -1;
}

/* Replays the daemon's answer and ends; returns when it is none. */
static void replay(struct bytes *answer) {
    char *body = answer->at ? memmem(answer->at, answer->length, "\r\n\r\n", 4) : NULL;
    if (body == NULL || answer->length < 13 || memcmp(answer->at, "HTTP/1.1 200 ", 13) != 0) return;
    body += 4;
    size_t length = answer->length - (size_t)(body - answer->at);
    long code = number(answer->at, body, "interlock-exit"), first = number(answer->at, body, "interlock-stdout");
    long whole = number(answer->at, body, "content-length");
    if (code < 0 || code > 255 || first < 0 || whole < 0 || (size_t)whole != length || (size_t)first > length) return;
    if (write_all(STDOUT_FILENO, body, (size_t)first) < 0) say_no();
    write_all(STDERR_FILENO, body + first, length - (size_t)first);
    _exit((int)code);
}

/* In the child: the fallback with the same input; what it says is kept until it has said all of it. */
static _Noreturn void run_fallback(int input, int out, int errors) {
    static char variable[4200];
    snprintf(variable, sizeof variable, "INTERLOCK_HOOK_HOME=%s", home()); /* not HOME: its own files are where its user's are */
    char *only[] = {*home() ? variable : NULL, NULL};
    if (dup2(input, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
        execve(FALLBACK[0], (char *const *)FALLBACK, only);
    _exit(127);
}

/* Whether the child ends before the agent stops listening. */
static int ends_in_time(pid_t child) {
    int handle = (int)syscall(SYS_pidfd_open, child, 0);
    if (handle < 0) return 0;
    for (;;) {
        struct pollfd ended = {handle, POLLIN, 0};
        int found = poll(&ended, 1, (int)left_ms());
        if (found < 0 && errno == EINTR) continue;
        return found > 0;
    }
}

/* What the fallback says, in the frame of the daemon's answers: a fallback that crashed has none, and that is a no. */
static _Noreturn void fall_back(const struct bytes *input) {
    int again = memfd_create("input", MFD_CLOEXEC), out = memfd_create("out", MFD_CLOEXEC);
    int errors = memfd_create("errors", MFD_CLOEXEC);
    if (again < 0 || out < 0 || errors < 0 || write_all(again, input->at, input->length) < 0 || lseek(again, 0, SEEK_SET) < 0)
        say_no();
    deadline += agent->grace_ms;
    pid_t child = fork();
    if (child < 0) say_no();
    if (child == 0) run_fallback(again, out, errors);
    if (!ends_in_time(child)) {
        kill(child, SIGKILL);
        say_no();
    }
    struct bytes answer = {0};
    if (lseek(out, 0, SEEK_SET) == 0 && read_all(out, &answer, MOST_ANSWER) == 0) replay(&answer);
    say_no();
}

int main(int count, char **given) {
    for (size_t at = 0; count == 3 && at < sizeof AGENTS / sizeof *AGENTS; at++)
        if (strcmp(AGENTS[at].word, given[1]) == 0) agent = &AGENTS[at];
    if (agent == NULL || strspn(given[2], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != strlen(given[2])) {
        fputs("interlock-hook: called as `interlock-hook AGENT EVENT`; installed wrongly? `interlock doctor` says\n", stderr);
        return 2;
    }
    event = given[2];
    FALLBACK[sizeof FALLBACK / sizeof *FALLBACK - 3] = agent->word;
    FALLBACK[sizeof FALLBACK / sizeof *FALLBACK - 2] = event;
    prctl(PR_SET_DUMPABLE, 0);
    signal(SIGPIPE, SIG_IGN); /* a daemon that hangs up is one that does not answer */
    deadline = now_ms() + agent->limit_ms;
    struct bytes input = {0}, answer = {0};
    if (read_all(STDIN_FILENO, &input, MOST_INPUT) < 0) say_no();
    int sock = connected();
    if (sock >= 0 && ask(sock, &input) == 0 && read_all(sock, &answer, MOST_ANSWER) == 0) replay(&answer);
    if (sock >= 0) close(sock);
    fall_back(&input);
}
