/* The newest N messages cost N reads, and are what the whole context cut to N would give. */
#include "assemble/render.h"
#include "thread_test.h"

#define NOW STORE_TO_END

static void begin(struct projection *p)
{
    struct projection_of of = { THREAD, LANE_DEFAULT, NOW, SV("CP") };

    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(project_start(&t.l, &of, &t.a, p, &t.e));
}

/* Rendered from the end of the lane; *read is how many entries that took. */
static struct sv newest(enum render_format f, int64_t limit, int64_t *read)
{
    struct render_options o = { .limited = true, .limit = limit };
    struct render_report  r = report_in(&t.a);
    struct sb             out = sb_in(&t.a, 0);
    struct projection     p;

    begin(&p);
    OK(render_write(f, &p, &o, &out, &r, &t.e));
    log_abort(&t.l);
    *read = p.read;
    return sb_sv(&out);
}

/* The same from the whole context. */
static struct sv whole(enum render_format f, int64_t limit)
{
    struct render_options o = { .limited = true, .limit = limit };
    struct render_report  r = report_in(&t.a);
    struct sb             out = sb_in(&t.a, 0);
    struct projection     p;
    struct context        c;

    begin(&p);
    OK(project_context(&p, &c, &t.e));
    OK(render_context(f, &c, &o, &t.a, &out, &r, &t.e));
    log_abort(&t.l);
    return sb_sv(&out);
}

static void many(int n)
{
    struct entry *list = ARENA_NEW(&t.a, struct entry, (size_t)n);

    for (int i = 0; i < n; i++) {
        struct sb b = sb_in(&t.a, 0);
        sb_addf(&b, "{\"content\":\"m%d\",\"role\":\"%s\"}", i, i % 2 ? "assistant" : "user");
        list[i] = (struct entry){
            .at = 1, .kind = SV("ai_message"), .lane = LANE_DEFAULT, .payload = sb_sv(&b)
        };
    }
    OK(append_entries(THREAD, LOG_ANY_REV, list, (size_t)n));
}

static void the_cost_does_not_grow_with_the_lane(void)
{
    static const enum render_format formats[] = { RENDER_JSON, RENDER_ANTHROPIC, RENDER_OPENAI,
                                                  RENDER_TEXT };
    int64_t                         read[2][4];

    many(100);
    for (int i = 0; i < 4; i++)
        newest(formats[i], 5, &read[0][i]);
    many(5000);
    for (int i = 0; i < 4; i++) {
        struct sv out = newest(formats[i], 5, &read[1][i]);
        CHECK(sv_find(out, SV("m4999")) >= 0 && sv_find(out, SV("m4994")) < 0);
        CHECK_INT(read[1][i], read[0][i]);
        CHECK(read[1][i] <= 5 + 9);
    }
    int64_t nothing;
    newest(RENDER_JSON, 0, &nothing);
    CHECK(nothing <= 9);
}

static void a_message(const char *json)
{
    struct sb b = sb_in(&t.a, 0);

    sb_addf(&b, "{\"kind\":\"ai_message\",\"payload\":%s}", json);
    line(sb_sv(&b).s);
}

/* Calls with several results, some open, some far from their call. */
static void random_lane(unsigned seed, int n)
{
    unsigned x = seed * 2654435761u + 1;
    int      calls = 0, answered = 0;

    for (int i = 0; i < n; i++) {
        struct sb b = sb_in(&t.a, 0);
        x = x * 1664525u + 1013904223u;
        unsigned r = x >> 28;
        if (r < 3) {
            sb_addf(&b,
                    "{\"role\":\"assistant\",\"content\":\"c\",\"tool_calls\":[{\"id\":\"%u_%d\","
                    "\"name\":\"f\",\"arguments\":{}},{\"id\":\"%u_%d\",\"name\":\"f\","
                    "\"arguments\":{}}]}",
                    seed, calls, seed, calls + 1);
            calls += 2;
        } else if (r < 8 && answered < calls) {
            sb_addf(
                &b,
                "{\"role\":\"tool\",\"name\":\"f\",\"tool_call_id\":\"%u_%d\",\"content\":\"r\"}",
                seed, answered++);
        } else {
            sb_addf(&b, "{\"role\":\"%s\",\"content\":\"%d\"}", r & 1 ? "user" : "assistant", i);
        }
        a_message(sb_sv(&b).s);
    }
}

static void what_is_read_from_the_end_is_what_the_whole_gives(void)
{
    static const enum render_format formats[] = { RENDER_ANTHROPIC, RENDER_OPENAI, RENDER_TEXT };
    int64_t                         read;

    for (unsigned seed = 1; seed <= 4; seed++) {
        random_lane(seed, 40);
        for (int64_t limit = 0; limit < 30; limit += 3)
            for (size_t f = 0; f < COUNT(formats); f++)
                CHECK_SV(newest(formats[f], limit, &read), whole(formats[f], limit));
    }
}

static void a_snapshot_and_a_fork_are_read_from_the_end_too(void)
{
    int64_t read;

    many(30);
    apply(REPLACE("default", "o",
                  "{\"messages\":[{\"role\":\"user\",\"content\":\"s1\"},{\"role\":\"assistant\","
                  "\"content\":\"s2\"}]}"));
    say("user", "after");
    for (int64_t limit = 0; limit < 5; limit++)
        CHECK_SV(newest(RENDER_OPENAI, limit, &read), whole(RENDER_OPENAI, limit));
    CHECK(read <= 3);
}

THREAD_MAIN(T(the_cost_does_not_grow_with_the_lane),
            T(what_is_read_from_the_end_is_what_the_whole_gives),
            T(a_snapshot_and_a_fork_are_read_from_the_end_too), )
