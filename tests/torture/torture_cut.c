/* A connection to PostgreSQL that is cut at every byte, in both directions.
 *
 *     torture_cut URL FOLDER [CUTS]
 *
 * URL is that of a server on a unix socket; FOLDER is where a proxy in front of it may listen. For
 * each kind of write, and each byte that passes in it, the connection on which it begins is cut
 * there; the store may connect again. Afterwards the log must have what the store said. With CUTS
 * only so many cuts are made of each kind, spread over all bytes. Then all connections are cut, at
 * random places, so that the store cannot find out everything. Speaks TAP. */
#include "postgres_claims.h"
#include "postgres_proxy.h"

static struct claims direct, cut;
static struct proxy  proxy;
static unsigned      run;    /* in ids, so that the same log can be used again, ... */
static long          number; /* ... and of the write: no two have the same id */

/* ---- kinds of writes ------------------------------------------------------------- */

static struct sv small_payload(struct arena *a, const char *id, int i, int n)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "{\"content\":\"%s/%d of %d x\",\"role\":\"user\"}", id, i, n);
    return sb_sv(&b);
}

static enum status append_n(struct log *l, struct claim *k, bool op, struct arena *a, struct err *e)
{
    struct entry     *list = ARENA_NEW(a, struct entry, (size_t)k->n);
    struct store_head h;
    struct sv         thread = claim_thread(k->thread);

    for (int i = 0; i < k->n; i++)
        list[i] = (struct entry){ .kind = SV("ai_message"),
                                  .lane = SV("default"),
                                  .payload = small_payload(a, k->id, i, k->n) };
    if (op)
        list[0].op_id = sv_of(k->id);
    if (log_begin(l, thread, STORE_WRITE, e))
        return err_code(e);
    if (log_append(l, thread, LOG_ANY_REV, list, (size_t)k->n, &h, e) || log_commit(l, e)) {
        log_abort(l);
        return err_code(e);
    }
    k->first = list[0].seq;
    return ST_OK;
}

static enum status write_single(struct log *l, struct claim *k, struct arena *a, struct err *e)
{
    return append_n(l, k, false, a, e);
}

static enum status write_op(struct log *l, struct claim *k, struct arena *a, struct err *e)
{
    return append_n(l, k, true, a, e);
}

static enum status write_copy(struct log *l, struct claim *k, struct arena *a, struct err *e)
{
    k->n = 260; /* goes by COPY */
    return append_n(l, k, false, a, e);
}

static enum status write_new_thread(struct log *l, struct claim *k, struct arena *a, struct err *e)
{
    struct entry      n = { .kind = SV("ai_message"),
                            .lane = SV("default"),
                            .payload = small_payload(a, k->id, 0, 1) };
    struct store_head h;
    struct sv         thread = sv_of(k->id);

    if (log_begin(l, thread, STORE_WRITE, e))
        return err_code(e);
    if (log_append(l, thread, 0, &n, 1, &h, e) || log_commit(l, e)) {
        log_abort(l);
        return err_code(e);
    }
    k->first = -1; /* it is looked for by its name */
    return ST_OK;
}

/* A thread whose views another version of the program has folded: they are folded anew first, so
 * that rows are deleted and entries read before anything is appended. */
static enum status write_folding(struct log *l, struct claim *k, struct arena *a, struct err *e)
{
    return append_n(l, k, false, a, e);
}

/* What was written is read again before the commit, so that it is sent ahead of it, and then there
 * is more. */
static enum status write_reading(struct log *l, struct claim *k, struct arena *a, struct err *e)
{
    struct sv         thread = claim_thread(k->thread);
    struct entry      list[2], n;
    struct store_head h;
    bool              found = false;

    k->n = 2;
    for (int i = 0; i < k->n; i++)
        list[i] = (struct entry){ .kind = SV("ai_message"),
                                  .lane = SV("default"),
                                  .payload = small_payload(a, k->id, i, k->n) };
    if (log_begin(l, thread, STORE_WRITE, e))
        return err_code(e);
    enum status s = log_append(l, thread, LOG_ANY_REV, &list[0], 1, &h, e);
    if (!s) {
        struct store_query q = { .thread = thread, .from = list[0].seq, .to = list[0].seq };
        s = store_first(l->store, &q, a, &n, &found, e);
    }
    if (!s && !found)
        FAIL("a transaction does not see what it wrote");
    if (s || log_append(l, thread, LOG_ANY_REV, &list[1], 1, &h, e) || log_commit(l, e)) {
        log_abort(l);
        return err_code(e);
    }
    k->first = list[0].seq;
    return ST_OK;
}

static enum status write_group(struct log *l, struct claim *k, struct arena *a, struct err *e)
{
    struct claim part = *k;

    if (store_group_begin(l->store, e))
        return err_code(e);
    enum status s = append_n(l, k, true, a, e);
    if (s) {
        store_group_abort(l->store);
        return s;
    }
    part.thread = (k->thread + 1) % CLAIM_THREADS;
    struct err ignored;
    snprintf(part.id, sizeof part.id, "%.34s-b", k->id);
    enum status second = append_n(l, &part, false, a, &ignored);
    s = store_group_end(l->store, e);
    if (!s && second)
        return err_set(e, ST_IO, "a group ended well without its second part");
    return s;
}

static const struct kind {
    const char *name;
    enum status (*write)(struct log *l, struct claim *k, struct arena *a, struct err *e);
    bool must; /* a single cut is always made up for */
} kinds[] = {
    { "single", write_single, true },         { "op", write_op, true },
    { "new-thread", write_new_thread, true }, { "folding", write_folding, true },
    { "reading", write_reading, true },       { "copy", write_copy, false },
    { "group", write_group, false },
};

/* ---- one cut --------------------------------------------------------------------- */

static int64_t rev_of(struct sv thread)
{
    struct err        e;
    struct store_head h = { 0 };
    struct store     *s = claims_open(&direct, &e);

    if (!s || store_head(s, thread, &h, &e))
        errx(1, "%s", e.text);
    store_close(s);
    return h.rev;
}

/* A thread of its own is there with its one entry, or not at all. */
static void check_new_thread(const struct claim *k)
{
    int64_t rev = rev_of(sv_of(k->id));

    if (rev > 1 || (k->verdict == THERE && rev != 1) || (k->verdict == NOT_THERE && rev != 0)) {
        printf("# %s: told %d, and the thread has %lld entries\n", k->id, k->verdict,
               (long long)rev);
        FAIL("lost or doubled");
    }
}

/* Leave the views of a thread as another version of the program would. */
static void outdate(struct sv thread)
{
    static const struct view *const none[] = { NULL };
    struct err                      e;
    struct store                   *s = claims_open(&direct, &e);
    struct log                      l = log_of(s, none);

    if (!s || log_begin(&l, thread, STORE_WRITE, &e) || log_commit(&l, &e))
        errx(1, "%s", e.text);
    store_close(l.store);
}

/* One write in which the connection is cut, by a store that has just been opened. */
static void write_cut(const struct kind *kind, enum proxy_way way, long at, int victims)
{
    struct claim  k = { .thread = (int)(number % CLAIM_THREADS), .n = 1 };
    struct arena  a = { 0 };
    struct err    e = { 0 };
    struct store *s;
    enum status   st;

    snprintf(k.id, sizeof k.id, "%s-%x-%ld", kind->name, run, number++);
    if (kind->write == write_folding)
        outdate(claim_thread(k.thread));
    proxy_cut(&proxy, way, at, victims);
    s = claims_open(&cut, &e);
    st = s ? ST_OK : err_code(&e);
    if (s) {
        struct log l = log_of(s, claim_views);
        st = kind->write(&l, &k, &a, &e);
        store_close(l.store);
    }
    bool unknown = claim_count(&cut, st, &e);
    k.verdict = !st ? THERE : unknown ? NOBODY_KNOWS : NOT_THERE;
    if (victims == 1 && s && kind->must && st) {
        printf("# %s, way %d, byte %ld: %s (%s)\n", kind->name, way, at, e.text, e.reason);
        FAIL("a single cut was not made up for");
    }
    if (kind->write == write_new_thread)
        check_new_thread(&k);
    else
        claim_note(&direct, &k);
    arena_free(&a);
}

/* How many bytes pass in such a write when nothing is cut. */
static void measure(const struct kind *kind, long *bytes)
{
    write_cut(kind, PROXY_TO_SERVER, 0, 0);
    while (proxy.open)
        usleep(100);
    bytes[0] = proxy.bytes[0];
    bytes[1] = proxy.bytes[1];
}

static void cut_everywhere(const struct kind *kind, long cuts)
{
    long    bytes[2], made = 0;
    int64_t from = clock_steady_us();

    measure(kind, bytes);
    for (enum proxy_way way = PROXY_TO_SERVER; way <= PROXY_TO_CLIENT; way++) {
        long step = cuts && bytes[way] > cuts ? bytes[way] / cuts : 1;
        /* Most bytes of a COPY are the same. */
        step = !cuts && bytes[way] > 20000 ? bytes[way] / 3000 + 1 : step;
        for (long at = cuts ? clock_steady_us() % step : 0; at <= bytes[way] && !tap_failures;
             at += step, made++)
            write_cut(kind, way, at, 1);
    }
    claims_check(&direct);
    fprintf(stderr, "# %s: %ld cuts, of %ld bytes to the server and %ld back, %lld s\n", kind->name,
            made, bytes[0], bytes[1], (long long)(clock_steady_us() - from) / 1000000);
}

/* No connection gets further than some byte: what the store says must still be so. */
static void cut_all(const struct kind *kind, long cuts)
{
    long    bytes[2];
    int64_t from = clock_steady_us();

    measure(kind, bytes);
    cut.busy_ms = 60;
    for (long i = 0; i < cuts && !tap_failures; i++) {
        enum proxy_way way = i % 2 ? PROXY_TO_CLIENT : PROXY_TO_SERVER;
        write_cut(kind, way, 1 + (clock_steady_us() * 7919 + i) % bytes[way], 1000);
    }
    cut.busy_ms = 5000;
    proxy_cut(&proxy, 0, 0, 0);
    claims_check(&direct);
    fprintf(stderr, "# %s: %ld writes with every connection cut, %lld s\n", kind->name, cuts,
            (long long)(clock_steady_us() - from) / 1000000);
}

int main(int argc, char **argv)
{
    char        url[300], server[200] = "";
    long        cuts = argc > 3 ? atol(argv[3]) : 0;
    int         n = 0, bad = 0;
    const char *host = argc > 2 ? strstr(argv[1], "host=") : NULL;
    int64_t     entries;

    if (!host || sscanf(host, "host=%100[^&]", server) != 1)
        errx(1, "usage: torture_cut URL FOLDER [CUTS], where URL has host=/FOLDER");
    strcat(server, "/.s.PGSQL.5432");
    snprintf(url, sizeof url, "postgres:///heddle?host=%.100s&user=postgres", argv[2]);
    direct = (struct claims){ .url = argv[1], .busy_ms = 5000 };
    cut = (struct claims){ .url = url, .busy_ms = 5000 };
    run = (unsigned)clock_system_ms() & 0xffffff;
    claims_init(&direct);
    claims_init(&cut);
    (void)rev_of(SV("alpha")); /* makes the tables */
    proxy_open(&proxy, server, argv[2]);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct err    e;
        struct store *s = claims_open(&direct, &e);
        bool          can = s && (kinds[i].write != write_group || store_has_groups(s));
        store_close(s);
        if (!can)
            continue;
        tap_failures = 0;
        cut_everywhere(&kinds[i], cuts);
        cut_all(&kinds[i], cuts ? cuts : 1000);
        printf("%sok %d - %s: cut at every byte, the log has what was said\n",
               tap_failures ? "not " : "", ++n, kinds[i].name);
        fflush(stdout);
        bad += tap_failures;
    }
    proxy_close(&proxy);
    tap_failures = 0;
    entries = claims_verify(&direct);
    claims_tell(&cut);
    printf("%sok %d - %lld entries verify\n1..%d\n", tap_failures ? "not " : "", n + 1,
           (long long)entries, n + 1);
    return bad + tap_failures > 0;
}
