/* A PostgreSQL server that lies.
 *
 *     torture_hostile URL FOLDER SECONDS [SEED]   a proxy in FOLDER changes what the server says
 *     torture_hostile URL FOLDER record DIR       what an honest one says, for tests/fuzz/corpus
 *
 * Messages are changed, left out, repeated, cut, have other types, counts and lengths, values that
 * are far too large, rows without end. The client must stay alive, come back to its caller, and not
 * use more than MEMORY_MAX. Speaks TAP; meant for a build with sanitizers. */
#include "base/clock.h"
#include "postgres_proxy.h"
#include "postgres_session.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

enum { MEMORY_MAX_MB = 1200, ROWS_MANY = 20000, FLOOD_MB = 2000, RECORDED_MAX = 1 << 20 };

static uint64_t    draws = 1;
static int         chance = 60; /* one message in so many is changed */
static bool        flood;       /* the first row comes forever */
static bool        huge;        /* the first row says that it has a gigabyte, and sends it */
static const char *record_to;   /* a file for what the server said after the greeting */
static atomic_long changes;

static uint64_t draw(uint64_t below)
{
    draws ^= draws << 13;
    draws ^= draws >> 7;
    draws ^= draws << 17;
    return (draws >> 11) % below;
}

/* ---- messages -------------------------------------------------------------------- */

/* What of the server's bytes is not a whole message yet. */
struct partial {
    size_t n, cap;
    bool   greeted;
    char   bytes[];
};

static void put_length(char *to, uint32_t n)
{
    to[0] = (char)(n >> 24);
    to[1] = (char)(n >> 16);
    to[2] = (char)(n >> 8);
    to[3] = (char)n;
}

static uint32_t length_of(const char *from)
{
    const unsigned char *u = (const unsigned char *)from;

    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* A cell of a row becomes something else: a number at the edge, nothing, NULL, a large one. */
static size_t change_cell(const char *message, size_t n, char *out)
{
    static const unsigned char edges[][8] = {
        { 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
        { 0x80 },
        { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
        { 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff },
    };
    size_t cells = n > 7 ? (size_t)(unsigned char)message[6] : 0, at = 7, left = n;
    size_t which = cells ? draw(cells) : 0;

    memcpy(out, message, n);
    for (size_t i = 0; i < which && at + 4 <= n; i++) {
        uint32_t size = length_of(message + at);
        at += 4 + (size == UINT32_MAX ? 0 : size);
    }
    if (at + 4 > n)
        return n;
    uint32_t old = length_of(message + at);
    old = old == UINT32_MAX ? 0 : old;
    if (at + 4 + old > n)
        return n;
    static const size_t sizes[] = { 8, 0, 1, 100000, 8, 32, 4, 2 };
    size_t              size = sizes[draw(COUNT(sizes))];
    bool                null = draw(5) == 0;
    put_length(out + at, null ? UINT32_MAX : (uint32_t)size);
    size = null ? 0 : size;
    memset(out + at + 4, (int)draw(256), size);
    if (size >= 2 && size <= 8)
        memcpy(out + at + 4, edges[draw(COUNT(edges))], size);
    left = n - (at + 4 + old);
    memcpy(out + at + 4 + size, message + at + 4 + old, left);
    size_t made = at + 4 + size + left;
    put_length(out + 1, (uint32_t)made - 1);
    return made;
}

/* The same message, changed somehow, in `out`, which has room for 200,000 bytes more. */
static size_t change(const char *message, size_t n, char *out)
{
    memcpy(out, message, n);
    switch (draw(message[0] == 'D' ? 14 : 9)) {
    case 0: out[draw(n)] = (char)draw(256); return n;
    case 1: out[0] = "DTCZE12nNAStIHGW"[draw(16)]; return n;
    case 2: put_length(out + 1, (uint32_t)draw(100000)); return n;
    case 3: return 0; /* left out */
    case 4: memcpy(out + n, message, n); return n * 2;
    case 5:
        for (size_t i = 0; i < 1 + draw(8) && n > 5; i++)
            out[5 + draw(n - 5)] = (char)(draw(2) ? 0 : draw(256));
        return n;
    case 6: /* bytes behind, and a length that says so */
        memset(out + n, 0, 50);
        put_length(out + 1, (uint32_t)n + 49);
        return n + 50;
    case 7: return draw(n); /* cut */
    case 8:
        if (n > 7)
            out[6] = (char)draw(256); /* another count of columns */
        return n;
    default: return change_cell(message, n, out);
    }
}

static bool send_many(struct proxy_relay *r, const char *message, size_t n, size_t times)
{
    for (size_t i = 0; i < times; i++)
        if (!proxy_write(r->fds[0], message, n))
            return false;
    return true;
}

static bool send_huge(struct proxy_relay *r, const char *message, size_t n)
{
    static const char zeros[1 << 16];
    char              head[11] = { 'D' };

    (void)n;
    put_length(head + 1, 4 + 2 + 4 + 1000000000);
    memcpy(head + 5, message + 5, 2);
    put_length(head + 7, 1000000000);
    return proxy_write(r->fds[0], head, sizeof head) &&
           send_many(r, zeros, sizeof zeros, 1000000000 / sizeof zeros);
}

/* One message on its way. False: the client has gone. */
static bool pass_message(struct proxy_relay *r, const char *message, size_t n)
{
    static _Thread_local char room[2 * 1048576 + 200000];

    if (record_to) {
        int fd = open(record_to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, message, n) != (ssize_t)n || close(fd))
            err(1, "%s", record_to);
    }
    if (message[0] == 'D' && flood)
        return r->changed = true, send_many(r, message, n, (size_t)FLOOD_MB * 1000000 / n);
    if (message[0] == 'D' && huge)
        return r->changed = true, send_huge(r, message, n);
    if (!chance || draw((uint64_t)chance) != 0 || n > 1048576)
        return proxy_write(r->fds[0], message, n);
    changes++;
    r->changed = true;
    if (message[0] == 'D' && draw(20) == 0)
        return send_many(r, message, n, ROWS_MANY);
    n = change(message, n, room);
    return proxy_write(r->fds[0], room, n);
}

/* What the server says up to its first ReadyForQuery is passed on as it is. */
static bool pass_partial(struct proxy_relay *r, struct partial *q)
{
    size_t at = 0;
    bool   fine = true;

    while (fine && q->n - at >= 5) {
        size_t n = (size_t)length_of(q->bytes + at + 1) + 1;
        if (n > q->n - at)
            break;
        fine = q->greeted ? pass_message(r, q->bytes + at, n)
                          : proxy_write(r->fds[0], q->bytes + at, n);
        q->greeted |= q->bytes[at] == 'Z';
        at += n;
    }
    memmove(q->bytes, q->bytes + at, q->n - at);
    q->n -= at;
    return fine;
}

static bool lie(struct proxy_relay *r, const char *bytes, size_t n)
{
    struct partial *q = r->state;

    if (!q || q->n + n > q->cap) {
        size_t cap = (q ? q->cap : 65536) * 2 + n;
        bool   fresh = !q;
        q = realloc(q, sizeof *q + cap);
        if (!q)
            errx(1, "out of memory");
        if (fresh)
            q->n = q->greeted = 0;
        q->cap = cap;
        r->state = q;
    }
    memcpy(q->bytes + q->n, bytes, n);
    q->n += n;
    return pass_partial(r, q);
}

/* ---- the run --------------------------------------------------------------------- */

static long memory_mb(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss / 1024;
}

static void record(const char *url, const char *to)
{
    chance = 0;
    for (int i = 0; i < SESSIONS - 1; i++) {
        char path[4096];
        int  fd;
        char which = (char)i;
        snprintf(path, sizeof path, "%s/session-%d", to, i);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, &which, 1) != 1 || close(fd))
            err(1, "%s", path);
        record_to = path;
        session_run(url, i);
        record_to = NULL;
    }
}

static void lie_for(const char *url, long seconds)
{
    int64_t until = clock_steady_us() + seconds * 1000000;
    long    runs = 0;

    for (; clock_steady_us() < until; runs++) {
        static const int chances[] = { 10, 30, 60, 200 };
        chance = chances[runs % (long)COUNT(chances)];
        session_run(url, (int)draw(SESSIONS));
    }
    printf("# %ld sessions, %ld messages changed, %ld MB at most\n", runs, (long)changes,
           memory_mb());
    CHECK(changes > 0);
    CHECK(memory_mb() < MEMORY_MAX_MB);
    printf("%sok 1 - changed messages: the client lives on\n", tap_failures ? "not " : "");
}

/* libpq takes in a message of up to a gigabyte as a whole, twice at the end: once it knows how long
 * the message is, it reads as long as something comes, in one call. There is no way to look at its
 * head before. */
static void without_end(const char *url)
{
    enum { TWICE_MB = 2 * 1024, REST_MB = 256 };

    chance = 0;
    flood = true;
    session_run(url, 1);
    flood = false;
    printf("# rows without end: %ld MB at most\n", memory_mb());
    CHECK(memory_mb() < MEMORY_MAX_MB);
    long before = memory_mb();
    huge = true;
    session_run(url, 1);
    huge = false;
    printf("# a row of a gigabyte: %ld MB at most\n", memory_mb());
    CHECK(memory_mb() < before + TWICE_MB + REST_MB);
    printf("%sok 2 - rows without end and of a gigabyte: memory has a bound\n",
           tap_failures ? "not " : "");
}

int main(int argc, char **argv)
{
    struct proxy p = { .change = lie };
    char         url[300], server[200] = "";
    const char  *host = argc > 3 ? strstr(argv[1], "host=") : NULL;

    if (!host || sscanf(host, "host=%100[^&]", server) != 1)
        errx(1, "usage: torture_hostile URL FOLDER SECONDS|record [SEED|DIR]");
    strcat(server, "/.s.PGSQL.5432");
    snprintf(url, sizeof url, "postgres:///heddle?host=%.100s&user=postgres&statement_timeout=1000",
             argv[2]);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool recording = strcmp(argv[3], "record") == 0;
    for (int i = 0; i < SESSIONS - recording; i++)
        session_run(argv[1], i); /* so that there is something to be read */
    proxy_open(&p, server, argv[2]);
    if (recording) {
        record(url, argc > 4 ? argv[4] : ".");
    } else {
        draws =
            (argc > 4 ? strtoull(argv[4], NULL, 10) : (uint64_t)clock_steady_us()) * 2654435761u +
            1;
        printf("# seed %llu\n", (unsigned long long)draws);
        lie_for(url, atol(argv[3]));
        if (atol(argv[3]) >= 5)
            without_end(url);
    }
    printf("1..%d\n", recording ? 0 : atol(argv[3]) >= 5 ? 2 : 1);
    proxy_close(&p);
    return tap_failures > 0;
}
