// load: pays sessions over HTTP as fast as the server answers, on a fixed number of connections, and
// prints what it saw as JSON. One thread and no allocation per payment, so that it is not what is
// measured.
//
// Which session the n-th payment is for, who pays it and under which key follows from n alone; the
// same rules are in bench/seed.py, which writes the sessions into the database beforehand.
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

typedef struct {
    int socket;
    bool is_waiting;
    uint64_t sent_at;
    size_t filled;
    char reply[longest_reply + 1];
} connection;

static struct {
    int port;
    int connections;
    double seconds, warmup;
    uint64_t first, count;
    uint64_t users;
    bool is_hot;
    const char *tokens;
} options;

static char (*tokens)[longest_token];
static uint32_t *latencies; // microseconds, of payments answered within the measured time
static uint64_t next_payment, paid, measured, refused;
static uint64_t measure_from, measure_until;
static char first_refusal[512];

static void fail(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static uint64_t payer(uint64_t n)
{
    return options.is_hot ? 1 + n % (options.users - 1) : n % options.users;
}

static void read_tokens(void)
{
    FILE *file = fopen(options.tokens, "r");
    if (!file) fail(options.tokens);
    tokens = calloc(options.users, sizeof *tokens);
    if (!tokens) fail("tokens");
    for (uint64_t i = 0; i < options.users; i++) {
        if (!fgets(tokens[i], longest_token, file)) fail("too few tokens");
        tokens[i][strcspn(tokens[i], "\n")] = 0;
    }
    fclose(file);
}

// From an address of its own on the loopback network, as clients come from.
static int connect_from(int index)
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
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options.port)};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(s, (struct sockaddr *)&server, sizeof server)) fail("connect");
    return s;
}

// Sends the next payment, if there is one and it is not too late.
static void pay(connection *c)
{
    c->is_waiting = false;
    if (now() >= measure_until || next_payment >= options.first + options.count) return;
    uint64_t n = next_payment++;
    char body[128], request[longest_request];
    int body_length = snprintf(
        body, sizeof body, "{\"sid\":\"00000000-0000-7000-8000-%012llx\"}", (unsigned long long)n);
    int length = snprintf(
        request, sizeof request,
        "POST /wallet/send HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        "Idempotency-Key: bench-%016llx\r\nContent-Type: application/json\r\n"
        "Content-Length: %d\r\n\r\n%s",
        options.port, tokens[payer(n)], (unsigned long long)n, body_length, body);
    if (length >= (int)sizeof request) fail("a request is too long");
    c->filled = 0;
    c->is_waiting = true;
    c->sent_at = now();
    if (write(c->socket, request, (size_t)length) != length) fail("write");
}

// How long the whole reply is, or 0 if its head has not arrived yet.
static size_t reply_length(const connection *c)
{
    const char *end = strstr(c->reply, "\r\n\r\n");
    if (!end) return 0;
    const char *length = strcasestr(c->reply, "\r\ncontent-length:");
    if (!length || length > end) fail("a reply has no length");
    return (size_t)(end + 4 - c->reply) + strtoul(length + 17, NULL, 10);
}

static void count(const connection *c)
{
    uint64_t time = now();
    bool is_paid = strncmp(c->reply, "HTTP/1.1 200", 12) == 0 && strstr(c->reply, "\"ok\":true");
    if (!is_paid) {
        if (refused++ == 0) snprintf(first_refusal, sizeof first_refusal, "%s", c->reply);
        return;
    }
    paid++;
    if (time < measure_from || time >= measure_until) return;
    latencies[measured++] = (uint32_t)(time - c->sent_at);
}

static void receive(connection *c)
{
    ssize_t got = read(c->socket, c->reply + c->filled, longest_reply - c->filled);
    if (got <= 0) fail("the server closed a connection");
    c->filled += (size_t)got;
    c->reply[c->filled] = 0;
    size_t length = reply_length(c);
    if (length == 0 || c->filled < length) return;
    count(c);
    pay(c);
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double percentile(double share)
{
    return measured ? latencies[(uint64_t)(share * (double)(measured - 1))] / 1000.0 : 0;
}

static void report(uint64_t finished_at)
{
    qsort(latencies, measured, sizeof *latencies, ascending);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    // Payments that ran out early were measured for less time.
    uint64_t until = finished_at < measure_until ? finished_at : measure_until;
    double seconds = until > measure_from ? (double)(until - measure_from) / 1e6 : 0;
    printf(
        "{\"paid\":%llu,\"measured\":%llu,\"refused\":%llu,\"seconds\":%.4f,\"per_second\":%.1f,"
        "\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,\"last\":%llu,\"cpu_seconds\":%.3f}\n",
        (unsigned long long)paid, (unsigned long long)measured, (unsigned long long)refused,
        seconds, seconds > 0 ? (double)measured / seconds : 0, percentile(0.5), percentile(0.99),
        percentile(1), (unsigned long long)next_payment, cpu);
    if (refused) fprintf(stderr, "load: the first refusal:\n%s\n", first_refusal);
}

static void read_options(char **arguments)
{
    for (; arguments[0] && arguments[1]; arguments += 2) {
        const char *name = arguments[0], *value = arguments[1];
        if (!strcmp(name, "--port")) options.port = atoi(value);
        else if (!strcmp(name, "--connections")) options.connections = atoi(value);
        else if (!strcmp(name, "--seconds")) options.seconds = atof(value);
        else if (!strcmp(name, "--warmup")) options.warmup = atof(value);
        else if (!strcmp(name, "--first")) options.first = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--count")) options.count = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--users")) options.users = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--hot")) options.is_hot = atoi(value);
        else if (!strcmp(name, "--tokens")) options.tokens = value;
        else fail(name);
    }
    if (!options.port || options.connections < 1 || options.users < 2 || !options.tokens)
        fail("usage: --port --connections --seconds --warmup --first --count --users --hot --tokens");
}

int main(int argc, char **argv)
{
    (void)argc;
    signal(SIGPIPE, SIG_IGN);
    read_options(argv + 1);
    read_tokens();
    connection *all = calloc((size_t)options.connections, sizeof *all);
    latencies = malloc((options.count + 1) * sizeof *latencies);
    int poll = epoll_create1(0);
    if (!all || !latencies || poll < 0) fail("memory");
    for (int i = 0; i < options.connections; i++) {
        all[i].socket = connect_from(i);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, all[i].socket, &event)) fail("epoll");
    }
    next_payment = options.first;
    measure_from = now() + (uint64_t)(options.warmup * 1e6);
    measure_until = measure_from + (uint64_t)(options.seconds * 1e6);
    for (int i = 0; i < options.connections; i++) pay(&all[i]);
    for (;;) {
        bool is_waiting = false;
        for (int i = 0; i < options.connections; i++) is_waiting |= all[i].is_waiting;
        if (!is_waiting) break;
        struct epoll_event events[256];
        // What is sent is waited for: a payment without an answer is an error, not a short run.
        int ready = epoll_wait(poll, events, 256, 30000);
        if (ready == 0) fail("no answer in 30 seconds");
        for (int i = 0; i < ready; i++) receive(events[i].data.ptr);
    }
    report(now());
    return refused ? 2 : 0;
}
