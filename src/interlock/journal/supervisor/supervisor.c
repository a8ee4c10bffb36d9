/* Runs a command and keeps each file just before a system call of it, or of any process below it, changes or removes that file.
 *
 *   interlock-journal STORE [--label TEXT] [--skip FOLDER]... [--jail FD,FD] -- COMMAND [ARGUMENT]...
 *   interlock-journal --enter FD COMMAND [ARGUMENT]...
 *   interlock-journal --probe STORE
 *
 * Three processes: the front, which the caller started and which ends as the command ends; the supervisor below it, in a session of its
 * own; the command below that, in the session and process group of the front. The supervisor is the ancestor of whatever the command
 * starts, orphans included, since Yama lets only an ancestor read a process's memory. It lives until the last of them ends. If it is
 * killed, every call that it would have been told of fails (ENOSYS): nothing is destroyed unseen.
 *
 * With --jail the command makes a jail (bubblewrap), and what runs inside installs the filter by --enter: it sends the listener over the
 * second of these sockets to the supervisor, which stays outside. Each call of the agent inside is an action of its own (session.c).
 *
 * Between its look and the call another thread can change the path or the file. That is no matter for mistakes, which this is for; it
 * does not hold malware. STORE/settings says what is guarded and how much may be kept. */

#include "front.h"

#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
#define MOST_COMPLAINTS 20
#define SETTLING 500 /* milliseconds without a call, after which ended calls are looked for */
#define SECCOMP_REFUSED "this system allows no journal (seccomp)"
#define OUTER_ENDED "the journal around it has ended"
#define MEMORY_REFUSED "the memory of processes cannot be read"

static sigset_t original;
static pid_t asked; /* the front: who was asked to run the command */

static _Noreturn void fail(const char *what, int error) {
    fprintf(stderr, "interlock: the command was not run: %s%s%s\n", what, error ? ": " : "", error ? strerror(error) : "");
    exit(CANNOT);
}

static uint64_t number_of(const char *text) {
    return strtoull(text, NULL, 10);
}

static void read_settings(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/settings", settings.store);
    FILE *file = fopen(path, "re");
    if (file == NULL) fail(path, errno);
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        char *value = strchr(line, ' ');
        if (value == NULL) continue;
        *value++ = 0;
        if (!strcmp(line, "guard") && settings.guard_count < 16) settings.guards[settings.guard_count++] = strdup(value);
        else if (!strcmp(line, "spare")) settings.spare = strdup(value);
        else if (!strcmp(line, "bytes")) settings.bytes = number_of(value);
        else if (!strcmp(line, "files")) settings.files = number_of(value);
        else if (!strcmp(line, "total")) settings.total = number_of(value);
        else if (!strcmp(line, "free")) settings.free = number_of(value);
        else fail("unknown line in the journal's settings", 0);
    }
    free(line), fclose(file);
    if (!settings.guard_count || !settings.bytes || !settings.files || !settings.total) fail("the journal's settings are incomplete", 0);
}

/* Sends the listener, with an address of this process at which something can be read. */
static void send_listener(int to, int listener) {
    char control[CMSG_SPACE(sizeof(int))] = "";
    uint64_t address = (uint64_t)(uintptr_t)&original;
    struct iovec part = {&address, sizeof address};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &listener, sizeof listener);
    if (sendmsg(to, &message, 0) < 0) _exit(CANNOT);
}

/* The listener of a process, and which one that is; -1 where none comes. */
static int receive_listener(int from, pid_t *sender, uint64_t *address) {
    char control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    struct iovec part = {address, sizeof *address};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct ucred who = {0};
    int listener = -1;
    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != sizeof *address) return -1;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_type == SCM_RIGHTS) memcpy(&listener, CMSG_DATA(head), sizeof listener);
        if (head->cmsg_type == SCM_CREDENTIALS) memcpy(&who, CMSG_DATA(head), sizeof who);
    }
    *sender = who.pid;
    return listener;
}

static _Noreturn void become(char *const argv[]) {
    execvp(argv[0], argv);
    int code = errno == ENOENT ? 127 : 126;
    fprintf(stderr, "interlock: %s: %s\n", argv[0], strerror(errno));
    _exit(code);
}

static _Noreturn void run_command(char *const argv[], int supervisor, bool session) {
    char go;
    int listener = filter_install(session);
    if (listener < 0) fail(SECCOMP_REFUSED, -listener);
    send_listener(supervisor, listener);
    close(listener);
    if (recv(supervisor, &go, 1, 0) != 1) _exit(CANNOT);
    close(supervisor);
    sigprocmask(SIG_SETMASK, &original, NULL);
    become(argv);
}

/* Closes whatever the caller gave to its command: its other ends wait for that. */
void close_others(const int *keep, int count) {
    for (unsigned from = 3; from != UINT_MAX;) {
        unsigned to = UINT_MAX;
        for (int i = 0; i < count; i++)
            if ((unsigned)keep[i] >= from && (unsigned)keep[i] < to) to = (unsigned)keep[i];
        if (to > from) close_range(from, to == UINT_MAX ? to : to - 1, 0);
        from = to == UINT_MAX ? to : to + 1;
    }
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) == 0) most.rlim_cur = most.rlim_max, setrlimit(RLIMIT_NOFILE, &most);
}

/* Stands between the supervisor and a jail that dies with its parent, so that the agent goes on where the supervisor is killed, and ends
 * with the front. */
static _Noreturn void run_jail(char *const argv[], int front) {
    sigset_t ended;
    struct signalfd_siginfo info;
    int status = 0;
    pid_t jail = fork();
    if (jail < 0) _exit(CANNOT);
    if (jail == 0) {
        close(front);
        sigprocmask(SIG_SETMASK, &original, NULL);
        become(argv);
    }
    sigemptyset(&ended), sigaddset(&ended, SIGCHLD);
    const int keep[] = {front, signalfd(-1, &ended, SFD_CLOEXEC)};
    close_others(keep, 2);
    struct pollfd ready[2] = {{keep[0], POLLIN, 0}, {keep[1], POLLIN, 0}};
    while (waitpid(jail, &status, WNOHANG) != jail) {
        if (poll(ready, 2, -1) > 0 && ready[0].revents) _exit(CANNOT);
        if (ready[1].revents && read(keep[1], &info, sizeof info) < 0) continue;
    }
    end_like(status);
}

/* Says on the caller's stderr why its call was refused. */
static void complain(const struct caller *caller) {
    static int count;
    if (!*complaint || count++ >= MOST_COMPLAINTS) return;
    int process = (int)syscall(SYS_pidfd_open, caller->tgid, 0);
    int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, 2, 0);
    struct pollfd ready = {fd, POLLOUT, 0};
    if (fd >= 0 && poll(&ready, 1, 0) == 1 && ready.revents & POLLOUT) /* nothing waits for a reader */
        if (write(fd, complaint, strlen(complaint)) < 0) count--;
    if (fd >= 0) close(fd);
    if (process >= 0) close(process);
}

static void answer(int listener) {
    struct seccomp_notif call = {0};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) return;
    struct seccomp_notif_resp reply = {.id = call.id};
    struct caller *caller = caller_of((pid_t)call.pid);
    int result = caller ? judge(caller, &call.data) : -EPERM;
    if (result) {
        reply.error = result;
        if (caller) complain(caller);
    } else
        reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply); /* fails where the caller was killed meanwhile */
}

static void tell(int front, enum what what, int value) {
    struct message message = {what, value};
    send(front, &message, sizeof message, MSG_NOSIGNAL);
}

/* Reaps; false when no process is left. */
static bool reap(pid_t command, int front, int *status) {
    for (;;) {
        int found;
        pid_t pid = waitpid(-1, &found, WNOHANG | WUNTRACED);
        if (pid < 0 && errno == EINTR) continue;
        if (pid <= 0) return pid == 0;
        if (pid != command) continue;
        if (WIFSTOPPED(found)) tell(front, STOPPED, WSTOPSIG(found));
        else *status = found, tell(front, ENDED, found);
    }
}

static void watch(int listener, int signals, int front, pid_t command) {
    int status = -1;
    bool calls = false;
    for (bool alive = true; alive;) {
        struct pollfd ready[2] = {{listener, POLLIN, 0}, {signals, POLLIN, 0}};
        int count = poll(ready, 2, calls ? SETTLING : -1);
        if (count == 0) calls = session_settle(false);
        if (count <= 0) continue;
        if (ready[0].revents & POLLIN) answer(listener), calls = session_on();
        else if (ready[0].revents & (POLLHUP | POLLERR)) alive = false;
        struct signalfd_siginfo info;
        if (!(ready[1].revents & POLLIN) || read(signals, &info, sizeof info) < 0) continue;
        if (!reap(command, front, &status)) alive = false;
        else if (status < 0 && getppid() != asked) kill(command, SIGKILL); /* who was to be told was killed, and means the command */
    }
    while (status < 0 && waitpid(command, &status, 0) < 0 && errno == EINTR) continue;
    tell(front, ENDED, status);
    close(front);
    if (session_on()) session_settle(true);
    else action_end(status);
}

static void leave_caller(void) {
    setsid(); /* in its caller's, the end of a command would leave that group an orphan: the kernel hangs up one with a stopped process */
    if (chdir("/") < 0) return;
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) dup2(null, fd);
    if (null > 2) close(null);
    prctl(PR_SET_NAME, "interlock-jrnl");
}

static _Noreturn void supervise(char *const argv[], int front, const int *jail, int alive, const char *label) {
    int pair[2], on = 1;
    pid_t sender = 0;
    uint64_t address;
    sigset_t all;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGHUP, 0, 0, 0);
    if (getppid() != asked) raise(SIGHUP); /* it waits until it is looked for */
    if (jail) memcpy(pair, jail, sizeof pair);
    else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) fail("no socket", errno);
    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    pid_t command = fork();
    if (command < 0) fail("no process", errno);
    if (command == 0 && jail) close(front), close(pair[0]), run_jail(argv, alive);
    if (command == 0) close(front), close(pair[0]), run_command(argv, pair[1], false);
    close(pair[1]);
    if (alive >= 0) close(alive);
    int listener = receive_listener(pair[0], &sender, &address);
    if (listener < 0) {
        int status = 0;
        waitpid(command, &status, 0);
        if (jail) tell(front, ENDED, status);
        exit(CANNOT);
    }
    int error = read_bytes(sender, address, &(char){0}, 1);
    if (error) kill(command, SIGKILL), fail(MEMORY_REFUSED, -error);
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
    if (jail) action_end(0), session_begin(sender, label);
    leave_caller();
    sigfillset(&all);
    int signals = signalfd(-1, &all, SFD_CLOEXEC);
    const int keep[] = {listener, signals, front, pair[0], action->folder, action->journal, action->objects};
    close_others(keep, jail ? 4 : 7);
    tell(front, STARTED, command);
    send(pair[0], "", 1, MSG_NOSIGNAL);
    close(pair[0]);
    watch(listener, signals, front, command);
    _exit(0);
}

static int probe(const char *store) {
    settings.store = store;
    read_settings();
    char *const words[] = {"true", NULL};
    int outer = filter_outer();
    if (outer < 0) fail(OUTER_ENDED, -outer);
    if (outer) return 0;
    int error = action_open(words, "probe", "/");
    if (error) fail(store, -error);
    action_end(0);
    int pair[2], listener = -ECHILD;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) fail("no socket", errno);
    pid_t child = fork();
    if (child < 0) fail("no process", errno);
    if (child == 0) {
        listener = filter_install(false);
        send(pair[1], &listener, sizeof listener, MSG_NOSIGNAL);
        pause(), _exit(0);
    }
    close(pair[1]);
    if (recv(pair[0], &listener, sizeof listener, 0) != sizeof listener) listener = -ECHILD;
    error = listener < 0 ? 0 : read_bytes(child, (uint64_t)(uintptr_t)words, &(char){0}, 1);
    kill(child, SIGKILL), waitpid(child, NULL, 0);
    if (listener < 0) fail(SECCOMP_REFUSED, -listener);
    if (error) fail(MEMORY_REFUSED, -error);
    return 0;
}

/* Runs the command below a supervisor of its own; jail: the sockets of --jail. */
static _Noreturn void run(char **command, const char *label, const int *jail) {
    char cwd[PATH_MAX];
    int pair[2], life[2] = {-1, -1};
    sigset_t all;
    read_settings();
    int error = action_open(command, label, getcwd(cwd, sizeof cwd) ? cwd : "/");
    if (error) fail(settings.store, -error);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* the command becomes ours if the supervisor is killed */
    if (jail) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    sigfillset(&all), sigprocmask(SIG_BLOCK, &all, &original);
    asked = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) fail("no socket", errno);
    if (jail && pipe2(life, O_CLOEXEC) < 0) fail("no pipe", errno);
    pid_t child = fork();
    if (child < 0) fail("no process", errno);
    if (child == 0) {
        close(pair[0]);
        if (jail) close(life[1]);
        supervise(command, pair[1], jail, life[0], label);
    }
    close(pair[1]), close(action->folder), close(action->journal), close(action->objects);
    if (jail) close(jail[0]), close(jail[1]), close(life[0]);
    front(pair[0]);
}

int main(int argc, char *argv[]) {
    int at = 2, sockets[2], *jail = NULL;
    const char *label = "";
    if (argc == 3 && !strcmp(argv[1], "--probe")) return probe(argv[2]);
    if (argc > 3 && !strcmp(argv[1], "--enter")) sigprocmask(SIG_SETMASK, NULL, &original), run_command(argv + 3, atoi(argv[2]), true);
    for (; at + 1 < argc && strcmp(argv[at], "--"); at += 2) {
        if (!strcmp(argv[at], "--label")) label = argv[at + 1];
        else if (!strcmp(argv[at], "--skip") && settings.skip_count < 256) settings.skips[settings.skip_count++] = argv[at + 1];
        else if (!strcmp(argv[at], "--jail") && sscanf(argv[at + 1], "%d,%d", sockets, sockets + 1) == 2) jail = sockets;
        else break;
    }
    if (at + 1 >= argc || strcmp(argv[at], "--") || argv[1][0] != '/') {
        fputs("usage: interlock-journal STORE [--label TEXT] [--skip FOLDER]... [--jail FD,FD] -- COMMAND [ARGUMENT]...\n", stderr);
        return 2;
    }
    char **command = argv + at + 1;
    int outer = jail ? filter_outer() : unlink(JOIN) < 0 && errno == EALREADY ? 1 : filter_outer();
    if (outer < 0) fail(OUTER_ENDED, -outer);
    if (outer && jail) fail("a journal is around it already", 0);
    if (outer) become(command); /* the outer journal sees it all */
    settings.store = argv[1];
    run(command, label, jail);
}
