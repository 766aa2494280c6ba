// sale: makes whole sales over HTTP, and prints the results as JSON. Each lane is a till that makes
// one sale after another. The till creates a session and follows its stream. A payer's phone
// resolves the EID, locks the session and sends the payment. The sale is over when the phone has
// its answer and the till's stream has reported the payment and ended.
//
// The payee and the payer are computed from the sale's number, so that no user calls so often that
// the server limits the calls.
#include "client.h"

// The server limits an address to 200 resolves a second, so a single lane uses many phones.
enum { least_phones = 16, longest_id = 64 };

typedef enum { creating, following, resolving, locking, sending, telling, selling, kinds } kind;

static const char *const names[kinds] = {
    "create", "follow", "resolve", "lock", "send", "told", "sale",
};

typedef struct lane lane;

typedef struct {
    lane *lane;
    int socket; // -1: not open
    bool is_told; // The stream has reported the payment.
    bool is_over; // The stream has ended.
    size_t filled;
    char reply[longest_reply + 1];
} connection;

struct lane {
    int address;
    connection till, stream, *phones;
    uint64_t sales, number;
    kind step;
    bool is_sent;
    uint64_t began_at, asked_at;
    uint32_t took[kinds];
    char sid[longest_id + 1], eid[longest_id + 1];
};

static struct {
    int port, lanes;
    double seconds, warmup;
    uint64_t first, users;
    const char *tokens;
} options;

static int poller, phones_each, lanes_selling;
static uint64_t next_sale, sold, measured, room;
static uint64_t measure_from, measure_until;
static uint32_t *times[kinds]; // microseconds, of sales that ended within the measured time

static const char *till_token(const lane *l)
{
    return tokens[l->number % (options.users / 2)];
}

// Returns the payer's token for a sale. Each sale of a payee has another payer.
static const char *phone_token(const lane *l)
{
    uint64_t half = options.users / 2;
    return tokens[half + (l->number + l->number / half) % half];
}

static connection *phone(lane *l)
{
    return &l->phones[l->sales % (uint64_t)phones_each];
}

static void open_connection(connection *c, lane *l, int address)
{
    c->lane = l;
    c->filled = 0;
    c->socket = connect_from(address, options.port);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, c->socket, &event)) fail("epoll");
}

static void close_connection(connection *c)
{
    if (c->socket >= 0) close(c->socket);
    c->socket = -1;
}

static void ask(connection *c, kind step, const char *request, int length)
{
    if (length >= longest_request) fail("a request is too long");
    c->filled = 0;
    c->lane->step = step;
    c->lane->asked_at = now();
    if (write(c->socket, request, (size_t)length) != length) fail("write");
}

static void post(connection *c, kind step, const char *path, const char *token, const char *body)
{
    char request[longest_request];
    int length = snprintf(
        request, sizeof request,
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        "Idempotency-Key: sale-%016llx\r\nContent-Type: application/json\r\n"
        "Content-Length: %zu\r\n\r\n%s",
        path, options.port, token, (unsigned long long)c->lane->number, strlen(body), body);
    ask(c, step, request, length);
}

static int cents(const lane *l)
{
    return 1 + (int)(l->number % 100);
}

// Starts the next sale, unless the time is over.
static void create(lane *l)
{
    if (now() >= measure_until) return;
    l->number = next_sale++;
    l->sales++;
    l->is_sent = false;
    l->began_at = now();
    lanes_selling++;
    char body[128];
    snprintf(
        body, sizeof body,
        "{\"amount_cents\":%d,\"currency\":\"usd\",\"memo\":\"Coffee\",\"ttl_seconds\":120}",
        cents(l));
    post(&l->till, creating, "/sessions/create", till_token(l), body);
}

// Follows a session on a separate connection, which is reused for the next sale unless the server
// closes it.
static void follow(lane *l)
{
    if (strcasestr(l->stream.reply, "\r\nconnection: close\r\n")) close_connection(&l->stream);
    if (l->stream.socket < 0) open_connection(&l->stream, l, l->address);
    l->stream.is_told = l->stream.is_over = false;
    char request[longest_request];
    int length = snprintf(
        request, sizeof request,
        "GET /sessions/%s/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        "Accept: text/event-stream\r\n\r\n",
        l->sid, options.port, till_token(l));
    ask(&l->stream, following, request, length);
}

static void resolve(lane *l)
{
    char body[128];
    snprintf(body, sizeof body, "{\"eid\":\"%s\"}", l->eid);
    post(phone(l), resolving, "/sessions/resolve", phone_token(l), body);
}

static void lock(lane *l)
{
    char body[128];
    snprintf(body, sizeof body, "{\"sid\":\"%s\"}", l->sid);
    post(phone(l), locking, "/sessions/lock", phone_token(l), body);
}

static void pay(lane *l)
{
    char body[128];
    snprintf(body, sizeof body, "{\"sid\":\"%s\",\"expected_amount_cents\":%d}", l->sid, cents(l));
    post(phone(l), sending, "/wallet/send", phone_token(l), body);
}

static void refuse(const connection *c)
{
    fprintf(stderr, "sale: the answer to %s was:\n%s\n", names[c->lane->step], c->reply);
    exit(2);
}

static void expect(const connection *c, const char *text)
{
    if (strncmp(c->reply, "HTTP/1.1 200", 12) || !strstr(c->reply, text)) refuse(c);
}

// Copies a string of a reply's JSON, which must have no escapes, to `value`.
static void find(const connection *c, const char *member, char *value)
{
    char start[32];
    snprintf(start, sizeof start, "\"%s\":\"", member);
    expect(c, start);
    const char *found = strstr(c->reply, start) + strlen(start);
    size_t length = strcspn(found, "\"");
    if (length > longest_id) refuse(c);
    memcpy(value, found, length);
    value[length] = 0;
}

static void record_time(lane *l, kind step)
{
    l->took[step] = (uint32_t)(now() - l->asked_at);
}

static void store_sale(const lane *l)
{
    if (measured == room) {
        room = room ? 2 * room : 4096;
        for (int i = 0; i < kinds; i++)
            if (!(times[i] = realloc(times[i], room * sizeof *times[i]))) fail("memory");
    }
    for (int i = 0; i < kinds; i++) times[i][measured] = l->took[i];
    measured++;
}

static void end_if_over(lane *l)
{
    if (!l->is_sent || !l->stream.is_over) return;
    uint64_t time = now();
    l->took[selling] = (uint32_t)(time - l->began_at);
    lanes_selling--;
    sold++;
    if (time >= measure_from && time < measure_until) store_sale(l);
    create(l);
}

// Makes the next call of a sale after the complete answer to a call.
static void go_on(connection *c)
{
    lane *l = c->lane;
    record_time(l, l->step);
    switch (l->step) {
    case creating:
        find(c, "sid", l->sid);
        find(c, "eid", l->eid);
        return follow(l);
    case resolving:
        expect(c, l->sid);
        return lock(l);
    case locking:
        expect(c, "\"ok\":true");
        return pay(l);
    case sending:
        expect(c, "\"ok\":true");
        l->is_sent = true;
        return end_if_over(l);
    default:
        fail("an answer to nothing");
    }
}

// Handles new data of the stream, which stays open.
static void handle_stream(connection *c)
{
    lane *l = c->lane;
    if (l->step == following && strstr(c->reply, "\ndata: ")) {
        expect(c, "\"status\":\"ADVERTISING\"");
        record_time(l, following);
        return resolve(l);
    }
    if (l->step == following && strstr(c->reply, "\r\n\r\n")) expect(c, "text/event-stream");
    const char *paid = strstr(c->reply, "\"status\":\"PAID\"");
    if (!paid || !strstr(paid, "\n\n")) return;
    if (!c->is_told) record_time(l, telling);
    c->is_told = true;
    if (!strstr(paid, "\r\n0\r\n\r\n")) return;
    c->is_over = true;
    end_if_over(l);
}

static void receive(connection *c)
{
    ssize_t got = recv(c->socket, c->reply + c->filled, longest_reply - c->filled, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return; // From an older connection of the stream.
    bool is_stream = c == &c->lane->stream;
    if (got <= 0 && c->is_over) return close_connection(c);
    if (got <= 0) fail("the server closed a connection");
    c->filled += (size_t)got;
    c->reply[c->filled] = 0;
    if (is_stream) return handle_stream(c);
    size_t length = reply_length(c->reply);
    if (length && c->filled >= length) go_on(c);
}

static void report(void)
{
    double seconds = (double)(measure_until - measure_from) / 1e6;
    printf(
        "{\"paid\":%llu,\"measured\":%llu,\"seconds\":%.4f,\"per_second\":%.1f,"
        "\"last\":%llu,\"cpu_seconds\":%.3f,\"calls\":{",
        (unsigned long long)sold, (unsigned long long)measured, seconds,
        (double)measured / seconds, (unsigned long long)next_sale, cpu_seconds());
    for (int i = 0; i < kinds; i++) {
        if (measured) qsort(times[i], measured, sizeof *times[i], ascending);
        printf(
            "%s\"%s\":{\"p50_ms\":%.3f,\"p99_ms\":%.3f}", i ? "," : "", names[i],
            percentile(times[i], measured, 0.5), percentile(times[i], measured, 0.99));
    }
    printf("}}\n");
}

static void read_options(char **arguments)
{
    for (; arguments[0] && arguments[1]; arguments += 2) {
        const char *name = arguments[0], *value = arguments[1];
        if (!strcmp(name, "--port")) options.port = atoi(value);
        else if (!strcmp(name, "--connections")) options.lanes = atoi(value);
        else if (!strcmp(name, "--seconds")) options.seconds = atof(value);
        else if (!strcmp(name, "--warmup")) options.warmup = atof(value);
        else if (!strcmp(name, "--first")) options.first = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--users")) options.users = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--tokens")) options.tokens = value;
        else fail(name);
    }
    if (!options.port || options.lanes < 1 || options.users < 2 || !options.tokens)
        fail("usage: --port --connections --seconds --warmup --first --users --tokens");
}

static void open_lane(lane *l, int number)
{
    l->address = number;
    l->stream.socket = -1;
    l->stream.lane = l;
    open_connection(&l->till, l, number);
    l->phones = calloc((size_t)phones_each, sizeof *l->phones);
    if (!l->phones) fail("memory");
    for (int i = 0; i < phones_each; i++)
        open_connection(&l->phones[i], l, options.lanes + number * phones_each + i);
}

int main(int argc, char **argv)
{
    (void)argc;
    signal(SIGPIPE, SIG_IGN);
    read_options(argv + 1);
    read_tokens(options.tokens, options.users);
    poller = epoll_create1(0);
    lane *all = calloc((size_t)options.lanes, sizeof *all);
    if (!all || poller < 0) fail("memory");
    phones_each = (least_phones + options.lanes - 1) / options.lanes;
    for (int i = 0; i < options.lanes; i++) open_lane(&all[i], i);
    next_sale = options.first;
    measure_from = now() + (uint64_t)(options.warmup * 1e6);
    measure_until = measure_from + (uint64_t)(options.seconds * 1e6);
    for (int i = 0; i < options.lanes; i++) create(&all[i]);
    while (lanes_selling) {
        struct epoll_event events[256];
        // Every started sale must end. A missing end is an error.
        int ready = epoll_wait(poller, events, 256, 30000);
        if (ready == 0) fail("no answer in 30 seconds");
        for (int i = 0; i < ready; i++) receive(events[i].data.ptr);
    }
    report();
    return 0;
}
