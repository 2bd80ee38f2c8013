/* payload.make: everything a model should know for a turn as one document, streamed as it is
 * made. */
#include "api/payload/payload_call.h"
#include "api/payload/payload_ops.h"
#include "api/term.h"
#include "loom/agent.h"
#include "payload/manifest.h"

/* clang-format off */
static const struct param params[] = {
    PAYLOAD_PARAMS,
    { "manifest", PARAM_FLAG, PAYLOAD_PARAM(manifest), .help = "describe every resource: path, scope, size, sha256 and tokens" },
    { "count",    PARAM_FLAG, PAYLOAD_PARAM(count),    .help = "count the tokens of the whole" },
    { 0 },
};
static const char *const scopes[] = { "turn", "session", "global", NULL };
static const char *const states[] = {
#define X(id, word) word,
    RESOURCE_STATES(X)
#undef X
    NULL,
};
static const struct field resource_fields[] = {
    { "path",         FIELD_TEXT,   .help = "the file, below the workspace, or the URL" },
    { "scope",        FIELD_ENUM,   .values = scopes, .help = "the highest list that names it" },
    { "scopes",       FIELD_LIST,   .item = FIELD_TEXT, .help = "all lists that name it" },
    { "state",        FIELD_ENUM,   .values = states, .help = "what became of it; everything but ok is shown as a placeholder" },
    { "why",          FIELD_TEXT,   .optional = true, .help = "more about the state" },
    { "remark",       FIELD_TEXT,   .optional = true, .help = "what to know about one that is ok" },
    { "size",         FIELD_NUMBER, .help = "in bytes" },
    { "sha256",       FIELD_TEXT,   .nullable = true, .help = "of its bytes" },
    { "tokens",       FIELD_NUMBER, .optional = true, .help = "of its content" },
    { "block_tokens", FIELD_NUMBER, .optional = true, .help = "of its content with heading and fence" },
    { "cut",          FIELD_FLAG,   .help = "left out to fit the budget" },
    { 0 },
};
static const struct field whole_fields[] = {
    { "bytes",        FIELD_NUMBER, .help = "its length" },
    { "sha256",       FIELD_TEXT,   .optional = true, .help = "of its bytes; in a manifest" },
    { "tokens",       FIELD_NUMBER, .help = "0 when nothing was counted" },
    { "frame_tokens", FIELD_NUMBER, .optional = true, .help = "of what is around the resources; in a manifest" },
    { "budget",       FIELD_NUMBER, .optional = true, .help = "what was asked for; in a manifest" },
    { 0 },
};
static const struct field answer[] = {
    { "format",       FIELD_TEXT,   .optional = true, .help = "heddle-manifest-1; this and what else is optional stands in a manifest" },
    { "root",         FIELD_TEXT,   .optional = true, .help = "the workspace" },
    { "counted_by",   FIELD_TEXT,   .nullable = true, .help = "how tokens were counted; null: they were not" },
    { "estimate",     FIELD_FLAG,   .help = "whether the counts are not exact" },
    { "payload",      FIELD_OBJECT, .of = whole_fields, .help = "the payload as a whole" },
    { "shown",        FIELD_NUMBER, .optional = true, .help = "how many resources it shows; not in a manifest, which lists them" },
    { "tree_sha256",  FIELD_TEXT,   .optional = true, .nullable = true, .help = "of the project's tree" },
    { "memos_sha256", FIELD_TEXT,   .optional = true, .nullable = true, .help = "of the memos" },
    { "resources",    FIELD_LIST,   .of = resource_fields, .optional = true, .help = "what it shows, in order" },
    { "warnings",     FIELD_LIST,   .item = FIELD_TEXT, .optional = true, .help = "what to know about it" },
    { 0 },
};
/* clang-format on */

static void write_sizes(struct jw *w, const struct payload *p)
{
    int64_t n = 0;

    for (size_t i = 0; i < p->lists.resources.n; i++)
        n += p->lists.resources.v[i].scopes && !p->lists.resources.v[i].cut;
    jw_open(w, '{');
    jw_kstr(w, "counted_by", p->counted_by);
    jw_kbool(w, "estimate", p->is_estimate);
    jw_key(w, "payload");
    jw_open(w, '{');
    jw_kint(w, "bytes", (int64_t)p->bytes);
    jw_kint(w, "tokens", (int64_t)p->tokens);
    jw_close(w, '}');
    jw_kint(w, "shown", n);
    jw_close(w, '}');
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct payload_params *p = params_given;
    struct payload_call          c;

    if (payload_call_begin(r, p, &c, e))
        return err_code(e);
    enum status s = payload_call_write(r, &c, false, e);
    if (!s && p->manifest) {
        manifest_write(r->doc, &c.payload); /* its warnings are in it */
    } else if (!s) {
        payload_call_warn(r, &c, false);
        write_sizes(r->doc, &c.payload);
    }
    if (!s)
        payload_call_warn_empty(r, &c);
    payload_call_end(&c);
    return s;
}

static int64_t number_of(const struct json *doc, const char *key)
{
    int64_t n = 0;

    return json_int(json_find(doc, key), &n) ? n : 0;
}

/* "95,860 bytes, 12 resources, 23,456 tokens" */
static void print(const struct json *doc, struct term *t)
{
    const struct json *whole = json_find(doc, "payload"), *list = json_find(doc, "resources");
    int64_t            n = list ? (int64_t)list->n : number_of(doc, "shown");

    sb_add_commas(t->out, number_of(whole, "bytes"));
    term_f(t, " bytes, ");
    sb_add_commas(t->out, n);
    term_f(t, n == 1 ? " resource" : " resources");
    if (json_text(doc, "counted_by").n) {
        term_f(t, json_truth(json_find(doc, "estimate")) ? ", about " : ", ");
        sb_add_commas(t->out, number_of(whole, "tokens"));
        term_f(t, " tokens");
    }
    term_f(t, "\n");
}

const struct operation op_payload_make = {
    .name = "payload.make",
    .summary = "Print what a model must know: tree, memos and contents",
    .details =
        "Resources come from the lists turn.context and session.context of the turn, and from\n"
        ".teddy/global.context: one file, directory, glob or URL per line. The tree follows\n"
        ".gitignore, and .teddyignore over it. Each PATH is an entry of the turn's list as\n"
        "well, from the current directory.\n"
        "\n"
        "--json prints the manifest: path, scope, size, sha256 and tokens of every resource.\n"
        "With --json, --explain or --token-tree the payload itself goes only to a file.\n"
        "\n"
        "--check and --since compare with what the options they come with would give now: give\n"
        "those that the payload was made with. The file that is written is never part of it.\n"
        "\n"
        "--parse with --output writes nothing into directories whose names start with a dot, nor\n"
        "files that a shell or an editor would run, and nothing over a file that is there, except\n"
        "with --force.\n"
        "\n"
        "  heddle payload README.md src/ --budget 50000 > input.md\n"
        "  git diff --name-only main | heddle payload --stdin",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .slow = true,
    .permission = PERM_doc_read,
    .streams = STREAM_OUT,
    .params = params,
    .params_size = sizeof(struct payload_params),
    .answer = answer,
    .run = run,
    .print = print,
};
