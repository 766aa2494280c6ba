// Faults of the disk, the clock and the power for a program under test. The library is loaded
// with LD_PRELOAD, so that the programs themselves contain no code for faults.
//
// FAULT_PLAN is the path of a file. Each line is carried out once, when a regular file is written
// or synced:
//
//     MOMENT <tab> MATCH <tab> ACTION [<tab> FILE <tab> LINE]
//
// MOMENT is `before` a sync, `after` a sync, or `write` before a write. MATCH is a text that the
// last write must contain, or `-` for any write. ACTION is one of:
//
//     kill   kills the program
//     lose   removes the data of the last write, like a power cut, and kills the program
//     tear   at a write, writes only the first half of the data and kills the program
//     tell   appends LINE to FILE, with a tab for each `|`
//
// FAULT_DISK is the path of a file. While it contains `full` or `readonly`, writes to regular
// files fail. FAULT_SYNC is the path of a file. If it contains `fail`, the next sync fails and
// removes it. While it contains `broken`, each sync and each truncation fails. While it contains
// `slow N`, each sync takes N milliseconds more. A space and a text may follow each of these; the fault then concerns only files whose paths contain the text.
// FAULT_CLOCK is the path of a file with the offset of the wall clock in seconds. FAULT_SUSPENDED
// is the path of a file with the seconds for which the machine seems to have been suspended.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { plan_size = 8192, text_size = 8192 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int descriptor;
    off_t offset;
    size_t length;
    char text[text_size];
} last = {.descriptor = -1};

// The C library's own function with this name.
#define REAL(name) ({                                             \
    static __typeof__(&name) real;                                \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    real;                                                         \
})

static int is_regular(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

static size_t read_file(const char *variable, char *text, size_t size) {
    const char *path = getenv(variable);
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    ssize_t count = read(file, text, size - 1);
    close(file);
    text[count < 0 ? 0 : count] = 0;
    return count < 0 ? 0 : (size_t)count;
}

// Returns true if no text follows the first space, or if the open file's path contains this text.
static int is_meant(int descriptor, const char *text) {
    const char *part = strchr(text, ' ');
    if (!part || !part[1]) return 1;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, part + 1) != NULL;
}

// Returns the errno with which a write must fail, or 0.
static int disk_fault(int descriptor) {
    char text[256];
    if (read_file("FAULT_DISK", text, sizeof text) == 0) return 0;
    if (!is_meant(descriptor, text)) return 0;
    if (strncmp(text, "full", 4) == 0) return ENOSPC;
    return strncmp(text, "readonly", 8) == 0 ? EROFS : 0;
}

// Waits for the delay of a sync. Returns the errno with which the sync must fail, or 0.
static int sync_fault(int descriptor) {
    char text[256];
    if (read_file("FAULT_SYNC", text, sizeof text) == 0) return 0;
    if (strncmp(text, "broken", 6) == 0) return is_meant(descriptor, text) ? EIO : 0;
    if (strncmp(text, "slow ", 5) == 0) {
        if (is_meant(descriptor, text + 5)) usleep((useconds_t)atol(text + 5) * 1000);
        return 0;
    }
    if (strncmp(text, "fail", 4) != 0 || !is_meant(descriptor, text)) return 0;
    // Of several processes, only the one that removes the file fails.
    return unlink(getenv("FAULT_SYNC")) == 0 ? EIO : 0;
}

static void append(const char *path, const char *line) {
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) abort();
    size_t length = strlen(line);
    char copy[plan_size];
    for (size_t i = 0; i <= length; i++) copy[i] = line[i] == '|' ? '\t' : line[i];
    if (length > 0) copy[length] = '\n';
    if (REAL(write)(file, copy, length + (length > 0)) < 0) abort();
    close(file);
}

static void die(void) {
    raise(SIGKILL);
}

static void carry_out(char *action, const void *bytes, size_t length, off_t offset) {
    if (strncmp(action, "tell\t", 5) == 0) {
        char *file = action + 5;
        char *line = strchr(file, '\t');
        if (!line) abort();
        *line++ = 0;
        append(file, line);
    } else if (strcmp(action, "lose") == 0) {
        if (REAL(ftruncate)(last.descriptor, last.offset) != 0) abort();
        die();
    } else if (strcmp(action, "tear") == 0) {
        if (REAL(pwrite)(last.descriptor, bytes, length / 2, offset) < 0) abort();
        die();
    } else if (strcmp(action, "kill") == 0) {
        die();
    } else {
        abort();
    }
}

// Carries out all lines of the plan for this moment. Removes each line from the plan first.
static void reach(const char *moment, const void *bytes, size_t length, off_t offset) {
    char plan[plan_size];
    while (read_file("FAULT_PLAN", plan, sizeof plan) > 0) {
        char rest[plan_size] = "";
        char found[plan_size] = "";
        for (char *line = strtok(plan, "\n"); line; line = strtok(NULL, "\n")) {
            char *match = strchr(line, '\t');
            char *action = match ? strchr(match + 1, '\t') : NULL;
            if (!action) abort();
            size_t moment_length = (size_t)(match - line);
            char text[256] = "";
            memcpy(text, match + 1, (size_t)(action - match - 1));
            int is_it = !found[0] && strlen(moment) == moment_length
                && strncmp(line, moment, moment_length) == 0
                && (strcmp(text, "-") == 0 || strstr(last.text, text));
            if (is_it) {
                strcpy(found, action + 1);
            } else {
                strcat(strcat(rest, line), "\n");
            }
        }
        if (!found[0]) return;
        char fresh[4096];
        snprintf(fresh, sizeof fresh, "%s.new", getenv("FAULT_PLAN"));
        int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (file < 0 || REAL(write)(file, rest, strlen(rest)) < 0) abort();
        close(file);
        if (rename(fresh, getenv("FAULT_PLAN")) != 0) abort();
        carry_out(found, bytes, length, offset);
    }
}

static ssize_t written(int descriptor, const void *bytes, size_t length, off_t offset) {
    if (!is_regular(descriptor)) return REAL(pwrite)(descriptor, bytes, length, offset);
    int fault = disk_fault(descriptor);
    if (fault) {
        errno = fault;
        return -1;
    }
    pthread_mutex_lock(&lock);
    last.descriptor = descriptor;
    last.offset = offset;
    last.length = length;
    size_t kept = length < text_size - 1 ? length : text_size - 1;
    memcpy(last.text, bytes, kept);
    for (size_t i = 0; i < kept; i++)
        if (!last.text[i]) last.text[i] = ' ';
    last.text[kept] = 0;
    reach("write", bytes, length, offset);
    pthread_mutex_unlock(&lock);
    return REAL(pwrite)(descriptor, bytes, length, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    return written(descriptor, bytes, length, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
    return written(descriptor, bytes, length, offset);
}

static ssize_t written_parts(int descriptor, const struct iovec *parts, int count, off_t offset) {
    int fault = is_regular(descriptor) ? disk_fault(descriptor) : 0;
    if (!fault) return REAL(pwritev)(descriptor, parts, count, offset);
    errno = fault;
    return -1;
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
    return written_parts(descriptor, parts, count, offset);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t offset) {
    return written_parts(descriptor, parts, count, offset);
}

static int synced(int descriptor, int (*sync)(int)) {
    if (!is_regular(descriptor)) return sync(descriptor);
    int fault = sync_fault(descriptor);
    if (fault) {
        errno = fault;
        return -1;
    }
    pthread_mutex_lock(&lock);
    reach("before", NULL, 0, 0);
    int result = sync(descriptor);
    int code = errno;
    reach("after", NULL, 0, 0);
    pthread_mutex_unlock(&lock);
    errno = code;
    return result;
}

int fsync(int descriptor) { return synced(descriptor, REAL(fsync)); }

int fdatasync(int descriptor) { return synced(descriptor, REAL(fdatasync)); }

static int is_broken(int descriptor) {
    char text[256];
    return is_regular(descriptor) && read_file("FAULT_SYNC", text, sizeof text) > 0
        && strncmp(text, "broken", 6) == 0 && is_meant(descriptor, text);
}

int ftruncate(int descriptor, off_t length) {
    if (!is_broken(descriptor)) return REAL(ftruncate)(descriptor, length);
    errno = EIO;
    return -1;
}

int ftruncate64(int descriptor, off64_t length) { return ftruncate(descriptor, length); }

// Returns the offset of the wall clock in seconds. Reads the file at most 20 times a second.
static time_t clock_fault(const struct timespec *now) {
    static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER;
    static time_t offset, second;
    static long part = -1;
    pthread_mutex_lock(&clock_lock);
    long current = now->tv_nsec / 50000000;
    if (now->tv_sec != second || current != part) {
        second = now->tv_sec;
        part = current;
        char text[32];
        offset = read_file("FAULT_CLOCK", text, sizeof text) > 0 ? atol(text) : 0;
    }
    time_t result = offset;
    pthread_mutex_unlock(&clock_lock);
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = REAL(clock_gettime)(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += clock_fault(now);
    if (result == 0 && clock == CLOCK_BOOTTIME) {
        char text[32];
        if (read_file("FAULT_SUSPENDED", text, sizeof text) > 0) now->tv_sec += atol(text);
    }
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = REAL(gettimeofday)(now, zone);
    struct timespec precise = {.tv_sec = now->tv_sec, .tv_nsec = now->tv_usec * 1000};
    if (result == 0) now->tv_sec += clock_fault(&precise);
    return result;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
