/* A log under test. Every test of a program is run on each kind of store in turn:
 *
 *     static void a_message_is_projected(void)
 *     {
 *         say("user", "Q1");                               to thread "t", lane "default"
 *         CHECK_SV(brief("default", STORE_TO_END), SV("CP| u:Q1"));
 *     }
 *     THREAD_MAIN(T(a_message_is_projected), )
 *
 * All calls have their own transaction. What fails unexpectedly is reported where it is called. */
#ifndef HEDDLE_THREAD_TEST_H
#define HEDDLE_THREAD_TEST_H

#include "base/vec.h"
#include "fresh.h"
#include "store/store.h"
#include "tap.h"
#include "thread/entry_json.h"
#include "thread/kind.h"
#include "thread/op.h"
#include "thread/project.h"
#include "thread/run.h"

#define THREAD SV("t")

static const struct view *const test_views[] = { &thread_view, NULL };

static struct {
    struct arena  a;
    struct err    e;
    struct store *s;
    struct log    l;
    char          url[300];
    bool          on_disk;
    int64_t       now; /* of the next entry */
} t;

static inline bool is_ok(enum status s, int line)
{
    if (s) {
        tap_failures++;
        printf("# line %d: %s: %s (%s)\n", line, status_word(s), t.e.text, t.e.reason);
    }
    return s == ST_OK;
}
#define OK(call) is_ok((call), __LINE__)

/* ---- the store ------------------------------------------------------------------------- */

static inline struct store *test_open(void)
{
    struct store *s = NULL;

    OK(store_open(sv_of(t.url), &(struct store_options){ .create = true }, &s, &t.e));
    return s;
}

/* Close and open again, as another process would. A store in memory stays as it is. */
static inline void restart(void)
{
    if (!t.on_disk)
        return;
    store_close(t.s);
    t.s = test_open();
    t.l = log_of(t.s, test_views);
}

static inline int thread_main(const struct tap_test *tests, int n, int argc, char **argv)
{
    static const char *const kinds[] = { "mem", "sqlite" };
    int                      failed = 0, ran = 0;

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < n; i++) {
            char name[200];
            snprintf(name, sizeof name, "%s: %s", kinds[k], tests[i].name);
            if (argc > 1 && !strstr(name, argv[1]))
                continue;
            struct fresh f = fresh_folder();
            t.on_disk = k == 1;
            snprintf(t.url, sizeof t.url, "%s%s%s",
                     t.on_disk ? "sqlite:" : "mem:", t.on_disk ? f.path : "",
                     t.on_disk ? "/log.db" : "");
            t.now = 1000;
            t.s = test_open();
            t.l = log_of(t.s, test_views);
            tap_failures = 0;
            tests[i].run();
            store_close(t.s);
            arena_free(&t.a);
            fresh_done(&f);
            printf("%sok %d - %s\n", tap_failures ? "not " : "", ++ran, name);
            fflush(stdout);
            failed += tap_failures > 0;
        }
    }
    printf("1..%d\n", ran);
    return failed > 0;
}
#define THREAD_MAIN(...)                                                                           \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct tap_test tests[] = { __VA_ARGS__ };                                    \
        return thread_main(tests, (int)COUNT(tests), argc, argv);                                  \
    }

/* ---- writing ----------------------------------------------------------------------------- */

static inline enum status append_entries(struct sv thread, int64_t expect, struct entry *list,
                                         size_t n)
{
    struct store_head h;

    if (log_begin(&t.l, thread, STORE_WRITE, &t.e))
        return t.e.code;
    if (log_append(&t.l, thread, expect, list, n, &h, &t.e) || log_commit(&t.l, &t.e)) {
        log_abort(&t.l);
        return t.e.code;
    }
    return ST_OK;
}

/* A line as `log append` reads it. */
static inline enum status append_line(const char *json)
{
    struct entry_defaults d = { t.now++, LANE_DEFAULT, SV("tester") };
    struct entry_line     line;

    if (entry_read(sv_of(json), &d, &t.a, &line, &t.e))
        return t.e.code;
    return append_entries(THREAD, LOG_ANY_REV, &line.entry, 1);
}
#define line(json) OK(append_line(json))

static inline enum status say_in(const char *lane, const char *role, const char *text)
{
    struct sb b = sb_in(&t.a, 0);

    sb_addf(&b, "{\"content\":");
    sb_add_json_string(&b, sv_of(text));
    sb_addf(&b, ",\"context_ref\":\"%s\",\"role\":\"%s\"}", lane, role);
    struct entry n = { .at = t.now++, .kind = SV("ai_message"), .payload = sb_sv(&b) };
    return append_entries(THREAD, LOG_ANY_REV, &n, 1);
}
#define say(role, text) OK(say_in("default", role, text))
#define say_on(lane, role, text) OK(say_in(lane, role, text))

static inline struct op_result apply_op(struct op op, enum status want, int at_line)
{
    struct op_result r = { .seq = -1 };

    op.thread = THREAD;
    op.actor = SV("tester");
    op.at = t.now++;
    enum status s = op_apply(&t.l, &op, &t.a, &r, &t.e);
    if (s != want) {
        tap_failures++;
        printf("# line %d: %s, want %s: %s\n", at_line, status_word(s), status_word(want),
               s ? t.e.text : "");
    }
    return r;
}
#define apply(...) apply_op((struct op){ __VA_ARGS__ }, ST_OK, __LINE__)
#define refuse(status, ...) apply_op((struct op){ __VA_ARGS__ }, (status), __LINE__)
#define REPLACE(lane_, id, json)                                                                   \
    .type = OP_REPLACE, .lane = sv_of(lane_), .op_id = sv_of(id), .context = sv_of(json)
#define SWITCH(lane_, id) .type = OP_SWITCH, .lane = sv_of(lane_), .op_id = sv_of(id)
#define FORK(lane_, id, from_, at_)                                                                \
    .type = OP_FORK, .lane = sv_of(lane_), .op_id = sv_of(id), .from = sv_of(from_),               \
    .from_seq = (at_)

/* ---- reading ------------------------------------------------------------------------------- */

static inline int64_t rev(void)
{
    struct store_head h = { 0 };

    OK(store_head(t.s, THREAD, &h, &t.e));
    return h.rev;
}

static inline struct entry entry_at(int64_t seq)
{
    struct store_query q = { .thread = THREAD, .from = seq, .to = seq };
    struct entry       n = { .seq = -1 };
    bool               found = false;

    OK(store_first(t.s, &q, &t.a, &n, &found, &t.e));
    CHECK(found);
    return n;
}
static inline struct entry last_entry(void)
{
    return entry_at(rev() - 1);
}

static inline struct json payload_of(const struct entry *n)
{
    struct json v = { 0 };

    OK(json_parse(n->payload, 0, &t.a, &v, &t.e));
    return v;
}
static inline struct json refs_of(const struct entry *n)
{
    struct json v = { 0 };

    OK(json_parse(n->refs.n ? n->refs : SV("{}"), 0, &t.a, &v, &t.e));
    return v;
}

/* How many entries are of a kind. */
static inline int64_t count_kind(const char *kind)
{
    int64_t n = 0;

    for (int64_t i = 0; i < rev(); i++) {
        struct entry one = entry_at(i);
        n += sv_is(one.kind, kind);
    }
    return n;
}

/* The projection as `heddle project` prints it, or absent with the error in t.e. */
static inline struct sv view_of(struct sv thread, struct sv lane, int64_t upto)
{
    struct projection_of of = { thread, lane, upto, SV("CP") };
    struct projection    p;
    struct sb            b = sb_in(&t.a, 0);

    if (!OK(log_begin(&t.l, thread, STORE_READ, &t.e)))
        return (struct sv){ 0 };
    enum status s = project_start(&t.l, &of, &t.a, &p, &t.e);
    if (!s)
        s = project_write(&p, &b, &t.e);
    log_abort(&t.l);
    return s ? (struct sv){ 0 } : sb_sv(&b);
}
#define view(lane, upto) view_of(THREAD, sv_of(lane), (upto))

/* "PROMPT| u:text a:text a[t1,t2]:text t(t1):text": enough to compare by eye. */
static inline void brief_message(struct sb *b, const struct json *m)
{
    struct sv          role = json_text(m, "role");
    const struct json *calls = json_find(m, "tool_calls"), *content = json_find(m, "content");

    sb_addc(b, ' ');
    sb_add(b, sv_first(role, 1));
    for (size_t i = 0; json_is(calls, JSON_ARRAY) && i < calls->n; i++) {
        sb_adds(b, i ? "," : "[");
        sb_add(b, json_text(&calls->items[i], "id"));
    }
    sb_adds(b, json_is(calls, JSON_ARRAY) ? "]" : "");
    if (json_text(m, "tool_call_id").s)
        sb_addf(b, "(" SV_FMT ")", SV_ARG(json_text(m, "tool_call_id")));
    sb_addc(b, ':');
    sb_add(b, json_is(content, JSON_STRING) ? json_sv(content) : json_canonical(content, &t.a));
}

static inline struct sv brief(const char *lane, int64_t upto)
{
    struct sv   text = view(lane, upto);
    struct sb   b = sb_in(&t.a, 0);
    struct json v;

    if (!text.s || !OK(json_parse(text, 0, &t.a, &v, &t.e)))
        return SV("(failed)");
    struct sv prompt = json_text(&v, "system_prompt");
    sb_addf(&b, SV_FMT "|", SV_ARG(prompt.s ? prompt : SV("-")));
    const struct json *list = json_find(&v, "messages");
    for (size_t i = 0; i < list->n; i++)
        brief_message(&b, &list->items[i]);
    return sb_sv(&b);
}
#define NOW STORE_TO_END

static inline struct sv active_of(const char *agent)
{
    struct sv lane = { 0 };

    if (OK(log_begin(&t.l, THREAD, STORE_READ, &t.e)))
        OK(lane_active(&t.l, THREAD, sv_of(agent), &t.a, &lane, &t.e));
    log_abort(&t.l);
    return lane;
}
#define active() active_of("default")

static inline void tell_finding(void *ctx, struct sv finding)
{
    ++*(int *)ctx;
    printf("# finding: " SV_FMT "\n", SV_ARG(finding));
}

/* Chain and views are what the entries say. */
static inline void check_whole(void)
{
    int     findings = 0;
    int64_t entries;

    OK(log_verify(&t.l, THREAD, tell_finding, &findings, &entries, &t.e));
    CHECK_INT(findings, 0);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static inline struct run_ref who_of(const char *agent)
{
    return (struct run_ref){ THREAD, sv_of(agent), SV("tester"), t.now++ };
}

static inline struct json json_of_text(const char *text)
{
    struct json v = { 0 };

    OK(json_parse(sv_of(text), 0, &t.a, &v, &t.e));
    return v;
}

static inline enum status start_run(const char *agent, const char *text, const char *request_id,
                                    struct run_state *s)
{
    struct run_ref   who = who_of(agent);
    struct json      content = json_of(sv_of(text));
    struct run_start start = { .content = json_canonical(&content, &t.a),
                               .request_id = sv_of(request_id) };

    return run_start(&t.l, &who, &start, &t.a, s, &t.e);
}

static inline struct run_state start(const char *text, const char *request_id)
{
    struct run_state s = { 0 };

    OK(start_run(NULL, text, request_id, &s));
    return s;
}

/* Runtime events, one JSON object a line. */
static inline enum status send_events(const char *agent, const char *lines, struct run_state *s,
                                      struct run_report *r)
{
    struct run_ref who = who_of(agent);
    VEC(struct json) list = { 0 };

    for (struct sv rest = sv_of(lines); rest.n;) {
        struct sv_cut cut = sv_cut(rest, '\n');
        if (cut.head.n)
            *vec_push(&list, &t.a) = json_of_text(sv_cstr(cut.head, &t.a));
        rest = cut.tail;
    }
    return run_events(&t.l, &who, list.v, list.n, &t.a, s, r, &t.e);
}

static inline struct run_state events_at(const char *lines, int at_line)
{
    struct run_state  s = { 0 };
    struct run_report r;

    is_ok(send_events(NULL, lines, &s, &r), at_line);
    return s;
}
#define events(lines) events_at((lines), __LINE__)

static inline enum status refused_events(const char *lines)
{
    struct run_state  s;
    struct run_report r;

    t.e = (struct err){ 0 };
    return send_events(NULL, lines, &s, &r);
}

static inline enum status steer_with(const char *kind, const char *text, const char *request_id)
{
    struct run_ref   who = who_of(NULL);
    struct run_steer s = { .kind = kind, .text = sv_of(text), .request_id = sv_of(request_id) };
    struct sv        id;

    t.e = (struct err){ 0 };
    return run_steer(&t.l, &who, &s, &t.a, &id, &t.e);
}
#define steer(text) OK(steer_with("steer", text, NULL))

static inline struct run_state run_now(void)
{
    struct run_ref   who = who_of(NULL);
    struct run_state s = { 0 };

    OK(run_status(&t.l, &who, &t.a, &s, &t.e));
    return s;
}

static inline struct sv drain(void)
{
    struct run_ref who = who_of(NULL);
    struct sv      list = { 0 };

    OK(run_drain(&t.l, &who, &t.a, &list, &t.e));
    return list;
}

#endif
