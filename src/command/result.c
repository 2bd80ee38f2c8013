/* What comes of a command: how it is shortened, remembered and shown. */
#include "command/result.h"

#include "base/json.h"
#include "base/utf8.h"
#include "command/tools.h"
#include "loom/shown.h"

/* ---- long results ------------------------------------------------------------------ */

/* About `tokens` tokens from the start (or end) of a text, at most a third of it, at a line border
 * unless that would cost more than half of them. */
static struct sv part(struct sv text, int64_t tokens, bool end)
{
    size_t want = (size_t)tokens * 4;

    if (want > text.n / 3)
        want = text.n / 3;
    struct sv v = end ? sv_skip(text, text.n - want) : utf8_first(text, want);
    while (end && v.n && ((unsigned char)v.s[0] & 0xc0) == 0x80)
        v = sv_skip(v, 1);
    struct sv_cut c = end ? sv_cut(v, '\n') : sv_cut_last(v, '\n');
    struct sv     lines = end ? c.tail : c.head;
    return c.found && lines.n >= v.n / 2 ? lines : v;
}

static enum status summarised(struct session *s, struct sv text, struct sv *out, struct err *e)
{
    struct model_message  m = { MODEL_USER, text };
    struct model_request  q = { .model = s->env.summary_model,
                                .system = SV("Summarize this tool result in at most 5 sentences."),
                                .messages = &m,
                                .n = 1,
                                .max_tokens = 200 };
    struct model_response answer;
    struct err            failed;

    *out = (struct sv){ 0 };
    if (!s->env.summary_model.n || !s->env.ask)
        return ST_OK;
    if (session_pause(s, e)) /* others write meanwhile */
        return err_code(e);
    if (s->env.ask(s->env.ask_ctx, &q, s->a, &answer, &failed) == ST_OK)
        *out = answer.text;
    return session_resume(s, e); /* without a summary, the ends are shown */
}

enum { HEAD_MAX = 300 }; /* bytes; a longer first line is text, not a head */

static void add_ends(struct sb *b, struct sv text, int64_t tokens)
{
    struct sv end = part(text, tokens, true);
    bool      whole_line = end.s > text.s && end.s[-1] == '\n';

    sb_add(b, part(text, tokens, false));
    sb_adds(b, "\n[...]");
    sb_addc(b, whole_line ? '\n' : ' '); /* what stood inside a line must not start one */
    sb_add(b, end);
}

/* Over the threshold: its first line, a summary or its two ends, and how long it was. A
 * text has at most as many tokens as bytes, so short ones are not even counted. */
static enum status shorten(struct session *s, struct result *r, struct err *e)
{
    struct sv     text = sb_sv(&r->text), summary;
    struct sv_cut head = sv_cut(text, '\n');
    bool          exact;
    int64_t       limit = s->env.result_tokens;

    if ((int64_t)text.n <= limit)
        return ST_OK;
    int64_t tokens = session_tokens(s, text, &exact);
    if (tokens <= limit)
        return ST_OK;
    if (summarised(s, text, &summary, e))
        return err_code(e);
    r->text = sb_in(s->a, 0);
    if (head.head.n <= HEAD_MAX)
        sb_addf(&r->text, SV_FMT "\n", SV_ARG(head.head));
    if (summary.n) {
        sb_add_block(&r->text, summary);
        sb_addc(&r->text, '\n');
    } else {
        add_ends(&r->text, head.head.n <= HEAD_MAX ? head.tail : text, limit / 3);
    }
    sb_adds(&r->text, "  (full result: ");
    sb_adds(&r->text, exact ? "" : "~");
    sb_add_commas(&r->text, tokens);
    sb_adds(&r->text, r->rest.n ? " tokens — " : " tokens)\n");
    if (r->rest.n)
        sb_addf(&r->text, SV_FMT ")\n", SV_ARG(r->rest));
    return ST_OK;
}

/* ---- what it showed --------------------------------------------------------------- */

/* Tools whose results are worth seeing again; the others only say that something was done, or
 * show what is in memory anyway. Pages of the web are none: ids in them are not ours, and strangers
 * do not decide what stays in a context. */
static bool is_worth_keeping(const struct tool *t)
{
    static const char *const names[] = { "view", "list",    "tree", "path",    "diff",
                                         "find", "changes", "read", "continue" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (sv_is(sv_of(t->name), names[i]))
            return true;
    return false;
}

static enum status find_items(struct session *s, const struct call *c, struct result *r,
                              struct err *e)
{
    struct sv ids[CALL_ARGS_MAX], doc = { 0 };
    size_t    n = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (c->args[i].param->type == SLOT_ID)
            ids[n++] = c->args[i].text;
        if (c->args[i].param->type == SLOT_DOC)
            doc = c->args[i].text;
    }
    return shown_items(&s->loom, ids, n, doc, sb_sv(&r->text), &r->items, &r->n_items, e);
}

enum status result_settle(struct session *s, const struct call *c, struct result *r, struct err *e)
{
    bool pinned;

    if (is_worth_keeping(c->tool) && find_items(s, c, r, e))
        return err_code(e);
    if (shorten(s, r, e) || shown_pinned(&s->loom, s->agent.name, r->items, r->n_items, &pinned, e))
        return err_code(e);
    r->referenced = shown_named(r->items, r->n_items, s->prose, s->a) ||
                    shown_named(r->items, r->n_items, s->later, s->a);
    r->kept = r->referenced || pinned;
    return ST_OK;
}

void result_record(struct jw *w, const struct result *r, struct arena *a)
{
    struct sb shown = r->text, text = sb_in(a, 0);

    if (r->kept) {
        sb_add_lossy(&text, sb_sv(&shown));
        jw_kbool(w, "referenced", r->referenced);
        jw_kstr(w, "result", sb_sv(&text));
    }
    if (!r->n_items)
        return;
    jw_key(w, "shows");
    jw_open(w, '[');
    for (size_t i = 0; i < r->n_items; i++) {
        jw_open(w, '{');
        jw_kstr(w, r->items[i].node.n ? "node" : "doc",
                r->items[i].node.n ? r->items[i].node : r->items[i].doc);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

/* ---- how it is shown --------------------------------------------------------------- */

void result_show(struct sb *b, const struct result *r)
{
    struct sb text = r->text;

    if (r->ok) {
        sb_add(b, sb_sv(&text));
        return;
    }
    sb_addf(b, "✗ %s: ", status_word(r->error.code));
    sb_add_oneline(b, sv_of(r->error.text));
    sb_addc(b, '\n');
    if (r->error.hint[0]) {
        sb_adds(b, "  hint: ");
        sb_add_oneline(b, sv_of(r->error.hint));
        sb_addc(b, '\n');
    }
}

void result_json(struct jw *w, const struct result *r)
{
    struct sb text = r->text;

    jw_open(w, '{');
    jw_kstr(w, "command", r->line);
    jw_kstr(w, "tool", r->verb);
    jw_kbool(w, "ok", r->ok);
    if (r->ok) {
        jw_kstr(w, "text", sb_sv(&text));
    } else {
        jw_key(w, "error");
        jw_open(w, '{');
        jw_kstr(w, "code", sv_of(status_word(r->error.code)));
        jw_kstr(w, "message", sv_of(r->error.text));
        if (r->error.hint[0])
            jw_kstr(w, "hint", sv_of(r->error.hint));
        jw_close(w, '}');
    }
    jw_close(w, '}');
}
