/* Reading a payload back: its sections, links and contents, as Markdown or JSON. */
#include "payload/parse.h"

#include "base/json.h"
#include "base/map.h"
#include "base/utf8.h"
#include "payload/payload.h"
#include "payload/show.h"

#include <string.h>

struct payload_parser {
    struct sv      rest;
    size_t         line;  /* of the line read last */
    bool           other; /* the layout of other builds */
    bool           ended; /* nothing more has to follow */
    struct arena  *a;
    struct parsed *out;
    struct err    *e;
};

static bool next_line(struct payload_parser *p, struct sv *line)
{
    if (!p->rest.n)
        return false;
    struct sv_cut c = sv_cut(p->rest, '\n');
    *line = c.head;
    p->rest = c.tail;
    p->line++;
    return true;
}

/* The next line without taking it. */
static bool peek(const struct payload_parser *p, struct sv *line)
{
    *line = sv_cut(p->rest, '\n').head;
    return p->rest.n > 0;
}

static enum status bad(struct payload_parser *p, const char *what)
{
    return err_set(p->e, ST_INVALID_SYNTAX, "line %zu: %s", p->line, what);
}

static size_t ticks_at_start(struct sv line)
{
    size_t n = 0;

    while (n < line.n && line.s[n] == '`')
        n++;
    return n;
}

static bool is_fence(struct sv line)
{
    return ticks_at_start(line) >= 3 && !sv_has(sv_skip(line, ticks_at_start(line)), '`');
}

/* Nothing but at least n backticks and perhaps spaces. */
static bool closes(struct sv line, size_t n)
{
    size_t ticks = ticks_at_start(line);

    return ticks >= n && sv_trim(sv_skip(line, ticks)).n == 0;
}

/* The block whose opening fence is the next line. */
static enum status read_fenced(struct payload_parser *p, struct sv *tag, struct sv *body)
{
    struct sv line;

    if (!next_line(p, &line) || !is_fence(line))
        return bad(p, "a fence of backticks is missing");
    size_t n = ticks_at_start(line), opened = p->line;
    *tag = sv_trim(sv_skip(line, n));
    const char *from = p->rest.s;
    while (next_line(p, &line))
        if (closes(line, n)) {
            *body = (struct sv){ from, (size_t)(line.s - from) };
            return ST_OK;
        }
    p->line = opened;
    return bad(p, "this fence is never closed");
}

static void skip_blank_lines(struct payload_parser *p)
{
    struct sv line;

    while (peek(p, &line) && !sv_trim(line).n)
        next_line(p, &line);
}

/* ---- links ----------------------------------------------------------------------------- */

/* [T](/T) or [T](T): the two are equal, so their length follows from the whole. */
static bool read_label(struct sv v, struct arena *a, struct sv *name)
{
    if (v.n < 6 || v.s[0] != '[' || v.s[v.n - 1] != ')')
        return false;
    size_t    slash = (v.n - 4) % 2, n = (v.n - 4 - slash) / 2;
    struct sv text = { v.s + 1, n }, target = { v.s + 1 + n + 2 + slash, n };
    if (v.s[1 + n] != ']' || v.s[2 + n] != '(' || (slash && v.s[3 + n] != '/') ||
        !sv_eq(text, target))
        return false;
    return show_unshow(text, a, name);
}

/* A backslash in front of a bracket or a mark, in the text of a link. */
static bool is_escape(struct sv text, size_t i)
{
    return text.s[i] == '\\' && i + 1 < text.n && memchr("[]_*`", text.s[i + 1], 5);
}

/* Is the target at the start of v that of a link with this text? *used is its length, with the
 * bracket behind it. `escaped`: brackets in the text have a backslash. It returns at the first byte
 * that differs, and a match never extends past the start of another target, so that trying every
 * position of a line takes time proportional to its length. */
static bool is_target_of(struct sv text, bool escaped, struct sv v, size_t *used)
{
    bool   angle = v.n && v.s[0] == '<';
    size_t at = angle;

    if (at < v.n && v.s[at] == '/') /* what is not a path has none */
        at++;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.s[i];
        if (escaped && is_escape(text, i))
            c = text.s[++i];
        if (!angle && memchr(" ()[]<>\\", c, 8))
            return false;
        if (angle && memchr("<>\\", c, 3) && (at >= v.n || v.s[at++] != '\\'))
            return false;
        if (at >= v.n || v.s[at++] != c)
            return false;
    }
    if (angle && (at >= v.n || v.s[at++] != '>'))
        return false;
    *used = at + 1;
    return at < v.n && v.s[at] == ')';
}

static struct sv without_escapes(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < text.n; i++) {
        if (is_escape(text, i))
            i++;
        sb_addc(&b, text.s[i]);
    }
    return sb_sv(&b);
}

/* Is v, up to `n`, what sb_add_link() writes for the name that `text` shows? */
static bool is_link(struct sv v, size_t n, struct sv text, struct arena *a, struct sv *name)
{
    struct sb again = sb_in(a, 0);

    if (!show_unshow(text, a, name))
        return false;
    sb_add_link(&again, *name);
    if (sv_eq(sb_sv(&again), sv_first(v, n)))
        return true;
    again.n = 0;
    sb_add_plain_link(&again, *name);
    return sv_eq(sb_sv(&again), sv_first(v, n));
}

static bool read_link(struct sv v, struct arena *a, struct sv *name, struct sv *note)
{
    for (size_t i = 1; i + 2 < v.n; i++) {
        if (v.s[i] != ']' || v.s[i + 1] != '(')
            continue;
        for (int escaped = 0; escaped < 2; escaped++) {
            struct sv text = { v.s + 1, i - 1 };
            size_t    used, n;
            if (!is_target_of(text, escaped, sv_skip(v, i + 2), &used))
                continue;
            n = i + 2 + used;
            if (!is_link(v, n, escaped ? without_escapes(text, a) : text, a, name))
                continue;
            *note = sv_trim(sv_skip(v, n));
            return true;
        }
    }
    return false;
}

/* ---- sections --------------------------------------------------------------------------- */

static enum status read_system(struct payload_parser *p)
{
    static const char *const keys[] = { "- **CWD:** ", "- **OS:** ", "- **Shell:** " };
    struct sv               *into[] = { &p->out->cwd, &p->out->os, &p->out->shell };
    struct sv                line;

    while (peek(p, &line) && !sv_starts(line, SV("## "))) {
        next_line(p, &line);
        for (size_t i = 0; i < COUNT(keys); i++)
            if (sv_starts(line, sv_of(keys[i])))
                *into[i] = sv_skip(line, sv_of(keys[i]).n);
    }
    return ST_OK;
}

static enum status read_tree(struct payload_parser *p)
{
    struct sv tag;

    return read_fenced(p, &tag, &p->out->tree);
}

static enum status read_memos(struct payload_parser *p)
{
    struct sv tag;

    return read_fenced(p, &tag, &p->out->memos);
}

static enum status read_summary(struct payload_parser *p)
{
    enum resource_scope scope = SCOPE_TURN;
    struct sv           line;

    while (peek(p, &line) && !sv_starts(line, SV("## "))) {
        struct parsed_entry entry = { 0 };
        next_line(p, &line);
        if (sv_is(line, "### Turn"))
            scope = SCOPE_TURN;
        else if (sv_is(line, "### Session"))
            scope = SCOPE_SESSION;
        else if (sv_is(line, "### Global"))
            scope = SCOPE_GLOBAL;
        else if (sv_starts(line, SV("- "))) {
            if (!read_link(sv_skip(line, 2), p->a, &entry.name, &entry.note))
                return bad(p, "this entry of the summary is no link");
            entry.scope = scope;
            *vec_push(&p->out->summary, p->a) = entry;
        }
    }
    return ST_OK;
}

/* `[path](/path)` behind "**Resource:** ", or a heading with the bare link. */
static bool read_resource_label(struct sv line, struct arena *a, struct sv *name)
{
    struct sv bold = SV("**Resource:** "), heading = SV("### ");

    if (sv_starts(line, heading))
        return read_label(sv_skip(line, heading.n), a, name);
    if (!sv_starts(line, bold))
        return false;
    struct sv span = sv_skip(line, bold.n);
    size_t    n = ticks_at_start(span);
    if (!n || span.n < 2 * n)
        return false;
    return read_label((struct sv){ span.s + n, span.n - 2 * n }, a, name);
}

/* The words behind the language. The other layout has one line end more than the file, always. */
static void take_form(const struct payload_parser *p, struct parsed_resource *r)
{
    struct sv_cut c = sv_cut(r->tag, ' ');

    r->tag = c.head;
    r->form = resource_form_in(c.found ? c.tail : SV(""));
    if (r->body.n && (p->other || r->form & FORM_OPEN))
        r->body.n--;
}

static enum status read_resources(struct payload_parser *p)
{
    struct sv line;

    for (;;) {
        struct parsed_resource r = { 0 };
        skip_blank_lines(p);
        if (!next_line(p, &line)) {
            p->ended = !p->out->resources.n;
            return ST_OK;
        }
        if (!sv_is(line, "---"))
            return bad(p, "a resource starts with ---");
        skip_blank_lines(p);
        if (!next_line(p, &line)) { /* the rule behind the last one */
            p->ended = true;
            return ST_OK;
        }
        if (!read_resource_label(line, p->a, &r.name))
            return bad(p, "this is no label of a resource");
        r.line = p->line;
        skip_blank_lines(p);
        if (read_fenced(p, &r.tag, &r.body))
            return err_code(p->e);
        r.is_placeholder = !r.tag.n;
        take_form(p, &r);
        *vec_push(&p->out->resources, p->a) = r;
    }
}

/* A section of another layout: to the next heading outside a fence. */
static enum status skip_section(struct payload_parser *p)
{
    struct sv line, tag, body;

    while (peek(p, &line) && !sv_starts(line, SV("## "))) {
        if (!is_fence(line))
            next_line(p, &line);
        else if (read_fenced(p, &tag, &body))
            return err_code(p->e);
    }
    return ST_OK;
}

static const struct {
    const char *title;
    enum status (*read)(struct payload_parser *p);
} sections[] = {
    { "System Information", read_system },
    { "Project Structure", read_tree },
    { "Memos", read_memos },
    { "Context Summary", read_summary },
    { "Resource Contents", read_resources },
};

static enum status read_section(struct payload_parser *p, struct sv title)
{
    if (title.n > 3 && title.s[0] >= '1' && title.s[0] <= '9' && title.s[1] == '.')
        title = sv_skip(title, 3);
    for (size_t i = 0; i < COUNT(sections); i++)
        if (sv_is(title, sections[i].title))
            return sections[i].read(p);
    return skip_section(p);
}

bool parsed_is_cut(const struct parsed_entry *entry)
{
    return sv_starts(entry->note, SV("(" PAYLOAD_CUT_NOTE));
}

/* ---- the same as JSON ------------------------------------------------------------------- */

static enum status bad_json(struct err *e)
{
    return err_set(e, ST_INVALID_SYNTAX, "a member of the payload is missing or of another type");
}

static enum status json_summary(const struct json *summary, struct arena *a, struct parsed *out,
                                struct err *e)
{
    for (int s = 0; s < SCOPE_COUNT; s++) {
        const struct json *names = json_find(summary, resource_scope_name((enum resource_scope)s));
        for (size_t i = 0; json_is(names, JSON_ARRAY) && i < names->n; i++) {
            struct parsed_entry *entry = vec_push(&out->summary, a);
            entry->scope = (enum resource_scope)s;
            entry->note = SV("");
            if (!show_unshow(json_sv(&names->items[i]), a, &entry->name))
                return bad_json(e);
        }
    }
    return ST_OK;
}

/* What was cut gets the note that Markdown has for it. */
static enum status json_cuts(const struct json *cuts, struct arena *a, struct parsed *out,
                             struct err *e)
{
    for (size_t i = 0; json_is(cuts, JSON_ARRAY) && i < cuts->n; i++) {
        const struct json *cut = &cuts->items[i];
        int64_t            files = 0, bytes = 0, tokens = 0;
        struct sb          b = sb_in(a, 0);
        struct sv          name;
        if (!show_unshow(json_text(cut, "name"), a, &name) ||
            !json_int(json_find(cut, "bytes"), &bytes) ||
            !json_int(json_find(cut, "tokens"), &tokens))
            return bad_json(e);
        sb_adds(&b, "(" PAYLOAD_CUT_NOTE);
        if (json_int(json_find(cut, "files"), &files))
            sb_addf(&b, "%lld files, ", (long long)files);
        sb_addf(&b, "%lld bytes, %lld tokens)", (long long)bytes, (long long)tokens);
        for (size_t k = 0; k < out->summary.n;
             k++) /* only a few: cut files are folded into directories */
            if (sv_eq(out->summary.v[k].name, name)) {
                out->summary.v[k].note = sb_sv(&b);
                break;
            }
    }
    return ST_OK;
}

static enum status json_resources(const struct json *list, struct arena *a, struct parsed *out,
                                  struct err *e)
{
    if (!json_is(list, JSON_ARRAY))
        return bad_json(e);
    for (size_t i = 0; i < list->n; i++) {
        const struct json      *r = &list->items[i];
        struct parsed_resource *to = vec_push(&out->resources, a);
        struct sv               content = json_text(r, "content");
        to->is_placeholder = !content.s;
        to->tag = json_text(r, "language");
        to->form = resource_form_in(json_text(r, "form"));
        to->body = content.s ? content : json_text(r, "placeholder");
        to->line = i + 2; /* each is on a line of its own */
        if (!to->body.s || !show_unshow(json_text(r, "name"), a, &to->name))
            return bad_json(e);
    }
    return ST_OK;
}

static enum status parse_json(struct sv text, struct arena *a, struct parsed *out, struct err *e)
{
    struct json doc;

    if (json_parse(text, 0, a, &doc, e))
        return err_code(e);
    if (!sv_is(json_text(&doc, "format"), "heddle-payload-1")) {
        err_set(e, ST_INVALID_SYNTAX, "this is no payload");
        return err_hint(e, "its member format must be heddle-payload-1");
    }
    const struct json *system = json_find(&doc, "system"), *summary = json_find(&doc, "summary");
    out->exact = true;
    out->cwd = json_text(system, "cwd");
    out->os = json_text(system, "os");
    out->shell = json_text(system, "shell");
    out->tree = json_text(&doc, "tree");
    out->memos = json_text(&doc, "memos");
    if (json_summary(summary, a, out, e) || json_cuts(json_find(summary, "cut"), a, out, e))
        return err_code(e);
    return json_resources(json_find(&doc, "resources"), a, out, e);
}

/* Does section 4 name a resource that section 5 does not have? */
static bool is_one_missing(const struct parsed *p, struct arena *a)
{
    struct map there = map_in(a);

    for (size_t i = 0; i < p->resources.n; i++)
        map_put(&there, p->resources.v[i].name, &p->resources.v[i]);
    for (size_t i = 0; i < p->summary.n; i++)
        if (!parsed_is_cut(&p->summary.v[i]) && !map_has(&there, p->summary.v[i].name))
            return true;
    return false;
}

enum status payload_parse(struct sv text, struct arena *a, struct parsed *out, struct err *e)
{
    struct payload_parser p = { .rest = utf8_skip_bom(text), .a = a, .out = out, .e = e };
    struct sv             line;

    *out = (struct parsed){ 0 };
    if (p.rest.n && p.rest.s[0] == '{')
        return parse_json(p.rest, a, out, e);
    bool any = next_line(&p, &line);
    p.other = any && sv_is(line, "# Project Context");
    if (!p.other && !(any && sv_is(line, "# Agent Invocation Payload"))) {
        err_set(e, ST_INVALID_SYNTAX, "this is no payload");
        return err_hint(e, "its first line must be `# Agent Invocation Payload`");
    }
    while (next_line(&p, &line)) {
        if (!sv_trim(line).n)
            continue;
        if (!sv_starts(line, SV("## ")))
            return bad(&p, "a heading is expected here");
        if (read_section(&p, sv_trim(sv_skip(line, 3))))
            return err_code(e);
    }
    out->ends_early = !p.other && (!p.ended || is_one_missing(out, a));
    return ST_OK;
}
