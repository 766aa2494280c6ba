#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <grp.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/sock_diag.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <termios.h>
#include <unistd.h>

int clinux_eventfd(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int clinux_memory_file(void) {
    return memfd_create("gotchu", MFD_CLOEXEC);
}

void clinux_name_this_thread(const char *name) {
    char kept[16];
    strncpy(kept, name, sizeof kept - 1);
    kept[sizeof kept - 1] = '\0';
    pthread_setname_np(pthread_self(), kept);
}

int clinux_user_is_in_group(uint32_t uid, uint32_t gid) {
    char text[16384];
    struct passwd user, *found = NULL;
    if (getpwuid_r(uid, &user, text, sizeof text, &found) != 0 || found == NULL) {
        return -1;
    }
    int count = 64;
    gid_t *groups = malloc(count * sizeof *groups);
    if (groups != NULL && getgrouplist(user.pw_name, user.pw_gid, groups, &count) < 0) {
        // `count` is now the number of groups.
        gid_t *more = realloc(groups, count * sizeof *groups);
        if (more == NULL) {
            free(groups);
        }
        groups = more;
        if (groups != NULL) {
            getgrouplist(user.pw_name, user.pw_gid, groups, &count);
        }
    }
    if (groups == NULL) {
        return -1;
    }
    int is_member = 0;
    for (int i = 0; i < count; i++) {
        is_member |= groups[i] == gid;
    }
    free(groups);
    return is_member;
}

int64_t clinux_user_id(const char *name) {
    char text[16384];
    struct passwd user, *found = NULL;
    if (getpwnam_r(name, &user, text, sizeof text, &found) != 0 || found == NULL) {
        return -1;
    }
    return user.pw_uid;
}

int64_t clinux_group_id(const char *name) {
    char text[16384];
    struct group group, *found = NULL;
    if (getgrnam_r(name, &group, text, sizeof text, &found) != 0 || found == NULL) {
        return -1;
    }
    return group.gr_gid;
}

int64_t clinux_allow_open_files(int64_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 0;
    }
    if (limit.rlim_cur < (rlim_t)wanted) {
        struct rlimit raised = limit;
        raised.rlim_cur = limit.rlim_max < (rlim_t)wanted ? limit.rlim_max : (rlim_t)wanted;
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            limit = raised;
        }
    }
    return limit.rlim_cur < (rlim_t)wanted ? (int64_t)limit.rlim_cur : wanted;
}

int clinux_clock_is_synchronised(void) {
    struct timex now = {.modes = 0};
    return adjtimex(&now) != TIME_ERROR;
}

static int interruptions = -1;

static void count_interruption(int number) {
    (void)number;
    int error = errno;
    uint64_t one = 1;
    (void)!write(interruptions, &one, sizeof one);
    clinux_release_interruptions();
    errno = error;
}

static int catches(int number) {
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == count_interruption;
}

void clinux_forget_interruptions(void) {
    uint64_t count;
    (void)!read(interruptions, &count, sizeof count);
}

int clinux_catch_interruptions(void) {
    if (interruptions < 0) {
        interruptions = clinux_eventfd();
    }
    clinux_forget_interruptions();
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; interruptions >= 0 && i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now, action = {.sa_handler = count_interruption, .sa_flags = SA_RESTART};
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
    return interruptions;
}

void clinux_release_interruptions(void) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    if (catches(SIGINT)) {
        sigaction(SIGINT, &usual, NULL);
    }
    if (catches(SIGTERM)) {
        sigaction(SIGTERM, &usual, NULL);
    }
}

int clinux_catches_interruptions(void) {
    return catches(SIGTERM);
}

static _Atomic uint32_t continuations;

static void count_continuation(int number) {
    (void)number;
    atomic_fetch_add(&continuations, 1);
}

uint32_t clinux_continuations(void) {
    static _Atomic int is_watched;
    if (!atomic_exchange(&is_watched, 1)) {
        struct sigaction action = {.sa_handler = count_continuation, .sa_flags = SA_RESTART};
        sigaction(SIGCONT, &action, NULL);
    }
    return atomic_load(&continuations);
}

int clinux_has_net_admin(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) != 0) {
        return 0;
    }
    return (data[CAP_TO_INDEX(CAP_NET_ADMIN)].effective & CAP_TO_MASK(CAP_NET_ADMIN)) != 0;
}

static int release_code(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        // Read-only pages are the same in the file. A page at an edge may belong to a writable
        // segment beside it: only whole pages are released.
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) {
            continue;
        }
        uintptr_t begin = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
        if (begin < end) {
            madvise((void *)begin, end - begin, MADV_DONTNEED);
        }
    }
    return 0;
}

void clinux_release_code(void) {
    dl_iterate_phdr(release_code, NULL);
}

uint32_t clinux_socket_drops(int descriptor) {
    uint32_t counts[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof counts;
    if (getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, counts, &size) != 0) {
        return 0;
    }
    return counts[SK_MEMINFO_DROPS];
}

int clinux_flush_output(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return 0;
    }
    // Of an earlier failure only the stream's error flag is left.
    return errno != 0 ? errno : EIO;
}

static const int endings[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
enum { ENDINGS = sizeof endings / sizeof *endings };
static struct sigaction usual[ENDINGS];
static struct termios shown, hidden;
static int terminal;

/// Shows input again and does what the signal does by default. It calls only functions that
/// signal-safety(7) allows.
static void show_and_obey(int number) {
    int code = errno;
    tcsetattr(terminal, TCSANOW, &shown);
    (void)!write(terminal, "\n", 1);
    struct sigaction obey = {.sa_handler = SIG_DFL}, ours;
    sigaction(number, &obey, &ours);
    raise(number);
    // The signal is blocked in its handler: unblocked, it ends the process or stops it.
    sigset_t this, before;
    sigemptyset(&this);
    sigaddset(&this, number);
    pthread_sigmask(SIG_UNBLOCK, &this, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(number, &ours, NULL);
    tcsetattr(terminal, TCSAFLUSH, &hidden);
    errno = code;
}

void clinux_hide_input(int descriptor) {
    terminal = descriptor;
    tcgetattr(terminal, &shown);
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    struct sigaction handle = {.sa_handler = show_and_obey, .sa_flags = SA_RESTART};
    for (int i = 0; i < ENDINGS; i++) {
        sigaction(endings[i], &handle, &usual[i]);
        // A signal that the process was started to ignore stays ignored.
        if (usual[i].sa_handler == SIG_IGN) {
            sigaction(endings[i], &usual[i], NULL);
        }
    }
    tcsetattr(terminal, TCSAFLUSH, &hidden);
}

void clinux_show_input(void) {
    tcsetattr(terminal, TCSAFLUSH, &shown);
    for (int i = 0; i < ENDINGS; i++) {
        sigaction(endings[i], &usual[i], NULL);
    }
}
