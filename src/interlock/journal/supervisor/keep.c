/* Keeps a file as it is: small ones in the journal, others by reflink, by hard link where it is about to lose its only name, else by copy. */

#include "journal.h"

#include <linux/fs.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#define PART (256 << 10)
#define MOST_ATTRIBUTES 65536

static char problem[LONGEST + 200];
static uint64_t unchecked = UINT64_MAX; /* bytes since the free space was last looked at */
static bool no_clone;

const char *keep_problem(void) { return problem; }
void keep_clear(void) { problem[0] = 0; }

int64_t nanoseconds(const struct statx_timestamp *time) { return time->tv_sec * 1000000000 + time->tv_nsec; }
dev_t device(const struct statx *st) { return makedev(st->stx_dev_major, st->stx_dev_minor); }

/* Equal for one file only: an inode's number is used again as soon as it is free, but not with the same time of birth. */
uint64_t identity(const struct statx *st) {
    uint64_t born = st->stx_mask & STATX_BTIME ? (uint64_t)nanoseconds(&st->stx_btime) : 0;
    return mix(mix(device(st), st->stx_ino), born);
}

static const unsigned long PSEUDO[] = {
    PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, TRACEFS_MAGIC, DEBUGFS_MAGIC, SECURITYFS_MAGIC, BPF_FS_MAGIC,
    EFIVARFS_MAGIC, BINFMTFS_MAGIC, DEVPTS_SUPER_MAGIC, SELINUX_MAGIC, NSFS_MAGIC, 0x62656570 /* configfs */, 0x6165676c /* pstore */,
};

/* Whether something is on a file system that holds no files: /proc, /sys and their like. */
bool is_pseudo(const struct object *object) {
    static struct { dev_t dev; bool pseudo; } known[16];
    static unsigned count;
    int fd = object->fd >= 0 ? object->fd : object->parent;
    dev_t dev = device(object->exists ? &object->st : &object->above);
    for (unsigned i = 0; i < 16 && i < count; i++)
        if (known[i].dev == dev) return known[i].pseudo;
    struct statfs found;
    bool pseudo = false;
    if (fstatfs(fd, &found) == 0)
        for (size_t i = 0; i < sizeof PSEUDO / sizeof *PSEUDO; i++) pseudo |= (unsigned long)found.f_type == PSEUDO[i];
    known[count++ % 16].dev = dev, known[(count - 1) % 16].pseudo = pseudo;
    return pseudo;
}

static const char *size_words(uint64_t bytes, char text[32]) {
    static const char *UNITS[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1000 && unit < 4; unit++) value /= 1000;
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", value, UNITS[unit]);
    return text;
}

static int over(const struct object *object, uint64_t size, const char *setting, uint64_t limit) {
    char first[32], second[32];
    bool files = strstr(setting, "files") != NULL;
    if (files) snprintf(second, sizeof second, "%llu", (unsigned long long)limit);
    snprintf(problem, sizeof problem, "%s (%s) cannot be kept: %s is %s", object->path, size_words(size, first), setting,
             files ? second : size_words(limit, second));
    return -EDQUOT;
}

static int check_bounds(const struct object *object, uint64_t size, bool takes_space) {
    if (action->files + 1 > settings.files) return over(object, size, "undo.journal_files", settings.files);
    if (action->bytes + size > settings.bytes) return over(object, size, "undo.journal_bytes", settings.bytes);
    if (action->used + action->bytes + size > settings.total) return over(object, size, "undo.journal_total_bytes", settings.total);
    struct statvfs found;
    if (!takes_space) return 0;
    if (unchecked + size > 16 << 20 || unchecked + size < size) {
        if (fstatvfs(action->folder, &found) < 0) return -errno;
        if ((uint64_t)found.f_bavail * found.f_frsize < settings.free + size) return over(object, size, "undo.free_bytes", settings.free);
        unchecked = 0;
    }
    unchecked += size;
    return 0;
}

/* Opens a file to read it; one that its owner may not read is made readable for that moment. */
static int open_to_read(const struct object *object) {
    char path[32];
    int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, at = AT_FDCWD;
    const char *name = path;
    if (object->fd >= 0) snprintf(path, sizeof path, "/proc/self/fd/%d", object->fd);
    else at = object->parent, name = object->name, flags |= O_NOFOLLOW;
    int fd = openat(at, name, flags | O_NOATIME);
    if (fd < 0 && errno == EPERM) fd = openat(at, name, flags);
    if (fd < 0 && errno == EACCES && fchmodat(at, name, (object->st.stx_mode & 07777) | S_IRUSR, 0) == 0) {
        fd = openat(at, name, flags);
        int error = errno;
        if (fchmodat(at, name, object->st.stx_mode & 07777, 0) < 0) error = errno;
        errno = error;
    }
    return fd < 0 ? -errno : fd;
}

static int write_all(int fd, const char *at, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, at, length);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? -errno : -EIO;
        at += done, length -= (size_t)done;
    }
    return 0;
}

/* Copies a file, holes as holes, and hashes it on the way; to: -1 where it is hashed alone. */
static int copy(int from, int to, struct state *state) {
    static char part[PART];
    static const char zeros[PART];
    struct blake hash;
    blake_start(&hash);
    state->size = 0;
    for (;;) {
        ssize_t got = read(from, part, PART);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -errno;
        if (got == 0) break;
        blake_add(&hash, part, (size_t)got);
        state->size += (uint64_t)got;
        bool hole = got == PART && memcmp(part, zeros, PART) == 0;
        int error = to < 0 ? 0 : hole ? (lseek(to, PART, SEEK_CUR) < 0 ? -errno : 0) : write_all(to, part, (size_t)got);
        if (error) return error;
    }
    blake_end(&hash, state->hash);
    return to >= 0 && ftruncate(to, (off_t)state->size) < 0 ? -errno : 0;
}

/* A second name in the store for a file about to lose its only one; refused where somebody may still write to it. */
static bool link_into_store(const struct object *object, int from, const char *name) {
    char path[32];
    struct statx now;
    if (object->st.stx_nlink != 1 || device(&object->st) != action->dev) return false;
    if (!(object->st.stx_mode & S_IRUSR)) return false; /* an undo has to read it, and may change nothing in the store */
    if (fcntl(from, F_SETLEASE, F_RDLCK) < 0) return false; /* no process has it open for writing */
    snprintf(path, sizeof path, "/proc/self/fd/%d", from);
    bool linked = linkat(AT_FDCWD, path, action->objects, name, AT_SYMLINK_FOLLOW) == 0;
    bool same = linked && statx(from, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &now) == 0 && now.stx_nlink == 2 &&
                now.stx_size == object->st.stx_size && nanoseconds(&now.stx_mtime) == nanoseconds(&object->st.stx_mtime) &&
                fcntl(from, F_GETLEASE) == F_RDLCK;
    fcntl(from, F_SETLEASE, F_UNLCK);
    if (linked && !same) unlinkat(action->objects, name, 0);
    return same;
}

/* Notes a content that nobody read, for seal(). */
static int unread(struct state *state, enum content how) {
    set_add(&action->unread, state->object);
    return state->content = (uint8_t)how, 0;
}

static int keep_apart(struct object *object, int from, struct state *state, bool replaced) {
    char name[24];
    state->object = ++action->object;
    snprintf(name, sizeof name, "%llu", (unsigned long long)state->object);
    if (no_clone && replaced && link_into_store(object, from, name)) return unread(state, LINKED);
    int to = openat(action->objects, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error = to < 0 ? -errno : 0;
    if (to < 0) return error;
    if (!no_clone && ioctl(to, FICLONE, from) == 0) unread(state, CLONED);
    else {
        if (device(&object->st) == action->dev) no_clone = true;
        if (replaced && unlinkat(action->objects, name, 0) == 0 && link_into_store(object, from, name)) return close(to), unread(state, LINKED);
        if (replaced) close(to), to = openat(action->objects, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        error = to < 0 ? -errno : check_bounds(object, 0, true);
        if (!error) error = copy(from, to, state);
        state->content = COPIED;
    }
    if (to >= 0) close(to);
    if (error) unlinkat(action->objects, name, 0);
    return error;
}

/* A line that StoredJournal.sums reads, written as a whole or not at all. */
static void hash_object(uint64_t number, int sums) {
    char text[96];
    struct state state;
    int length = snprintf(text, sizeof text, "%llu ", (unsigned long long)number);
    text[length - 1] = 0;
    int from = openat(action->objects, text, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0 || copy(from, -1, &state)) return;
    posix_fadvise(from, 0, 0, POSIX_FADV_DONTNEED), close(from);
    text[length - 1] = ' ';
    for (int i = 0; i < 32; i++) length += snprintf(text + length, sizeof text - (size_t)length, "%02x", state.hash[i]);
    text[length++] = '\n';
    if (write(sums, text, (size_t)length) < 0) _exit(1);
}

/* Hashes the contents that were kept without reading them, so that an undo can tell whether they still are what they were: in a process
 * of its own, which yields to every other one. */
void seal(void) {
    int sums = action->unread.used ? openat(action->folder, "sums", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (sums >= 0 && fork() == 0) {
        const int keep[] = {sums, action->objects};
        sigset_t none;
        close_others(keep, 2);
        sigemptyset(&none), sigprocmask(SIG_SETMASK, &none, NULL);
        setpriority(PRIO_PROCESS, 0, 19), syscall(SYS_ioprio_set, 1 /* this process */, 0, 3 << 13 /* when idle */);
        for (size_t i = 0; i < action->unread.room; i++)
            if (action->unread.at[i]) hash_object(action->unread.at[i], sums);
        _exit(0);
    }
    if (sums >= 0) close(sums);
    free(action->unread.at), action->unread = (struct set){0};
}

static int keep_inside(int from, struct state *state) {
    struct blake hash;
    void *data = state_space(SMALL + 1);
    ssize_t length = data ? read(from, data, SMALL + 1) : 0;
    if (!data) return -EFBIG;
    if (length < 0) return -errno;
    if (length > SMALL) return 1; /* it grows: apart */
    blake_start(&hash), blake_add(&hash, data, (size_t)length), blake_end(&hash, state->hash);
    state->content = INLINE, state->size = (uint64_t)length;
    return state_bytes(data, (size_t)length, false);
}

static int keep_content(struct object *object, struct state *state, int from, bool replaced) {
    uint64_t size = object->st.stx_size, blocks = object->st.stx_blocks * 512;
    if (size > blocks + SMALL) size = blocks; /* sparse */
    int error = check_bounds(object, size, !replaced || object->st.stx_size <= SMALL);
    if (error) return error;
    error = object->st.stx_size <= SMALL ? keep_inside(from, state) : 1;
    if (error == 1) error = lseek(from, 0, SEEK_SET) < 0 ? -errno : keep_apart(object, from, state, replaced);
    if (error) return error;
    action->files++, action->bytes += size;
    set_add(&action->kept, identity(&object->st));
    return 0;
}

/* fd: where it is open to be read. */
static int add_attributes(const struct object *object, int fd) {
    char names[8192], value[MOST_ATTRIBUTES], path[NAME_MAX + 40];
    if (fd < 0 && object->fd >= 0) snprintf(path, sizeof path, "/proc/self/fd/%d", object->fd);
    else if (fd < 0) snprintf(path, sizeof path, "/proc/self/fd/%d/%s", object->parent, object->name);
    ssize_t length = fd >= 0 ? flistxattr(fd, names, sizeof names) : listxattr(path, names, sizeof names);
    if (length < 0) return errno == ENOTSUP || errno == EACCES || errno == ENOSYS ? 0 : -errno;
    for (char *name = names; name < names + length; name += strlen(name) + 1) {
        ssize_t size = fd >= 0 ? fgetxattr(fd, name, value, sizeof value) : getxattr(path, name, value, sizeof value);
        if (size < 0) continue; /* not ours to read, hence not the caller's to change */
        uint32_t lengths[2] = {(uint32_t)strlen(name), (uint32_t)size};
        if (state_bytes(lengths, sizeof lengths, true) || state_bytes(name, lengths[0], true) || state_bytes(value, (size_t)size, true))
            return -EFBIG;
    }
    return 0;
}

static enum kind kind_of(const struct statx *st) {
    return S_ISREG(st->stx_mode) ? REGULAR : S_ISDIR(st->stx_mode) ? FOLDER : S_ISLNK(st->stx_mode) ? LINK : OTHER;
}

static int add_link(struct object *object, struct state *state) {
    char text[PATH_MAX];
    ssize_t length = object->fd >= 0 ? readlinkat(object->fd, "", text, sizeof text) : readlinkat(object->parent, object->name, text, sizeof text);
    if (length < 0) return -errno;
    state->content = INLINE;
    return state_bytes(text, (size_t)length, false);
}

void describe_absent(const struct object *object, enum role role) {
    state_end(state_begin(ABSENT, role, object->path));
}

static struct state *begin_state(const struct object *object, enum role role) {
    const struct statx *st = &object->st;
    struct state *state = state_begin(kind_of(st), role, object->path);
    state->mode = st->stx_mode, state->uid = st->stx_uid, state->gid = st->stx_gid, state->nlink = st->stx_nlink;
    state->dev = device(st), state->ino = st->stx_ino, state->size = st->stx_size;
    state->atime = nanoseconds(&st->stx_atime), state->mtime = nanoseconds(&st->stx_mtime);
    state->ctime = nanoseconds(&st->stx_ctime);
    state->btime = st->stx_mask & STATX_BTIME ? nanoseconds(&st->stx_btime) : 0;
    return state;
}

/* Adds how an action left something: enough to tell whether anybody touched it since. */
void describe_after(const struct object *object) { state_end(begin_state(object, TARGET)); }

/* Adds the state of something to the record, with its content where that is asked for and not kept already. */
int describe(struct object *object, enum role role, bool content, bool replaced) {
    const struct statx *st = &object->st;
    struct state *state = begin_state(object, role);
    content = content && state->kind == REGULAR;
    if (content && set_has(&action->kept, identity(st))) state->content = EARLIER, content = false;
    int from = content ? open_to_read(object) : -1, error = content && from < 0 ? from : 0;
    if (!error && (state->kind == REGULAR || state->kind == FOLDER)) error = add_attributes(object, from);
    if (!error && state->kind == LINK) error = add_link(object, state);
    if (!error && content) error = keep_content(object, state, from, replaced);
    if (from >= 0) close(from);
    if (error && error != -EDQUOT) snprintf(problem, sizeof problem, "%s cannot be kept: %s", object->path, strerror(-error));
    state_end(state);
    return error;
}
