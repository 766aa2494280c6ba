// A library that is preloaded into gotchud. It replaces each Bluetooth socket by a Unix socket that
// is connected to the benchmark. The shipped program has no option for this.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int replaced = -1;

int socket(int domain, int type, int protocol) {
    int (*real)(int, int, int) = dlsym(RTLD_NEXT, "socket");
    const char *path = getenv("BENCH_MANAGEMENT_SOCKET");
    if (domain != AF_BLUETOOTH || path == NULL) {
        return real(domain, type, protocol);
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int descriptor = real(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return -1;
    }
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        close(descriptor);
        errno = EAFNOSUPPORT;
        return -1;
    }
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    replaced = descriptor;
    return descriptor;
}

int bind(int descriptor, const struct sockaddr *address, socklen_t length) {
    int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
    if (descriptor == replaced && address->sa_family == AF_BLUETOOTH) {
        return 0;
    }
    return real(descriptor, address, length);
}
