// A library that is preloaded into a program. It records in $POWERCUT_LOG every write, truncation
// and sync of the files whose paths begin with $POWERCUT_PREFIX, so that a test can compute the
// state of the files after a power cut.
//
// A record has four numbers of 8 bytes: the kind ('w' write, 't' truncation, 's' sync, 'f' failed
// sync), the length of the path, the offset and the length of the data. The path and the data
// follow. Records are in the order in which the calls returned.
//
// While the file $POWERCUT_FAIL exists, every sync of a write-ahead log (`-wal`) fails.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;

static size_t watched(int fd, char *path, size_t size) {
    const char *prefix = getenv("POWERCUT_PREFIX");
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t count = prefix == NULL ? -1 : readlink(link, path, size - 1);
    if (count < 0) return 0;
    path[count] = '\0';
    return strncmp(path, prefix, strlen(prefix)) == 0 ? (size_t)count : 0;
}

static void note(char kind, int fd, int64_t offset, const void *data, int64_t length) {
    char path[4096];
    size_t size = watched(fd, path, sizeof path);
    if (size == 0) return;
    pthread_mutex_lock(&lock);
    if (journal < 0) {
        journal = open(getenv("POWERCUT_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    int64_t head[4] = {kind, (int64_t)size, offset, data == NULL ? 0 : length};
    struct iovec parts[3] = {
        {head, sizeof head}, {path, size}, {(void *)data, data == NULL ? 0 : (size_t)length},
    };
    if (writev(journal, parts, 3) < 0) abort();
    pthread_mutex_unlock(&lock);
}

#define REAL(name, type) \
    static type real; \
    if (real == NULL) real = (type)dlsym(RTLD_NEXT, name)

typedef ssize_t (*pwrite_call)(int, const void *, size_t, off64_t);
typedef int (*truncate_call)(int, off64_t);
typedef int (*sync_call)(int);

ssize_t pwrite64(int fd, const void *data, size_t count, off64_t offset) {
    REAL("pwrite64", pwrite_call);
    ssize_t done = real(fd, data, count, offset);
    if (done > 0) note('w', fd, offset, data, done);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t count, off_t offset) {
    return pwrite64(fd, data, count, offset);
}

int ftruncate64(int fd, off64_t length) {
    REAL("ftruncate64", truncate_call);
    int code = real(fd, length);
    if (code == 0) note('t', fd, length, NULL, 0);
    return code;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int sync_with(sync_call real, int fd) {
    char path[4096];
    const char *fault = getenv("POWERCUT_FAIL");
    size_t size = watched(fd, path, sizeof path);
    if (fault != NULL && access(fault, F_OK) == 0 && size > 4
        && strcmp(path + size - 4, "-wal") == 0) {
        note('f', fd, 0, NULL, 0);
        errno = EIO;
        return -1;
    }
    int code = real(fd);
    if (code == 0) note('s', fd, 0, NULL, 0);
    return code;
}

int fsync(int fd) {
    REAL("fsync", sync_call);
    return sync_with(real, fd);
}

int fdatasync(int fd) {
    REAL("fdatasync", sync_call);
    return sync_with(real, fd);
}
