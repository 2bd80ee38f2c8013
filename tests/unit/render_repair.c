/* Repair of calls and results, and limits that never part them. */
#include "render_common.h"

/* What the openai shape shows of it: roles and ids in order. */
static struct sv outline(const char *context, int64_t limit)
{
    struct json doc;
    struct err  e;
    struct sb   b = sb_in(&arena, 0);

    if (json_parse(render_limited(RENDER_OPENAI, context, limit), 0, &arena, &doc, &e))
        return SV("not JSON");
    const struct json *list = json_find(&doc, "messages");
    for (size_t i = 0; i < list->n; i++) {
        const struct json *m = &list->items[i], *calls = json_find(m, "tool_calls");
        sb_adds(&b, b.n ? " " : "");
        sb_add(&b, sv_first(json_text(m, "role"), 1));
        if (json_text(m, "tool_call_id").s)
            sb_addf(&b, ":" SV_FMT, SV_ARG(json_text(m, "tool_call_id")));
        for (size_t k = 0; calls && k < calls->n; k++)
            sb_addf(&b, "[" SV_FMT "]", SV_ARG(json_text(&calls->items[k], "id")));
    }
    return sb_sv(&b);
}

#define U(t) "{'role':'user','content':'" t "'}"
#define A(t) "{'role':'assistant','content':'" t "'}"
#define CALL(id) "{'id':'" id "','name':'f','arguments':{}}"
#define A1(id) "{'role':'assistant','content':'','tool_calls':[" CALL(id) "]}"
#define A2(x, y) "{'role':'assistant','content':'','tool_calls':[" CALL(x) "," CALL(y) "]}"
#define R(id, t) "{'role':'tool','name':'f','tool_call_id':'" id "','content':'" t "'}"
#define CTX(...) "{'messages':[" __VA_ARGS__ "]}"

static void whole_turns_are_left_alone(void)
{
    CHECK_SV(outline(CTX(U("q") "," A2("t1", "t2") "," R("t1", "a") "," R("t2", "b") "," A("done")),
                     LIMIT_NONE),
             SV("u a[t1][t2] t:t1 t:t2 a"));
    CHECK_INT(report.list.n, 0);
}

static void a_call_without_a_result_gets_an_interrupted_one(void)
{
    struct sv out = render_all(RENDER_OPENAI, CTX(U("q") "," A1("t1")));

    CHECK(sv_find(out, SV("{\\\"error\\\":{\\\"details\\\":{},")) > 0);
    CHECK(sv_find(out, SV("\\\"type\\\":\\\"interrupted\\\"},\\\"ok\\\":false}")) > 0);
    CHECK_INT(report.list.n, 1);
    CHECK(report.list.v[0].kind == REPAIR_ADDED);
    CHECK_SV(report.list.v[0].tool_call_id, SV("t1"));
    CHECK_SV(repair_line(0), SV("snapshot, call t1: added an interrupted result"));
}

static void only_the_missing_result_of_several_is_added(void)
{
    CHECK_SV(outline(CTX(A2("t1", "t2") "," R("t2", "b") "," U("go on")), LIMIT_NONE),
             SV("a[t1][t2] t:t1 t:t2 u"));
    CHECK_INT(report.list.n, 1);
    CHECK_SV(report.list.v[0].tool_call_id, SV("t1"));
}

static void results_are_put_in_call_order(void)
{
    CHECK_SV(outline(CTX(A2("t1", "t2") "," R("t2", "b") "," R("t1", "a")), LIMIT_NONE),
             SV("a[t1][t2] t:t1 t:t2"));
    CHECK_INT(report.list.n, 1);
    CHECK(report.list.v[0].kind == REPAIR_MOVED);
}

static void a_late_result_moves_up_to_its_call(void)
{
    CHECK_SV(outline(CTX(A1("t1") "," U("hurry") "," R("t1", "a")), LIMIT_NONE),
             SV("a[t1] t:t1 u"));
    CHECK(report.list.n == 1 && report.list.v[0].kind == REPAIR_MOVED);
}

static void a_result_before_its_call_moves_down_to_it(void)
{
    CHECK_SV(outline(CTX(R("t1", "a") "," U("q") "," A1("t1")), LIMIT_NONE), SV("u a[t1] t:t1"));
    CHECK(report.list.n == 1 && report.list.v[0].kind == REPAIR_MOVED);
}

static void results_without_a_call_and_second_results_are_dropped(void)
{
    CHECK_SV(
        outline(CTX(R("x", "?") "," A1("t1") "," R("t1", "a") "," R("t1", "again")), LIMIT_NONE),
        SV("a[t1] t:t1"));
    CHECK_INT(report.list.n, 2);
    CHECK_SV(repair_line(0), SV("snapshot, call x: dropped a result without a call"));
    CHECK_SV(repair_line(1), SV("snapshot, call t1: dropped a second result of the call"));
}

static void an_id_used_again_is_renamed_with_its_result(void)
{
    CHECK_SV(outline(CTX(A1("c0") "," R("c0", "a") "," A1("c0") "," R("c0", "b")), LIMIT_NONE),
             SV("a[c0] t:c0 a[c0_2] t:c0_2"));
    CHECK(report.list.n == 1 && report.list.v[0].kind == REPAIR_RENAMED);
    CHECK_SV(outline(CTX(A2("c", "c") "," R("c", "1") "," R("c", "2") "," U("") "," A1("c_2")),
                     LIMIT_NONE),
             SV("a[c][c_3] t:c t:c_3 u a[c_2] t:c_2"));
}

static void a_call_without_an_id_gets_one(void)
{
    CHECK_SV(outline("{'messages':[{'role':'assistant','tool_calls':[{'name':'f'}]}]}", LIMIT_NONE),
             SV("a[call_2] t:call_2"));
}

static void blocks_in_the_content_are_calls_and_results_too(void)
{
    CHECK_SV(outline("{'messages':[{'role':'assistant','content':[{'type':'tool_use','id':'t1',"
                     "'name':'f','input':{}},{'type':'tool_use','id':'t2','name':'f','input':{}}]},"
                     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t2',"
                     "'content':'b'},{'type':'text','text':'and?'}]}]}",
                     LIMIT_NONE),
             SV("a[t1][t2] t:t1 t:t2 u"));
    CHECK_INT(report.list.n, 1);
}

#define FOUR CTX(U("1") "," A("2") "," U("3") "," A("4"))

static void a_limit_keeps_the_newest_and_always_the_prompt(void)
{
    CHECK_SV(
        outline("{'system_prompt':'P','messages':[" U("1") "," A("2") "," U("3") "," A("4") "]}",
                2),
        SV("s u a"));
    CHECK_SV(outline("{'system_prompt':'P','messages':[" U("1") "," A("2") "]}", 0), SV("s"));
    CHECK_SV(outline(FOUR, LIMIT_NONE), SV("u a u a"));
    CHECK_SV(outline(FOUR, 9), SV("u a u a"));
    CHECK_SV(outline(FOUR, 3), SV("a u a"));
}

static void a_limit_never_parts_a_call_from_its_results(void)
{
    static const char ctx[] =
        CTX(U("1") "," A2("t1", "t2") "," R("t1", "a") "," R("t2", "b") "," A("5"));

    CHECK_SV(outline(ctx, 1), SV("a"));
    CHECK_SV(outline(ctx, 2), SV("a"));
    CHECK_SV(outline(ctx, 3), SV("a"));
    CHECK_SV(outline(ctx, 4), SV("a[t1][t2] t:t1 t:t2 a"));
    CHECK_SV(outline(CTX(U("1") "," A2("t1", "t2") "," R("t1", "a") "," R("t2", "b")), 1),
             SV("a[t1][t2] t:t1 t:t2"));
}

static void repairs_of_what_a_limit_left_out_are_not_reported(void)
{
    CHECK_SV(outline(CTX(A1("t1") "," U("2") "," A("3")), 2), SV("u a"));
    CHECK_INT(report.list.n, 0);
}

static void formats_have_names(void)
{
    enum render_format f;
    struct err         e;

    CHECK(render_format_of(SV("anthropic"), &f, &e) == ST_OK && f == RENDER_ANTHROPIC);
    CHECK(render_format_of(SV("text"), &f, &e) == ST_OK && f == RENDER_TEXT);
    CHECK(render_format_of(SV("yaml"), &f, &e) == ST_USAGE && e.hint[0]);
}

/* Ten thousand uses of one id: the number of names tried grows with the uses, not their
 * square, or this would not end. */
static void one_id_used_ten_thousand_times_is_no_trouble(void)
{
    struct sb            b = sb_in(&arena, 0), out = sb_in(&arena, 0);
    struct context       c;
    struct err           e;
    struct render_report r = report_in(&arena);

    sb_adds(&b, "{\"messages\":[");
    for (int i = 0; i < 10000; i++) {
        sb_adds(&b, i ? "," : "");
        sb_adds(&b, "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"name\":\"f\"}]},"
                    "{\"role\":\"tool\",\"name\":\"f\",\"tool_call_id\":\"c\",\"content\":\"r\"}");
    }
    sb_adds(&b, "]}");
    CHECK(context_read(sb_sv(&b), &arena, &c, &e) == ST_OK);
    CHECK(render_context(RENDER_OPENAI, &c, NULL, &arena, &out, &r, &e) == ST_OK);
    CHECK_INT(r.list.n, 9999);
}

TAP_MAIN(T(whole_turns_are_left_alone), T(a_call_without_a_result_gets_an_interrupted_one),
         T(only_the_missing_result_of_several_is_added), T(results_are_put_in_call_order),
         T(a_late_result_moves_up_to_its_call), T(a_result_before_its_call_moves_down_to_it),
         T(results_without_a_call_and_second_results_are_dropped),
         T(an_id_used_again_is_renamed_with_its_result), T(a_call_without_an_id_gets_one),
         T(blocks_in_the_content_are_calls_and_results_too),
         T(a_limit_keeps_the_newest_and_always_the_prompt),
         T(a_limit_never_parts_a_call_from_its_results),
         T(repairs_of_what_a_limit_left_out_are_not_reported), T(formats_have_names),
         T(one_id_used_ten_thousand_times_is_no_trouble), )
