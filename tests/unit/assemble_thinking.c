/* Thinking goes back to the model that made it, behind just what stood before it, and nowhere else.
 */
#include "assemble/thinking.h"

#include "assemble/body.h"
#include "tap.h"

static struct arena         a;
static struct err           e;
static struct render_report report;

#define CLAUDE SV("anthropic:claude-opus-5-5")
#define SIGNED SV("[{\"signature\":\"s\",\"thinking\":\"Hm.\",\"type\":\"thinking\"}]")

/* A conversation: the user asks, the model thinks and answers, the user goes on. */
struct talk {
    struct message m[4];
    struct context c;
};

static void begin(struct talk *t)
{
    t->m[0] = message_of_text("user", SV("Why?"), &a);
    t->m[1] = message_of_text("assistant", SV("Because."), &a);
    t->m[2] = message_of_text("user", SV("And?"), &a);
    t->m[3] = message_of_text("assistant", SV("So."), &a);
    t->c = (struct context){ .system_prompt = SV("Be brief."), .messages = t->m, .n = 4 };
    struct context asked = t->c;
    asked.n = 1;
    t->m[1].reasoning_details = thinking_keep(CLAUDE, SIGNED, &asked, &a);
    t->m[1].thinking = SV("\"Hm.\"");
    struct context settled; /* the second answer was given to a context with the first thought */
    asked.n = 3;
    report = report_in(&a);
    CHECK(thinking_settle(&asked, CLAUDE, &a, &settled, &report, &e) == ST_OK);
    t->m[3].reasoning_details = thinking_keep(CLAUDE, SIGNED, &settled, &a);
}

static struct context settle(const struct talk *t, struct sv model)
{
    struct context out = { 0 };

    report = report_in(&a);
    CHECK(thinking_settle(&t->c, model, &a, &out, &report, &e) == ST_OK);
    CHECK_INT(out.n, t->c.n);
    return out;
}

static void what_did_not_change_is_sent_again(void)
{
    struct talk t;

    begin(&t);
    struct context c = settle(&t, CLAUDE);
    CHECK_SV(c.messages[1].reasoning_details, SIGNED);
    CHECK_SV(c.messages[3].reasoning_details, SIGNED);
    CHECK_INT(report.list.n, 0);
    t.m[0].seq = 77; /* where it stands in the log, and when it was said, is not sent */
    t.m[0].at = 12345;
    t.m[0].refs = SV("{\"x\":1}");
    c = settle(&t, CLAUDE);
    CHECK_SV(c.messages[3].reasoning_details, SIGNED);
}

static void a_change_drops_all_thinking_behind_it_and_is_told(void)
{
    struct talk t;

    for (int what = 0; what < 5; what++) {
        begin(&t);
        switch (what) {
        case 0: t.c.system_prompt = SV("Be long."); break;
        case 1: t.m[0] = message_of_text("user", SV("Why not?"), &a); break;
        case 2: t.m[0].role = SV("tool"); break;
        case 3: t.c.system_prompt = (struct sv){ 0 }; break;
        default: t.m[0].name = SV("\"ana\""); break;
        }
        struct context c = settle(&t, CLAUDE);
        CHECK(!c.messages[1].reasoning_details.s && !c.messages[3].reasoning_details.s);
        CHECK(!c.messages[1].thinking.s);
        CHECK_INT(report.list.n, 1);
    }
    begin(&t); /* an edit further on keeps what stands before it */
    t.m[2] = message_of_text("user", SV("And then?"), &a);
    struct context c = settle(&t, CLAUDE);
    CHECK_SV(c.messages[1].reasoning_details, SIGNED);
    CHECK(!c.messages[3].reasoning_details.s);
    begin(&t); /* so does a thought that is gone */
    t.m[1].reasoning_details = (struct sv){ 0 };
    c = settle(&t, CLAUDE);
    CHECK(!c.messages[3].reasoning_details.s);
    CHECK_INT(report.list.n, 1);
}

static void another_model_gets_none_of_it(void)
{
    struct talk t;

    begin(&t);
    struct context c = settle(&t, SV("anthropic:claude-haiku-5-5"));
    CHECK(!c.messages[1].reasoning_details.s && !c.messages[3].reasoning_details.s);
    CHECK_INT(report.list.n, 1);
    struct sb b = sb_in(&a, 0);
    repair_write(&b, &report.list.v[0]);
    CHECK(sv_find(sb_sv(&b), SV("the thinking of 2 messages")) >= 0);
}

static void thinking_of_unknown_origin_is_not_sent(void)
{
    struct talk t;

    begin(&t);
    t.m[1].reasoning_details = SIGNED; /* out of another program's log */
    t.m[3].reasoning_details = SV("7");
    struct context c = settle(&t, CLAUDE);
    CHECK(!c.messages[1].reasoning_details.s && !c.messages[3].reasoning_details.s);
    t.m[3].reasoning_details = SV("{\"model\":\"anthropic:claude-opus-5-5\",\"parts\":[");
    CHECK(thinking_settle(&t.c, CLAUDE, &a, &c, &report, &e) == ST_CORRUPT);
}

static void what_is_no_thinking_is_not_bound_to_what_stands_before(void)
{
    static const char parts[] =
        "[{\"encrypted_content\":\"e\",\"summary\":[],\"type\":\"reasoning\"}"
        ",{\"phase\":\"final_answer\",\"type\":\"message\"}]";
    struct talk t;

    begin(&t);
    struct context asked = t.c;
    asked.n = 1;
    t.m[1].reasoning_details = thinking_keep(SV("openai-responses:a"), sv_of(parts), &asked, &a);
    t.m[3].reasoning_details = (struct sv){ 0 };
    struct context c = settle(&t, SV("openai-responses:a"));
    CHECK_SV(c.messages[1].reasoning_details, sv_of(parts));
    CHECK_INT(report.list.n, 0);
    t.m[0] = message_of_text("user", SV("Why not?"), &a);
    c = settle(&t, SV("openai-responses:a"));
    CHECK_SV(c.messages[1].reasoning_details,
             SV("[{\"phase\":\"final_answer\",\"type\":\"message\"}]"));
    CHECK_INT(report.list.n, 1);
    t.m[1].reasoning_details =
        thinking_keep(SV("openai-responses:a"),
                      SV("[{\"phase\":\"commentary\",\"type\":\"message\"}]"), &asked, &a);
    c = settle(&t, SV("openai-responses:b")); /* another model of the provider */
    CHECK_SV(c.messages[1].reasoning_details,
             SV("[{\"phase\":\"commentary\",\"type\":\"message\"}]"));
    CHECK_INT(report.list.n, 0);
    c = settle(&t, CLAUDE);
    CHECK(!c.messages[1].reasoning_details.s);
}

static struct sv body_of(enum body_dialect d, struct sv parts)
{
    struct message m[] = { message_of_text("user", SV("Why?"), &a),
                           message_of_text("assistant", SV("Because."), &a),
                           message_of_text("user", SV("And?"), &a) };
    struct context c = { .messages = m, .n = 3 };
    struct sb      b = sb_in(&a, 0);

    m[1].reasoning_details = parts;
    report = report_in(&a);
    CHECK(body_write(d, &c, &(struct body_settings){ 0 }, &a, &b, &report, &e) == ST_OK);
    CHECK_INT(report.list.n, 0);
    return sb_sv(&b);
}

static void each_provider_gets_its_own_shape_back(void)
{
    CHECK(sv_find(body_of(BODY_ANTHROPIC, SV("[{\"signature\":\"s\",\"thinking\":\"\",\"type\":"
                                             "\"thinking\"},{\"data\":\"d\",\"type\":\"redacted_"
                                             "thinking\"}]")),
                  SV("{\"content\":[{\"signature\":\"s\",\"thinking\":\"\",\"type\":\"thinking\"},{"
                     "\"data\":\"d\",\"type\":\"redacted_thinking\"},{\"text\":\"Because.\","
                     "\"type\":\"text\"}],\"role\":\"assistant\"}")) > 0);
    CHECK(sv_find(body_of(BODY_RESPONSES,
                          SV("[{\"encrypted_content\":\"e\",\"id\":\"r1\",\"summary\":[],\"type\":"
                             "\"reasoning\"}]")),
                  SV("\"role\":\"user\"},{\"encrypted_content\":\"e\",\"id\":\"r1\",\"summary\":[],"
                     "\"type\":\"reasoning\"},{\"content\":\"Because.\",\"role\":"
                     "\"assistant\"}")) > 0);
    CHECK(
        sv_find(body_of(BODY_RESPONSES, SV("[{\"phase\":\"final_answer\",\"type\":\"message\"}]")),
                SV("\"role\":\"user\"},{\"content\":\"Because.\",\"phase\":\"final_answer\","
                   "\"role\":\"assistant\"}")) > 0);
    CHECK(sv_find(body_of(BODY_GEMINI,
                          SV("[{\"text\":\"t\",\"thought\":true,\"thoughtSignature\":\"s\"},{"
                             "\"thoughtSignature\":\"u\"}]")),
                  SV("{\"parts\":[{\"text\":\"t\",\"thought\":true,\"thoughtSignature\":\"s\"},{"
                     "\"text\":\"Because.\",\"thoughtSignature\":\"u\"}],\"role\":\"model\"}")) >
          0);
    CHECK(sv_find(body_of(BODY_COMPATIBLE, SV("[{\"index\":0,\"text\":\"t\"}]")),
                  SV("{\"content\":\"Because.\",\"reasoning_details\":[{\"index\":0,\"text\":"
                     "\"t\"}],\"role\":\"assistant\"}")) > 0);
    arena_free(&a);
}

TAP_MAIN(T(what_did_not_change_is_sent_again), T(a_change_drops_all_thinking_behind_it_and_is_told),
         T(another_model_gets_none_of_it), T(thinking_of_unknown_origin_is_not_sent),
         T(what_is_no_thinking_is_not_bound_to_what_stands_before),
         T(each_provider_gets_its_own_shape_back), )
