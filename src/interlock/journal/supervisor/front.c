/* The process that was asked to run the command: passes signals on, stops and ends as the command does. */

#include "front.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

_Noreturn void end_like(int status) {
    if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
    struct rlimit none = {0, 0};
    sigset_t all;
    setrlimit(RLIMIT_CORE, &none); /* its core was dumped already, if any */
    signal(WTERMSIG(status), SIG_DFL);
    sigfillset(&all), sigprocmask(SIG_UNBLOCK, &all, NULL);
    kill(getpid(), WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

/* Stops as the command was stopped, so that the shell sees it; goes on when the shell says so. */
static void stop_like(int number) {
    sigset_t one;
    if (number != SIGSTOP) signal(number, SIG_DFL);
    sigemptyset(&one), sigaddset(&one, number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    kill(getpid(), number);
    if (number != SIGSTOP) sigprocmask(SIG_BLOCK, &one, NULL);
}

static bool has_pending(pid_t pid, int number) {
    char path[32], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (length <= 0) return false;
    text[length] = 0;
    const char *at = strstr(text, "\nShdPnd:");
    return at && strtoull(at + 8, NULL, 16) >> (number - 1) & 1;
}

static void pass_on(int signals, pid_t command) {
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
        int number = (int)info.ssi_signo;
        if (number == SIGCHLD || command <= 0) continue;
        if (info.ssi_code == SI_KERNEL) continue; /* from the terminal, which told the command too */
        if (!has_pending(command, number)) kill(command, number);
    }
}

/* The supervisor was killed: the command, whose changes fail from now on, is ours to wait for. */
static _Noreturn void wait_alone(pid_t command, int signals) {
    int status;
    for (;;) {
        pid_t done = waitpid(-1, &status, 0);
        if (done == command) end_like(status);
        if (done < 0 && errno != EINTR) _exit(CANNOT);
        pass_on(signals, command);
    }
}

_Noreturn void front(int supervisor) {
    sigset_t all;
    pid_t command = 0;
    sigfillset(&all);
    int signals = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
    for (;;) {
        struct pollfd ready[2] = {{supervisor, POLLIN, 0}, {signals, POLLIN, 0}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR) _exit(CANNOT);
        if (ready[1].revents & POLLIN) pass_on(signals, command);
        if (!ready[0].revents) continue;
        struct message message;
        ssize_t got = recv(supervisor, &message, sizeof message, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got != sizeof message) command > 0 ? wait_alone(command, signals) : _exit(CANNOT);
        switch (message.what) {
            case STARTED: command = message.value; break;
            case STOPPED: stop_like(message.value); break;
            case ENDED: end_like(message.value);
            default: _exit(message.value);
        }
    }
}
