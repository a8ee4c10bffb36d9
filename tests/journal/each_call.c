/* Performs one system call of the journal's table, by name, on the files of the test: each_call NAME. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif

#define P(value) ((long)(value))
#define ROW(name, ...) {#name, SYS_##name, {__VA_ARGS__}}

struct row {
    const char *name;
    long nr, args[6];
};
struct value {
    __attribute__((aligned(8))) unsigned long long at;
    unsigned size, flags;
};

int main(int argc, char *argv[]) {
    int sub = open("sub", O_RDONLY | O_DIRECTORY), file = open("a.txt", O_RDONLY);
    struct open_how how = {.flags = O_WRONLY | O_TRUNC};
    struct timespec times[2] = {{1, 2}, {3, 4}};
    struct timeval old[2] = {{1, 2}, {3, 4}};
    struct utimbuf older = {1, 3};
    struct value value = {P("new"), 3, 0};
    long owner = geteuid() ? getuid() : 1234;
    const struct row rows[] = {
#ifdef SYS_open
        ROW(open, P("link"), O_WRONLY | O_TRUNC),
        ROW(creat, P("a.txt"), 0600),
        ROW(unlink, P("link")),
        ROW(rmdir, P("empty")),
        ROW(rename, P("sub"), P("empty")),
        ROW(link, P("a.txt"), P("sub/new")),
        ROW(symlink, P("anywhere"), P("new")),
        ROW(mkdir, P("sub/new/")),
        ROW(mknod, P("new"), S_IFREG | 0600),
        ROW(chmod, P("link"), 0600),
        ROW(chown, P("link"), owner, owner),
        ROW(lchown, P("link"), owner, owner),
        ROW(utime, P("a.txt"), P(&older)),
        ROW(utimes, P("a.txt"), P(old)),
        ROW(futimesat, sub, P("b.txt"), P(old)),
#endif
#ifdef SYS_renameat
        ROW(renameat, AT_FDCWD, P("big.bin"), sub, P("b.txt")),
#endif
        ROW(openat, sub, P("../link"), O_WRONLY | O_CREAT | O_TRUNC, 0600),
        ROW(openat2, sub, P("b.txt"), P(&how), sizeof how),
        ROW(truncate, P("link"), 2),
        ROW(unlinkat, sub, P("b.txt"), 0),
        ROW(renameat2, AT_FDCWD, P("a.txt"), sub, P("b.txt"), 2 /* exchange */),
        ROW(linkat, AT_FDCWD, P("link"), sub, P("new"), AT_SYMLINK_FOLLOW),
        ROW(symlinkat, P("anywhere"), sub, P("new")),
        ROW(mkdirat, sub, P("new"), 0700),
        ROW(mknodat, sub, P("new"), S_IFREG | 0600, 0),
        ROW(fchmod, file, 0600),
        ROW(fchmodat, AT_FDCWD, P("link"), 0600),
        ROW(fchmodat2, sub, P("b.txt"), 0600, AT_SYMLINK_NOFOLLOW),
        ROW(fchown, file, owner, owner),
        ROW(fchownat, AT_FDCWD, P("link"), owner, owner, AT_SYMLINK_NOFOLLOW),
        ROW(utimensat, file, 0, P(times), 0),
        ROW(setxattr, P("link"), P("user.note"), P("new"), 3, 0),
        ROW(lsetxattr, P("a.txt"), P("user.note"), P("new"), 3, 0),
        ROW(fsetxattr, file, P("user.other"), P("new"), 3, 0),
        ROW(setxattrat, AT_FDCWD, P("a.txt"), 0, P("user.note"), P(&value), sizeof value),
        ROW(removexattr, P("link"), P("user.note")),
        ROW(lremovexattr, P("a.txt"), P("user.note")),
        ROW(fremovexattr, file, P("user.note")),
        ROW(removexattrat, AT_FDCWD, P("a.txt"), 0, P("user.note")),
    };
    for (const struct row *row = rows; argc == 2 && row < rows + sizeof rows / sizeof *rows; row++)
        if (strcmp(row->name, argv[1]) == 0) {
            const long *a = row->args;
            long done = syscall(row->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
            if (done > 2 && write((int)done, "changed", 7) != 7) return 3;
            if (done < 0) perror(row->name);
            return done < 0 ? errno == ENOSYS ? 77 : 1 : 0;
        }
    return 2;
}
