/* Whatever call of the store fails, and whatever was being done: the caller is told, nothing
 * half-written is visible, the log verifies, and the same work succeeds when it is tried again.
 *
 * Each row of the table is one piece of work on a log that `before` has prepared. It is run with
 * the first call failing, then the second, and so on until none fails. */
#include "base/json.h"
#include "fresh.h"
#include "store/store_internal.h"
#include "tap.h"
#include "thread/checkpoint.h"
#include "thread/erase.h"
#include "thread/op.h"
#include "thread/project.h"
#include "thread/run.h"

static const struct view *const views[] = { &thread_view, NULL };
static struct view              newer; /* thread_view as a later version of the program has it */
static const struct view *const newer_views[] = { &newer, NULL };

static struct arena   a;
static struct run_ref who = { .thread = SV_STATIC("t"), .actor = SV_STATIC("test"), .at = 1 };

/* ---- work ---------------------------------------------------------------------------- */

static struct entry message(const char *lane)
{
    return (struct entry){ .at = 1,
                           .kind = SV("ai_message"),
                           .lane = sv_of(lane),
                           .payload = SV("{\"content\":\"hello\",\"role\":\"user\"}") };
}

static enum status append_messages(struct log *l, struct sv thread, size_t n, struct err *e)
{
    struct entry      list[8];
    struct store_head h;

    for (size_t i = 0; i < n; i++)
        list[i] = message(i % 2 ? "default" : "side");
    if (log_begin(l, thread, STORE_WRITE, e))
        return err_code(e);
    if (log_append(l, thread, LOG_ANY_REV, list, n, &h, e) || log_commit(l, e)) {
        log_abort(l);
        return err_code(e);
    }
    return ST_OK;
}

static enum status nothing(struct log *l, struct err *e)
{
    (void)l, (void)e;
    return ST_OK;
}

static enum status append_first(struct log *l, struct err *e)
{
    return append_messages(l, SV("t"), 1, e);
}

static enum status append_batch(struct log *l, struct err *e)
{
    return append_messages(l, SV("t"), 8, e);
}

static enum status append_to_two(struct log *l, struct err *e)
{
    struct entry      one = message("default"), two = message("default");
    struct store_head h;

    if (log_begin(l, SV("t"), STORE_WRITE, e))
        return err_code(e);
    if (log_append(l, SV("t"), LOG_ANY_REV, &one, 1, &h, e) ||
        log_append(l, SV("other"), LOG_ANY_REV, &two, 1, &h, e) || log_commit(l, e)) {
        log_abort(l);
        return err_code(e);
    }
    return ST_OK;
}

static enum status append_large(struct log *l, struct err *e)
{
    struct sb         b = sb_in(&a, 0);
    struct store_head h;

    sb_adds(&b, "{\"content\":\"");
    sb_pad(&b, 'x', 100000);
    sb_adds(&b, "\",\"role\":\"user\"}");
    struct entry one = message("default");
    one.payload = sb_sv(&b);
    if (log_begin(l, SV("t"), STORE_WRITE, e))
        return err_code(e);
    if (log_append(l, SV("t"), LOG_ANY_REV, &one, 1, &h, e) || log_commit(l, e)) {
        log_abort(l);
        return err_code(e);
    }
    return ST_OK;
}

/* The views are those of a later version: they are folded anew on the way in. */
static enum status rebuild(struct log *l, enum store_mode mode, struct err *e)
{
    struct log later = log_of(l->store, newer_views);

    if (log_begin(&later, SV("t"), mode, e))
        return err_code(e);
    if (log_commit(&later, e)) {
        log_abort(&later);
        return err_code(e);
    }
    return ST_OK;
}

static enum status rebuild_writing(struct log *l, struct err *e)
{
    return rebuild(l, STORE_WRITE, e);
}

static enum status rebuild_reading(struct log *l, struct err *e)
{
    return rebuild(l, STORE_READ, e);
}

static enum status apply(struct log *l, const struct op *op, struct err *e)
{
    struct op_result r;

    return op_apply(l, op, &a, &r, e);
}

static enum status op_replace(struct log *l, struct err *e)
{
    return apply(l,
                 &(struct op){ .type = OP_REPLACE,
                               .thread = SV("t"),
                               .op_id = SV("op-replace"),
                               .reason = SV("compaction"),
                               .context = SV("{\"messages\":[{\"content\":\"so far\",\"role\":"
                                             "\"user\"}],\"system_prompt\":\"p\"}"),
                               .has_base_seq = true,
                               .base_seq = 1,
                               .rebase = true,
                               .at = 1 },
                 e);
}

static enum status op_switch(struct log *l, struct err *e)
{
    return apply(l,
                 &(struct op){ .type = OP_SWITCH,
                               .thread = SV("t"),
                               .op_id = SV("op-switch"),
                               .lane = SV("side"),
                               .at = 1 },
                 e);
}

static enum status op_fork(struct log *l, struct err *e)
{
    return apply(l,
                 &(struct op){ .type = OP_FORK,
                               .thread = SV("t"),
                               .op_id = SV("op-fork"),
                               .lane = SV("branch"),
                               .from = SV("default"),
                               .from_seq = 1,
                               .also_switch = true,
                               .at = 1 },
                 e);
}

static enum status start(struct log *l, struct err *e)
{
    struct run_state out;

    return run_start(l, &who,
                     &(struct run_start){ .content = SV("\"do it\""), .request_id = SV("req-1") },
                     &a, &out, e);
}

static enum status events(struct log *l, struct sv text, struct err *e)
{
    struct json       list;
    struct run_state  out;
    struct run_report report;

    if (json_parse(text, 0, &a, &list, e))
        return err_code(e);
    return run_events(l, &who, list.items, list.n, &a, &out, &report, e);
}

static enum status model_calls_tools(struct log *l, struct err *e)
{
    return events(l,
                  SV("[{\"kind\":\"llm_started\",\"id\":\"e1\",\"seq\":1,\"iteration\":1},"
                     "{\"kind\":\"llm_completed\",\"id\":\"e2\",\"seq\":2,\"data\":{\"content\":"
                     "\"\",\"tool_calls\":[{\"id\":\"c1\",\"name\":\"ls\",\"arguments\":{}},"
                     "{\"id\":\"c2\",\"name\":\"cat\",\"arguments\":{}}]}}]"),
                  e);
}

static enum status tools_answer(struct log *l, struct err *e)
{
    return events(l,
                  SV("[{\"kind\":\"tool_completed\",\"id\":\"e4\",\"seq\":4,\"tool_call_id\":"
                     "\"c2\",\"tool_name\":\"cat\",\"data\":{\"result\":2}},"
                     "{\"kind\":\"tool_completed\",\"id\":\"e3\",\"seq\":5,\"tool_call_id\":"
                     "\"c1\",\"tool_name\":\"ls\",\"data\":{\"result\":1}}]"),
                  e);
}

static enum status run_ends(struct log *l, struct err *e)
{
    return events(l,
                  SV("[{\"kind\":\"llm_completed\",\"id\":\"e8\",\"seq\":8,\"data\":{"
                     "\"content\":\"done\"}},{\"kind\":\"request_completed\",\"id\":\"e9\","
                     "\"seq\":9,\"data\":{\"result\":\"done\"}}]"),
                  e);
}

static enum status steer(struct log *l, struct err *e)
{
    struct sv id;

    return run_steer(l, &who, &(struct run_steer){ .kind = "steer", .text = SV("and that") }, &a,
                     &id, e);
}

static enum status drain(struct log *l, struct err *e)
{
    struct sv drained;

    return run_drain(l, &who, &a, &drained, e);
}

static enum status cancel(struct log *l, struct err *e)
{
    struct run_state out;

    return run_cancel(l, &who, (struct sv){ 0 }, SV("enough"), &a, &out, e);
}

static enum status recover(struct log *l, struct err *e)
{
    struct run_state out;

    return run_recover(l, &who, &a, &out, e);
}

/* Freeze the thread in a token, and bring it back from there. */
static enum status checkpoint_and_restore(struct log *l, struct err *e)
{
    struct token_key key = { .kid = SV("k1"), .secret = SV("0123456789abcdef0123456789abcdef") };
    struct checkpoint_keys   keys = { .keys = &key, .n = 1 };
    struct checkpoint_config config = { .model = SV("m"), .max_iterations = 3 };
    struct checkpoint_from   from = { .thread = SV("t"), .config = &config };
    struct checkpoint        c;
    struct sv                token;
    struct op_result         r;

    if (checkpoint_take(l, &from, &a, &c, e))
        return err_code(e);
    checkpoint_set_times(&c, 1, 0);
    if (checkpoint_sign(&c, &keys, NULL, &a, &token, e) ||
        checkpoint_verify(token, &keys, c.fingerprint, 2, &a, &c, e))
        return err_code(e);
    return checkpoint_restore(l, token, &c, SV("test"), 2, &a, &r, e);
}

static enum status count_message(void *ctx, const struct message *m, struct err *e)
{
    (void)m, (void)e;
    ++*(int *)ctx;
    return ST_OK;
}

static enum status project_all(struct log *l, struct err *e)
{
    struct projection_of of = { .thread = SV("t"), .lane = SV("default"), .upto = STORE_TO_END };
    struct projection    p;
    int                  n = 0;

    if (log_begin(l, SV("t"), STORE_READ, e))
        return err_code(e);
    enum status s = project_start(l, &of, &a, &p, e);
    if (!s)
        s = project_each(&p, count_message, &n, e);
    log_abort(l);
    return s;
}

static void note(void *ctx, struct sv finding)
{
    ++*(int *)ctx;
    printf("# " SV_FMT "\n", SV_ARG(finding));
}

static enum status verify_all(struct log *l, struct err *e)
{
    int64_t entries;
    int     n = 0;

    return log_verify(l, SV("t"), note, &n, &entries, e);
}

static enum status erase_first(struct log *l, struct err *e)
{
    static const int64_t seqs[] = { 1, 2 };
    struct erase_what    what = { .thread = SV("t"), .seqs = seqs, .n_seqs = 2 };
    struct erase_how     how = { .reason = SV("r"), .at = 1, .with_derived = true };
    struct erase_plan    plan;
    int64_t              seq;

    if (log_begin(l, SV("t"), STORE_WRITE, e))
        return err_code(e);
    if (erase_find(l, &what, &a, &plan, e) || erase_run(l, &plan, &how, &seq, e) ||
        log_commit(l, e)) {
        log_abort(l);
        return err_code(e);
    }
    return ST_OK;
}

static enum status scrub_and_say_so(struct log *l, struct err *e)
{
    struct erase_pending *list;
    size_t                n;

    if (log_begin(l, SV("t"), STORE_READ, e))
        return err_code(e);
    enum status s = erase_pending(l, &a, &list, &n, e);
    log_abort(l);
    if (s || store_scrub(l->store, NULL, NULL, e))
        return err_code(e);
    return erase_done(l, list, n, SV("x"), 1, e);
}

/* ---- before ----------------------------------------------------------------------------- */

static enum status filled(struct log *l, struct err *e)
{
    return append_messages(l, SV("t"), 8, e);
}

static enum status started(struct log *l, struct err *e)
{
    return filled(l, e) ? err_code(e) : start(l, e);
}

static enum status called(struct log *l, struct err *e)
{
    return started(l, e) ? err_code(e) : model_calls_tools(l, e);
}

static enum status steered(struct log *l, struct err *e)
{
    return started(l, e) || steer(l, e) ? err_code(e) : steer(l, e);
}

static enum status parked(struct log *l, struct err *e)
{
    return started(l, e) ? err_code(e) : op_replace(l, e);
}

static enum status compacted(struct log *l, struct err *e)
{
    return filled(l, e) || op_replace(l, e) ? err_code(e) : append_messages(l, SV("t"), 4, e);
}

static enum status erased(struct log *l, struct err *e)
{
    return compacted(l, e) ? err_code(e) : erase_first(l, e);
}

struct work {
    const char *name;
    enum status (*before)(struct log *, struct err *);
    enum status (*work)(struct log *, struct err *);
    int adds; /* entries of thread t */
};

/* clang-format off */
static const struct work table[] = {
    { "append the first entry of a thread",     nothing,   append_first,      1 },
    { "append a batch over two lanes",          filled,    append_batch,      8 },
    { "append to two threads at once",          filled,    append_to_two,     1 },
    { "append a large payload",                 filled,    append_large,      1 },
    { "fold views anew on writing",             filled,    rebuild_writing,   0 },
    { "fold views anew on reading",             filled,    rebuild_reading,   0 },
    { "fold the views of a run anew",           called,    rebuild_writing,   0 },
    { "replace",                                filled,    op_replace,        1 },
    { "switch",                                 filled,    op_switch,         1 },
    { "fork",                                   filled,    op_fork,           1 },
    { "replace once more, as a duplicate",      compacted, op_replace,        0 },
    { "replace while a run is active",          started,   op_replace,        1 },
    { "switch displaces the parked replace",    parked,    op_switch,         1 },
    { "start a run",                            filled,    start,             2 },
    { "the model calls tools",                  started,   model_calls_tools, 1 },
    { "tools answer out of order",              called,    tools_answer,      3 },
    { "a run ends",                             started,   run_ends,          2 },
    { "a run ends and what was parked applies", parked,    run_ends,          3 },
    { "steer",                                  started,   steer,             1 },
    { "drain what was steered",                 steered,   drain,             2 },
    { "cancel",                                 called,    cancel,            1 },
    { "cancel with an operation parked",        parked,    cancel,            2 },
    { "recover a run whose process is gone",    called,    recover,           1 },
    { "checkpoint, and restore it",             filled,    checkpoint_and_restore, 1 },
    { "checkpoint a run, and restore it later", called,    checkpoint_and_restore, 1 },
    { "project",                                compacted, project_all,       0 },
    { "verify",                                 compacted, verify_all,        0 },
    { "erase, with what was derived",           compacted, erase_first,       1 },
    { "scrub after an erasure",                 erased,    scrub_and_say_so,  1 },
};
/* clang-format on */

/* ---- the sweep ---------------------------------------------------------------------------- */

static struct fresh folder;
static char         url[300], path[280];

static int64_t rev_of(struct store *s)
{
    struct store_head h = { .rev = -1 };
    struct err        e;

    CHECK(store_head(s, SV("t"), &h, &e) == ST_OK);
    return h.rev;
}

/* Opened plainly, by nobody who knows of the fault: whole, and of this length? */
static void check_whole(int64_t rev)
{
    struct store *s = NULL;
    struct err    e;
    int           findings = 0;
    int64_t       entries;

    CHECK(store_open(sv_of(path), &(struct store_options){ 0 }, &s, &e) == ST_OK);
    struct log l = log_of(s, views);
    CHECK_INT(rev_of(s), rev);
    if (rev)
        CHECK(log_verify(&l, SV("t"), note, &findings, &entries, &e) == ST_OK);
    struct log later = log_of(s, newer_views);
    if (rev)
        CHECK(log_verify(&later, SV("t"), note, &findings, &entries, &e) == ST_OK);
    CHECK_INT(findings, 0);
    store_close(s);
}

/* The log as `before` leaves it, in base.db: made once, copied for each run. */
static void prepare(const struct work *w)
{
    struct store *s = NULL;
    struct err    e = { 0 };

    folder = fresh_folder();
    snprintf(path, sizeof path, "%s/base.db", folder.path);
    CHECK(store_open(sv_of(path), &(struct store_options){ .create = true }, &s, &e) == ST_OK);
    struct log l = log_of(s, views);
    CHECK(w->before(&l, &e) == ST_OK);
    CHECK(store_compact(s, &e) == ST_OK); /* all of it is in the one file */
    store_close(s);
}

static void copy_base(void)
{
    static const char *const old[] = { "log.db", "log.db-wal", "log.db-shm" };
    struct sv                bytes;
    struct err               e;

    for (size_t i = 0; i < COUNT(old); i++)
        unlinkat(folder.fd, old[i], 0);
    CHECK(fs_read(folder.fd, SV("base.db"), 0, &a, &bytes, &e) == ST_OK);
    int fd = openat(folder.fd, "log.db", O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0 && write(fd, bytes.s, bytes.n) == (ssize_t)bytes.n);
    close(fd);
    snprintf(path, sizeof path, "%s/log.db", folder.path);
    snprintf(url, sizeof url, "fault:0:sqlite:%s", path);
}

/* Run with the k-th call failing; false when there were fewer calls than that. */
static bool try_with(const struct work *w, int64_t k)
{
    struct store *s = NULL;
    struct err    e = { 0 };

    copy_base();
    CHECK(store_open(sv_of(url), &(struct store_options){ 0 }, &s, &e) == ST_OK);
    struct log l = log_of(s, views);
    int64_t    rev = rev_of(s);

    fault_arm(s, k);
    enum status st = w->work(&l, &e);
    bool        failed = fault_calls(s) >= k;
    fault_arm(s, 0);
    CHECK_INT(st, failed ? ST_IO : ST_OK);
    if (st != (failed ? ST_IO : ST_OK))
        printf("# call %lld: %s\n", (long long)k, e.text);
    if (failed) {
        CHECK_SV(sv_of(e.reason), SV("fault"));
        check_whole(rev);
        CHECK_INT(w->work(&l, &e), ST_OK); /* the same store goes on */
    }
    CHECK_INT(rev_of(s), rev + w->adds);
    store_close(s);
    check_whole(rev + w->adds);
    arena_free(&a);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0, ran = 0;

    newer = thread_view;
    newer.version++;
    for (size_t i = 0; i < COUNT(table); i++) {
        int64_t k = 1;
        if (argc > 1 && !strstr(table[i].name, argv[1]))
            continue;
        tap_failures = 0;
        prepare(&table[i]);
        while (k < 1000 && try_with(&table[i], k) && tap_failures < 20)
            k++;
        fresh_done(&folder);
        CHECK(k > 1 && k < 1000);
        printf("%sok %d - %s: %lld calls, each failed once\n", tap_failures ? "not " : "", ++ran,
               table[i].name, (long long)k - 1);
        fflush(stdout);
        failed += tap_failures > 0;
    }
    printf("1..%d\n", ran);
    return failed > 0;
}
