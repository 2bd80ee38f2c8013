/* A context printed for a model and read again is the same context. */
#include "tap.h"
#include "thread/context.h"

static struct arena arena;

static struct sv printed(const struct context *c)
{
    struct sb b = sb_in(&arena, 0);

    sb_adds(&b, "{\"messages\":[");
    for (size_t i = 0; i < c->n; i++) {
        sb_adds(&b, i ? "," : "");
        message_write(&b, &c->messages[i]);
    }
    sb_adds(&b, "],\"system_prompt\":null}");
    return sb_sv(&b);
}

static struct context context_of(const char *quoted)
{
    struct sb      b = sb_in(&arena, 0);
    struct context c = { 0 };
    struct err     e;

    for (const char *p = quoted; *p; p++)
        sb_addc(&b, *p == '\'' ? '"' : *p);
    CHECK(context_read(sb_sv(&b), &arena, &c, &e) == ST_OK);
    return c;
}

static void comes_back(const char *quoted)
{
    struct context once = context_of(quoted), again;
    struct err     e;

    CHECK(context_read(printed(&once), &arena, &again, &e) == ST_OK);
    CHECK_SV(context_stored(&again, SV("x"), &arena), context_stored(&once, SV("x"), &arena));
}

static void thinking_and_text_are_recovered(void)
{
    struct context c = context_of("{'messages':[{'role':'assistant','content':[{'type':'thinking',"
                                  "'thinking':'h'},{'type':'text','text':'x'}]}]}");

    CHECK_SV(c.messages[0].thinking, SV("\"h\""));
    CHECK_SV(c.messages[0].content, SV("\"x\""));
    comes_back("{'messages':[{'role':'assistant','content':'x','thinking':'h'}]}");
}

static void a_null_beside_the_parts_does_not_hide_their_thinking(void)
{
    struct context c = context_of("{'messages':[{'role':'assistant','thinking':null,'content':[{"
                                  "'type':'thinking','thinking':'h'}]}]}");

    CHECK_SV(c.messages[0].thinking, SV("\"h\""));
    CHECK_SV(c.messages[0].content, SV("[]"));
}

static void lists_calls_and_results_come_back(void)
{
    comes_back("{'messages':[{'role':'user','content':[{'type':'image_url','url':'u'}],'refs':{"
               "'a':1}},{'role':'assistant','content':'','tool_calls':[{'id':'t','name':'f'}]},"
               "{'role':'tool','name':'f','tool_call_id':'t','content':[{'type':'text','text':"
               "'1'}]},{'role':'assistant','content':[{'type':'odd'}],'thinking':'h'}]}");
}

static void a_core_thread_is_no_context(void)
{
    struct context c;
    struct err     e;

    CHECK(context_read(SV("{\"id\":\"thread_1\",\"rev\":1,\"entries\":[{\"id\":\"e\",\"seq\":0,"
                          "\"kind\":\"note\",\"payload\":{}}]}"),
                       &arena, &c, &e) == ST_INVALID_SYNTAX);
}

TAP_MAIN(T(thinking_and_text_are_recovered),
         T(a_null_beside_the_parts_does_not_hide_their_thinking),
         T(lists_calls_and_results_come_back), T(a_core_thread_is_no_context), )
