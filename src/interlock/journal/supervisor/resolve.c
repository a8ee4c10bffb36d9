/* Paths as a caller's kernel would resolve them: in its root, its folder and its descriptors, links followed as the call follows them. */

#include "journal.h"

#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/statfs.h>
#include <sys/uio.h>

#define WANTED (STATX_BASIC_STATS | STATX_BTIME)
#define CALLERS 64
#define MOST_LINKS 40

static struct caller callers[CALLERS];
static struct statx own_root;

static int open_at(int base, const char *path, uint64_t flags, uint64_t resolve) {
    struct open_how how = {.flags = flags | O_PATH | O_CLOEXEC, .resolve = resolve};
    for (;;) {
        long fd = syscall(SYS_openat2, base, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return fd < 0 ? -errno : (int)fd;
    }
}

static bool same_root(int proc, int *error) {
    struct statx st;
    if (!own_root.stx_mask) statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &own_root);
    *error = statx(proc, "root", 0, STATX_INO | STATX_MNT_ID, &st) < 0 ? errno : 0;
    return !*error && st.stx_ino == own_root.stx_ino && st.stx_dev_minor == own_root.stx_dev_minor &&
           st.stx_dev_major == own_root.stx_dev_major && st.stx_mnt_id == own_root.stx_mnt_id;
}

/* The number of a thread's process, here and in its own namespace. */
static pid_t group_of(int proc, pid_t *inner) {
    char text[4096];
    int fd = openat(proc, "status", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (length <= 0) return 0;
    text[length] = 0;
    const char *at = strstr(text, "\nTgid:"), *own = strstr(text, "\nNStgid:");
    *inner = at ? (pid_t)strtol(at + 6, NULL, 10) : 0;
    for (char *next = own ? (char *)own + 8 : NULL; next && *next && *next != '\n';) *inner = (pid_t)strtol(next, &next, 10);
    return at ? (pid_t)strtol(at + 6, NULL, 10) : 0;
}

static void close_caller(struct caller *one) {
    if (one->proc > 0) close(one->proc);
    if (one->proc > 0 && one->handle >= 0) close(one->handle);
    *one = (struct caller){0};
}

static bool open_caller(struct caller *one, pid_t tid) {
    char path[32];
    int error = 0;
    close_caller(one);
    snprintf(path, sizeof path, "/proc/%d", tid);
    *one = (struct caller){.tid = tid, .handle = -1, .proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (one->proc >= 0 && (one->tgid = group_of(one->proc, &one->inner)) > 0) {
        one->foreign = !same_root(one->proc, &error);
        if (one->tgid == tid) one->handle = (int)syscall(SYS_pidfd_open, tid, 0);
        if (!error) return true;
    }
    close_caller(one);
    return false;
}

/* The caller, as it was remembered; NULL where it has ended. Whoever uses it finds out whether the number is another process's by now. */
struct caller *caller_of(pid_t tid) {
    struct caller *one = &callers[tid % CALLERS];
    return (one->tid == tid && one->proc > 0) || open_caller(one, tid) ? one : NULL;
}

/* Looks at the caller's root; reads a number that now belongs to another process anew. */
int caller_refresh(struct caller *caller) {
    int error = 0;
    caller->foreign = !same_root(caller->proc, &error);
    return error && !open_caller(caller, caller->tid) ? -ESRCH : 0;
}

void callers_forget(const struct action *gone) {
    for (struct caller *one = callers; one < callers + CALLERS; one++) {
        if (one->recorded == gone) one->recorded = NULL;
        if (one->call == gone) one->call = NULL;
    }
}

/* What leads to a descriptor from its process's folder in /proc. */
static const char *descriptor_link(int fd, char text[16]) {
    char *at = text + 15;
    unsigned rest = (unsigned)fd;
    *at = 0;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    return memcpy(at - 3, "fd/", 3);
}

/* A descriptor of the caller as one of ours, which is quicker than its link in /proc; -1 where only that leads there. */
static int take(const struct caller *caller, int fd) {
    return caller->handle < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, caller->handle, fd, 0);
}

/* The status of what a descriptor of the caller is open on. */
int status_of(struct caller *caller, int fd, struct statx *st) {
    char text[16];
    const char *link = descriptor_link(fd, text);
    int taken = take(caller, fd), found = taken < 0 ? -1 : statx(taken, "", AT_EMPTY_PATH, WANTED, st);
    if (taken >= 0) close(taken);
    if (found == 0 || statx(caller->proc, link, 0, WANTED, st) == 0) return 0;
    int error = caller_refresh(caller);
    return error ? error : statx(caller->proc, link, 0, WANTED, st) < 0 ? -errno : 0;
}

int read_bytes(pid_t pid, uint64_t address, void *into, size_t length) {
    struct iovec here = {into, length}, there = {(void *)(uintptr_t)address, length};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return got < 0 ? -errno : got == (ssize_t)length ? 0 : -EFAULT;
}

int read_text(pid_t pid, uint64_t address, char *into, size_t room) {
    size_t done = 0;
    if (address == 0) return -EFAULT;
    while (done < room) {
        size_t part = 4096 - (address + done) % 4096; /* up to the end of a page: the next may not exist */
        if (done == 0 && part > 256) part = 256;      /* most paths are short */
        if (part > room - done) part = room - done;
        int error = read_bytes(pid, address + done, into + done, part);
        if (error) return error;
        if (memchr(into + done, 0, part)) return 0;
        done += part;
    }
    return -ENAMETOOLONG;
}

static int name_of(int fd, char *into) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, into, PATH_MAX);
    if (length < 0) return -errno;
    if (length >= PATH_MAX) return -ENAMETOOLONG;
    into[length] = 0;
    return into[0] == '/' ? 0 : -EXDEV;
}

static int look(struct object *object) {
    object->exists = true;
    return statx(object->fd, "", AT_EMPTY_PATH, WANTED, &object->st) < 0 ? -errno : 0;
}

static bool is_proc(int fd) {
    struct statfs found;
    return fstatfs(fd, &found) == 0 && found.f_type == PROC_SUPER_MAGIC;
}

/* A link's text, /proc/self being the caller's; 1 where only the kernel can follow it. */
static int link_text(struct caller *caller, int at, int link, const char *name, char *into, size_t room) {
    if (is_proc(at)) {
        if (!strcmp(name, "self")) return snprintf(into, room, "%d", caller->inner), 0;
        if (!strcmp(name, "thread-self") && caller->inner == caller->tgid) return snprintf(into, room, "%d/task/%d", caller->tgid, caller->tid), 0;
        if (!strcmp(name, "thread-self")) return snprintf(into, room, "%d", caller->inner), 0;
        return 1;
    }
    ssize_t length = readlinkat(link, "", into, room - 1);
    if (length < 0) return -errno;
    into[length] = 0;
    return 0;
}

static int root_of(struct caller *caller) {
    return openat(caller->proc, "root", O_PATH | O_CLOEXEC);
}

/* Resolves step by step, as openat2 would, but with the links of /proc: the folder that the last name stands in, and that name. */
static int walk(struct caller *caller, int base, const char *path, bool follow, int *parent, char *name, int *object) {
    char rest[LONGEST], text[LONGEST], joined[LONGEST];
    int at = *path == '/' ? root_of(caller) : openat(base, ".", O_PATH | O_CLOEXEC), links = 0, error = 0;
    if (at < 0) return -errno;
    *object = -1;
    snprintf(rest, sizeof rest, "%s", path);
    while (!error) {
        char *from = rest + strspn(rest, "/"), *end = from + strcspn(from, "/");
        bool last = end[strspn(end, "/")] == 0;
        if (end - from > NAME_MAX) { error = -ENAMETOOLONG; break; }
        memcpy(name, from, (size_t)(end - from)), name[end - from] = 0;
        if (!*name) strcpy(name, ".");
        memmove(rest, end, strlen(end) + 1);
        int next = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0 && errno == ENOENT && last) break;
        struct stat st;
        if (next < 0 || fstat(next, &st) < 0) { error = -errno; break; }
        if (S_ISLNK(st.st_mode) && (!last || follow)) {
            int found = ++links > MOST_LINKS ? -ELOOP : link_text(caller, at, next, name, text, sizeof text);
            close(next);
            if (found < 0) { error = found; break; }
            if (found == 0) {
                if (snprintf(joined, sizeof joined, "%s/%s", text, rest) >= (int)sizeof joined) { error = -ENAMETOOLONG; break; }
                strcpy(rest, joined);
                if (*text == '/') close(at), at = root_of(caller);
                if (last) rest[strlen(rest) - 1] = 0; /* no slash of ours behind the last name */
                continue;
            }
            next = openat(at, name, O_PATH | O_CLOEXEC);
            if (next < 0) { error = -errno; break; }
        }
        if (last) { *object = next; break; }
        close(at), at = next;
    }
    if (error) return close(at), error;
    *parent = at;
    return 0;
}

/* In a root that is not ours: whether the same path leads to the same thing here, for only then can it be restored. */
static bool is_reachable(struct caller *caller, const struct object *object) {
    struct statx here, there = object->exists ? object->st : object->above;
    char path[LONGEST];
    if (!caller->foreign) return true;
    strcpy(path, object->path);
    if (!object->exists) *strrchr(path, '/') = 0;
    if (statx(AT_FDCWD, *path ? path : "/", AT_SYMLINK_NOFOLLOW, STATX_INO, &here) < 0) return false;
    return device(&here) == device(&there) && here.stx_ino == there.stx_ino;
}

/* What stands by its name in the parent; 0 also where nothing does. */
static int look_inside(struct object *object) {
    object->exists = statx(object->parent, object->name, AT_SYMLINK_NOFOLLOW, WANTED, &object->st) == 0;
    return object->exists || errno == ENOENT ? 0 : -errno;
}

static int name_inside(struct object *object) {
    size_t length = strlen(object->path), more = strlen(object->name) + 1;
    if (length + more + 1 > sizeof object->path) return -ENAMETOOLONG;
    if (length > 1) object->path[length++] = '/';
    memcpy(object->path + length, object->name, more);
    return 0;
}

static int finish(struct caller *caller, struct object *object) {
    int error = name_of(object->parent, object->path);
    if (!error && statx(object->parent, "", AT_EMPTY_PATH, WANTED, &object->above) < 0) error = -errno;
    if (!error) error = name_inside(object);
    return error ? error : is_reachable(caller, object) ? 0 : -EXDEV;
}

static int finish_followed(struct caller *caller, struct object *object) {
    int error = look(object);
    if (!error) error = name_of(object->fd, object->path);
    if (!error && object->st.stx_nlink == 0) error = -EXDEV; /* deleted: nothing to bring back */
    return error ? error : is_reachable(caller, object) ? 0 : -EXDEV;
}

/* The folder of the last call, which most calls have in common with the next; used again only if the same words still lead to it. */
static struct holder {
    pid_t tid;
    int lent; /* to how many objects of the present call */
    int dir, fd;
    uint64_t id;
    char words[512], path[LONGEST];
} holders[4];

void holders_forget(void) {
    for (struct holder *one = holders; one < holders + 4; one++) {
        if (one->tid) close(one->fd);
        one->tid = 0;
    }
}

static struct holder *holder_of(const struct caller *caller, int dir, const char *before) {
    for (struct holder *one = holders; one < holders + 4; one++)
        if (one->tid == caller->tid && one->dir == dir && !strcmp(one->words, before)) return one;
    return NULL;
}

static void lend(struct holder *one, struct object *object) {
    object->parent = one->fd, object->lender = one, one->lent++;
}

static void give_back(struct object *object) {
    if (object->lender) object->lender->lent--;
    object->lender = NULL, object->parent = -1;
}

/* The status of the folder that the words lead to; base: where dir is open here, or -1. */
static bool look_above(const struct caller *caller, int dir, int base, const char *before, struct statx *st) {
    char words[LONGEST + 16], text[16];
    if (*before == '/') return statx(AT_FDCWD, before, 0, WANTED, st) == 0;
    if (base >= 0) return statx(base, before, AT_EMPTY_PATH, WANTED, st) == 0;
    char *end = stpcpy(words, dir == AT_FDCWD ? "cwd" : descriptor_link(dir, text));
    *end++ = '/', strcpy(end, before);
    return statx(caller->proc, words, 0, WANTED, st) == 0;
}

/* Finds the parent among the folders of recent calls; false where none of them is it. */
static bool recall(struct caller *caller, int dir, int base, const char *before, struct object *object) {
    struct holder *one = holder_of(caller, dir, before);
    if (!one || !look_above(caller, dir, base, before, &object->above) || identity(&object->above) != one->id) return false;
    lend(one, object);
    strcpy(object->path, one->path);
    return true;
}

/* Looks by its path at something of an earlier call: in the folder that was lent for it, where that is still remembered. */
bool look_again(const struct holder *lender, uint64_t above, const char *path, struct statx *st) {
    bool there = lender && lender->tid && lender->id == above;
    return statx(there ? lender->fd : AT_FDCWD, there ? strrchr(path, '/') + 1 : path, AT_SYMLINK_NOFOLLOW, WANTED, st) == 0;
}

/* Remembers the parent, in place of what the same words led to before. */
static void remember(struct caller *caller, int dir, const char *before, struct object *object) {
    static unsigned next;
    struct holder *one = holder_of(caller, dir, before);
    size_t length = strlen(object->path) - strlen(object->name);
    if (caller->foreign || object->parent < 0 || strlen(before) >= sizeof one->words || (one && one->lent)) return;
    while (!one && holders[next % 4].lent) next++; /* a call has two objects at most */
    if (!one) one = &holders[next++ % 4];
    if (one->tid) close(one->fd);
    *one = (struct holder){.tid = caller->tid, .dir = dir, .fd = object->parent, .id = identity(&object->above)};
    strcpy(one->words, before);
    memcpy(one->path, object->path, length);
    one->path[length > 1 ? length - 1 : 1] = 0;
    lend(one, object);
}

static int base_of(struct caller *caller, int dir, const char *path, uint64_t *resolve, char *joined) {
    char text[16];
    const char *link = dir == AT_FDCWD ? "cwd" : descriptor_link(dir, text);
    if (*path == '/' && !(*resolve & RESOLVE_IN_ROOT)) {
        if (!caller->foreign) return AT_FDCWD;
        *resolve |= RESOLVE_IN_ROOT;
        return root_of(caller);
    }
    if (caller->foreign && !(*resolve & RESOLVE_IN_ROOT)) { /* links lead to the caller's root, not to ours */
        char root[PATH_MAX];
        ssize_t length = readlinkat(caller->proc, link, joined, PATH_MAX), above = readlinkat(caller->proc, "root", root, PATH_MAX);
        if (length < 0 || above < 0) return -1;
        if (above > 1 && length >= above && memcmp(joined, root, (size_t)above) == 0) /* seen from here, its root stands before it */
            memmove(joined, joined + above, (size_t)(length - above)), length -= above;
        if (length + strlen(path) + 2 > LONGEST) return errno = ENAMETOOLONG, -1;
        joined[length] = '/', strcpy(joined + length + 1, path);
        *resolve |= RESOLVE_IN_ROOT;
        return root_of(caller);
    }
    return openat(caller->proc, link, O_PATH | O_CLOEXEC);
}

static int find_slowly(struct caller *caller, int base, const char *path, bool follow, struct object *object) {
    int error = walk(caller, base, path, follow, &object->parent, object->name, &object->fd);
    if (error) return error;
    if (object->fd < 0) return object->exists = false, finish(caller, object);
    if (follow) return finish_followed(caller, object);
    error = look(object);
    return error ? error : finish(caller, object);
}

/* The last name of a path, and the part before it; false where it has none to speak of (`/`, `a/..`). */
static bool split(const char *path, char *before, char *name) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/') start--;
    if (end - start > NAME_MAX || end == start) return false;
    memcpy(name, path + start, end - start), name[end - start] = 0;
    memcpy(before, path, start), before[start] = 0;
    return strcmp(name, ".") && strcmp(name, "..");
}

/* The parent by way of the kernel, then what stands there; -ELOOP where a link or /proc has to be walked by hand. */
static int find_inside(struct caller *caller, int base, const char *before, bool follow, uint64_t how, struct object *object) {
    object->parent = open_at(base, *before ? before : ".", O_DIRECTORY, how);
    if (object->parent < 0) return object->parent;
    int error = look_inside(object);
    if (error) return error;
    /* a descriptor that the caller has and this process has not */
    if (follow && !object->exists && is_proc(object->parent)) return -ELOOP;
    return finish(caller, object);
}

/* Follows the link that the last name is; where it leads nowhere yet, the call creates there. */
static int find_followed(struct caller *caller, int base, const char *path, uint64_t how, struct object *object) {
    object->fd = open_at(base, path, 0, how);
    if (object->fd >= 0) return finish_followed(caller, object);
    int error = object->fd == -ENOENT ? -ELOOP : object->fd;
    object->fd = -1;
    return error;
}

/* Finds it in a folder of a recent call; 1 where it has to be found anew. */
static int find_again(struct caller *caller, int dir, int base, const char *before, bool follow, struct object *object) {
    if (!recall(caller, dir, base, before, object)) return 1;
    int error = look_inside(object);
    if (!error && !(follow && object->exists && S_ISLNK(object->st.stx_mode))) return name_inside(object);
    return give_back(object), 1;
}

static int find_anew(struct caller *caller, int dir, int taken, const char *path, bool follow, uint64_t resolve, struct object *object) {
    char joined[LONGEST], before[LONGEST];
    uint64_t how = resolve;
    int error = *path != '/' && !caller->foreign ? caller_refresh(caller) : 0;
    if (error) return error;
    int base = taken >= 0 && !caller->foreign ? taken : base_of(caller, dir, path, &how, joined);
    if (base == -1) return -errno;
    if (caller->foreign && *path != '/' && !(resolve & RESOLVE_IN_ROOT)) path = joined;
    bool named = split(path, before, object->name);
    how |= RESOLVE_NO_MAGICLINKS;
    if (!named && !follow) error = -EINVAL;
    else if (named) error = find_inside(caller, base, before, follow, how, object);
    bool link = !error && named && object->exists && S_ISLNK(object->st.stx_mode);
    if (!error && follow && (!named || link)) {
        object_close(object);
        error = find_followed(caller, base, path, how, object);
    } else if (!error && named && !resolve) remember(caller, dir, before, object);
    if (error == -ELOOP || (error == -ENOENT && caller->foreign)) { /* /proc/self leads nowhere from outside its namespace */
        object_close(object);
        error = find_slowly(caller, base == AT_FDCWD ? caller->proc : base, path, follow, object);
    }
    if (base != AT_FDCWD && base != taken) close(base);
    return error;
}

/* Finds what a path leads to; 0 also where nothing is there but its folder is. -EXDEV: nothing that could be restored. */
int find(struct caller *caller, int dir, const char *path, bool follow, uint64_t resolve, struct object *object) {
    char before[LONGEST];
    object->fd = object->parent = -1, object->path[0] = 0, object->exists = false, object->lender = NULL;
    if (!*path) return -ENOENT;
    int error = *path == '/' || caller->foreign ? caller_refresh(caller) : 0;
    if (error) return error;
    int base = *path == '/' || dir == AT_FDCWD || caller->foreign ? -1 : take(caller, dir);
    bool recent = !caller->foreign && !resolve && split(path, before, object->name);
    error = recent ? find_again(caller, dir, base, before, follow, object) : 1;
    if (error == 1) error = find_anew(caller, dir, base, path, follow, resolve, object);
    if (base >= 0) close(base);
    if (error) object_close(object);
    return error;
}

int find_descriptor(struct caller *caller, int fd, struct object *object) {
    char text[16];
    object->parent = -1, object->path[0] = 0, object->lender = NULL;
    object->fd = openat(caller->proc, descriptor_link(fd, text), O_PATH | O_CLOEXEC);
    int error = object->fd < 0 ? -errno : finish_followed(caller, object);
    if (error) object_close(object);
    return error;
}

void object_close(struct object *object) {
    if (object->fd >= 0) close(object->fd);
    if (object->parent >= 0 && !object->lender) close(object->parent);
    object->fd = -1;
    give_back(object);
}
