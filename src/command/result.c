/* The result of a command: how it is shortened, remembered and shown. */
#include "command/result.h"

#include "base/json.h"
#include "base/utf8.h"
#include "command/step.h"
#include "command/tools.h"
#include "loom/piece.h"
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
    struct small_answer answer;
    struct err          failed;

    *out = (struct sv){ 0 };
    if (!small_any(s, s->agent.model))
        return ST_OK;
    if (session_pause(s, e)) /* others write meanwhile */
        return err_code(e);
    if (small_ask(s, s->agent.model, SV("Summarize this tool result in at most 5 sentences."), text,
                  200, &answer, &failed) == ST_OK)
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

/* Over the threshold: its first line, a summary or its two ends; result_finish() says how long it
 * was. A text has at most as many tokens as bytes, so short ones are not even counted. */
static enum status shorten(struct session *s, struct result *r, struct err *e)
{
    struct sv     text = sb_sv(&r->text), summary;
    struct sv_cut head = sv_cut(text, '\n');
    int64_t       limit = s->env.result_tokens;

    if ((int64_t)text.n <= limit)
        return ST_OK;
    r->full_tokens = session_tokens(s, text, &r->full_exact);
    if (r->full_tokens <= limit)
        return ST_OK;
    r->full = text;
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
    return ST_OK;
}

enum { PART_HEAD = 60 }; /* tokens for what stands around a part */

/* How many lines of a text each part may have so that none is shortened again. */
static int64_t lines_a_part(struct session *s, struct sv text)
{
    int64_t limit = s->env.result_tokens;
    int64_t want = limit > 2 * PART_HEAD ? limit - PART_HEAD : limit / 2, lines;

    piece_start(text, (size_t)want * 5 / 2, &lines);
    for (struct sv rest = text; rest.n && lines > 1;) {
        struct sv  part = rest;
        int64_t    last = lines;
        struct err ignored;
        bool       exact;
        if (piece_of(rest, 1, &last, &part, &ignored))
            break;
        int64_t tokens = session_tokens(s, part, &exact);
        if (tokens <= want) {
            rest = sv_skip(rest, part.n);
            continue;
        }
        lines = lines * want / tokens < lines ? lines * want / tokens : lines - 1;
        lines = lines > 1 ? lines : 1;
        rest = text;
    }
    return lines;
}

/* A tool that has parts of its own says how they are read; of any other one the whole is kept in
 * the log, and is read there. */
void result_finish(struct session *s, struct result *r, int64_t entry)
{
    struct sb form = sb_in(s->a, 0);

    if (!r->full.s)
        return;
    sb_addf(&form, "view result:%lld", (long long)entry);
    if (!r->part_form.n)
        session_parts(r, sb_sv(&form), r->full);
    sb_adds(&r->text, "  (full result: ");
    sb_adds(&r->text, r->full_exact ? "" : "~");
    sb_add_commas(&r->text, r->full_tokens);
    sb_addf(&r->text, " tokens — use → " SV_FMT " lines:1-%lld and so on to %lld)\n",
            SV_ARG(r->part_form), (long long)lines_a_part(s, r->part_text),
            (long long)piece_lines(r->part_text));
}

/* ---- what it showed --------------------------------------------------------------- */

/* Tools whose results are worth seeing again; the others only say that something was done, or show
 * what is in memory anyway. Web pages are not kept: ids in them are not those of this tree, and the
 * author of a page must not decide what stays in a context. */
static bool is_worth_keeping(const struct tool *t)
{
    static const char *const names[] = { "view", "list",    "tree", "path",    "diff",
                                         "find", "changes", "read", "continue" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (sv_is(sv_of(t->name), names[i]))
            return true;
    return false;
}

/* Can it be pinned? What others wrote on the web too, when the agent asks for it. */
static bool can_be_pinned(const struct tool *t)
{
    return is_worth_keeping(t) || sv_is(sv_of(t->name), "search");
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
    /* r->object was found by the tool, so it need not be looked up again. */
    return shown_items(&s->loom, r->object, ids, n, doc, sb_sv(&r->text), &r->items, &r->n_items,
                       e);
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
    r->recorded = r->kept || can_be_pinned(c->tool) || r->full.s;
    return ST_OK;
}

static void record_shows(struct jw *w, const struct result *r)
{
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

void result_record_full(struct jw *w, const struct result *r)
{
    if (r->ok && r->full.s)
        jw_klossy(w, "full", r->full);
}

/* In the order of their names: the entry is stored as it is written here (json_is_canonical()). */
void result_record(struct jw *w, const struct session *s, const struct result *r)
{
    struct sb text = r->text;

    if (r->undoes >= 0 && !r->ok)
        jw_kint(w, "passes", r->undoes);
    if (r->ok && r->recorded) {
        jw_kbool(w, "referenced", r->referenced);
        jw_klossy(w, "result", sb_sv(&text));
    }
    if (r->results)
        jw_kint(w, "results", r->results);
    step_record(w, s, r);
    if (r->ok)
        record_shows(w, r);
    if (r->ok && r->undo.n) {
        jw_key(w, "undo");
        jw_raw(w, r->undo);
    }
    if (r->undoes >= 0 && r->ok)
        jw_kint(w, "undoes", r->undoes);
    jw_kstr(w, "verb", r->verb);
}

/* ---- how it is shown --------------------------------------------------------------- */

void result_show_error(struct sb *b, struct sv code, struct sv message, struct sv hint)
{
    sb_addf(b, "✗ " SV_FMT ": ", SV_ARG(code));
    sb_add_oneline(b, message);
    sb_addc(b, '\n');
    if (hint.n) {
        sb_adds(b, "  hint: ");
        sb_add_oneline(b, hint);
        sb_addc(b, '\n');
    }
}

static enum status code_of(struct sv word)
{
    for (int i = 1; i <= STATUS_LAST; i++)
        if (sv_is(word, status_word((enum status)i)))
            return (enum status)i;
    return ST_CONFLICT;
}

void result_read_error(struct sv code, struct sv shown, struct err *out)
{
    struct sv_cut lines = sv_cut(shown, '\n');
    struct sv     message = sv_cut(lines.head, ':').tail, hint = sv_trim(lines.tail);

    if (!sv_starts(lines.head, SV("✗ ")))
        message = lines.head;
    err_set(out, code_of(code), SV_FMT, SV_ARG(sv_trim(message)));
    if (sv_starts(hint, SV("hint: ")))
        err_hint(out, SV_FMT, SV_ARG(sv_skip(hint, sizeof "hint: " - 1)));
}

void result_show(struct sb *b, const struct result *r)
{
    struct sb text = r->text;

    if (r->ok || r->restored)
        sb_add(b, sb_sv(&text));
    else
        result_show_error(b, sv_of(status_word(r->error.code)), sv_of(r->error.text),
                          sv_of(r->error.hint));
}

/* A message may be cut inside a character, and quote what is not UTF-8. */
void result_json(struct jw *w, const struct result *r)
{
    struct sb text = r->text;

    jw_open(w, '{');
    jw_kstr(w, "command", r->line);
    jw_klossy(w, "tool", r->verb);
    jw_kbool(w, "ok", r->ok);
    if (r->ok) {
        jw_klossy(w, "text", sb_sv(&text));
    } else {
        jw_key(w, "error");
        jw_open(w, '{');
        jw_kstr(w, "code", sv_of(status_word(r->error.code)));
        jw_klossy(w, "message", sv_of(r->error.text));
        if (r->error.hint[0])
            jw_klossy(w, "hint", sv_of(r->error.hint));
        jw_close(w, '}');
    }
    jw_close(w, '}');
}
