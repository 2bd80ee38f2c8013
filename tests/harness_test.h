/* Transcripts under test: a file that grows, imported into a log in memory.
 *
 *     give("{\"type\":\"session\",…}\n");
 *     take(HARNESS_PI);                                      imports what is new
 *     CHECK_SV(shown("default"), SV("u:Q a:A"));             the context of a lane, in brief */
#ifndef HEDDLE_HARNESS_TEST_H
#define HEDDLE_HARNESS_TEST_H

#include "harness/harness_internal.h"
#include "loom/node.h"
#include "store/store.h"
#include "tap.h"
#include "thread/project.h"
#include "thread/scan.h"

#include <sys/mman.h>
#include <unistd.h>

static const struct view *const harness_test_views[] = { &thread_view, &loom_view, &harness_view,
                                                         NULL };

static struct {
    struct arena          a;
    struct err            e;
    struct store         *s;
    struct log            l;
    int                   fd;  /* the transcript */
    int                   dir; /* what lies beside it; -1: nothing */
    struct harness_report report;
    struct sv             session, into; /* given to the import; absent: none */
    struct harness_limits limits;
} h;

static inline bool harness_ok(enum status s, int line)
{
    if (s) {
        tap_failures++;
        printf("# line %d: %s: %s (%s)\n", line, status_word(s), h.e.text, h.e.reason);
    }
    return s == ST_OK;
}
#define OK(call) harness_ok((call), __LINE__)

/* "fault:0:mem:" is a log whose calls can be made to fail, see fault_arm(). */
static inline void harness_begin_in(const char *url)
{
    memset(&h, 0, sizeof h);
    h.dir = -1;
    h.fd = memfd_create("transcript", MFD_CLOEXEC);
    OK(store_open(sv_of(url), &(struct store_options){ .create = true }, &h.s, &h.e));
    h.l = log_of(h.s, harness_test_views);
}

static inline void harness_begin(void)
{
    harness_begin_in("mem:");
}

static inline void harness_end(void)
{
    store_close(h.s);
    close(h.fd);
    arena_free(&h.a);
}

static inline int harness_main(const struct tap_test *tests, int n, int argc, char **argv)
{
    int failed = 0, ran = 0;

    for (int i = 0; i < n; i++) {
        if (argc > 1 && !strstr(tests[i].name, argv[1]))
            continue;
        tap_failures = 0;
        harness_begin();
        tests[i].run();
        harness_end();
        tap_result(++ran, tests[i].name);
        failed += tap_failures > 0;
    }
    printf("1..%d\n", ran);
    return failed > 0;
}
#define HARNESS_MAIN(...)                                                                          \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct tap_test tests[] = { __VA_ARGS__ };                                    \
        return harness_main(tests, (int)COUNT(tests), argc, argv);                                 \
    }

/* ---- the file ------------------------------------------------------------------------------- */

static inline void give_bytes(struct sv v)
{
    CHECK(lseek(h.fd, 0, SEEK_END) >= 0);
    CHECK_INT(write(h.fd, v.s, v.n), v.n);
}
#define give(text) give_bytes(sv_of(text))

static inline void another_file(void)
{
    close(h.fd);
    h.fd = memfd_create("transcript", MFD_CLOEXEC);
}

/* ---- importing ------------------------------------------------------------------------------ */

static inline enum status take_status(enum harness which)
{
    struct harness_source src = { .harness = which,
                                  .fd = h.fd,
                                  .path = SV("/home/ada/session.jsonl"),
                                  .dir = h.dir,
                                  .session = h.session,
                                  .thread = h.into,
                                  .actor = SV("ada"),
                                  .now = 1000 };

    harness_report_init(&h.report, &h.a);
    return harness_import(&h.l, &src, &h.limits, &h.report, &h.e);
}
#define take(which) OK(take_status(which))

static inline int64_t rev_of(const char *thread)
{
    struct store_head head = { 0 };

    OK(log_begin(&h.l, sv_of(thread), STORE_READ, &h.e));
    OK(log_head(&h.l, sv_of(thread), &head, &h.e));
    log_abort(&h.l);
    return head.rev;
}

/* ---- what came of it --------------------------------------------------------------------------
 */

/* The text of a content: its own, or those of its text parts, one behind the other. */
static inline void add_content(struct sb *b, struct sv content)
{
    struct json v;

    if (json_parse(content, 0, &h.a, &v, &h.e))
        return;
    if (v.type == JSON_STRING)
        sb_add(b, json_sv(&v));
    for (size_t i = 0; v.type == JSON_ARRAY && i < v.n; i++) {
        struct sv text = json_text(&v.items[i], "text");
        if (text.s)
            sb_add(b, text);
        else
            sb_addf(b, "[" SV_FMT "]", SV_ARG(json_text(&v.items[i], "type")));
    }
}

static inline enum status add_shown(void *ctx, const struct message *m, struct err *e)
{
    struct sb  *b = ctx;
    struct json calls;

    sb_addf(b, "%s%c:%s", b->n ? " " : "", m->role.s[0], m->thinking.s ? "[thinking]" : "");
    add_content(b, m->content);
    if (m->tool_call_id.s)
        sb_addf(b, "=" SV_FMT,
                SV_ARG(sv_first(sv_skip(m->tool_call_id, 1), m->tool_call_id.n - 2)));
    if (m->tool_calls.s && json_parse(m->tool_calls, 0, &h.a, &calls, e) == ST_OK)
        for (size_t i = 0; i < calls.n; i++)
            sb_addf(b, "→" SV_FMT, SV_ARG(json_text(&calls.items[i], "id")));
    return ST_OK;
}

static inline struct sv shown_in(const char *thread, const char *lane)
{
    struct projection_of of = { sv_of(thread), sv_of(lane), STORE_TO_END, { 0 } };
    struct projection    p;
    struct sb            b = sb_in(&h.a, 0);

    OK(log_begin(&h.l, of.thread, STORE_READ, &h.e));
    if (OK(project_start(&h.l, &of, &h.a, &p, &h.e)))
        OK(project_each(&p, add_shown, &b, &h.e));
    log_abort(&h.l);
    return sb_sv(&b);
}
#define shown(lane) shown_in(sv_cstr(h.report.thread, &h.a), lane)

/* The lanes of a thread, by name, with where they were forked: "default side default~x<default". */
static inline struct sv lanes_in(const char *thread)
{
    struct lane *list;
    size_t       n = 0;
    struct sb    b = sb_in(&h.a, 0);

    OK(log_begin(&h.l, sv_of(thread), STORE_READ, &h.e));
    OK(lane_list(&h.l, sv_of(thread), &h.a, &list, &n, &h.e));
    for (size_t i = 0; i < n; i++) {
        sb_addf(&b, "%s" SV_FMT, i ? " " : "", SV_ARG(list[i].name));
        if (list[i].from.s)
            sb_addf(&b, "<" SV_FMT, SV_ARG(list[i].from));
    }
    log_abort(&h.l);
    return sb_sv(&b);
}
#define lanes() lanes_in(sv_cstr(h.report.thread, &h.a))

static inline struct sv active_in(const char *thread, const char *agent)
{
    struct sv out = { 0 };

    OK(log_begin(&h.l, sv_of(thread), STORE_READ, &h.e));
    OK(lane_active(&h.l, sv_of(thread), sv_of(agent), &h.a, &out, &h.e));
    log_abort(&h.l);
    return out;
}

/* Every entry is sound, the views agree with the log. */
static inline void tell_damage(void *ctx, struct sv finding)
{
    (void)ctx;
    tap_failures++;
    printf("# " SV_FMT "\n", SV_ARG(finding));
}
static inline void check_log(struct sv thread)
{
    struct log_findings to = { .damage = tell_damage, .ignored = tell_damage };
    int64_t             entries;

    OK(log_examine(&h.l, thread, &to, &entries, &h.e));
}

static inline bool has_note(const char *part)
{
    for (size_t i = 0; i < h.report.notes.n; i++)
        if (sv_find(h.report.notes.v[i].what, sv_of(part)) >= 0)
            return true;
    return false;
}

/* The state of a session as it was written last. */
static inline struct harness_state *state_of(enum harness which, const char *part)
{
    struct harness_state   *s = ARENA_NEW(&h.a, struct harness_state, 1);
    struct harness_position p = { .harness = which,
                                  .session = h.report.session,
                                  .part = sv_of(part),
                                  .thread = h.report.thread };
    bool                    found = false;

    OK(log_begin(&h.l, p.thread, STORE_READ, &h.e));
    OK(harness_position_read(&h.l, &p, &h.a, s, &found, &h.e));
    log_abort(&h.l);
    CHECK(found);
    return s;
}

#endif
