/* What the parts of the supervisor share. */

#ifndef JOURNAL_H
#define JOURNAL_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define LONGEST (PATH_MAX + NAME_MAX + 2)
#define SMALL 16384 /* bytes of a content that is written into the journal itself */
#define CANNOT 125  /* exit code where no journal is possible and the command was not run */

/* A process that made a call. */
struct caller {
    pid_t tid, tgid;
    int proc;     /* its folder in /proc */
    int handle;   /* of the process, to take descriptors from; -1 for a thread, which may have others */
    bool foreign; /* its root is not ours */
    pid_t inner;  /* the number of its process in its own namespace */
    uint64_t start;
    const struct action *recorded; /* the action whose journal names it */
    const struct action *call;     /* the action of its calls, where that is settled */
};

struct process {
    pid_t pid, parent;
    uint64_t start;
    char name[64];
};

/* Something a path leads to. It is open (fd), or known by its name in a folder that is (parent), or both. */
struct object {
    int fd, parent;
    bool exists;
    struct holder *lender;    /* remembers the parent, which is not closed with this */
    struct statx st, above;   /* above: of the parent */
    char name[NAME_MAX + 1];
    char path[LONGEST];
};

enum kind { ABSENT, REGULAR, FOLDER, LINK, OTHER };
enum content { NONE, INLINE, LINKED, CLONED, COPIED, EARLIER };
enum role { TARGET, SECOND, PARENT };

/* Records are read by interlock/journal/entries.py; both sides are little-endian. */
struct __attribute__((packed)) record {
    uint32_t length; /* of all of it */
    uint32_t sum;    /* CRC-32 of everything but contents, with this field 0 */
    char type;       /* H head, P process, c w m u r x changes, d done, a after */
    uint8_t states;
    char call[18];
    uint32_t pid;
    uint64_t sequence, time;
};

struct __attribute__((packed)) state {
    uint32_t length; /* with path, attributes and content */
    uint8_t kind, content, role, pad;
    uint32_t mode, uid, gid, nlink;
    uint64_t dev, ino, size;
    int64_t atime, mtime, ctime, btime;
    uint64_t object; /* its number in `objects` */
    uint8_t hash[32];
    uint32_t path_length, xattr_length, data_length;
};

struct settings {
    const char *store;
    char *guards[16], *skips[256];
    char *spare; /* the folder inside the guarded ones that processes may write to, and of which nothing is kept */
    int guard_count, skip_count;
    uint64_t bytes, files, total, free;
};
extern struct settings settings;

/* sets of 64-bit keys */
struct set {
    uint64_t *at;
    size_t room, used;
};
bool set_has(const struct set *set, uint64_t key);
bool set_add(struct set *set, uint64_t key); /* false where it was there already */
uint64_t mix(uint64_t a, uint64_t b);
uint64_t mix_text(const char *text, size_t length);

/* An action being journaled. */
struct action {
    int folder, journal, objects;
    char id[16];
    uint64_t start, sequence, object, length; /* length: of the journal */
    uint64_t files, bytes, changes, used;     /* used: bytes of earlier actions */
    bool gathers;                             /* its last records, in the tail */
    struct tail *tail;
    uint64_t stored;                          /* length without those */
    dev_t dev;
    struct set created;   /* paths that it created */
    struct set own;       /* identities of what it created */
    struct set marked;    /* identities whose owner, mode, times and attributes are recorded */
    struct set holders;   /* folders whose times are recorded */
    struct set written;   /* identities whose content is recorded */
    struct set kept;      /* identities whose content is kept */
    struct set unread;    /* numbers of objects whose content was kept without reading it */
    struct set processes; /* that are recorded */
};
extern struct action *action; /* the one that the present call belongs to */

struct blake {
    uint64_t h[8], count;
    uint8_t buffer[128];
    size_t held;
};
void blake_start(struct blake *);
void blake_add(struct blake *, const void *, size_t);
void blake_end(struct blake *, uint8_t out[32]);
uint32_t crc(uint32_t sum, const void *at, size_t length);

/* filter.c */
int filter_install(bool execs); /* the listener, or -errno; execs: it is told of execve too */
int filter_outer(void);   /* 1: an outer journal watches this process already, 0: none does, -errno: one that was killed */
#define ASK "/dev/null/interlock-journal" /* to remove it is answered by a journal alone, with EALREADY */
#define JOIN ASK "/call"                  /* the same, and the process begins a call of its own */

/* supervisor.c */
void close_others(const int *keep, int count); /* every descriptor but these and the first three */

/* resolve.c */
struct caller *caller_of(pid_t tid);
int caller_refresh(struct caller *); /* -ESRCH where it has ended */
void callers_forget(const struct action *);
void holders_forget(void);
int read_text(pid_t pid, uint64_t address, char *into, size_t room);
int read_bytes(pid_t pid, uint64_t address, void *into, size_t length);
int find(struct caller *, int dir, const char *path, bool follow, uint64_t resolve, struct object *);
int find_descriptor(struct caller *, int fd, struct object *);
bool look_again(const struct holder *, uint64_t above, const char *path, struct statx *);
int status_of(struct caller *, int fd, struct statx *);
void object_close(struct object *);

/* keep.c */
uint64_t identity(const struct statx *);
int64_t nanoseconds(const struct statx_timestamp *);
dev_t device(const struct statx *);
bool is_pseudo(const struct object *);
int describe(struct object *, enum role, bool content, bool replaced); /* adds a state to the record; 0 or -errno */
void describe_absent(const struct object *, enum role);
void describe_after(const struct object *);
void seal(void);
void keep_clear(void);
const char *keep_problem(void); /* of the last refused keep: names file, size and setting */

/* record.c */
int action_open(char *const argv[], const char *label, const char *cwd);
int action_end(int status);
void record_begin(char type, const char *call, pid_t pid);
int record_commit(void);
void record_drop(void);
struct state *state_begin(enum kind, enum role, const char *path);
void *state_space(size_t); /* where its next bytes will stand, to be written there before they are added */
int state_bytes(const void *, size_t, bool attributes);
void state_end(struct state *);
bool process_read(pid_t, struct process *);
void record_process(struct caller *);
uint64_t now_ns(void);

/* calls.c */
struct call {
    int nr;
    const char *name;
    int (*judge)(struct caller *, const struct seccomp_data *, const struct call *);
    int8_t dir, path, dir2, path2, flags, fd; /* where these stand among the arguments; -1: nowhere */
    int constant;                             /* flags where no argument has them */
    bool follow;
};
extern const struct call CALLS[];
extern const size_t CALL_COUNT;
extern char complaint[LONGEST + 256]; /* said on the caller's stderr where a call is refused */
int judge(struct caller *, const struct seccomp_data *); /* 0: let it happen; else -errno for the caller */
void renames_settle(const struct action *ended);
bool is_within(const char *path, const char *folder);

/* session.c */
void session_begin(pid_t agent, const char *label);
bool session_on(void);
int session_choose(struct caller *, const struct seccomp_data *, const struct call *); /* sets the action of a call; 0 or -errno */
void session_join(struct caller *);
void session_exec(struct caller *, const struct seccomp_data *);
bool session_settle(bool all); /* ends the calls whose processes have ended; whether some are left to watch */

#endif
