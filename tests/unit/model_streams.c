/* Streams of providers: whole answers of each dialect, in pieces of any size, cut anywhere. */
#include "model/stream.h"

#include "tap.h"

static struct arena a;
static struct err   e;
static struct sb    seen;
static bool         ended;

/* Neighbouring pieces of a part are one line, since where they are split may differ. */
static enum status note(void *ctx, const struct model_event *ev, struct err *error)
{
    static const char *const words[] = { "text",      "thinking", "keep",     "call",
                                         "arguments", "data",     "logprobs", "resend",
                                         "usage",     "finish",   "error" };

    (void)ctx, (void)error;
    sb_addf(&seen, "%zu %s", ev->part, words[ev->type]);
    if (ev->type == MODEL_KEEP || ev->type == MODEL_LOGPROBS || ev->type == MODEL_RESEND) {
        struct json v;
        CHECK(json_parse(ev->text, 0, &a, &v, &e) == ST_OK);
        CHECK_SV(json_canonical(&v, &a), ev->text);
    }
    if (ev->type == MODEL_CALL)
        sb_addf(&seen, " " SV_FMT " " SV_FMT, SV_ARG(ev->id), SV_ARG(ev->name));
    else if (ev->type == MODEL_USAGE)
        sb_addf(&seen, " %d %d %d %d", (int)ev->usage.input, (int)ev->usage.output,
                (int)ev->usage.cached, (int)ev->usage.reasoning);
    else if (ev->type == MODEL_FINISH)
        sb_addf(&seen, " %s", model_finish_word(ev->finish));
    else
        sb_addf(&seen, " " SV_FMT, SV_ARG(ev->text));
    sb_addc(&seen, '\n');
    ended = ended || ev->type == MODEL_FINISH || ev->type == MODEL_ERROR;
    return ST_OK;
}

static struct stream last; /* as it was when the stream ended */

/* A stream in pieces of n bytes; what failed is in e. */
static enum status feed(stream_read *read, struct sv bytes, size_t n)
{
    struct stream s = stream_in(read, note, NULL, &a);
    enum status   st = ST_OK;

    seen = sb_in(&a, 0);
    ended = false;
    for (; bytes.n && !st; bytes = sv_skip(bytes, n))
        st = stream_feed(&s, sv_first(bytes, n), &e);
    if (s.over)
        st = ST_OK;
    if (!st)
        st = stream_end(&s, &e);
    last = s;
    stream_free(&s);
    return st;
}

/* The events of a whole stream are `want` however it is split, and a stream that is cut before
 * `end` has no end. */
static void check(stream_read *read, struct sv stream, struct sv want, const char *end)
{
    ptrdiff_t until = sv_find(stream, sv_of(end));

    CHECK(until >= 0);
    for (size_t n = 1; n <= stream.n; n += n < 20 ? 1 : 37) {
        CHECK(feed(read, stream, n) == ST_OK);
        CHECK_SV(sb_sv(&seen), want);
    }
    for (ptrdiff_t n = 0; n <= until; n++) {
        CHECK(feed(read, sv_first(stream, (size_t)n), SIZE_MAX / 2) == ST_OK);
        CHECK(!ended);
    }
}

#define E(type, rest) "event: " type "\r\ndata: {\"type\":\"" type "\"" rest "}\r\n\r\n"

static void anthropic_blocks_are_parts(void)
{
    check(stream_anthropic,
          SV(E("message_start", ",\"message\":{\"id\":\"m\",\"model\":\"c\",\"usage\":{\"input_"
                                "tokens\":3,\"cache_creation_input_tokens\":20,\"cache_read_input_"
                                "tokens\":100,\"output_tokens\":1}}") E("ping", "")
                 E("content_block_start", ",\"index\":0,\"content_block\":{\"type\":\"thinking\","
                                          "\"thinking\":\"\",\"signature\":\"\"}")
                     E("content_block_delta", ",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
                                              "\"thinking\":\"Hm.\"}")
                         E("content_block_delta",
                           ",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":"
                           "\"sig\"}") E("content_block_stop", ",\"index\":0")
                             E("content_block_start", ",\"index\":1,\"content_block\":{\"type\":"
                                                      "\"something_new\",\"x\":{}}")
                                 E("content_block_start",
                                   ",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":"
                                   "\"\"}")
                                     E("content_block_delta",
                                       ",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":"
                                       "\"Grüße \xf0\x9f\x91\x8b →\"}")
                                         E("content_block_start",
                                           ",\"index\":3,\"content_block\":{\"type\":\"tool_use\","
                                           "\"id\":\"t1\",\"name\":\"look\",\"input\":{}}")
                                             E("content_block_delta",
                                               ",\"index\":3,\"delta\":{\"type\":\"input_json_"
                                               "delta\",\"partial_json\":\"{}\"}")
                                                 E("new_event", ",\"a\":[1]")
                                                     E("message_delta",
                                                       ",\"delta\":{\"stop_reason\":\"tool_use\"},"
                                                       "\"usage\":{\"output_tokens\":15}")
                                                         E("message_stop", "")),
          SV("0 thinking Hm.\n0 keep "
             "{\"signature\":\"sig\",\"thinking\":\"Hm.\",\"type\":\"thinking\"}\n1 text Grüße "
             "\xf0\x9f\x91\x8b →\n2 call t1 look\n"
             "2 arguments {}\n0 usage 123 15 100 -1\n0 finish tool_use\n"),
          "event: message_stop");
}

/* From Opus 5.5 on thinking comes without its text. */
static void a_signature_without_thinking_is_a_part(void)
{
    CHECK(feed(stream_anthropic,
               SV(E("content_block_delta",
                    ",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}")
                      E("content_block_delta",
                        ",\"index\":1,\"delta\":{\"type\":\"signature_delta\",\"signature\":"
                        "\"s\"}") E("content_block_stop", ",\"index\":1")
                          E("content_block_start",
                            ",\"index\":2,\"content_block\":{\"type\":\"redacted_"
                            "thinking\",\"data\":\"r\"}") E("content_block_stop", ",\"index\":2")),
               99) == ST_OK);
    CHECK_SV(sb_sv(&seen),
             SV("0 text a\n1 keep {\"signature\":\"s\",\"thinking\":\"\",\"type\":\"thinking\"}\n"
                "2 keep {\"data\":\"r\",\"type\":\"redacted_thinking\"}\n"));
}

#define D(json) "data: " json "\n\n"

static void chat_deltas_are_parts(void)
{
    check(stream_chat,
          SV(": OPENROUTER PROCESSING\n\n" D("{\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{"
                                             "\"role\":\"assistant\",\"content\":\"\"}}]}")
                 D("{\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"Hm.\"}}]}")
                     D("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hé\"},\"finish_"
                       "reason\":null}],\"new\":null}")
                         D("{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"other\"}}]}")
                             D("{\"choices\":[{\"index\":0,\"delta\":{\"content\":[{\"type\":"
                               "\"text\",\"text\":\"llo\"}]}}]}")
                                 D("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{"
                                   "\"index\":0,\"id\":\"t1\",\"function\":{\"name\":\"f\","
                                   "\"arguments\":\"\"}}]}}]}")
                                     D("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{"
                                       "\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}}]}")
                                         D("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_"
                                           "reason\":\"tool_calls\"}]}")
                                             D("{\"choices\":[],\"usage\":{\"prompt_tokens\":2,"
                                               "\"completion_tokens\":3,\"prompt_tokens_details\":{"
                                               "\"cached_tokens\":1}}}") D("[DONE]")),
          SV("0 thinking Hm.\n1 text Hé\n1 text llo\n2 call t1 f\n2 arguments {}\n"
             "0 usage 2 3 1 -1\n0 finish tool_use\n"),
          "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\"");
}

static void a_missing_done_is_harmless(void)
{
    CHECK(feed(stream_chat,
               SV(D("{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}")),
               99) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text a\n0 finish stop\n"));
}

static void base_models_send_texts(void)
{
    check(stream_chat,
          SV(D("{\"choices\":[{\"index\":0,\"text\":\"Once\",\"finish_reason\":null}]}")
                 D("{\"choices\":[{\"index\":0,\"text\":\" upon\",\"finish_reason\":\"length\"}]}")
                     D("[DONE]")),
          SV("0 text Once\n0 text  upon\n0 finish length\n"), " upon");
}

static void probabilities_of_tokens_come_with_their_text(void)
{
    check(stream_chat,
          SV(D("{\"choices\":[{\"index\":0,\"text\":\"Once\",\"logprobs\":{\"tokens\":[\"Once\"],"
               "\"token_logprobs\":[-0.5],\"top_logprobs\":[{\"Once\":-0.5,\"The\":-1.25}],"
               "\"text_offset\":[0]}}]}")
                 D("{\"choices\":[{\"index\":0,\"text\":\"\",\"logprobs\":null,\"finish_reason\":"
                   "\"length\"}]}")),
          SV("0 text Once\n0 logprobs {\"text_offset\":[0],\"token_logprobs\":[-0.5],\"tokens\":["
             "\"Once\"],\"top_logprobs\":[{\"Once\":-0.5,\"The\":-1.25}]}\n0 finish length\n"),
          "data: {\"choices\":[{\"index\":0,\"text\":\"\"");
}

static void openrouters_reasoning_is_put_together(void)
{
    CHECK(
        feed(stream_chat,
             SV(D("{\"choices\":[{\"delta\":{\"reasoning\":\"H\",\"reasoning_details\":[{\"type\":"
                  "\"reasoning.text\",\"text\":\"H\",\"index\":0,\"format\":\"f1\"}]}}]}")
                    D("{\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning."
                      "text\","
                      "\"text\":\"m\",\"signature\":\"s\",\"index\":0},{\"type\":\"reasoning."
                      "encrypted\",\"data\":\"d\",\"id\":\"r1\",\"index\":1}]}}]}")
                        D("{\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":"
                          "\"stop\"}],"
                          "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"cost\":0.0125}"
                          "}")),
             13) == ST_OK);
    CHECK_SV(
        sb_sv(&seen),
        SV("0 thinking H\n1 text Hi\n1 keep {\"format\":\"f1\",\"index\":0,\"signature\":\"s\","
           "\"text\":\"Hm\",\"type\":\"reasoning.text\"}\n1 keep {\"data\":\"d\",\"id\":\"r1\","
           "\"index\":1,\"type\":\"reasoning.encrypted\"}\n0 usage 1 2 -1 -1\n0 finish stop\n"));
    CHECK_INT(last.usage.cost, 12500000);
}

static void responses_items_are_parts(void)
{
    check(stream_responses,
          SV(E("response.created", ",\"response\":{\"error\":null,\"status\":\"in_progress\"}")
                 E("response.reasoning_summary_text.delta", ",\"output_index\":0,\"delta\":\"Hm.\"")
                     E("response.output_item.done",
                       ",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"encrypted_content\":"
                       "\"enc\",\"id\":\"rs1\",\"status\":\"done\",\"summary\":[{\"text\":\"Hm.\","
                       "\"type\":"
                       "\"summary_text\"}]}") E("keepalive", "")
                         E("response.output_text.delta",
                           ",\"output_index\":1,\"content_index\":0,\"delta\":\"Hi\"")
                             E("response.output_text.delta",
                               ",\"output_index\":1,\"content_index\":0,\"delta\":\"!\"")
                                 E("response.completed",
                                   ",\"response\":{\"status\":\"completed\",\"usage\":{\"input_"
                                   "tokens\":9,\"output_tokens\":4,\"output_tokens_details\":{"
                                   "\"reasoning_tokens\":2}}}")),
          SV("0 thinking Hm.\n0 keep {\"encrypted_content\":\"enc\",\"id\":\"rs1\","
             "\"summary\":[{\"text\":\"Hm.\",\"type\":\"summary_text\"}],\"type\":\"reasoning\"}"
             "\n1 text Hi\n1 text !\n0 usage 9 4 -1 2\n"
             "0 finish stop\n"),
          "event: response.completed");
    CHECK(feed(stream_responses,
               SV(E("response.output_text.delta", ",\"output_index\":0,\"delta\":\"Hi\"") E(
                   "response.output_item.done",
                   ",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m1\",\"phase\":"
                   "\"commentary\"}")
                      E("response.completed", ",\"response\":{\"status\":\"completed\"}")),
               9) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text Hi\n0 keep {\"phase\":\"commentary\",\"type\":\"message\"}\n"
                              "0 finish stop\n"));
    CHECK(feed(stream_responses,
               SV(E("response.incomplete", ",\"response\":{\"status\":\"incomplete\",\"incomplete_"
                                           "details\":{\"reason\":\"max_output_tokens\"}}")),
               7) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 finish length\n"));
}

static void gemini_fragments_are_parts(void)
{
    check(stream_gemini,
          SV(D("{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"thought\":true,"
               "\"text\":\"Hm.\"}]}}],\"usageMetadata\":{\"promptTokenCount\":2}}")
                 D("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"},{\"text\":\"\","
                   "\"thoughtSignature\":\"sig\"}]}}]}")
                     D("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"!\"}]},"
                       "\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":2,"
                       "\"candidatesTokenCount\":3,\"thoughtsTokenCount\":5}}")),
          SV("0 thinking Hm.\n1 text Hi\n1 keep {\"thoughtSignature\":\"sig\"}\n1 text !\n0 usage "
             "2 8 -1 5\n"
             "0 finish stop\n"),
          "\"finishReason\"");
    CHECK(feed(stream_gemini, SV(D("{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}")), 9) ==
          ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 finish content_filter\n"));
}

static void refusals_have_a_finish_of_their_own(void)
{
    CHECK(feed(stream_anthropic,
               SV(E("message_delta", ",\"delta\":{\"stop_reason\":\"refusal\"}")
                      E("message_stop", "")),
               9) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 finish content_filter\n"));
    CHECK(
        feed(stream_chat,
             SV(D("{\"choices\":[{\"delta\":{\"refusal\":\"No.\"},\"finish_reason\":\"stop\"}]}")),
             9) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text No.\n0 finish content_filter\n"));
    CHECK(feed(stream_chat, SV(D("{\"choices\":[{\"finish_reason\":\"content_filter\"}]}")), 9) ==
          ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 finish content_filter\n"));
}

static void an_unknown_finish_is_not_a_success(void)
{
    CHECK(feed(stream_anthropic,
               SV(E("message_delta", ",\"delta\":{\"stop_reason\":\"a_later_word\"}")
                      E("message_stop", "")),
               9) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 error provider_error\n"));
    CHECK(feed(stream_chat, SV(D("{\"choices\":[{\"finish_reason\":\"error\"}]}")), 9) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 error provider_error\n"));
    CHECK(feed(stream_anthropic, SV(E("message_stop", "")), 9) == ST_OK); /* nobody said why */
    CHECK_SV(sb_sv(&seen), SV("0 error provider_error\n"));
}

/* The answer as it came, blocks of unknown kinds among it, so that it can be sent back. */
static void a_paused_answer_says_what_it_goes_on_from(void)
{
    static const char anthropic[] = E(
        "content_block_start", ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}")
        E("content_block_delta", ",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"So\"}")
            E("content_block_stop", ",\"index\":0")
                E("content_block_start", ",\"index\":1,\"content_block\":{\"type\":\"server_tool_"
                                         "use\",\"id\":\"s\",\"input\":{}}")
                    E("content_block_delta", ",\"index\":1,\"delta\":{\"type\":\"input_json_"
                                             "delta\",\"partial_json\":\"{\\\"q\\\":1}\"}")
                        E("content_block_stop", ",\"index\":1")
                            E("message_delta", ",\"delta\":{\"stop_reason\":\"pause_turn\"}")
                                E("message_stop", "");

    check(stream_anthropic, sv_of(anthropic),
          SV("0 text So\n0 resend [{\"text\":\"So\",\"type\":\"text\"},"
             "{\"id\":\"s\",\"input\":{\"q\":1},\"type\":\"server_tool_use\"}]\n0 finish pause\n"),
          "event: message_stop");
    CHECK(feed(stream_gemini,
               SV(D("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"So\"}]},"
                    "\"continuationToken\":\"T\",\"finishReason\":\"CONTINUATION\"}]}")),
               9) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text So\n0 resend \"T\"\n0 finish pause\n"));
    CHECK(feed(stream_gemini, SV(D("{\"candidates\":[{\"finishReason\":\"CONTINUATION\"}]}")), 9) ==
          ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 finish length\n"));
}

static void errors_inside_a_stream_have_our_codes(void)
{
    static const struct {
        stream_read *read;
        const char  *stream, *reason;
        bool         retry;
    } rows[] = {
        { stream_anthropic,
          "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
          "\"message\":\"Overloaded\"}}\n\n",
          "overloaded", true },
        { stream_anthropic,
          D("{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"x\"}"
            "}"),
          "invalidRequest", false },
        { stream_chat, D("{\"error\":{\"code\":429,\"message\":\"slow\"}}"), "rateLimited", true },
        { stream_chat, D("{\"error\":\"loading model failed\"}"), "unknown", false },
        { stream_chat,
          D("{\"object\":\"error\",\"message\":\"This model's maximum context length is 5\"}"),
          "contextTooLong", false },
        { stream_responses,
          D("{\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":"
            "\"x\"}"),
          "rateLimited", true },
        { stream_responses,
          D("{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":"
            "\"server_error\",\"message\":\"x\"}}}"),
          "serverError", true },
        { stream_gemini,
          D("{\"error\":{\"code\":503,\"message\":\"x\",\"status\":\"UNAVAILABLE\"}}"),
          "overloaded", true },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK(feed(rows[i].read, sv_of(rows[i].stream), 11) == ST_MODEL_ERROR);
        CHECK_SV(sv_of(e.reason), sv_of(rows[i].reason));
        CHECK(last.retry == rows[i].retry);
    }
}

static void wrong_types_are_nothing_and_wrong_json_an_error(void)
{
    static stream_read *const all[] = { stream_anthropic, stream_chat, stream_responses,
                                        stream_gemini };
    static const char *const  odd[] = {
         "{\"type\":7,\"choices\":{},\"candidates\":\"x\",\"usage\":[],\"usageMetadata\":1}",
         "{\"type\":\"content_block_delta\",\"index\":\"a\",\"delta\":[]}",
         "{\"type\":\"content_block_delta\",\"index\":-5,\"delta\":{\"type\":\"text_delta\"}}",
         "{\"choices\":[1,null,{\"delta\":3},{\"delta\":{\"content\":5,\"tool_calls\":[1]}}]}",
         "{\"type\":\"response.output_text.delta\",\"delta\":{}}",
         "{\"candidates\":[{\"content\":{\"parts\":[1,{\"text\":2}]},\"finishReason\":1}]}",
         "{\"type\":\"response.output_item.done\",\"item\":\"x\"}",
    };

    for (size_t d = 0; d < COUNT(all); d++) {
        for (size_t i = 0; i < COUNT(odd); i++) {
            struct sb b = sb_in(&a, 0);
            sb_addf(&b, "data: %s\n\n", odd[i]);
            CHECK(feed(all[d], sb_sv(&b), 99) == ST_OK);
            CHECK(!ended && !seen.n);
        }
        CHECK(feed(all[d], SV(D("{\"a\":")), 99) == ST_MODEL_ERROR);
        CHECK_SV(sv_of(e.reason), SV("invalidResponse"));
        CHECK(feed(all[d], SV(D("[1]")), 99) == ST_MODEL_ERROR);
    }
}

static void halves_of_characters_are_joined(void)
{
#define C(text) D("{\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}")
    CHECK(feed(stream_chat, SV(C("a\\ud83d") C("\\ude00b") C("\\ud83d") C("c")), 99) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text a\n0 text \xf0\x9f\x98\x80"
                              "b\n0 text \xef\xbf\xbd"
                              "c\n"));
    CHECK(feed(stream_chat, SV(C("\\ud83d") D("{\"choices\":[{\"delta\":{\"reasoning\":\"r\"}}]}")),
               99) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text \xef\xbf\xbd\n1 thinking r\n"));
    CHECK(feed(stream_chat,
               SV(C("a\xff"
                    "b")),
               99) == ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text a\xef\xbf\xbd"
                              "b\n"));
#undef C
}

static void arguments_of_a_call_that_is_over_are_refused(void)
{
    CHECK(feed(stream_chat,
               SV(D("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\"},{"
                    "\"index\":1,\"id\":\"b\"}]}}]}")
                      D("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{"
                        "\"arguments\":\"{\"}}]}}]}")),
               99) == ST_MODEL_ERROR);
    CHECK_SV(sv_of(e.reason), SV("invalidResponse"));
}

static void a_key_that_comes_back_is_hidden(void)
{
    struct stream s = stream_in(stream_chat, note, NULL, &a);

    s.secret = SV("sk-123456");
    seen = sb_in(&a, 0);
    CHECK(stream_feed(&s, SV(D("{\"choices\":[{\"delta\":{\"content\":\"<sk-123456>\"}}]}")), &e) ==
          ST_OK);
    CHECK_SV(sb_sv(&seen), SV("0 text <*********>\n"));
    CHECK(stream_feed(&s, SV(D("{\"error\":\"bad key sk-123456\"}")), &e) == ST_MODEL_ERROR);
    CHECK(strstr(e.text, "sk-1") == NULL && strstr(e.text, "bad key ***") != NULL);
    stream_free(&s);
    arena_free(&a);
}

TAP_MAIN(T(anthropic_blocks_are_parts), T(a_signature_without_thinking_is_a_part),
         T(chat_deltas_are_parts), T(a_missing_done_is_harmless), T(base_models_send_texts),
         T(probabilities_of_tokens_come_with_their_text), T(openrouters_reasoning_is_put_together),
         T(responses_items_are_parts), T(gemini_fragments_are_parts),
         T(refusals_have_a_finish_of_their_own), T(an_unknown_finish_is_not_a_success),
         T(a_paused_answer_says_what_it_goes_on_from), T(errors_inside_a_stream_have_our_codes),
         T(wrong_types_are_nothing_and_wrong_json_an_error), T(halves_of_characters_are_joined),
         T(arguments_of_a_call_that_is_over_are_refused), T(a_key_that_comes_back_is_hidden), )
