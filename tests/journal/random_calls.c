/* Random system calls below the current folder, the same ones for the same seed, errors included: random_calls SEED COUNT. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t chance;
static char data[40000];

static unsigned below(unsigned limit) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33) % limit;
}

/* A name of the tree, or one that is not there; often below a folder, sometimes by a detour. */
static const char *path(char *into) {
    static const char *const NAMES[] = {"a", "b", "c", "d", "\xc3\xa9", "x y"};
    static const char *const STARTS[] = {"", "", "", "./", "a/../", "//proc/self/cwd/"};
    unsigned parts = 1 + below(3);
    strcpy(into, STARTS[below(6)]);
    for (unsigned i = 0; i < parts; i++) strcat(strcat(into, i ? "/" : ""), NAMES[below(6)]);
    return into;
}

static long call(long number, ...) {
    __builtin_va_list rest;
    long a[6];
    __builtin_va_start(rest, number);
    for (int i = 0; i < 6; i++) a[i] = __builtin_va_arg(rest, long);
    __builtin_va_end(rest);
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define P(value) ((long)(value))
#define CALL(name, ...) call(SYS_##name, ##__VA_ARGS__, 0L, 0L, 0L, 0L, 0L, 0L)

static void change(int fd) {
    size_t length = (size_t[]){0, 3, 100, 5000, sizeof data}[below(5)];
    memset(data, (int)below(256), length);
    switch (below(6)) {
        case 0: CALL(pwrite64, (long)fd, P(data), (long)length, (long)below(9000)); break;
        case 1: CALL(ftruncate, (long)fd, (long)below(200)); break;
        case 2: CALL(fallocate, (long)fd, (long)(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE), 0L, 4096L); break;
        case 3: {
            char *at = mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            struct stat st;
            if (at != MAP_FAILED && fstat(fd, &st) == 0 && st.st_size >= 100) memset(at, 'm', 100);
            if (at != MAP_FAILED) munmap(at, 100);
            break;
        }
        case 4: CALL(fchmod, (long)fd, 0640L), CALL(fsetxattr, (long)fd, P("user.b"), P("new"), 3L, 0L); /* fall through */
        default: CALL(write, (long)fd, P(data), (long)length);
    }
}

static void act(void) {
    char first[200], second[200];
    struct timespec times[2] = {{5, 6}, {(long)below(1u << 30), 7}};
    struct open_how how = {.flags = O_RDWR | (below(2) ? O_TRUNC : 0)};
    path(first), path(second);
    long dir = below(4) ? AT_FDCWD : CALL(openat, (long)AT_FDCWD, P(path(data)), (long)(O_RDONLY | O_DIRECTORY)), fd = -1;
    switch (below(20)) {
        case 0: fd = CALL(openat, dir, P(first), (long)(O_RDWR | O_CREAT | O_TRUNC), 0644L); break;
        case 1: fd = CALL(openat, dir, P(first), (long)(O_RDWR | O_CREAT), 0600L); break;
        case 2: fd = CALL(openat, dir, P(first), (long)(O_RDWR | O_APPEND)); break;
        case 3: fd = CALL(openat2, dir, P(first), P(&how), (long)sizeof how); break;
        case 4: CALL(truncate, P(first), (long)below(70000)); break;
        case 5: case 6: CALL(unlinkat, dir, P(first), 0L); break;
        case 7: CALL(unlinkat, dir, P(first), (long)AT_REMOVEDIR); break;
        case 8: case 9: CALL(mkdirat, dir, P(first), 0755L); break;
        case 10: case 11: CALL(renameat2, dir, P(first), (long)AT_FDCWD, P(second), 0L); break;
        case 12: CALL(renameat2, dir, P(first), (long)AT_FDCWD, P(second), (long)(1 + below(2))); break;
        case 13: CALL(linkat, dir, P(first), (long)AT_FDCWD, P(second), (long)(below(2) ? AT_SYMLINK_FOLLOW : 0)); break;
        case 14: CALL(symlinkat, P(first), dir, P(second)); break;
        case 15: CALL(fchmodat, dir, P(first), (long)((int[]){0600, 0755, 0444}[below(3)] | (geteuid() ? 0700 : 0))); break; /* a folder stays open to its user */
        case 16: CALL(utimensat, dir, P(first), P(times), (long)(below(2) ? AT_SYMLINK_NOFOLLOW : 0)); break;
        case 17: CALL(setxattr, P(first), P("user.a"), P("new"), 3L, 0L); break;
        case 18: CALL(removexattr, P(first), P("user.a")); break;
        default: CALL(mknodat, dir, P(first), (long)(S_IFREG | 0600)); break;
    }
    if (fd >= 0) change((int)fd), close((int)fd);
    if (dir >= 0) close((int)dir);
}

int main(int argc, char *argv[]) {
    int count = argc == 3 ? atoi(argv[2]) : 0;
    chance = argc == 3 ? strtoull(argv[1], NULL, 10) * 2654435761u + 1 : 0;
    for (int i = 0; i < count; i++) {
        act();
        if (below(50)) continue;
        pid_t child = fork();
        if (child == 0) act(), act(), _exit(0);
        waitpid(child, NULL, 0);
    }
    return 0;
}
