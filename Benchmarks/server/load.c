// load: pays sessions over HTTP as fast as the server answers, on a fixed number of connections,
// and prints the results as JSON. It has one thread and allocates nothing per payment, so that the
// program itself costs little.
//
// The session, the payer and the key of the n-th payment are computed from n. bench/seed.py, which
// writes the sessions into the database before, has the same rules.
#include "client.h"

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

static uint32_t *latencies; // microseconds, of payments answered within the measured time
static uint64_t next_payment, paid, measured, refused;
static uint64_t measure_from, measure_until;
static char first_refusal[512];

static uint64_t payer(uint64_t n)
{
    return options.is_hot ? 1 + n % (options.users - 1) : n % options.users;
}

// Sends the next payment, unless no payment is left or the time is over.
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
    size_t length = reply_length(c->reply);
    if (length == 0 || c->filled < length) return;
    count(c);
    pay(c);
}

static void report(uint64_t finished_at)
{
    qsort(latencies, measured, sizeof *latencies, ascending);
    // If the payments ran out early, the measured time is shorter.
    uint64_t until = finished_at < measure_until ? finished_at : measure_until;
    double seconds = until > measure_from ? (double)(until - measure_from) / 1e6 : 0;
    printf(
        "{\"paid\":%llu,\"measured\":%llu,\"refused\":%llu,\"seconds\":%.4f,\"per_second\":%.1f,"
        "\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"max_ms\":%.3f,\"last\":%llu,\"cpu_seconds\":%.3f}\n",
        (unsigned long long)paid, (unsigned long long)measured, (unsigned long long)refused,
        seconds, seconds > 0 ? (double)measured / seconds : 0,
        percentile(latencies, measured, 0.5),
        percentile(latencies, measured, 0.99), percentile(latencies, measured, 1),
        (unsigned long long)next_payment, cpu_seconds());
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
    read_tokens(options.tokens, options.users);
    connection *all = calloc((size_t)options.connections, sizeof *all);
    latencies = malloc((options.count + 1) * sizeof *latencies);
    int poll = epoll_create1(0);
    if (!all || !latencies || poll < 0) fail("memory");
    for (int i = 0; i < options.connections; i++) {
        all[i].socket = connect_from(i, options.port);
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
        // Every sent payment must be answered. A missing answer is an error.
        int ready = epoll_wait(poll, events, 256, 30000);
        if (ready == 0) fail("no answer in 30 seconds");
        for (int i = 0; i < ready; i++) receive(events[i].data.ptr);
    }
    report(now());
    return refused ? 2 : 0;
}
