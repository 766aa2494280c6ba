// Functions for connections, tokens and times, which load.c and sale.c share.
#pragma once
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { longest_reply = 16384, longest_request = 2048, longest_token = 1024, sources = 250 };

static char (*tokens)[longest_token];

static inline void fail(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(1);
}

static inline uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static inline void read_tokens(const char *path, uint64_t users)
{
    FILE *file = fopen(path, "r");
    if (!file) fail(path);
    tokens = calloc(users, sizeof *tokens);
    if (!tokens) fail("tokens");
    for (uint64_t i = 0; i < users; i++) {
        if (!fgets(tokens[i], longest_token, file)) fail("too few tokens");
        tokens[i][strcspn(tokens[i], "\n")] = 0;
    }
    fclose(file);
}

// Connects from the index's own address of the loopback network, like a real client.
static inline int connect_from(int index, int port)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0) fail("socket");
    int one = 1;
    setsockopt(s, SOL_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct sockaddr_in source = {.sin_family = AF_INET};
    source.sin_addr.s_addr =
        htonl(0x7F010001u + (uint32_t)(index / sources) * 256 + (uint32_t)(index % sources));
    if (bind(s, (struct sockaddr *)&source, sizeof source)) fail("bind");
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(s, (struct sockaddr *)&server, sizeof server)) fail("connect");
    return s;
}

// Returns the length of the whole reply, or 0 if its head has not arrived yet.
static inline size_t reply_length(const char *reply)
{
    const char *end = strstr(reply, "\r\n\r\n");
    if (!end) return 0;
    const char *length = strcasestr(reply, "\r\ncontent-length:");
    if (!length || length > end) fail("a reply has no length");
    return (size_t)(end + 4 - reply) + strtoul(length + 17, NULL, 10);
}

static inline int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// Returns a percentile in milliseconds; `times` are microseconds in ascending order.
static inline double percentile(const uint32_t *times, uint64_t count, double share)
{
    return count ? times[(uint64_t)(share * (double)(count - 1))] / 1000.0 : 0;
}

static inline double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
