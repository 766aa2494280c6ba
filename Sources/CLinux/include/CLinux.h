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

/// Tells whether the user is a member of the group, by primary or supplementary membership, as the system's
/// databases say now. Returns 1, 0, or -1 when the user is not known. May read files: it blocks.
int clinux_user_is_in_group(uint32_t uid, uint32_t gid);

/// The id of a user by its name, or -1 when there is none. May read files: it blocks.
int64_t clinux_user_id(const char *name);

/// The id of a group by its name, or -1 when there is none. May read files: it blocks.
int64_t clinux_group_id(const char *name);

/// Hides what is typed at a terminal, byte by byte without a limit on the line, until it is shown
/// again. A signal that ends or stops the process shows it first; after a stop it is hidden again.
void clinux_hide_input(int terminal);
void clinux_show_input(void);

/// Lets the process hold up to so many descriptors, as far as the system allows (setrlimit(2)).
/// Returns how many it may hold now, at most `wanted`.
int64_t clinux_allow_open_files(int64_t wanted);

/// 1 if the kernel's clock is kept in step with a time source (adjtimex(2)), else 0.
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

/// The number of times that the process has gone on after a stop (SIGCONT) since this was first called.
uint32_t clinux_continuations(void);

/// 1 if the process has the effective capability CAP_NET_ADMIN (capabilities(7)), else 0.
int clinux_has_net_admin(void);

/// Lets go of the pages of code and constants that are mapped: what is still needed comes back, from the
/// page cache, when it is used. Without this all that only the start needed counts as the process's own
/// memory until the kernel wants it.
void clinux_let_code_go(void);

/// The number of packets that a socket has lost because its receive buffer was full (SO_MEMINFO), 0 if the kernel
/// does not say.
uint32_t clinux_socket_drops(int descriptor);

/// Writes what stdio has kept back of the standard output. Returns 0, or an errno if that or an earlier
/// write failed.
int clinux_flush_output(void);
