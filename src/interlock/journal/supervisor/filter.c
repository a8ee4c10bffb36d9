/* The seccomp filter: calls that may change a file are told to the supervisor; what it could not see is refused (ENOSYS). */

#include "journal.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <sys/prctl.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the journal knows x86_64 and aarch64"
#endif

#define X32 0x40000000u
#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define LOAD(field) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(test, value, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | test | BPF_K, value, yes, no)
#define RETURN(value) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE RETURN(SECCOMP_RET_ERRNO | ENOSYS)

static size_t write_program(struct sock_filter *into, bool execs) {
    size_t n = 0;
    into[n++] = LOAD(arch);
    into[n++] = IF(BPF_JEQ, ARCHITECTURE, 1, 0);
    into[n++] = REFUSE; /* i386 and other foreign calls */
    into[n++] = LOAD(nr);
    into[n++] = IF(BPF_JGE, X32, 0, 1);
    into[n++] = REFUSE;
    into[n++] = IF(BPF_JEQ, __NR_io_uring_setup, 0, 1); /* a ring opens and unlinks without calls */
    into[n++] = REFUSE;
    into[n++] = IF(BPF_JEQ, __NR_open_by_handle_at, 0, 4); /* names no path */
    into[n++] = LOAD(args[2]);
    into[n++] = IF(BPF_JSET, WRITES, 0, 1);
    into[n++] = REFUSE;
    into[n++] = RETURN(SECCOMP_RET_ALLOW);
    for (int i = 0; execs && i < 2; i++) {
        into[n++] = IF(BPF_JEQ, i ? __NR_execve : __NR_execveat, 0, 1);
        into[n++] = RETURN(SECCOMP_RET_USER_NOTIF);
    }
    for (const struct call *call = CALLS; call < CALLS + CALL_COUNT; call++) {
        bool opens = call->flags >= 0 && (strcmp(call->name, "open") == 0 || strcmp(call->name, "openat") == 0);
        into[n++] = IF(BPF_JEQ, (uint32_t)call->nr, 0, opens ? 4 : 1);
        if (opens) { /* reading is no business of the supervisor */
            into[n++] = LOAD(args[call->flags]);
            into[n++] = IF(BPF_JSET, WRITES, 0, 1);
            into[n++] = RETURN(SECCOMP_RET_USER_NOTIF);
            into[n++] = RETURN(SECCOMP_RET_ALLOW);
        } else
            into[n++] = RETURN(SECCOMP_RET_USER_NOTIF);
    }
    into[n++] = RETURN(SECCOMP_RET_ALLOW);
    return n;
}

static int install(const struct sock_fprog *program) {
    unsigned long base = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, base | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, program);
    if (fd < 0 && errno == EINVAL) fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, base, program);
    return fd < 0 ? -errno : (int)fd;
}

int filter_install(bool execs) {
    struct sock_filter code[512];
    struct sock_fprog program = {(unsigned short)write_program(code, execs), code};
    int fd = install(&program); /* with CAP_SYS_ADMIN setuid programs stay what they are */
    if (fd != -EACCES) return fd;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -errno;
    return install(&program);
}

int filter_outer(void) {
    if (unlink(ASK) == 0) return 0;
    return errno == EALREADY ? 1 : errno == ENOSYS ? -ENOSYS : 0;
}
