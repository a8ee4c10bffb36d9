/* The folder of an action and its journal: records are written whole, before the call that they are about goes on. */

#include "journal.h"

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>

struct action *action = &(struct action){0};

static _Alignas(8) char buffer[512 << 10];
static size_t used;
static uint32_t sum;

static const char LETTERS[] = "234567abcdefghijklmnopqrstuvwxyz"; /* in the order of their codes: ids sort by time */
#define EPOCH 1577836800000000u                                   /* 2020, in microseconds */

uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t read_number(int folder, const char *name) {
    char text[32] = "";
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    return length > 0 ? strtoull(text, NULL, 10) : 0;
}

static int make_folder(int actions) {
    for (uint64_t time = action->start / 1000 - EPOCH;; time++) {
        uint64_t rest = time;
        strcpy(action->id, "j_");
        for (int i = 9; i >= 0; i--, rest /= 32) action->id[2 + i] = LETTERS[rest % 32];
        action->id[12] = 0;
        if (mkdirat(actions, action->id, 0700) == 0) break;
        if (errno != EEXIST) return -errno;
    }
    action->folder = openat(actions, action->id, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return action->folder < 0 ? -errno : 0;
}

static void write_head(char *const argv[], const char *label, const char *cwd) {
    char words[65536];
    size_t length = (size_t)snprintf(words, 4096, "%s", label) + 1;
    if (length > 4096) length = 4096;
    for (; *argv; argv++) {
        size_t more = strlen(*argv) + 1;
        if (length + more > sizeof words) more = sizeof words - length;
        memcpy(words + length, *argv, more), length += more;
    }
    record_begin('H', "1", getpid());
    struct state *state = state_begin(OTHER, TARGET, cwd);
    state->uid = getuid(), state->gid = getgid();
    state_bytes(words, length, false);
    state_end(state);
}

/* Makes the folder of this action in the store; -errno where that is impossible, and then nothing may run. */
int action_open(char *const argv[], const char *label, const char *cwd) {
    struct stat st;
    int store = open(settings.store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store < 0) return -errno;
    int actions = -1, error = 0;
    if (fstat(store, &st) < 0 || st.st_uid != geteuid() || st.st_mode & 077) error = -EACCES;
    if (!error && (actions = openat(store, "actions", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) < 0) error = -errno;
    action->dev = st.st_dev, action->start = now_ns(), action->used = read_number(store, "usage");
    if (!error) error = make_folder(actions);
    if (!error && (mkdirat(action->folder, "objects", 0700) < 0 ||
                   (action->objects = openat(action->folder, "objects", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
                   (action->journal = openat(action->folder, "journal", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0 ||
                   flock(action->journal, LOCK_EX | LOCK_NB) < 0))
        error = -errno;
    if (!error) write_head(argv, label, cwd), error = record_commit();
    close(store);
    if (actions >= 0) close(actions);
    return error;
}

void record_begin(char type, const char *call, pid_t pid) {
    struct record *record = (struct record *)buffer;
    memset(record, 0, sizeof *record);
    record->type = type, record->pid = (uint32_t)pid, record->sequence = ++action->sequence, record->time = now_ns();
    memcpy(record->call, call, strnlen(call, sizeof record->call - 1));
    used = sizeof *record, sum = 0;
}

struct state *state_begin(enum kind kind, enum role role, const char *path) {
    struct state *state = (struct state *)(buffer + used);
    memset(state, 0, sizeof *state);
    state->kind = (uint8_t)kind, state->role = (uint8_t)role;
    state->path_length = (uint32_t)strlen(path);
    used += sizeof *state;
    memcpy(buffer + used, path, state->path_length), used += state->path_length;
    state->length = (uint32_t)(sizeof *state + state->path_length);
    return state;
}

void *state_space(size_t length) { return used + length + LONGEST * 2 + 4096 > sizeof buffer ? NULL : buffer + used; }

/* Adds attributes or content to the last state, attributes first; -EFBIG where the record would grow too long. */
int state_bytes(const void *at, size_t length, bool attributes) {
    struct state *state = (struct state *)(buffer + sizeof(struct record));
    while ((char *)state + state->length < buffer + used) state = (struct state *)((char *)state + state->length);
    char *to = state_space(length);
    if (!to) return -EFBIG;
    if (at != to) memcpy(to, at, length);
    used += length;
    state->length += (uint32_t)length;
    *(attributes ? &state->xattr_length : &state->data_length) += (uint32_t)length;
    return 0;
}

void state_end(struct state *state) {
    sum = crc(sum, state, state->length - state->data_length);
    ((struct record *)buffer)->states++;
}

#define FIRST (64u << 10) /* bytes of a journal after which its records are gathered: most journals stay below */
#define TAIL (128u << 10)
#define NO_RECORD 4 /* bytes of a length 0, which ends the records of a tail */

/* The last records, in a file of their own that is mapped: they take no call, and are there also if this process is killed. */
struct tail {
    uint64_t stored; /* the length of the journal without them */
    char records[TAIL - 8];
};

/* At the end of what the journal file has. */
static int append(const char *from, size_t length) {
    ssize_t done = pwrite(action->journal, from, length, (off_t)action->stored);
    if (done != (ssize_t)length) return done < 0 ? -errno : -ENOSPC;
    action->stored += length;
    return 0;
}

/* Moves the records of the tail into the journal: a reader finds them in one of both at any moment. */
static int tail_write(void) {
    struct tail *tail = action->tail;
    int error = tail ? append(tail->records, action->length - action->stored) : 0;
    if (!tail || error) return error;
    memset(tail->records, 0, NO_RECORD);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    tail->stored = action->stored;
    return 0;
}

/* Where there is none, each record is written by itself. */
static void tail_open(void) {
    action->gathers = true;
    int file = openat(action->folder, "tail", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void *at = file < 0 || fallocate(file, 0, 0, TAIL) < 0 ? MAP_FAILED : mmap(NULL, TAIL, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) action->tail = at, action->tail->stored = action->stored;
    else unlinkat(action->folder, "tail", 0);
    if (file >= 0) close(file);
}

static void tail_close(void) {
    if (action->tail) munmap(action->tail, TAIL);
    action->tail = NULL;
    unlinkat(action->folder, "tail", 0);
}

static void tail_add(char *at) {
    memset(at + used, 0, NO_RECORD);
    memcpy(at + NO_RECORD, buffer + NO_RECORD, used - NO_RECORD);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* its length last: then it is there as a whole */
    memcpy(at, buffer, NO_RECORD);
}

/* Writes the record; a part of one is taken back. */
static int write_record(void) {
    int error = append(buffer, used);
    if (error && ftruncate(action->journal, (off_t)action->stored) < 0) return error;
    if (!error && action->tail) action->tail->stored = action->stored;
    return error;
}

/* Puts the record into the journal or its tail. */
int record_commit(void) {
    struct record *record = (struct record *)buffer;
    record->length = (uint32_t)used, record->sum = 0;
    record->sum = crc(sum, record, sizeof *record);
    if (!action->gathers && action->length >= FIRST) tail_open();
    bool fits = action->length - action->stored + used + NO_RECORD <= sizeof action->tail->records;
    int error = action->tail && fits ? 0 : tail_write();
    if (error) return error;
    if (action->tail && used + NO_RECORD <= sizeof action->tail->records) tail_add(action->tail->records + (action->length - action->stored));
    else if ((error = write_record())) return error;
    action->length += used, used = 0;
    if (strchr("cwmurx", record->type)) action->changes++;
    return 0;
}

void record_drop(void) {
    action->sequence--, used = 0;
}

bool process_read(pid_t pid, struct process *process) {
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (length <= 0) return false;
    text[length] = 0;
    char *open = strchr(text, '('), *end = strrchr(text, ')');
    int parent = 0;
    unsigned long long start = 0;
    if (!open || !end || sscanf(end + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &parent, &start) != 2)
        return false;
    *process = (struct process){.pid = pid, .parent = parent, .start = start};
    snprintf(process->name, sizeof process->name, "%.*s", (int)(end - open - 1), open + 1);
    return true;
}

/* Records a process and, once, each of its parents; what it was called is not worth a failure. */
void record_process(struct caller *caller) {
    struct process one = {.parent = caller->tgid};
    caller->recorded = action;
    while (one.parent > 1 && one.parent != getpid() && process_read(one.parent, &one)) {
        if (!set_add(&action->processes, mix((uint64_t)one.pid, one.start))) return;
        record_begin('P', "", one.pid);
        struct state *state = state_begin(OTHER, TARGET, one.name);
        state->ino = one.start, state->dev = (uint64_t)one.parent;
        state_end(state);
        if (record_commit()) return;
    }
}

#define WINDOW (1u << 20)

/* The folder of the last path that was looked at: most paths share it with the next, and where it is gone so is all that was in it. */
struct looked {
    char path[LONGEST];
    int fd;
};

static bool look_after(struct looked *folder, struct object *object) {
    const char *slash = strrchr(object->path, '/');
    size_t length = slash > object->path ? (size_t)(slash - object->path) : 1;
    if (slash == NULL) return false;
    if (strncmp(folder->path, object->path, length) || folder->path[length]) {
        if (folder->fd >= 0) close(folder->fd);
        memcpy(folder->path, object->path, length), folder->path[length] = 0;
        folder->fd = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    const char *name = slash[1] ? slash + 1 : ".";
    return folder->fd >= 0 && statx(folder->fd, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &object->st) == 0;
}

/* Adds how the action left the paths of one record; -errno where its states are not what they were written as. */
static int describe_paths(const char *record, struct set *seen, struct looked *folder, int *states) {
    const struct record *head = (const struct record *)record;
    const char *inner = record + sizeof *head, *end = record + head->length;
    for (int i = 0; i < head->states; i++) {
        const struct state *state = (const struct state *)inner;
        static struct object object;
        if (inner + sizeof *state > end || state->path_length >= LONGEST || inner + sizeof *state + state->path_length > end) return -EIO;
        const char *path = inner + sizeof *state;
        inner += state->length;
        if (!set_add(seen, mix_text(path, state->path_length))) continue;
        memcpy(object.path, path, state->path_length), object.path[state->path_length] = 0;
        if (look_after(folder, &object)) describe_after(&object);
        else describe_absent(&object, TARGET);
        if (++*states % 40) continue;
        int error = record_commit();
        if (error) return error;
        record_begin('a', "", 0);
    }
    return 0;
}

/* How the action left each path that it changed: what an undo finds otherwise is later work. */
static int write_after(void) {
    struct set seen = {0};
    struct looked folder = {.fd = -1};
    uint64_t end = action->length, forgotten = 0; /* a journal may be larger than the memory that it is worth */
    int states = 0, error = tail_write();
    if (error) return error;
    const char *data = mmap(NULL, end, PROT_READ, MAP_SHARED, action->journal, 0);
    if (data == MAP_FAILED) return -errno;
    record_begin('a', "", 0);
    for (uint64_t at = 0; !error && at < end;) {
        const struct record *record = (const struct record *)(data + at);
        if (end - at < sizeof *record || record->length < sizeof *record || record->length > end - at) error = -EIO;
        else if (strchr("cwmurx", record->type)) error = describe_paths(data + at, &seen, &folder, &states);
        at += record->length;
        for (; at > forgotten + WINDOW; forgotten += WINDOW) madvise((void *)(uintptr_t)(data + forgotten), WINDOW, MADV_DONTNEED);
    }
    if (folder.fd >= 0) close(folder.fd);
    free(seen.at), munmap((void *)(uintptr_t)data, end);
    return error ? error : states % 40 ? record_commit() : 0;
}

static void add_usage(void) {
    int fd = open(settings.store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file = fd < 0 ? -1 : openat(fd, "usage", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    char text[32];
    if (file >= 0 && flock(file, LOCK_EX) == 0) {
        int length = snprintf(text, sizeof text, "%020llu\n", (unsigned long long)(read_number(fd, "usage") + action->bytes + action->length));
        if (pwrite(file, text, (size_t)length, 0) != length) length = 0;
    }
    if (file >= 0) close(file);
    if (fd >= 0) close(fd);
}

/* An action that changed nothing leaves nothing. */
static int remove_action(void) {
    int actions = openat(action->folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unlinkat(action->folder, "objects", AT_REMOVEDIR), unlinkat(action->folder, "journal", 0);
    int error = unlinkat(actions, action->id, AT_REMOVEDIR) < 0 ? -errno : 0;
    close(actions);
    return error;
}

static unsigned long long microseconds(const struct rusage *used) {
    return (unsigned long long)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000u +
           (unsigned long long)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

/* Ends the action when its last process has ended. */
int action_end(int status) {
    renames_settle(action);
    struct set *sets[] = {&action->created, &action->own, &action->marked, &action->holders, &action->written, &action->kept, &action->processes};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) free(sets[i]->at), *sets[i] = (struct set){0};
    if (!action->changes) return tail_close(), remove_action();
    int error = write_after();
    if (!error) error = tail_write();
    if (!error) tail_close();
    add_usage();
    struct rusage self, below;
    getrusage(RUSAGE_SELF, &self), getrusage(RUSAGE_CHILDREN, &below);
    char text[400];
    int length = snprintf(text, sizeof text,
                          "status %d\nended %llu\nchanges %llu\nfiles %llu\nbytes %llu\nwhole %d\nsupervisor_us %llu\ncommand_us %llu\nkilobytes %ld\n", status,
                          (unsigned long long)now_ns(), (unsigned long long)action->changes, (unsigned long long)action->files,
                          (unsigned long long)action->bytes, error == 0, microseconds(&self), microseconds(&below), self.ru_maxrss);
    int file = openat(action->folder, "end.tmp", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || write(file, text, (size_t)length) != length) return -errno;
    close(file);
    if (renameat(action->folder, "end.tmp", action->folder, "end") < 0) error = -errno;
    seal();
    return error;
}
