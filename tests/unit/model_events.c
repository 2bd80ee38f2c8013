/* Models hand back events: their order, how an answer ends, and what ends it early. */
#include "model/model.h"

#include "base/fs.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static struct arena          a;
static struct err            e;
static int                   root = -1;
static char                  folder[64];
static struct sb             seen; /* every event, a line each */
static struct model_response out;

static void write_event(struct sb *b, const struct model_event *ev)
{
    static const char *const words[] = { "text",      "thinking", "keep",     "call",
                                         "arguments", "data",     "logprobs", "resend",
                                         "usage",     "finish",   "error" };

    sb_addf(b, "%zu %s", ev->part, words[ev->type]);
    if (ev->type == MODEL_CALL)
        sb_addf(b, " " SV_FMT " " SV_FMT, SV_ARG(ev->id), SV_ARG(ev->name));
    else if (ev->type == MODEL_USAGE)
        sb_addf(b, " %d %d", (int)ev->usage.input, (int)ev->usage.output);
    else if (ev->type == MODEL_FINISH)
        sb_addf(b, " %s", model_finish_word(ev->finish));
    else
        sb_addf(b, " " SV_FMT, SV_ARG(ev->text));
    sb_addc(b, '\n');
}

static enum status note(void *ctx, const struct model_event *ev, struct err *error)
{
    int *left = ctx; /* events until enough is said; NULL: never */

    write_event(&seen, ev);
    return left && --*left == 0 ? model_enough(error) : ST_OK;
}

static enum status refuse(void *ctx, const struct model_event *ev, struct err *error)
{
    (void)ctx, (void)ev;
    return err_set(error, ST_IO, "the disk is full");
}

static int sleeps;

static void no_sleep(void *ctx, int64_t ms)
{
    (void)ms;
    sleeps++;
    if (ctx)
        atomic_store((atomic_bool *)ctx, true);
}

/* Ask a script of these lines. */
static enum status ask(const char *script, struct model_request q)
{
    if (root < 0) {
        strcpy(folder, "/tmp/heddle-events.XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
        root = open(folder, O_PATH | O_DIRECTORY);
    }
    struct model_client c = { .root_fd = root, .sleep = no_sleep, .a = &a };
    CHECK(fs_write(root, SV("s"), sv_of(script), 0600, &e) == ST_OK);
    seen = sb_in(&a, 0);
    sleeps = 0;
    q.model = q.model.s ? q.model : SV("offline:script s");
    q.body = q.body.s ? q.body : SV("{\"messages\":[{\"content\":\"hi\",\"role\":\"user\"}]}");
    q.event = q.event ? q.event : note;
    if (q.cancel) /* what sleeps sets it */
        c.ctx = (void *)(uintptr_t)q.cancel;
    return model_complete(&c, &q, &a, &out, &e);
}

static void an_answer_is_parts_in_order_and_one_end(void)
{
    CHECK(ask("{\"thinking\":\"Hm.\",\"signature\":\"s1\",\"text\":\"Yes.\",\"calls\":[{\"id\":"
              "\"c1\",\"name\":\"look\",\"arguments\":{\"at\":1}},{\"id\":\"c2\",\"name\":"
              "\"rest\"}],\"usage\":{\"input\":3,\"output\":5}}",
              (struct model_request){ 0 }) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 thinking Hm.\n0 keep "
                              "{\"signature\":\"s1\",\"thinking\":\"Hm.\",\"type\":\"thinking\"}"
                              "\n1 text Yes.\n2 call c1 look\n"
                              "2 arguments {\"at\":1}\n3 call c2 rest\n3 arguments {}\n"
                              "0 usage 3 5\n0 finish tool_use\n"));
    CHECK_SV(out.text, SV("Yes."));
    CHECK_SV(out.finish, SV("tool_use"));
    CHECK(!out.interruption.s);
    CHECK_INT(out.usage.input, 3);
    CHECK_INT(out.usage.cached, -1);
}

static void pieces_end_where_characters_end(void)
{
    CHECK(ask("{\"text\":\"aé→b\",\"piece\":2,\"finish\":\"length\"}",
              (struct model_request){ 0 }) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text a\n0 text é\n0 text →\n0 text b\n0 finish length\n"));
    CHECK_SV(out.text, SV("aé→b"));
}

static void an_answer_that_is_cut_off_is_kept_and_marked(void)
{
    CHECK(ask("{\"text\":\"Half\",\"interrupted\":\"timeout\"}", (struct model_request){ 0 }) ==
          ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text Half\n0 error timeout\n"));
    CHECK_SV(out.text, SV("Half"));
    CHECK_SV(out.finish, SV("error"));
    CHECK_SV(out.interruption, SV("timeout"));
}

static void whoever_has_enough_ends_the_answer(void)
{
    int left = 2;

    CHECK(ask("{\"text\":\"one two\",\"piece\":4}", (struct model_request){ .ctx = &left }) ==
          ST_OK);
    CHECK_SV(out.text, SV("one two"));
    CHECK_SV(out.finish, SV("client_stop"));
    left = 1;
    CHECK(ask("{\"text\":\"one two\",\"piece\":4}", (struct model_request){ .ctx = &left }) ==
          ST_OK);
    CHECK_SV(out.text, SV("one "));
    CHECK(!out.interruption.s);
    left = 2; /* with the last event it was complete all the same */
    CHECK(ask("{\"text\":\"one\"}", (struct model_request){ .ctx = &left }) == ST_OK);
    CHECK_SV(out.finish, SV("stop"));
}

static void an_error_of_the_taker_is_the_error(void)
{
    CHECK(ask("{\"text\":\"one\"}", (struct model_request){ .event = refuse }) == ST_IO);
    CHECK_SV(sv_of(e.text), SV("the disk is full"));
    CHECK_INT(sleeps, 0); /* and no reason to ask again */
}

static void a_cancelled_request_asks_nobody(void)
{
    atomic_bool cancel = true;

    CHECK(ask("{\"text\":\"one\"}", (struct model_request){ .cancel = &cancel }) == ST_CONFLICT);
    CHECK_SV(sv_of(e.reason), SV("cancelled"));
    CHECK_INT(seen.n, 0);
}

static void cancelling_ends_a_wait_and_the_attempts(void)
{
    atomic_bool cancel = false;

    CHECK(ask("{\"delay_ms\":1000,\"text\":\"one\"}",
              (struct model_request){ .cancel = &cancel }) == ST_CONFLICT);
    CHECK_INT(sleeps, 1);
    CHECK_INT(seen.n, 0);
    cancel = false;
    CHECK(ask("{\"error\":{\"status\":500}}", (struct model_request){ .cancel = &cancel }) ==
          ST_CONFLICT);
    CHECK_INT(sleeps, 1); /* the first pause between attempts */
}

static enum status cancel_at_once(void *ctx, const struct model_event *ev, struct err *error)
{
    (void)error;
    write_event(&seen, ev);
    atomic_store((atomic_bool *)ctx, true);
    return ST_OK;
}

static void what_came_before_a_cancel_is_kept(void)
{
    atomic_bool cancel = false;

    CHECK(ask("{\"text\":\"one two\",\"piece\":4}",
              (struct model_request){
                  .cancel = &cancel, .ctx = &cancel, .event = cancel_at_once }) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text one \n0 error cancelled\n"));
    CHECK_SV(out.text, SV("one "));
    CHECK_SV(out.interruption, SV("cancelled"));
}

static void a_body_that_is_none_is_refused(void)
{
    CHECK(ask("{\"text\":\"x\"}", (struct model_request){ .body = SV("{") }) == ST_INVALID_SYNTAX);
    CHECK(ask("{\"text\":\"x\"}", (struct model_request){ .body = SV("[1]") }) ==
          ST_INVALID_SYNTAX);
    CHECK(ask("{\"text\":\"x\",\"finish\":\"never\"}", (struct model_request){ 0 }) ==
          ST_INVALID_SYNTAX);
    CHECK_INT(seen.n, 0);
}

static void the_request_is_read_from_the_body(void)
{
    struct sv body = SV("{\"messages\":[{\"content\":\"first\"},{\"content\":[{\"text\":\"a\"},"
                        "{\"type\":\"image\"},{\"text\":\"b\"}]}],\"system\":\"be kind\"}");

    CHECK(ask("", (struct model_request){ .model = SV("offline:echo"), .body = body }) == ST_OK);
    CHECK_SV(out.text, SV("a\n\nb"));
    CHECK(ask("", (struct model_request){ .model = SV("offline:request"), .body = body }) == ST_OK);
    CHECK_SV(out.text, body);
    CHECK(ask("{\"when\":\"cruel\",\"text\":\"1\"}\n{\"when\":\"kind\",\"text\":\"2\"}\n"
              "{\"when\":\"first\",\"text\":\"3\"}",
              (struct model_request){ .body = body }) == ST_OK);
    CHECK_SV(out.text, SV("2"));
}

static void newer_models_of_anthropic_refuse_a_last_message_of_the_assistant(void)
{
    static const struct {
        const char *model;
        bool        continues;
    } rows[] = {
        { "anthropic:claude-opus-5-5", false },
        { "anthropic:claude-sonnet-4-6-20260101", false },
        { "anthropic:claude-sonnet-4-5-20250929", true },
        { "anthropic:claude-sonnet-4-20250514", true },
        { "anthropic:claude-3-5-haiku-latest", true },
        { "anthropic:claude-newest", false },
        { "anthropic:other", true },
        { "vllm:claude-opus-5-5", true },
        { "nobody:x", true },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(model_continues(sv_of(rows[i].model)), rows[i].continues);
}

static void providers_say_which_bodies_they_take(void)
{
    CHECK_SV(sv_of(model_dialect(SV("offline:echo"))), SV("offline"));
    CHECK(!model_dialect(SV("offline")) && !model_dialect(SV("nobody:x")));
    CHECK(fs_remove(root, SV("s"), &e) == ST_OK);
    close(root);
    rmdir(folder);
    arena_free(&a);
}

TAP_MAIN(T(an_answer_is_parts_in_order_and_one_end), T(pieces_end_where_characters_end),
         T(an_answer_that_is_cut_off_is_kept_and_marked), T(whoever_has_enough_ends_the_answer),
         T(an_error_of_the_taker_is_the_error), T(a_cancelled_request_asks_nobody),
         T(cancelling_ends_a_wait_and_the_attempts), T(what_came_before_a_cancel_is_kept),
         T(a_body_that_is_none_is_refused), T(the_request_is_read_from_the_body),
         T(newer_models_of_anthropic_refuse_a_last_message_of_the_assistant),
         T(providers_say_which_bodies_they_take), )
