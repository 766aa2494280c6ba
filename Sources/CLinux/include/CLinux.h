#pragma once
/// Parts of Linux that Swift's Glibc module does not show.
#include <stdint.h>
#include <sys/types.h>

/// The process at the other end of a connected Unix socket, as the kernel knows it (unix(7), SO_PEERCRED).
struct clinux_peer {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

/// An eventfd(2) that is non-blocking and closed on exec. Returns the descriptor, or -1 with errno set.
int clinux_eventfd(void);

/// A file in memory that has no path (memfd_create(2)), closed on exec. Returns the descriptor, or -1 with
/// errno set.
int clinux_memory_file(void);

/// Names the calling thread (at most 15 bytes are kept).
void clinux_name_this_thread(const char *name);

/// Looks up whether a user is a member of a group, primary or supplementary, in the system's databases.
/// Returns 1, 0, or -1 if there is no such user. Blocks: it may read files.
int clinux_user_is_in_group(uint32_t uid, uint32_t gid);

/// The id of a user by its name, or -1 if there is none. Blocks: it may read files.
int64_t clinux_user_id(const char *name);

/// The id of a group by its name, or -1 if there is none. Blocks: it may read files.
int64_t clinux_group_id(const char *name);

/// Lets a file's owner, its group if `group_may`, and these users read and write it, and nobody else (acl(5)).
/// Returns 0, or an errno; `EOPNOTSUPP` if the file system has no lists of users.
int clinux_admit(const char *path, int group_may, const uint32_t *users, size_t count);

/// Asks the kernel (sock_diag(7)) for the user who has the end `from` of the established TCP connection on this
/// machine to `to`; both point to a sockaddr. Returns -1 if there is no such connection over IPv4, or its program
/// has closed it.
int64_t clinux_tcp_user(const void *from, const void *to);

/// Switches a terminal's echo off, and its line editing with the limit on a line's length. A signal that
/// ends or stops the process restores both first; after a stop they are switched off again.
void clinux_hide_input(int terminal);

/// Restores the terminal that `clinux_hide_input` changed.
void clinux_show_input(void);

/// Raises the limit on open descriptors to `wanted`, as far as the system allows (setrlimit(2)).
/// Returns the limit, at most `wanted`.
int64_t clinux_allow_open_files(int64_t wanted);

/// 1 if the kernel's clock is synchronised with a time source (adjtimex(2)), else 0.
int clinux_clock_is_synchronised(void);

/// Counts SIGINT, SIGTERM and SIGHUP on an eventfd(2) instead of letting them end the process; those that the
/// process was started to ignore stay ignored. The first one restores the default of SIGINT and SIGTERM, so that
/// the next one ends the process; a closing terminal sends SIGHUP twice, by the kernel and by the shell.
/// Returns the descriptor, always the same, or -1 with errno set.
int clinux_catch_interruptions(void);

/// Sets the count of interruptions to zero.
void clinux_forget_interruptions(void);

/// Restores the default of SIGINT and SIGTERM where they are caught.
void clinux_release_interruptions(void);

/// 1 while SIGTERM is caught, else 0.
int clinux_catches_interruptions(void);

/// The number of times that the process was continued after a stop (SIGCONT) since this was first called.
uint32_t clinux_continuations(void);

/// 1 if the process has the effective capability CAP_NET_ADMIN (capabilities(7)), else 0.
int clinux_has_net_admin(void);

/// Releases the mapped pages of code and constants; those still needed are mapped again from the page cache.
/// Without this, pages that only the start needed count as the process's memory until the kernel reclaims them.
void clinux_release_code(void);

/// The number of packets that a socket has dropped because its receive buffer was full (SO_MEMINFO); 0 if the
/// kernel does not say.
uint32_t clinux_socket_drops(int descriptor);

/// Writes what stdio has buffered for the standard output. Returns 0, or an errno if that or an earlier
/// write failed.
int clinux_flush_output(void);
