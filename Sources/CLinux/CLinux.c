#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <grp.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/xattr.h>
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

int clinux_admit(const char *path, int group_may, const uint32_t *users, size_t count) {
    const char *name = "system.posix_acl_access";
    const uint16_t may = ACL_READ | ACL_WRITE, group = group_may ? may : 0;
    if (count == 0) {
        // With a list, chmod(2) would set the list's mask and not the group's permissions.
        removexattr(path, name);
        return chmod(path, group_may ? 0660 : 0600) == 0 ? 0 : errno;
    }
    struct {
        struct posix_acl_xattr_header header;
        struct posix_acl_xattr_entry entries[];
    } *list;
    size_t size = sizeof *list + (count + 4) * sizeof *list->entries;
    if ((list = malloc(size)) == NULL) {
        return ENOMEM;
    }
    list->header.a_version = POSIX_ACL_XATTR_VERSION;
    struct posix_acl_xattr_entry *entry = list->entries;
    *entry++ = (struct posix_acl_xattr_entry){ACL_USER_OBJ, may, ACL_UNDEFINED_ID};
    for (size_t i = 0; i < count; i++) {
        *entry++ = (struct posix_acl_xattr_entry){ACL_USER, may, users[i]};
    }
    *entry++ = (struct posix_acl_xattr_entry){ACL_GROUP_OBJ, group, ACL_UNDEFINED_ID};
    *entry++ = (struct posix_acl_xattr_entry){ACL_MASK, may, ACL_UNDEFINED_ID};
    *entry++ = (struct posix_acl_xattr_entry){ACL_OTHER, 0, ACL_UNDEFINED_ID};
    int error = setxattr(path, name, list, size, 0) == 0 ? 0 : errno;
    free(list);
    return error;
}

int64_t clinux_tcp_user(const void *from, const void *to) {
    const struct sockaddr_in *client = from, *server = to;
    if (client->sin_family != AF_INET || server->sin_family != AF_INET) {
        return -1;
    }
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } question = {
        .header = {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = 1 << TCP_ESTABLISHED,
                    .id = {.idiag_sport = client->sin_port, .idiag_dport = server->sin_port,
                           .idiag_src = {client->sin_addr.s_addr}, .idiag_dst = {server->sin_addr.s_addr},
                           .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    union {
        struct nlmsghdr header;
        char bytes[4096];
    } answer;
    struct sockaddr_nl sender;
    socklen_t size = sizeof sender;
    ssize_t count = -1;
    int descriptor = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (descriptor < 0) {
        return -1;
    }
    // The kernel answers within send(2): the answer waits already.
    if (send(descriptor, &question, sizeof question, 0) == sizeof question) {
        count = recvfrom(descriptor, &answer, sizeof answer, MSG_DONTWAIT, (struct sockaddr *)&sender, &size);
    }
    close(descriptor);
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.header);
    if (count < (ssize_t)NLMSG_LENGTH(sizeof *found) || sender.nl_pid != 0
        || answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY) {
        return -1;
    }
    // Without the connection, the kernel answers with what else has its port: a listening socket, or the rest of a
    // connection that its program has closed, with user 0 and no inode.
    const struct inet_diag_sockid *id = &found->id;
    int is_same = id->idiag_sport == client->sin_port && id->idiag_dport == server->sin_port
        && id->idiag_src[0] == client->sin_addr.s_addr && id->idiag_dst[0] == server->sin_addr.s_addr;
    int is_open = found->idiag_state == TCP_ESTABLISHED && found->idiag_inode != 0;
    return is_same && is_open ? (int64_t)found->idiag_uid : -1;
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
