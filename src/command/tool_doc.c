/* read and write: documents of the thread. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"
#include "command/run.h"
#include "command/summary.h"
#include "loom/piece.h"
#include "loom/shown.h"
#include "thread/kind.h"

static enum status find_doc(struct session *s, const struct call *c, struct doc *out,
                            struct result *r, struct err *e)
{
    struct sv name = call_text(c, "doc");
    struct sb object = sb_in(s->a, 0), text = sb_in(s->a, 0);

    if (session_doc(s, name, out, e))
        return err_code(e);
    show_target(&object, &(struct link_target){ .doc = name }, true);
    r->object = sb_sv(&object);
    r->doc_path = out->path;
    r->doc_hash = out->hash;
    if (utf8_invalid(out->text) >= 0) {
        sb_add_lossy(&text, out->text);
        out->text = sb_sv(&text);
        out->not_text = true;
    }
    return ST_OK;
}

static void add_words(struct sb *b, struct sv text)
{
    sb_add_count(b, doc_words(text), "word");
}

enum { SUMMARY_SHOWN = 240 }; /* characters */

static enum status read_summary(struct session *s, const struct doc *d, struct result *r,
                                struct err *e)
{
    struct sv summary;

    if (session_summarise_doc(s, d, &summary, e))
        return err_code(e);
    sb_addf(&r->text, SV_FMT " (", SV_ARG(r->object));
    add_words(&r->text, d->text);
    sb_adds(&r->text, " · updated ");
    sb_add_ago(&r->text, d->modified, s->loom.now);
    sb_adds(&r->text, ")\n");
    sb_add_preview(&r->text, summary, SUMMARY_SHOWN);
    sb_addc(&r->text, '\n');
    return ST_OK;
}

static enum status read_lines(struct sv text, struct sv range, struct sv *out, struct err *e)
{
    struct sv_cut c = sv_cut(range, '-');
    int64_t       first = 0, last = 0;

    if (!sv_to_int(sv_trim(c.head), &first) || !sv_to_int(sv_trim(c.tail), &last))
        return err_set(e, ST_INVALID_SYNTAX, "lines: takes a range such as 10-20");
    return doc_lines(text, first, last, out, e);
}

/* How the whole document is read by its own lines, when none of them is too long to be shown. Of a
 * document with longer lines, or of a part, the result is read in parts. */
static void note_parts(struct session *s, const struct doc *d, struct result *r)
{
    struct sb form = sb_in(s->a, 0);
    int64_t   lines = 0;

    for (struct sv rest = d->text; rest.n; lines++)
        rest = sv_cut(rest, '\n').tail;
    if (piece_lines(d->text) != lines)
        return;
    sb_addf(&form, "read " SV_FMT, SV_ARG(r->object));
    session_parts(r, sb_sv(&form), d->text);
}

RUN(read)
{
    struct doc     d;
    struct section at;
    struct sv      text;

    if (find_doc(s, c, &d, r, e))
        return err_code(e);
    if (call_has(c, "summary"))
        return read_summary(s, &d, r, e);
    text = d.text;
    sb_add(&r->text, r->object);
    if (call_has(c, "lines")) {
        if (read_lines(d.text, call_text(c, "lines"), &text, e))
            return err_code(e);
        sb_adds(&r->text, " lines ");
        sb_add_oneline(&r->text, call_text(c, "lines"));
    }
    if (call_has(c, "section")) {
        if (doc_section(d.text, call_text(c, "section"), &at, e))
            return err_code(e);
        text = (struct sv){ d.text.s + at.start, at.end - at.start };
        sb_adds(&r->text, " §");
        sb_add_oneline(&r->text, call_text(c, "section"));
    }
    if (text.n == d.text.n)
        note_parts(s, &d, r);
    while (text.n && text.s[text.n - 1] == '\n')
        text.n--;
    sb_adds(&r->text, "\n\n");
    sb_add_shown(&r->text, text);
    sb_addc(&r->text, '\n');
    return ST_OK;
}

/* ---- write ------------------------------------------------------------------------ */

/* A change, and the words that describe it. */
struct doc_plan {
    struct doc_change is;
    struct sb         told; /* "inserted at line 12 of" */
};

/* The text as lines of its own: a line break before it when it does not start a line, and one
 * behind it. */
static struct sv as_lines(struct session *s, const struct doc *d, size_t at, struct sv text)
{
    struct sb b = sb_in(s->a, 0);

    if (at > 0 && d->text.s[at - 1] != '\n')
        sb_addc(&b, '\n');
    sb_add(&b, text);
    if (!text.n || text.s[text.n - 1] != '\n')
        sb_addc(&b, '\n');
    return sb_sv(&b);
}

static enum status place(struct session *s, const struct doc *d, struct sv where, struct sv text,
                         struct doc_plan *ch, struct err *e)
{
    struct section at;
    int64_t        line;

    if (sv_is(where, "start") || sv_is(where, "end")) {
        ch->is.at = sv_is(where, "start") ? 0 : d->text.n;
        sb_addf(&ch->told, "inserted at " SV_FMT " of", SV_ARG(where));
    } else if (sv_to_int(where, &line)) {
        int64_t count = doc_line_count(d->text);
        if (line < 1 || line > count + 1) {
            err_set(e, ST_LIMIT_EXCEEDED, "line %lld is outside the document", (long long)line);
            return err_hint(e, "it has lines 1-%lld", (long long)count);
        }
        ch->is.at = doc_line_offset(d->text, line);
        sb_addf(&ch->told, "inserted at line %lld of", (long long)line);
    } else {
        if (doc_section(d->text, where, &at, e))
            return err_code(e);
        ch->is.at = at.end;
        sb_adds(&ch->told, "inserted at §");
        sb_add_oneline(&ch->told, where);
        sb_adds(&ch->told, " of");
    }
    ch->is.insert = as_lines(s, d, ch->is.at, text);
    return ST_OK;
}

/* A text that starts with a heading takes the place of the section with its heading, which is what
 * `read section:` shows; any other takes the place of what follows the heading. So a section that
 * was read, changed and written back has one heading, and a section whose text was replaced keeps
 * its heading. */
static void replace_section(struct session *s, const struct doc *d, const struct section *at,
                            struct sv text, struct doc_plan *ch)
{
    struct sb b = sb_in(s->a, 0);
    size_t    from = doc_starts_with_heading(text) ? at->start : at->body;

    if (from == at->body)
        sb_addc(&b, '\n');
    sb_add(&b, as_lines(s, d, from, text));
    sb_adds(&b, at->end < d->text.n ? "\n" : ""); /* the next heading keeps its distance */
    ch->is = (struct doc_change){ from, at->end - from, sb_sv(&b) };
}

static enum status plan(struct session *s, const struct call *c, const struct doc *d,
                        struct doc_plan *ch, struct err *e)
{
    struct sv      text = call_text(c, "text"), section = call_text(c, "replace");
    struct section at;

    *ch = (struct doc_plan){ .is.at = d->text.n, .told = sb_in(s->a, 0) };
    if (call_has(c, "at"))
        return place(s, d, call_text(c, "at"), text, ch, e);
    if (call_has(c, "append")) {
        sb_adds(&ch->told, "appended to");
        ch->is.insert = as_lines(s, d, ch->is.at, text);
        return ST_OK;
    }
    if (call_has(c, "create")) {
        sb_adds(&ch->told, "created");
        ch->is.insert = as_lines(s, d, 0, text);
        return ST_OK;
    }
    if (doc_section(d->text, section, &at, e))
        return err_code(e);
    replace_section(s, d, &at, text, ch);
    sb_adds(&ch->told, "replaced §");
    sb_add_oneline(&ch->told, section);
    sb_adds(&ch->told, " in");
    return ST_OK;
}

static struct sv apply(struct session *s, const struct doc *d, const struct doc_change *ch)
{
    struct sb b = sb_in(s->a, 0);

    sb_add(&b, sv_first(d->text, ch->at));
    sb_add(&b, ch->insert);
    sb_add(&b, sv_skip(d->text, ch->at + ch->cut));
    return sb_sv(&b);
}

/* Two objects from the same facts: the audit entry, and how to take it back. */
static struct sv describe(struct session *s, struct sv name, const struct doc *d,
                          const struct doc_change *ch, struct sv after, bool undo)
{
    struct sb b = sb_in(s->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "after", after);
    jw_kstr(&w, "agent", s->agent.name);
    jw_kint(&w, "at", (int64_t)ch->at);
    jw_kstr(&w, "before", d->hash);
    if (undo)
        jw_kstr(&w, "do", SV("unwrite"));
    jw_kstr(&w, "doc", name);
    jw_kint(&w, "inserted", (int64_t)ch->insert.n);
    jw_kstr(&w, "path", d->path);
    if (undo)
        jw_kstr(&w, "removed", (struct sv){ d->text.s + ch->at, ch->cut });
    jw_close(&w, '}');
    return sb_sv(&b);
}

enum status doc_apply(struct session *s, struct sv name, const struct doc *d,
                      const struct doc_change *ch, struct result *r, struct sv *now, struct err *e)
{
    *now = apply(s, d, ch);
    struct hash h = hash_blake2b(now, 1);
    r->doc_path = d->path;
    r->doc_hash = hash_hex(&h, s->a);
    if (loom_append(&s->loom, s->agent.name, kind_name(KIND_DOCUMENT_WRITE),
                    describe(s, name, d, ch, r->doc_hash, false), NULL, e))
        return err_code(e);
    return s->env.docs.write(s->env.docs.ctx, d, *now, e);
}

static enum status check_unchanged(struct session *s, const struct doc *d, struct err *e)
{
    struct sv seen;

    if (d->not_text) {
        err_set(e, ST_PERMISSION_DENIED, "this document is not UTF-8 text");
        return err_hint(e, "writing to it would change bytes that nobody named");
    }
    if (d->read_only) {
        err_set(e, ST_PERMISSION_DENIED, "this document is read-only here");
        return err_hint(e, "write to a document of this thread");
    }
    if (memory_doc(&s->loom, s->agent.name, d->path, &seen, e))
        return err_code(e);
    if (!seen.s || sv_eq(seen, d->hash))
        return ST_OK;
    err_set(e, ST_CONFLICT, "the document changed since you last read it");
    return err_hint(e, "read it again, then write");
}

/* A document that is not there yet. One that is empty counts as not there: that is what undo leaves
 * of a document that was created. */
static enum status new_doc(struct session *s, const struct call *c, struct doc *out,
                           struct result *r, struct err *e)
{
    struct sv   name = call_text(c, "doc");
    enum status st = find_doc(s, c, out, r, e);

    if (!st && !out->text.n && !out->read_only)
        return ST_OK;
    if (!st) {
        err_set(e, ST_CONFLICT, "there is a document \"" SV_FMT "\" already",
                SV_ARG(utf8_first(name, 120)));
        return err_hint(e, "→ write doc:\"name\" append \"text\" adds to it");
    }
    if (st != ST_NOT_FOUND)
        return st;
    if (!s->env.docs.create)
        return err_set(e, ST_NOT_FOUND, "no documents can be made here");
    if (s->env.docs.create(s->env.docs.ctx, s->loom.thread, name, s->a, out, e))
        return err_code(e);
    struct sb object = sb_in(s->a, 0);
    show_target(&object, &(struct link_target){ .doc = name }, true);
    r->object = sb_sv(&object);
    return ST_OK;
}

static enum status doc_to_write(struct session *s, const struct call *c, struct doc *out,
                                struct result *r, struct err *e)
{
    return call_has(c, "create") ? new_doc(s, c, out, r, e) : find_doc(s, c, out, r, e);
}

RUN(write)
{
    struct doc      d;
    struct doc_plan ch;
    struct sv       now, name = call_text(c, "doc");

    if (doc_to_write(s, c, &d, r, e) || check_unchanged(s, &d, e) || plan(s, c, &d, &ch, e) ||
        doc_apply(s, name, &d, &ch.is, r, &now, e))
        return err_code(e);
    r->undo = describe(s, name, &d, &ch.is, r->doc_hash, true);
    sb_addf(&r->text, "✓ " SV_FMT " " SV_FMT " (now ", SV_ARG(sb_sv(&ch.told)), SV_ARG(r->object));
    add_words(&r->text, now);
    sb_adds(&r->text, ")\n");
    return ST_OK;
}
