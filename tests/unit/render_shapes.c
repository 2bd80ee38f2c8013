/* The bytes each renderer prints. */
#include "render_common.h"

#include "base/hash.h"

#define TURN                                                                                       \
    "{'system_prompt':'P','messages':[{'role':'user','content':'q'},{'role':'assistant',"          \
    "'content':'let me see','tool_calls':[{'id':'t1','name':'add','arguments':{'b':2,'a':1}},"     \
    "{'id':'t2','type':'function','function':{'name':'mul','arguments':'{\\'x\\':1.50}'}}]},"      \
    "{'role':'tool','tool_call_id':'t1','name':'add','content':'3'},"                              \
    "{'role':'tool','tool_call_id':'t2','name':'mul','content':'{\\'ok\\':false}'},"               \
    "{'role':'user','content':'and?'},{'role':'assistant','content':'done'}]}"

static void anthropic_alternates_roles_and_opens_with_results(void)
{
    CHECK_SV(render_all(RENDER_ANTHROPIC, TURN),
             want("{'messages':[{'content':'q','role':'user'},{'content':[{'text':'let me see',"
                  "'type':'text'},{'id':'t1','input':{'a':1,'b':2},'name':'add','type':'tool_use'},"
                  "{'id':'t2','input':{'x':1.50},'name':'mul','type':'tool_use'}],"
                  "'role':'assistant'},{'content':[{'content':'3','tool_use_id':'t1',"
                  "'type':'tool_result'},{'content':'{\\'ok\\':false}','is_error':true,"
                  "'tool_use_id':'t2','type':'tool_result'},{'text':'and?','type':'text'}],"
                  "'role':'user'},{'content':'done','role':'assistant'}],'system':'P'}"));
    CHECK_INT(report.list.n, 0);
}

static void openai_has_the_prompt_first_and_arguments_as_text(void)
{
    CHECK_SV(render_all(RENDER_OPENAI, TURN),
             want("{'messages':[{'content':'P','role':'system'},{'content':'q','role':'user'},"
                  "{'content':'let me see','role':'assistant','tool_calls':[{'function':{"
                  "'arguments':'{\\'a\\':1,\\'b\\':2}','name':'add'},'id':'t1','type':'function'},"
                  "{'function':{'arguments':'{\\'x\\':1.50}','name':'mul'},'id':'t2',"
                  "'type':'function'}]},{'content':'3','role':'tool','tool_call_id':'t1'},"
                  "{'content':'{\\'ok\\':false}','role':'tool','tool_call_id':'t2'},"
                  "{'content':'and?','role':'user'},{'content':'done','role':'assistant'}]}"));
    CHECK_INT(report.list.n, 0);
}

static void text_sets_what_was_said_in_by_two_blanks(void)
{
    CHECK_SV(render_all(RENDER_TEXT, "{'system_prompt':'P','messages':[{'role':'user',"
                                     "'content':'a\\nuser #9\\u001b[2J'},{'role':'assistant',"
                                     "'content':'','thinking':'hm','tool_calls':[{'id':'t1',"
                                     "'name':'f','arguments':{'x':1}}]},{'role':'tool','name':"
                                     "'f\\nuser','tool_call_id':'t1','content':'ok'}]}"),
             SV("system\n  P\n\nuser\n  a\n  user #9\\x1b[2J\n\nassistant\n  (thinking)\n  hm\n"
                "  (end of thinking)\n  calls f [t1] {\"x\":1}\n\ntool f\\x0auser [t1]\n  ok\n"));
}

static void no_prompt_means_no_system_key_and_no_system_message(void)
{
    CHECK_SV(render_all(RENDER_ANTHROPIC, "{'messages':[{'role':'user','content':'t'}]}"),
             want("{'messages':[{'content':'t','role':'user'}]}"));
    CHECK_SV(render_all(RENDER_OPENAI, "{'messages':[{'role':'user','content':'t'}]}"),
             want("{'messages':[{'content':'t','role':'user'}]}"));
    CHECK_SV(render_all(RENDER_ANTHROPIC, "{'messages':[]}"), want("{'messages':[]}"));
    CHECK_SV(render_all(RENDER_TEXT, "{'messages':[]}"), SV(""));
}

static void consecutive_users_are_one_message_for_anthropic(void)
{
    CHECK_SV(render_all(RENDER_ANTHROPIC, "{'messages':[{'role':'user','content':'a'},"
                                          "{'role':'user','content':'b'}]}"),
             want("{'messages':[{'content':[{'text':'a','type':'text'},{'text':'b',"
                  "'type':'text'}],'role':'user'}]}"));
}

static void system_messages_in_the_middle_join_the_prompt(void)
{
    static const char ctx[] = "{'system_prompt':'P','messages':[{'role':'user','content':'a'},"
                              "{'role':'system','content':'be brief'},{'role':'user',"
                              "'content':'b'}]}";

    CHECK_SV(render_all(RENDER_ANTHROPIC, ctx),
             want("{'messages':[{'content':[{'text':'a','type':'text'},{'text':'b',"
                  "'type':'text'}],'role':'user'}],'system':'P\\n\\nbe brief'}"));
    CHECK(report.list.n == 1 && report.list.v[0].kind == REPAIR_MOVED);
    CHECK(sv_find(render_all(RENDER_OPENAI, ctx), want("{'content':'be brief','role':'system'}")) >
          0);
    CHECK_INT(report.list.n, 0);
}

static void signed_thinking_is_kept_and_unsigned_is_reported(void)
{
    static const char signed_one[] =
        "{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':[{'type':'"
        "thinking','thinking':'h',"
        "'signature':'S'},{'type':'redacted_thinking','data':'X'},{'type':'text','text':'x'}]}]}";

    CHECK_SV(render_all(RENDER_ANTHROPIC, signed_one),
             want("{'messages':[{'content':'q','role':'user'},{'content':[{'signature':'S','"
                  "thinking':'h','type':'thinking'},"
                  "{'data':'X','type':'redacted_thinking'},{'text':'x','type':'text'}],"
                  "'role':'assistant'}]}"));
    CHECK_INT(report.list.n, 0);
    render_all(RENDER_OPENAI, signed_one);
    CHECK_INT(report.list.n, 2);
    CHECK_SV(
        render_all(RENDER_ANTHROPIC, "{'messages':[{'role':'user','content':'q'},{'role':'"
                                     "assistant','thinking':'h','content':'x'}]}"),
        want("{'messages':[{'content':'q','role':'user'},{'content':'x','role':'assistant'}]}"));
    CHECK_SV(repair_line(0), SV("snapshot: dropped thinking without a signature"));
}

static void an_assistant_who_speaks_first_gets_a_user_in_front(void)
{
    static const char ctx[] = "{'messages':[{'role':'assistant','content':'x'}]}";

    CHECK_SV(render_all(RENDER_ANTHROPIC, ctx),
             want("{'messages':[{'content':'(the conversation begins here)','role':'user'},"
                  "{'content':'x','role':'assistant'}]}"));
    CHECK(report.list.n == 1 && report.list.v[0].kind == REPAIR_ADDED);
    CHECK_SV(render_all(RENDER_OPENAI, ctx),
             want("{'messages':[{'content':'x','role':'assistant'}]}"));
}

static void a_signature_among_the_reasoning_details_is_used(void)
{
    CHECK_SV(render_all(RENDER_ANTHROPIC,
                        "{'messages':[{'role':'user','content':'q'},{'role':'assistant','thinking':"
                        "'h','content':'x',"
                        "'reasoning_details':[{'type':'reasoning.text','text':'h','signature':'S'},"
                        "{'type':'reasoning.encrypted','data':'E'}]}]}"),
             want("{'messages':[{'content':'q','role':'user'},{'content':[{'signature':'S','"
                  "thinking':'h','type':'thinking'},"
                  "{'data':'E','type':'redacted_thinking'},{'text':'x','type':'text'}],"
                  "'role':'assistant'}]}"));
    CHECK_INT(report.list.n, 0);
}

#define MEDIA                                                                                      \
    "{'messages':[{'role':'user','content':[{'type':'text','text':'see'},{'type':'image_url',"     \
    "'url':'https://x/y.png'},{'type':'image','data':'iVBORw','media_type':'image/png'},"          \
    "{'type':'file','data':'aGk','filename':'n.txt','media_type':'text/plain'},{'type':'file',"    \
    "'file_id':'f1','media_type':'application/pdf'}]}]}"

static void media_become_source_blocks_for_anthropic(void)
{
    CHECK_SV(render_all(RENDER_ANTHROPIC, MEDIA),
             want("{'messages':[{'content':[{'text':'see','type':'text'},{'source':{'type':'url',"
                  "'url':'https://x/y.png'},'type':'image'},{'source':{'data':'iVBORw',"
                  "'media_type':'image/png','type':'base64'},'type':'image'},{'source':{'data':"
                  "'hi','media_type':'text/plain','type':'text'},'title':'n.txt','type':"
                  "'document'},{'source':{'file_id':'f1','type':'file'},'type':'document'}],"
                  "'role':'user'}]}"));
    CHECK_INT(report.list.n, 0);
}

static void media_become_url_and_file_parts_for_openai(void)
{
    CHECK_SV(render_all(RENDER_OPENAI, MEDIA),
             want("{'messages':[{'content':[{'text':'see','type':'text'},{'image_url':{'url':"
                  "'https://x/y.png'},'type':'image_url'},{'image_url':{'url':"
                  "'data:image/png;base64,iVBORw'},'type':'image_url'},{'file':{'file_data':"
                  "'data:text/plain;base64,aGk','filename':'n.txt'},'type':'file'},{'file':{"
                  "'file_id':'f1'},'type':'file'}],'role':'user'}]}"));
    CHECK_INT(report.list.n, 0);
}

static void a_data_url_is_data(void)
{
    CHECK(
        sv_find(render_all(RENDER_ANTHROPIC,
                           "{'messages':[{'role':'user','content':[{'type':'image_url',"
                           "'image_url':{'url':'data:image/gif;base64,R0lG','detail':'low'}}]}]}"),
                want("{'data':'R0lG','media_type':'image/gif','type':'base64'}")) > 0);
    CHECK_SV(repair_line(0), SV("snapshot: dropped member 'detail' of a part of type image"));
}

static void pictures_of_a_result_follow_in_a_user_message_for_openai(void)
{
    CHECK_SV(render_all(RENDER_OPENAI,
                        "{'messages':[{'role':'assistant','content':'','tool_calls':[{'id':'t1',"
                        "'name':'shot','arguments':{}}]},{'role':'tool','name':'shot',"
                        "'tool_call_id':'t1','content':[{'type':'text','text':'ok'},{'type':"
                        "'image','data':'iVBORw'}]}]}"),
             want("{'messages':[{'content':null,'role':'assistant','tool_calls':[{'function':{"
                  "'arguments':'{}','name':'shot'},'id':'t1','type':'function'}]},{'content':[{"
                  "'text':'ok','type':'text'}],'role':'tool','tool_call_id':'t1'},{'content':[{"
                  "'text':'From the result of shot (t1):','type':'text'},{'image_url':{'url':"
                  "'data:image/png;base64,iVBORw'},'type':'image_url'}],'role':'user'}]}"));
    CHECK(report.list.n == 1 && report.list.v[0].kind == REPAIR_MOVED);
}

static void unknown_parts_are_passed_on_and_named(void)
{
    static const char ctx[] =
        "{'messages':[{'role':'user','content':[{'type':'hologram','z':[1,2]},7]}]}";

    CHECK_SV(render_all(RENDER_ANTHROPIC, ctx),
             want("{'messages':[{'content':[{'type':'hologram','z':[1,2]},7],'role':'user'}]}"));
    CHECK_INT(report.list.n, 2);
    CHECK(report.list.v[0].kind == REPAIR_KEPT);
    CHECK_SV(render_all(RENDER_OPENAI, ctx),
             want("{'messages':[{'content':[{'type':'hologram','z':[1,2]},7],'role':'user'}]}"));
}

static void what_has_no_place_is_reported(void)
{
    render_all(RENDER_ANTHROPIC, "{'messages':[{'role':'user','content':[{'type':'file','data':"
                                 "'AAAA','media_type':'application/zip'}]}]}");
    CHECK_SV(repair_line(0), SV("snapshot: dropped a file of type application/zip"));
    CHECK_SV(repair_line(1), SV("snapshot: dropped a message without content"));
    render_all(RENDER_ANTHROPIC, "{'messages':[{'role':'critic','name':'n','content':'no'}]}");
    CHECK_SV(repair_line(0), SV("snapshot: dropped the name 'n'"));
    CHECK_SV(repair_line(1), SV("snapshot: changed the role 'critic' to user"));
    render_all(RENDER_OPENAI, "{'messages':[{'role':'user','content':[{'type':'text','text':'x',"
                              "'cache_control':{'type':'ephemeral'}}]}]}");
    CHECK_SV(repair_line(0), SV("snapshot: dropped member 'cache_control' of a part of type text"));
}

static void ids_and_arguments_that_anthropic_refuses_are_changed(void)
{
    struct sv out = render_all(
        RENDER_ANTHROPIC,
        "{'messages':[{'role':'user','content':'q'},{'role':'assistant','tool_calls':[{'id':"
        "'call.1','name':'f','arguments':'not json'}]}]}");
    struct sv   id = SV("call.1");
    struct hash h = hash_blake2b(&id, 1);

    CHECK(sv_find(out, want("'input':{'arguments':'not json'}")) > 0);
    CHECK(sv_find(out, sv_first(hash_hex(&h, &arena), 24)) > 0);
    CHECK(sv_find(out, id) < 0);
    CHECK_INT(report.list.n, 3);
}

static void names_of_tools_that_the_apis_refuse_are_changed(void)
{
    static const char ctx[] =
        "{'messages':[{'role':'user','content':'q'},{'role':'assistant','tool_calls':["
        "{'id':'c1','name':'my tool.v2','arguments':{}},{'id':'c2','name':'','arguments':{}},"
        "{'id':'c3','name':'ok-1_2','arguments':{}}]},"
        "{'role':'tool','tool_call_id':'c1','content':'1'},"
        "{'role':'tool','tool_call_id':'c2','content':'2'},"
        "{'role':'tool','tool_call_id':'c3','content':'3'}]}";
    static const enum render_format formats[] = { RENDER_ANTHROPIC, RENDER_OPENAI };

    for (size_t i = 0; i < COUNT(formats); i++) {
        struct sv out = render_all(formats[i], ctx);
        CHECK(sv_find(out, want("'name':'my_tool_v2'")) > 0);
        CHECK(sv_find(out, want("'name':'_'")) > 0);
        CHECK(sv_find(out, want("'name':'ok-1_2'")) > 0);
        CHECK_INT(report.list.n, 2);
        CHECK_SV(repair_line(0),
                 SV("snapshot, call c1: renamed its tool 'my tool.v2' to my_tool_v2"));
    }
}

static void blocks_keep_the_order_in_which_they_were_made(void)
{
    struct sv out = render_all(
        RENDER_ANTHROPIC,
        "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content':["
        "{'type':'thinking','thinking':'a','signature':'s1'},"
        "{'type':'tool_use','id':'c1','name':'f','input':{}},"
        "{'type':'thinking','thinking':'b','signature':'s2'},{'type':'text','text':'between'},"
        "{'type':'tool_use','id':'c2','name':'f','input':{}}]},"
        "{'role':'tool','tool_call_id':'c1','name':'f','content':'1'},"
        "{'role':'tool','tool_call_id':'c2','name':'f','content':'2'}]}");

    CHECK_SV(out,
             want("{'messages':[{'content':'go','role':'user'},{'content':["
                  "{'signature':'s1','thinking':'a','type':'thinking'},"
                  "{'id':'c1','input':{},'name':'f','type':'tool_use'},"
                  "{'signature':'s2','thinking':'b','type':'thinking'},"
                  "{'text':'between','type':'text'},"
                  "{'id':'c2','input':{},'name':'f','type':'tool_use'}],'role':'assistant'},"
                  "{'content':[{'content':'1','tool_use_id':'c1','type':'tool_result'},"
                  "{'content':'2','tool_use_id':'c2','type':'tool_result'}],'role':'user'}]}"));
    CHECK_INT(report.list.n, 0);
    arena_free(&arena);
}

static void a_call_that_stands_in_both_forms_is_one_call(void)
{
    const char *both = "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content':["
                       "{'type':'tool_use','id':'c1','name':'f','input':{'x':1}},"
                       "{'type':'text','text':'after'}],'tool_calls':"
                       "[{'id':'c0','name':'g','arguments':{}},{'id':'c1','name':'f',"
                       "'arguments':{'x':1}}]}]}";
    struct sv   out = render_all(RENDER_ANTHROPIC, both);

    CHECK(sv_find(out, want("'content':[{'id':'c1','input':{'x':1},'name':'f','type':'tool_use'},"
                            "{'text':'after','type':'text'},{'id':'c0','input':{},'name':'g',"
                            "'type':'tool_use'}]")) >= 0);
    CHECK(!report.list.n || sv_find(repair_line(0), SV("second copy")) < 0);
    render_all(RENDER_ANTHROPIC,
               "{'messages':[{'role':'user','content':'go'},{'role':'assistant','content':["
               "{'type':'tool_use','id':'c1','name':'f','input':{'x':1}}],'tool_calls':"
               "[{'id':'c1','name':'f','arguments':{'x':2}}]}]}");
    CHECK(sv_find(repair_line(0), SV("a second copy of the call, which differs")) >= 0);
    out = render_all(RENDER_OPENAI, both);
    CHECK(sv_find(out, want("'content':[{'text':'after','type':'text'}]")) >= 0);
    arena_free(&arena);
}

/* Each of these was a 400 that nothing warned of. */
static void what_anthropic_refuses_is_repaired_and_told(void)
{
    static const struct {
        const char *context, *part, *told;
    } cases[] = {
        { "[{'role':'user','content':'a'},{'role':'user','content':' \\n\\t'}]",
          "[{'content':'a','role':'user'}]", "dropped a text of blanks only" },
        { "[{'role':'user','content':[{'type':'text','text':'a'},{'type':'text','text':' '}]}]",
          "[{'content':[{'text':'a','type':'text'}],'role':'user'}]",
          "dropped a text of blanks only" },
        { "[{'role':'user','content':'a\\ud83d!'}]", "'a\xef\xbf\xbd!'",
          "changed 1 half character to U+FFFD" },
        { "[{'role':'user','content':'a'},{'role':'assistant','content':[{'type':'text','text':'b'}"
          ","
          "{'type':'image','data':'iVBORx','media_type':'image/"
          "png'}]},{'role':'user','content':'c'}]",
          "{'content':[{'text':'b','type':'text'}],'role':'assistant'}",
          "which an assistant's message cannot hold" },
        { "[{'role':'user','content':[{'type':'text','text':'b'},{'type':'image','data':'xx',"
          "'media_type':'image/tiff'}]}]",
          "[{'content':[{'text':'b','type':'text'}],'role':'user'}]", "a type that is not taken" },
        { "[{'role':'user','content':[{'type':'text','text':'b'},{'type':'image','source':{'type':"
          "'base64','data':'xx','media_type':'image/svg+xml'}}]}]",
          "[{'content':[{'text':'b','type':'text'}],'role':'user'}]", "a type that is not taken" },
        { "[{'role':'user','content':'a'},{'role':'assistant','content':'b \\n'}]", "'b'",
          "blanks are cut" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sb b = sb_in(&arena, 0);
        sb_addf(&b, "{'messages':%s}", cases[i].context);
        struct sv out = render_all(RENDER_ANTHROPIC, sb_sv(&b).s);
        CHECK(sv_find(out, want(cases[i].part)) >= 0);
        CHECK(report.list.n >= 1 && sv_find(repair_line(0), sv_of(cases[i].told)) >= 0);
        if (sv_find(out, want(cases[i].part)) < 0)
            printf("# " SV_FMT "\n# " SV_FMT "\n", SV_ARG(out), SV_ARG(repair_line(0)));
        arena_free(&arena);
    }
    struct sv cut = render_limited(RENDER_ANTHROPIC,
                                   "{'messages':[{'role':'user','content':'a'},"
                                   "{'role':'assistant','content':'b'}]}",
                                   1);
    CHECK(sv_find(cut, SV("(earlier messages are left out)")) >= 0);
    struct sv prompt = render_all(RENDER_ANTHROPIC, "{'system_prompt':'x\\udc00','messages':[]}");
    CHECK(sv_find(prompt, SV("x\xef\xbf\xbd")) >= 0 && report.list.n == 1);
    arena_free(&arena);
}

TAP_MAIN(T(names_of_tools_that_the_apis_refuse_are_changed),
         T(blocks_keep_the_order_in_which_they_were_made),
         T(a_call_that_stands_in_both_forms_is_one_call),
         T(what_anthropic_refuses_is_repaired_and_told),
         T(anthropic_alternates_roles_and_opens_with_results),
         T(openai_has_the_prompt_first_and_arguments_as_text),
         T(text_sets_what_was_said_in_by_two_blanks),
         T(no_prompt_means_no_system_key_and_no_system_message),
         T(consecutive_users_are_one_message_for_anthropic),
         T(system_messages_in_the_middle_join_the_prompt),
         T(signed_thinking_is_kept_and_unsigned_is_reported),
         T(an_assistant_who_speaks_first_gets_a_user_in_front),
         T(a_signature_among_the_reasoning_details_is_used),
         T(media_become_source_blocks_for_anthropic), T(media_become_url_and_file_parts_for_openai),
         T(a_data_url_is_data), T(pictures_of_a_result_follow_in_a_user_message_for_openai),
         T(unknown_parts_are_passed_on_and_named), T(what_has_no_place_is_reported),
         T(ids_and_arguments_that_anthropic_refuses_are_changed), )
