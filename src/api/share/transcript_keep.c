/* transcript.keep: what was said, as a text file of its thread. */
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/path.h"
#include "share/operation.h"

struct keep_params {
    struct sv thread, chat, query, assistant, start, end, mode, stop_reason, op_id;
    int64_t   expect;
};

/* clang-format off */
static const struct param params[] = {
    { "thread",      PARAM_TEXT, offsetof(struct keep_params, thread),      .required = true, .value = "T", .help = "the thread it belongs to" },
    { "chat",        PARAM_TEXT, offsetof(struct keep_params, chat),        .required = true, .value = "ID", .help = "the chat it was" },
    { "query",       PARAM_TEXT, offsetof(struct keep_params, query),       .required = true, .value = "TEXT", .help = "what was asked" },
    { "assistant",   PARAM_TEXT, offsetof(struct keep_params, assistant),   .required = true, .value = "TEXT", .help = "what was answered; - reads it from stdin" },
    { "start",       PARAM_TEXT, offsetof(struct keep_params, start),       .value = "TIME", .help = "when it began (default: now)" },
    { "end",         PARAM_TEXT, offsetof(struct keep_params, end),         .value = "TIME", .help = "when it ended" },
    { "mode",        PARAM_TEXT, offsetof(struct keep_params, mode),        .value = "WORD", .help = "agent mode (default: agent)" },
    { "stop_reason", PARAM_TEXT, offsetof(struct keep_params, stop_reason), .value = "WORD", .help = "why it ended (default: end_turn)" },
    PARAM_ONCE(struct keep_params),
    PARAM_EXPECT(struct keep_params),
    { 0 },
};
static const struct field answer[] = {
    { "path",            FIELD_TEXT, .help = "the file, below the workspace" },
    { "transcript_path", FIELD_TEXT, .help = "the same as an absolute path" },
    { 0 },
};
/* clang-format on */

static enum status time_of(struct sv text, const char *name, int64_t *out, struct err *e)
{
    if (!text.s || clock_parse_iso(text, out))
        return ST_OK;
    return err_set(e, ST_INVALID_SYNTAX, "--%s is a time such as 2026-11-15T21:36:00Z", name);
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct keep_params *p = params_given;
    struct share              s;
    struct sv                 path;
    struct transcript_request q = { .thread = p->thread,
                                    .chat = p->chat,
                                    .query = p->query,
                                    .assistant = p->assistant,
                                    .mode = p->mode,
                                    .stop_reason = p->stop_reason };

    if (time_of(p->start, "start", &q.start, e) || time_of(p->end, "end", &q.end, e))
        return err_code(e);
    if (share_call_begin(r, &s, STORE_WRITE, e) || share_transcript(&s, &q, &path, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "path", path);
    jw_kstr(r->doc, "transcript_path", path_join(r->ws->root, path, r->a));
    jw_close(r->doc, '}');
    return share_call_commit(r, &s, e);
}

static void print(const struct json *doc, struct term *t)
{
    term_f(t, SV_FMT "\n", SV_ARG(json_text(doc, "path")));
}

const struct operation op_transcript_keep = {
    .name = "transcript.keep",
    .summary = "Keep a conversation as a text file of its thread",
    .details =
        "  heddle transcript build --chat c1 --query 'Is it fast?' --assistant 'Measured: yes.'",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = params,
    .params_size = sizeof(struct keep_params),
    .answer = answer,
    .run = run,
    .print = print,
};
