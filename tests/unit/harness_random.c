/* Random sessions of each format: with branches, calls made at once, compactions, state and records
 * that nobody knows. A session is told twice, once as a transcript and once as the list of lines of
 * which each knows the line before it in the conversation. What is imported, in pieces that may end
 * inside a line, must show what the list says; a second time adds nothing; and where the format can
 * be written, export gives the transcript back. A failing seed is printed; it is the first argument
 * of a second run. */
#include "harness/export.h"
#include "harness_test.h"
#include "store/store_internal.h" /* fault_arm() */

#include <sqlite3.h>
#include <stdlib.h>

enum { SEEDS = 120, FAULT_SEEDS = 3, LINES_MAX = 400 };

#define SESSION "11111111-2222-4333-8444-555555555555"
#define FORK "66666666-2222-4333-8444-555555555555"

/* ---- chance -----------------------------------------------------------------------------------
 */

static uint64_t chance;
static uint64_t only; /* a seed that was asked for */

static unsigned pick(unsigned n)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33) % n;
}

static bool one_in(unsigned n)
{
    return pick(n) == 0;
}

/* ---- the story --------------------------------------------------------------------------------
 */

struct line {
    struct sv   text;      /* of the transcript, without its line feed */
    int         before;    /* the line before it in the conversation; -1: none */
    const char *shown;     /* as add_shown() writes it; NULL: nothing is shown */
    const char *summary;   /* a compaction: what stands in the place of all before ... */
    int         kept_from; /* ... but for the lines from here on; -1: none */
    bool        chained;   /* the conversation goes on from it */
    char        id[24];
};

static struct {
    struct line lines[LINES_MAX];
    int         n, leaf, number; /* leaf: the last line of the conversation; number: for names */
} story;

static const char *format(const char *fmt, ...) PRINTF(1, 2);
static const char *format(const char *fmt, ...)
{
    struct sb b = sb_in(&h.a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    return sb_sv(&b).s;
}

/* Text with what JSON must escape, in quotes. */
static const char *words(int number)
{
    static const char *const some[] = { "plain",      "q\\\"uote",
                                        "tab\\there", "\\u00e9\\ud83d\\ude00",
                                        "über →",     "\\u0001ctl",
                                        "a\\nb",      "\\ud83d half" };

    return format("w%d %s", number, some[pick(COUNT(some))]);
}

/* The same text as it is. */
static const char *decoded(const char *json)
{
    struct json v;

    OK(json_parse(sv_of(format("\"%s\"", json)), 0, &h.a, &v, &h.e));
    return sv_cstr(json_sv(&v), &h.a);
}

static struct line *add_line(const char *text, bool chained, const char *shown)
{
    struct line *l = &story.lines[story.n];

    *l = (struct line){ .text = sv_of(text),
                        .before = story.leaf,
                        .shown = shown,
                        .kept_from = -1,
                        .chained = chained };
    if (chained)
        story.leaf = story.n;
    story.n++;
    return l;
}

/* Lines of the path to `leaf`, oldest first. */
static int path_to(int leaf, int *out)
{
    int n = 0;

    for (int i = leaf; i >= 0; i = story.lines[i].before)
        out[n++] = i;
    for (int i = 0; i < n / 2; i++) {
        int t = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = t;
    }
    return n;
}

static struct sv expected(int leaf)
{
    static int path[LINES_MAX];
    int        n = path_to(leaf, path), from = 0, compaction = -1;
    struct sb  b = sb_in(&h.a, 0);

    for (int i = 0; i < n; i++)
        if (story.lines[path[i]].summary)
            compaction = i;
    if (compaction >= 0) {
        const struct line *c = &story.lines[path[compaction]];
        sb_adds(&b, c->summary);
        from = compaction + 1;
        for (int i = 0; i < compaction && c->kept_from >= 0; i++)
            if (path[i] == c->kept_from)
                from = i;
    }
    for (int i = from; i < n; i++)
        if (story.lines[path[i]].shown)
            sb_addf(&b, "%s%s", b.n ? " " : "", story.lines[path[i]].shown);
    return sb_sv(&b);
}

/* ---- Claude Code --------------------------------------------------------------------------------
 */

static const char *claude_id(int line)
{
    return line < 0 ? "null" : format("\"%s\"", story.lines[line].id);
}

/* A line that follows `parent`; `rest` is its other members. */
static struct line *claude_chained(int parent, const char *rest, const char *shown)
{
    char        id[24];
    const char *extra = one_in(6) ? ",\"later\":{\"version\":[1,2.50,null]}" : "";

    snprintf(id, sizeof id, "uuid-%d", story.n);
    struct line *l =
        add_line(format("{\"uuid\":\"%s\",\"parentUuid\":%s,\"sessionId\":\"" SESSION "\","
                        "\"timestamp\":\"2026-11-17T14:%02d:%02d.000Z\",%s%s}",
                        id, claude_id(parent), story.n / 60 % 60, story.n % 60, rest, extra),
                 true, shown);
    memcpy(l->id, id, sizeof l->id);
    return l;
}

static void claude_user(void)
{
    const char *w = words(story.number++);
    bool        blocks = one_in(3);

    claude_chained(story.leaf,
                   format("\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":%s%s%s}",
                          blocks ? "[{\"type\":\"text\",\"text\":\"" : "\"", w,
                          blocks ? "\"},{\"type\":\"image\",\"source\":{\"type\":\"base64\","
                                   "\"media_type\":\"image/png\",\"data\":\"AAAA\"}}]"
                                 : "\""),
                   format("u:%s%s", decoded(w), blocks ? "[image]" : ""));
}

static void claude_block(int message, const char *block, const char *shown)
{
    claude_chained(story.leaf,
                   format("\"type\":\"assistant\",\"message\":{\"id\":\"msg_%d\",\"role\":"
                          "\"assistant\",\"model\":\"m\",\"usage\":{\"input_tokens\":1},"
                          "\"content\":[%s]}",
                          message, block),
                   shown);
}

static const char *call_block(int call)
{
    return format("{\"type\":\"tool_use\",\"id\":\"c%d\",\"name\":\"Read\",\"input\":{\"n\":%d}%s}",
                  call, call, one_in(3) ? ",\"caller\":{\"type\":\"direct\"}" : "");
}

/* Calls made at once: each result follows its own call. Some programs write several results, and
 * calls between texts, in one record. */
static void claude_calls(int message)
{
    int calls[3], n = 1 + (int)pick(3), first = story.number;

    for (int i = 0; i < n; i++) {
        int call = story.number++;
        calls[i] = story.n;
        if (one_in(4))
            claude_block(message, format("%s,{\"type\":\"text\",\"text\":\"t\"}", call_block(call)),
                         format("a:t→c%d", call));
        else
            claude_block(message, call_block(call), format("a:→c%d", call));
    }
    if (one_in(3)) {
        struct sb text = sb_in(&h.a, 0), shown = sb_in(&h.a, 0);
        for (int i = 0; i < n; i++) {
            sb_addf(&text, "%s{\"type\":\"tool_result\",\"tool_use_id\":\"c%d\",\"content\":\"R\"}",
                    i ? "," : "", first + i);
            sb_addf(&shown, "%st:R=c%d", i ? " " : "", first + i);
        }
        bool note = one_in(2);
        claude_chained(
            story.leaf,
            format("\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[%s%s]}",
                   sb_sv(&text).s, note ? ",{\"type\":\"text\",\"text\":\"N\"}" : ""),
            format("%s%s", sb_sv(&shown).s, note ? " u:N" : ""));
        return;
    }
    for (int i = n; i-- > 0;)
        claude_chained(
            calls[i],
            format("\"type\":\"user\",\"toolUseResult\":{\"x\":[]},\"message\":{\"role\":"
                   "\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
                   "\"c%d\"%s,\"content\":%s}]}",
                   first + i, one_in(3) ? ",\"is_error\":true" : "",
                   one_in(2) ? "\"R\"" : "[{\"type\":\"text\",\"text\":\"R\"}]"),
            format("t:R=c%d", first + i));
}

static void claude_answer(void)
{
    int         message = story.number++;
    const char *w = words(story.number++);

    if (one_in(3))
        claude_block(message, "{\"type\":\"thinking\",\"thinking\":\"T\",\"signature\":\"cw==\"}",
                     "a:[thinking]");
    claude_block(message, format("{\"type\":\"text\",\"text\":\"%s\"}", w),
                 format("a:%s", decoded(w)));
    if (one_in(2)) {
        claude_calls(message);
        claude_block(story.number++, "{\"type\":\"text\",\"text\":\"done\"}", "a:done");
    }
}

static void claude_state(void)
{
    static const char *const loose[] = {
        "{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"" SESSION "\"}",
        "{\"type\":\"weather\",\"sun\":true,\"sessionId\":\"" SESSION "\"}",
        "{\"type\":\"cost-state\",\"totalCostUSD\":1e-3,\"sessionId\":\"" SESSION "\"}",
        "{\"sessionId\":\"" SESSION "\"}",
        "not JSON at all",
        "[1,2]",
        "{\"type\":\"summary\",\"summary\":\"A title\",\"sessionId\":\"" SESSION "\"}",
    };
    static const char *const chained[] = {
        "\"type\":\"attachment\",\"attachment\":{\"type\":\"date\"}",
        "\"type\":\"system\",\"subtype\":\"informational\"",
        "\"type\":\"hologram\"",
        "\"type\":\"user\",\"message\":{\"role\":\"user\"}",
        "\"type\":\"assistant\",\"isApiErrorMessage\":true,\"message\":{\"content\":[]}",
    };

    if (one_in(2))
        add_line(loose[pick(COUNT(loose))], false, NULL);
    else
        claude_chained(story.leaf, chained[pick(COUNT(chained))], NULL);
}

/* A line of the path that a compaction may keep from: a message. */
static int some_message(void)
{
    static int path[LINES_MAX];
    int        n = path_to(story.leaf, path), at = (int)pick((unsigned)n);

    return story.lines[path[at]].shown ? path[at] : -1;
}

static void claude_compact(void)
{
    int  keep = one_in(2) ? some_message() : -1;
    int  before = story.leaf;
    char id[24];

    snprintf(id, sizeof id, "uuid-%d", story.n);
    struct line *l = add_line(
        format("{\"uuid\":\"%s\",\"parentUuid\":null,\"logicalParentUuid\":%s,\"type\":\"system\","
               "\"subtype\":\"compact_boundary\",\"sessionId\":\"" SESSION "\"%s}",
               id, claude_id(before),
               keep >= 0 ? format(",\"compactMetadata\":{\"preservedSegment\":{\"headUuid\":%s}}",
                                  claude_id(keep))
                         : ""),
        true, NULL);
    memcpy(l->id, id, sizeof l->id);
    l = claude_chained(story.leaf,
                       "\"type\":\"user\",\"isCompactSummary\":true,\"message\":{\"role\":\"user\","
                       "\"content\":\"SUM\"}",
                       NULL);
    l->summary = "u:SUM";
    l->kept_from = keep;
}

/* ---- pi
 * -------------------------------------------------------------------------------------------- */

#define PI_HEADER "{\"type\":\"session\",\"version\":3,\"id\":\"" SESSION "\",\"cwd\":\"/w\"}"

static struct line *pi_chained(const char *rest, const char *shown)
{
    char        id[24];
    const char *parent = story.leaf < 0 ? "null" : format("\"%s\"", story.lines[story.leaf].id);

    snprintf(id, sizeof id, "%08x", (unsigned)story.n * 2654435761u);
    struct line *l = add_line(
        format(
            "{\"id\":\"%s\",\"parentId\":%s,\"timestamp\":\"2026-11-17T14:%02d:%02d.000Z\",%s%s}",
            id, parent, story.n / 60 % 60, story.n % 60, rest, one_in(6) ? ",\"later\":[{}]" : ""),
        true, shown);
    memcpy(l->id, id, sizeof l->id);
    return l;
}

static void pi_user(void)
{
    const char *w = words(story.number++);

    if (one_in(3))
        pi_chained(
            format("\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"%s\"}", w),
            format("u:%s", decoded(w)));
    else
        pi_chained(
            format(
                "\"type\":\"message\",\"message\":{\"role\":\"user\",\"timestamp\":5,\"content\":"
                "[{\"type\":\"text\",\"text\":\"%s\"},{\"type\":\"image\",\"data\":\"AAAA\","
                "\"mimeType\":\"image/png\"}]}",
                w),
            format("u:%s[image]", decoded(w)));
}

static void pi_answer(void)
{
    const char *w = words(story.number++);
    struct sb   blocks = sb_in(&h.a, 0), shown = sb_in(&h.a, 0);
    int         n = one_in(2) ? (int)pick(4) : 0, first = story.number;
    bool        mixed = one_in(4);

    story.number += n;
    sb_addf(&blocks, "{\"type\":\"thinking\",\"thinking\":\"T\",\"thinkingSignature\":\"s\"}");
    if (!mixed)
        sb_addf(&blocks, ",{\"type\":\"text\",\"text\":\"%s\"}", w);
    sb_addf(&shown, "a:[thinking]%s", decoded(w));
    for (int i = 0; i < n; i++) {
        sb_addf(&blocks,
                ",{\"type\":\"toolCall\",\"id\":\"c%d\",\"name\":\"read\",\"arguments\":{}%s}",
                first + i, one_in(3) ? ",\"thoughtSignature\":\"x\"" : "");
        sb_addf(&shown, "→c%d", first + i);
    }
    if (mixed)
        sb_addf(&blocks, ",{\"type\":\"text\",\"text\":\"%s\"}", w);
    pi_chained(
        format("\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"model\":\"m\","
               "\"usage\":{\"input\":1,\"output\":2,\"cost\":{\"total\":1.5e-7}},\"content\":[%s]}",
               sb_sv(&blocks).s),
        sb_sv(&shown).s);
    for (int i = 0; i < n; i++)
        pi_chained(
            format(
                "\"type\":\"message\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"c%d\","
                "\"toolName\":\"read\",\"isError\":%s,\"content\":[{\"type\":\"text\",\"text\":"
                "\"R\"}]}",
                first + i, one_in(3) ? "true" : "false"),
            format("t:R=c%d", first + i));
}

static void pi_state(void)
{
    static const char *const kept[] = {
        "\"type\":\"model_change\",\"provider\":\"p\",\"modelId\":\"m\"",
        "\"type\":\"thinking_level_change\",\"thinkingLevel\":\"off\"",
        "\"type\":\"custom\",\"customType\":\"x\",\"data\":{\"a\":1.0}",
        "\"type\":\"session_info\",\"name\":\"A name\"",
        "\"type\":\"usage\",\"kind\":\"cache_warm\",\"usage\":{\"input\":7}",
        "\"type\":\"message\",\"message\":{\"role\":\"system\",\"content\":\"S\",\"sections\":{"
        "\"a\":null}}",
        "\"type\":\"message\",\"message\":{\"role\":\"bashExecution\",\"command\":\"ls\","
        "\"excludeFromContext\":true}",
        "\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":null}",
        "\"type\":\"hologram\"",
    };
    static const struct {
        const char *rest, *shown;
    } said[] = {
        { "\"type\":\"custom_message\",\"customType\":\"x\",\"content\":\"C\",\"display\":true",
          "u:C" },
        { "\"type\":\"message\",\"message\":{\"role\":\"custom\",\"content\":[{\"type\":\"text\","
          "\"text\":"
          "\"C\"}]}",
          "u:C" },
        { "\"type\":\"message\",\"message\":{\"role\":\"bashExecution\",\"command\":\"ls\","
          "\"output\":\"o\","
          "\"exitCode\":2}",
          "u:Ran `ls`\n```\no\n```\n\nCommand exited with code 2" },
    };
    unsigned which = pick(COUNT(kept) + COUNT(said) + 2);

    if (which < COUNT(kept))
        pi_chained(kept[which], NULL);
    else if (which < COUNT(kept) + COUNT(said))
        pi_chained(said[which - COUNT(kept)].rest, said[which - COUNT(kept)].shown);
    else if (which == COUNT(kept) + COUNT(said))
        pi_chained(format("\"type\":\"label\",\"targetId\":\"%s\",\"label\":\"here\"",
                          story.leaf < 0 ? "none" : story.lines[story.leaf].id),
                   NULL);
    else
        add_line("{broken", false, NULL);
}

static void pi_compact(void)
{
    int          keep = one_in(2) ? some_message() : -1;
    struct line *l = pi_chained(
        format("\"type\":\"compaction\",\"summary\":\"SUM\",\"tokensBefore\":9,"
               "\"firstKeptEntryId\":\"%s\"",
               keep >= 0 ? story.lines[keep].id : format("%08x", (unsigned)story.n * 2654435761u)),
        NULL);

    l->summary = "u:The conversation history before this point was compacted into the following "
                 "summary:\n\n<summary>\nSUM\n</summary>";
    l->kept_from = keep;
}

/* ---- Codex
 * ------------------------------------------------------------------------------------------- */

static struct line *codex(const char *type, const char *payload, bool chained, const char *shown)
{
    return add_line(
        format("{\"timestamp\":\"2026-11-17T14:%02d:%02d.000Z\",\"ordinal\":%d,\"type\":\"%s\","
               "\"payload\":%s}",
               story.n / 60 % 60, story.n % 60, story.n, type, payload),
        chained, shown);
}

/* Turns that were not rolled back: what each followed. */
static int turns[LINES_MAX], n_turns;

static void codex_user(void)
{
    const char *w = words(story.number++);

    turns[n_turns++] = story.leaf;
    codex("response_item",
          format("{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
                 "\"text\":\"%s\"}]}",
                 w),
          true, format("u:%s", decoded(w)));
}

static void codex_answer(void)
{
    int n = one_in(2) ? (int)pick(4) : 0, first = story.number;

    story.number += n;
    if (one_in(3))
        codex("response_item",
              "{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"T\"}],"
              "\"encrypted_content\":\"x\"}",
              true, "a:[thinking]");
    for (int i = 0; i < n; i++)
        codex(
            "response_item",
            format("{\"type\":\"function_call\",\"name\":\"exec\",\"arguments\":\"{\\\"a\\\":1}\","
                   "\"call_id\":\"c%d\"}",
                   first + i),
            true, format("a:→c%d", first + i));
    for (int i = 0; i < n; i++)
        codex("response_item",
              format("{\"type\":\"function_call_output\",\"call_id\":\"c%d\",\"output\":\"R\"}",
                     first + i),
              true, format("t:R=c%d", first + i));
    codex("response_item",
          "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\","
          "\"text\":\"A\"}]}",
          true, "a:A");
    codex("token_usage_record", "{\"usage\":{\"input_tokens\":10,\"cached_input_tokens\":4}}",
          false, NULL);
}

static void codex_state(void)
{
    static const char *const events[] = { "{\"type\":\"task_started\"}", "{\"type\":\"hologram\"}",
                                          "{\"type\":\"token_count\",\"info\":null}" };

    if (one_in(3))
        codex("turn_context", "{\"model\":\"m\",\"cwd\":\"/w\"}", false, NULL);
    else if (one_in(3))
        codex("response_item", "{\"type\":\"message\",\"role\":\"developer\",\"content\":[]}",
              false, NULL);
    else
        codex("event_msg", events[pick(COUNT(events))], false, NULL);
}

static void codex_compact(void)
{
    codex(
        "compacted",
        "{\"message\":\"SUM\",\"replacement_history\":[{\"type\":\"message\",\"role\":\"user\","
        "\"content\":"
        "[{\"type\":\"input_text\",\"text\":\"K\"}]},{\"type\":\"message\",\"role\":\"developer\","
        "\"content\":[]},{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_"
        "text\","
        "\"text\":\"SUM\"}]}]}",
        true, NULL)
        ->summary = "u:K u:SUM";
}

static void codex_back(void)
{
    int n = 1 + (int)pick(3);

    if (n > n_turns || n_turns > 60)
        return;
    n_turns -= n;
    codex("event_msg", format("{\"type\":\"thread_rolled_back\",\"num_turns\":%d}", n), false,
          NULL);
    story.leaf = turns[n_turns];
}

/* ---- Gemini
 * ------------------------------------------------------------------------------------------ */

static struct line *gemini(const char *id, const char *rest, const char *shown)
{
    struct line *l =
        add_line(format("{\"id\":\"%s\",\"timestamp\":\"2026-11-17T14:%02d:%02d.000Z\",%s}", id,
                        story.n / 60 % 60, story.n % 60, rest),
                 true, shown);

    snprintf(l->id, sizeof l->id, "%s", id);
    return l;
}

static const char *turn_ids[LINES_MAX];

static void gemini_user(void)
{
    const char *w = words(story.number++), *id = format("g-%d", story.n);

    turns[n_turns] = story.leaf;
    turn_ids[n_turns++] = id;
    gemini(id, format("\"type\":\"user\",\"content\":[{\"text\":\"%s\"}]", w),
           format("u:%s", decoded(w)));
}

static void gemini_answer(void)
{
    const char *id = format("g-%d", story.n);
    bool        calls = one_in(2), empty = calls && one_in(2);

    gemini(id,
           format("\"type\":\"gemini\",\"content\":\"%s\",\"model\":\"m\",\"tokens\":{\"input\":9,"
                  "\"cached\":2}",
                  empty ? "" : "A"),
           empty ? NULL : "a:A");
    add_line("{\"$set\":{\"lastUpdated\":\"2026-11-17T15:00:00.000Z\"}}", false, NULL);
    if (calls) { /* the same message again, with what was called */
        int call = story.number++;
        gemini(id,
               format("\"type\":\"gemini\",\"content\":\"%s\",\"model\":\"m\",\"tokens\":{"
                      "\"input\":9,\"cached\":2},"
                      "\"toolCalls\":[{\"id\":\"c%d\",\"name\":\"read\",\"args\":{},\"result\":[{"
                      "\"functionResponse\":{\"id\":\"c%d\",\"name\":\"read\",\"response\":{"
                      "\"output\":\"R\"}}}]}]",
                      empty ? "" : "A", call, call),
               format("a:→c%d t:R=c%d", call, call));
        add_line(format("{\"id\":\"r-%d\",\"type\":\"user\",\"content\":[{\"functionResponse\":{"
                        "\"id\":\"c%d\","
                        "\"name\":\"read\",\"response\":{\"output\":\"R\"}}}]}",
                        story.n, call),
                 false, NULL);
        gemini(format("g-%d", story.n), "\"type\":\"gemini\",\"content\":\"done\"", "a:done");
    }
}

static void gemini_state(void)
{
    static const char *const loose[] = {
        "{\"$set\":{\"summary\":\"A title\"}}",
        "{\"sessionId\":\"" SESSION "\",\"projectHash\":\"x\",\"kind\":\"main\"}",
        "{\"what\":\"is this\"}",
        "{\"$set\":{\"messages\":[]}}",
    };

    add_line(loose[pick(COUNT(loose))], false, NULL);
}

static void gemini_compact(void)
{
    add_line(format("{\"$set\":{\"messages\":[{\"id\":\"s-%d\",\"timestamp\":\"2026-11-17T15:00:00."
                    "000Z\",\"type\":"
                    "\"user\",\"content\":[{\"text\":\"SUM\"}]},{\"id\":\"t-%d\",\"type\":"
                    "\"gemini\",\"content\":["
                    "{\"text\":\"OK\"}]}]}}",
                    story.n, story.n),
             true, NULL)
        ->summary = "u:SUM a:OK";
}

static void gemini_back(void)
{
    int n = n_turns ? (int)pick((unsigned)n_turns) : 0;

    if (!n_turns || n_turns - n > 60)
        return;
    add_line(format("{\"$rewindTo\":\"%s\"}", turn_ids[n]), false, NULL);
    story.leaf = turns[n];
    n_turns = n;
}

/* ---- all of them
 * -------------------------------------------------------------------------------------- */

static void back_anywhere(void)
{
    int at = (int)pick((unsigned)story.n);

    for (int i = 0; i < story.n; i++, at = (at + 1) % story.n) {
        const struct line *l = &story.lines[at];
        /* Not between calls and their results. */
        if (l->chained && l->shown && l->shown[0] == 'u') {
            story.leaf = at;
            return;
        }
    }
}

static const struct teller {
    enum harness which;
    const char  *header;
    void (*user)(void), (*answer)(void), (*state)(void), (*compact)(void), (*back)(void);
} tellers[] = {
    { HARNESS_CLAUDE_CODE, NULL, claude_user, claude_answer, claude_state, claude_compact,
      back_anywhere },
    { HARNESS_PI, PI_HEADER, pi_user, pi_answer, pi_state, pi_compact, back_anywhere },
    { HARNESS_CODEX,
      "{\"ordinal\":0,\"type\":\"session_meta\",\"payload\":{\"id\":\"" SESSION
      "\",\"cwd\":\"/w\"}}",
      codex_user, codex_answer, codex_state, codex_compact, codex_back },
    { HARNESS_GEMINI, "{\"sessionId\":\"" SESSION "\",\"projectHash\":\"x\",\"kind\":\"main\"}",
      gemini_user, gemini_answer, gemini_state, gemini_compact, gemini_back },
};

static void tell(const struct teller *t, uint64_t seed)
{
    int turns_wanted;

    memset(&story, 0, sizeof story);
    story.leaf = -1;
    n_turns = 0;
    chance = seed * 977 + 13;
    turns_wanted = 1 + (int)pick(14);
    if (t->header)
        add_line(t->header, false, NULL);
    for (int i = 0; i < turns_wanted && story.n < LINES_MAX - 30; i++) {
        while (one_in(3))
            t->state();
        t->user();
        if (!one_in(8))
            t->answer();
        if (one_in(5) && story.leaf >= 0)
            t->compact();
        if (one_in(4))
            t->back();
    }
}

/* ---- checks
 * ---------------------------------------------------------------------------------------------- */

static struct sv transcript(void)
{
    struct sb b = sb_in(&h.a, 0);

    for (int i = 0; i < story.n; i++) {
        sb_add(&b, story.lines[i].text);
        sb_addc(&b, '\n');
    }
    return sb_sv(&b);
}

/* The last line of the conversation among the first n lines. */
static int leaf_of(int n)
{
    for (int i = n; i-- > 0;)
        if (story.lines[i].chained)
            return i;
    return -1;
}

static void check_shown(int lines)
{
    int leaf = leaf_of(lines);

    if (!h.report.thread.n || leaf < 0)
        return;
    const char *thread = sv_cstr(h.report.thread, &h.a);
    const char *lane = sv_cstr(active_in(thread, "default"), &h.a);
    CHECK_SV(shown_in(thread, lane), expected(leaf));
}

/* In pieces that end anywhere; after each the context is that of the last complete line. */
static void take_in_pieces(const struct teller *t)
{
    struct sv rest = transcript();
    int       lines = 0;

    while (rest.n) {
        size_t    n = one_in(3) ? 1 + pick(60) : 1 + pick((unsigned)rest.n);
        struct sv piece = sv_first(rest, n);
        give_bytes(piece);
        rest = sv_skip(rest, piece.n);
        for (size_t i = 0; i < piece.n; i++)
            lines += piece.s[i] == '\n';
        if (!leaf_of(lines) && lines < 2)
            continue;
        if (take_status(t->which))
            continue; /* no line yet that says whose it is */
        /* An object that only lacks its line feed is taken, too. */
        bool ends = rest.n && rest.s[0] == '\n';
        check_shown(lines + (ends && sv_ends(piece, SV("}"))));
    }
    take(t->which);
    check_shown(story.n);
    check_log(h.report.thread);
}

static void check_again(const struct teller *t)
{
    const char *thread = sv_cstr(h.report.thread, &h.a);
    int64_t     rev = rev_of(thread);

    take(t->which);
    CHECK_INT(rev_of(thread), rev);
    /* And from another copy of the file, which is read from the start: all is known. */
    another_file();
    give(" \n");
    give_bytes(transcript());
    take(t->which);
    CHECK(h.report.rewritten);
    CHECK_INT(h.report.messages, 0);
    CHECK_INT(h.report.compactions, 0);
    check_shown(story.n);
}

static struct sv canonical(struct sv line)
{
    struct json v;
    struct err  ignored;

    return json_parse(line, 0, &h.a, &v, &ignored) == ST_OK ? json_canonical(&v, &h.a) : line;
}

/* The session is written as `text` has it, line by line. */
static void check_written(const struct teller *t, const char *session, struct sv text)
{
    struct harness_export   what = { .to = t->which,
                                     .thread = h.report.thread,
                                     .session = sv_of(session) };
    struct harness_exported done;
    struct sb               out = sb_in(&h.a, 0);

    if (!harness_can_export(t->which))
        return;
    OK(log_begin(&h.l, what.thread, STORE_READ, &h.e));
    OK(harness_export(&h.l, &what, &h.a, &out, &done, &h.e));
    log_abort(&h.l);
    struct sv_cut got = { .tail = sb_sv(&out) }, want = { .tail = text };
    while (want.tail.n) {
        got = sv_cut(got.tail, '\n');
        want = sv_cut(want.tail, '\n');
        CHECK_SV(canonical(got.head), canonical(want.head));
    }
    CHECK_INT((int64_t)got.tail.n, 0);
}

static void check_export(const struct teller *t)
{
    check_written(t, SESSION, transcript());
}

/* ---- forks -----------------------------------------------------------------------------------
 */

/* A line with the id of the fork in the place of the session's. */
static void add_forked(struct sb *b, struct sv line)
{
    int at;

    while ((at = (int)sv_find(line, SV(SESSION))) >= 0) {
        sb_add(b, sv_first(line, (size_t)at));
        sb_adds(b, FORK);
        line = sv_skip(line, (size_t)at + sizeof SESSION - 1);
    }
    sb_add(b, line);
    sb_addc(b, '\n');
}

/* A fork of Claude Code: the chain so far, its own state before, in between and behind, and then
 * what was said in it. Of what stands in a record members may be left out and come in. */
static struct sv fork_of_claude(void)
{
    struct sb b = sb_in(&h.a, 0);
    int       copied = 1 + (int)pick((unsigned)story.n), leaf = leaf_of(copied), number = 0;

    for (int i = 0; i < copied; i++) {
        while (one_in(5))
            sb_addf(&b, "{\"type\":\"mode\",\"n\":%d,\"sessionId\":\"" FORK "\"}\n", number++);
        if (story.lines[i].chained)
            add_forked(&b, story.lines[i].text);
    }
    for (int i = 0, n = (int)pick(4); i < n; i++) {
        while (one_in(3))
            sb_addf(&b, "{\"type\":\"mode\",\"n\":%d,\"sessionId\":\"" FORK "\"}\n", number++);
        sb_addf(&b,
                "{\"uuid\":\"fork-%d\",\"parentUuid\":%s,\"sessionId\":\"" FORK
                "\",\"timestamp\":\"2026-11-17T18:00:0%d.000Z\",\"type\":\"user\",\"message\":{"
                "\"role\":\"user\",\"content\":\"F%d\"}}\n",
                i, i ? format("\"fork-%d\"", i - 1) : claude_id(leaf), i, i);
    }
    return sb_sv(&b);
}

static void take_file(const struct teller *t, struct sv text)
{
    another_file();
    give_bytes(text);
    take(t->which);
}

/* Whichever is imported first. */
static void run_fork(const struct teller *t, uint64_t seed)
{
    struct sv origin, fork;

    harness_end();
    harness_begin();
    tell(t, seed);
    origin = transcript();
    if (leaf_of(story.n) < 0)
        return;
    fork = fork_of_claude();
    if (sv_find(fork, SV("\"uuid\"")) < 0)
        return;
    take_file(t, seed % 2 ? origin : fork);
    take_file(t, seed % 2 ? fork : origin);
    check_written(t, SESSION, origin);
    check_written(t, FORK, fork);
    check_log(h.report.thread);
    int64_t rev = rev_of(sv_cstr(h.report.thread, &h.a));
    take_file(t, origin);
    take_file(t, fork);
    CHECK_INT(h.report.messages, 0);
    check_written(t, SESSION, origin);
    check_written(t, FORK, fork);
    CHECK(rev_of(sv_cstr(h.report.thread, &h.a)) >= rev);
    if (tap_failures)
        printf("# seed %llu\n" SV_FMT "# its fork\n" SV_FMT, (unsigned long long)seed,
               SV_ARG(origin), SV_ARG(fork));
}

static void run_teller(size_t which)
{
    uint64_t from = only ? only : 1, to = only ? only : SEEDS;

    for (uint64_t seed = from; seed <= to && !tap_failures; seed++) {
        harness_end();
        harness_begin();
        tell(&tellers[which], seed);
        take_in_pieces(&tellers[which]);
        check_export(&tellers[which]);
        check_again(&tellers[which]);
        if (tap_failures)
            printf("# seed %llu\n" SV_FMT, (unsigned long long)seed, SV_ARG(transcript()));
    }
}

/* ---- a store that fails -------------------------------------------------------------------------
 */

/* The k-th call of the store fails while the rest of a session is read, of which a part is there
 * already. What was made to fail is reported; read again, everything is there once. */
static bool fails_at(const struct teller *t, int64_t k)
{
    struct sv text = transcript(), part = sv_first(text, text.n / 2);
    bool      fails;

    another_file();
    store_close(h.s);
    OK(store_open(SV("fault:0:mem:"), &(struct store_options){ .create = true }, &h.s, &h.e));
    h.l = log_of(h.s, harness_test_views);
    give_bytes(part);
    (void)!take_status(t->which); /* there may be no line yet that says whose it is */
    give_bytes(sv_skip(text, part.n));
    fault_arm(h.s, k);
    fails = take_status(t->which) != ST_OK;
    CHECK(fails == (fault_calls(h.s) >= k));
    CHECK(!fails || sv_is(sv_of(h.e.reason), "fault"));
    fault_arm(h.s, 0);
    take(t->which);
    check_shown(story.n);
    check_log(h.report.thread);
    check_export(t);
    if (tap_failures)
        printf("# call %lld\n", (long long)k);
    return fails;
}

static void a_store_that_fails_loses_nothing_and_doubles_nothing(void)
{
    for (size_t which = 0; which < COUNT(tellers); which++)
        for (uint64_t seed = only ? only : 1; seed <= (only ? only : FAULT_SEEDS) && !tap_failures;
             seed++) {
            int64_t k = 1;
            harness_end();
            harness_begin();
            tell(&tellers[which], seed);
            while (leaf_of(story.n) >= 0 && fails_at(&tellers[which], k) && !tap_failures)
                k++;
            if (tap_failures)
                printf("# seed %llu\n" SV_FMT, (unsigned long long)seed, SV_ARG(transcript()));
        }
}

static void a_session_of_claude_code_shows_what_was_said_and_is_written_again(void)
{
    run_teller(0);
}
static void a_fork_of_claude_code_and_its_origin_are_written_again_in_either_order(void)
{
    for (uint64_t seed = only ? only : 1; seed <= (only ? only : SEEDS) && !tap_failures; seed++)
        run_fork(&tellers[0], seed);
}
static void a_session_of_pi_shows_what_was_said_and_is_written_again(void)
{
    run_teller(1);
}
static void a_session_of_codex_shows_what_was_said(void)
{
    run_teller(2);
}
static void a_session_of_gemini_shows_what_was_said(void)
{
    run_teller(3);
}

int main(int argc, char **argv)
{
    static const struct tap_test tests[] = {
        T(a_session_of_claude_code_shows_what_was_said_and_is_written_again),
        T(a_fork_of_claude_code_and_its_origin_are_written_again_in_either_order),
        T(a_session_of_pi_shows_what_was_said_and_is_written_again),
        T(a_session_of_codex_shows_what_was_said),
        T(a_session_of_gemini_shows_what_was_said),
        T(a_store_that_fails_loses_nothing_and_doubles_nothing),
    };

    if (argc > 1 && strtoull(argv[1], NULL, 10)) {
        only = strtoull(argv[1], NULL, 10);
        argc--;
        argv++;
    }
    return harness_main(tests, (int)COUNT(tests), argc, argv);
}
