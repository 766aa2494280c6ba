#pragma once
/// What Linux offers and Swift's Glibc module does not show.
#include <stdint.h>
#include <sys/types.h>

/// Who is at the other end of a connected Unix socket, as the kernel knows it (unix(7), SO_PEERCRED).
struct clinux_peer {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

/// Fills `peer` from SO_PEERCRED. Returns 0, or -1 with errno set.
int clinux_peer_of_socket(int fd, struct clinux_peer *peer);

/// An eventfd(2) that is non-blocking and closed on exec. Returns the descriptor, or -1 with errno set.
int clinux_eventfd(void);

/// Names the calling thread (at most 15 bytes are kept).
void clinux_name_this_thread(const char *name);

/// Sends one datagram to a service manager's socket (sd_notify(3)); a leading `@` means an abstract
/// socket. Returns 0, or -1 with errno set.
int clinux_notify(const char *socket_path, const char *state);
