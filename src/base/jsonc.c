/* JSON with comments, changed in place. The text is read twice: as plain JSON of the same length,
 * in which values are found, and as it is, in which the change is made. */
#include "base/jsonc.h"

#include "base/vec.h"

/* ---- plain JSON of the same length ----------------------------------------------------------- */

static size_t string_end(struct sv v, size_t at)
{
    for (at++; at < v.n && v.s[at] != '"'; at++)
        at += v.s[at] == '\\' && at + 1 < v.n;
    return at < v.n ? at + 1 : v.n;
}

/* The end of the comment that starts at `at`; `at` itself when there is none. The end of its line
 * is not part of it. */
static size_t comment_end(struct sv v, size_t at)
{
    struct sv rest = sv_skip(v, at);
    ptrdiff_t end;

    if (sv_starts(rest, SV("//"))) {
        end = sv_find(rest, SV("\n"));
        end -= end > 0 && rest.s[end - 1] == '\r';
        return end < 0 ? v.n : at + (size_t)end;
    }
    if (!sv_starts(rest, SV("/*")))
        return at;
    end = sv_find(sv_skip(rest, 2), SV("*/"));
    return end < 0 ? v.n : at + (size_t)end + 4;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct sv jsonc_plain(struct sv text, struct arena *a)
{
    char     *s = ARENA_NEW(a, char, text.n + 1);
    ptrdiff_t comma = -1; /* where the last comma is, when only space has come since */
    char      last = '{'; /* the last byte that is neither space nor in a comment */

    for (size_t at = 0, end; at < text.n; at = end) {
        end = comment_end(text, at);
        if (end > at) {
            for (size_t i = at; i < end; i++)
                s[i] = text.s[i] == '\n' ? '\n' : ' ';
            continue;
        }
        end = text.s[at] == '"' ? string_end(text, at) : at + 1;
        memcpy(s + at, text.s + at, end - at);
        if (comma >= 0 && (text.s[at] == '}' || text.s[at] == ']'))
            s[comma] = ' ';
        if (is_space(text.s[at]))
            continue;
        comma = text.s[at] == ',' && !sv_has(SV("{[,:"), last) ? (ptrdiff_t)at : -1;
        last = text.s[at];
    }
    return (struct sv){ s, text.n };
}

/* ---- positions of members and items ---------------------------------------------------------- */

struct jsonc_span {
    size_t from, to;
};

/* A member of an object or an item of a list. The object or list is called its box below. */
struct jsonc_part {
    struct jsonc_span whole; /* from the start of the key */
    struct jsonc_span value;
    struct sv         key; /* the bytes of the key; absent for an item */
};
struct jsonc_parts {
    VEC(struct jsonc_part) list;
};

static size_t skip_space(struct sv v, size_t at)
{
    while (at < v.n && is_space(v.s[at]))
        at++;
    return at;
}

/* The end of the value at `at`, in a text that is known to be JSON. */
static size_t value_end(struct sv v, size_t at)
{
    size_t depth = 0;

    if (v.s[at] != '{' && v.s[at] != '[') {
        if (v.s[at] == '"')
            return string_end(v, at);
        while (at < v.n && !is_space(v.s[at]) && !sv_has(SV(",]}"), v.s[at]))
            at++;
        return at;
    }
    do {
        depth += v.s[at] == '{' || v.s[at] == '[';
        depth -= v.s[at] == '}' || v.s[at] == ']';
        at = v.s[at] == '"' ? string_end(v, at) : at + 1;
    } while (depth && at < v.n);
    return at;
}

static struct sv key_bytes(struct sv quoted, struct arena *a)
{
    struct json v;
    struct err  ignored;

    return json_parse(quoted, 0, a, &v, &ignored) == ST_OK ? json_sv(&v) : (struct sv){ 0 };
}

static struct jsonc_parts parts_of(struct sv plain, struct jsonc_span box, struct arena *a)
{
    struct jsonc_parts out = { 0 };
    bool               object = plain.s[box.from] == '{';
    size_t             at = skip_space(plain, box.from + 1);

    while (at < box.to - 1) {
        struct jsonc_part p = { .whole.from = at };
        if (object) {
            size_t end = string_end(plain, at);
            p.key = key_bytes((struct sv){ plain.s + at, end - at }, a);
            at = skip_space(plain, skip_space(plain, end) + 1); /* behind the colon */
        }
        p.value = (struct jsonc_span){ at, value_end(plain, at) };
        p.whole.to = p.value.to;
        *vec_push(&out.list, a) = p;
        at = skip_space(plain, p.whole.to);
        at = at < box.to - 1 ? skip_space(plain, at + 1) : at; /* behind the comma */
    }
    return out;
}

/* A text that is being changed. */
struct jsonc_draft {
    struct arena     *a;
    struct sv         text, plain;
    struct jsonc_span root;
};

static enum status begin(struct sv text, struct arena *a, struct jsonc_draft *d, struct err *e)
{
    struct json v;
    struct sv   full = sv_trim(text).n ? text : SV("{}\n"), plain = jsonc_plain(full, a);

    *d = (struct jsonc_draft){ .a = a, .text = full, .plain = plain };
    if (json_parse(d->plain, 0, a, &v, e))
        return err_code(e);
    if (v.type != JSON_OBJECT)
        return err_set(e, ST_INVALID_SYNTAX, "it is not an object");
    d->root.from = skip_space(d->plain, 0);
    d->root.to = value_end(d->plain, d->root.from);
    return ST_OK;
}

/* The member of an object; the item of a list, by its number. */
static const struct jsonc_part *find(const struct jsonc_parts *p, struct sv key, bool object)
{
    int64_t number;

    if (!object)
        return sv_to_int(key, &number) && number >= 0 && (size_t)number < p->list.n
                   ? &p->list.v[number]
                   : NULL;
    for (size_t i = 0; i < p->list.n; i++)
        if (sv_eq(p->list.v[i].key, key))
            return &p->list.v[i];
    return NULL;
}

/* Follows the path as far as it exists: *box is the value that was reached, the result the number
 * of steps of the path that were taken. */
static size_t follow(const struct jsonc_draft *d, const struct sv *path, size_t n,
                     struct jsonc_span *box)
{
    size_t done;

    *box = d->root;
    for (done = 0; done < n && sv_has(SV("{["), d->plain.s[box->from]); done++) {
        struct jsonc_parts       parts = parts_of(d->plain, *box, d->a);
        const struct jsonc_part *p = find(&parts, path[done], d->plain.s[box->from] == '{');
        if (!p)
            break;
        *box = p->value;
    }
    return done;
}

/* The same for a place where something will be put. ST_INVALID_SYNTAX when the first step that does
 * not exist is not the member of an object: it could not be added. */
static enum status follow_to_put(const struct jsonc_draft *d, const struct sv *path, size_t n,
                                 struct jsonc_span *box, size_t *done, struct err *e)
{
    *done = follow(d, path, n, box);
    if (*done == n || d->plain.s[box->from] == '{')
        return ST_OK;
    return err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is not an object",
                   SV_ARG(path[*done ? *done - 1 : 0]));
}

enum status jsonc_find(struct sv text, const struct sv *path, size_t n, struct arena *a,
                       struct sv *out, struct err *e)
{
    struct jsonc_draft d;
    struct jsonc_span  box;

    if (begin(text, a, &d, e))
        return err_code(e);
    *out = follow(&d, path, n, &box) == n ? (struct sv){ d.plain.s + box.from, box.to - box.from }
                                          : (struct sv){ 0 };
    return ST_OK;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* The spaces with which the line of a place begins. */
static struct sv indent_at(struct sv text, size_t at)
{
    size_t from = at, to;

    while (from > 0 && text.s[from - 1] != '\n')
        from--;
    for (to = from; to < text.n && (text.s[to] == ' ' || text.s[to] == '\t'); to++)
        ;
    return (struct sv){ text.s + from, to - from };
}

static bool has_break(struct sv text, struct jsonc_span s)
{
    return memchr(text.s + s.from, '\n', s.to - s.from) != NULL;
}

/* How the lines of the text end. */
static const char *eol_of(const struct jsonc_draft *d)
{
    return sv_find(d->text, SV("\r\n")) >= 0 ? "\r\n" : "\n";
}

/* One step of indentation: that of the first member of the root, else two spaces. */
static struct sv step_of(const struct jsonc_draft *d)
{
    struct jsonc_parts parts = parts_of(d->plain, d->root, d->a);

    if (parts.list.n &&
        has_break(d->text, (struct jsonc_span){ d->root.from, parts.list.v[0].whole.from }))
        return indent_at(d->text, parts.list.v[0].whole.from);
    return SV("  ");
}

struct jsonc_page {
    const struct jsonc_draft *d;
    struct sb                *b;
    struct sv                 indent, step; /* of the line it begins in; no step: all on one line */
};

static void break_line(const struct jsonc_page *p, size_t depth)
{
    if (!p->step.n)
        return;
    sb_addf(p->b, "%s" SV_FMT, eol_of(p->d), SV_ARG(p->indent));
    for (size_t i = 0; i < depth; i++)
        sb_add(p->b, p->step);
}

/* A list of a few short values is written on one line. */
static bool is_short(const struct json *v)
{
    size_t length = 0;

    for (size_t i = 0; v->type == JSON_ARRAY && i < v->n; i++) {
        if (v->items[i].type >= JSON_ARRAY)
            return false;
        length += v->items[i].n + 4;
    }
    return v->n == 0 || (v->type == JSON_ARRAY && length < 72);
}

static void put_pretty(const struct jsonc_page *p, const struct json *v, size_t depth)
{
    bool object = v->type == JSON_OBJECT, one_line = is_short(v);

    if (v->type < JSON_ARRAY) {
        json_write(p->b, v);
        return;
    }
    sb_addc(p->b, object ? '{' : '[');
    for (size_t i = 0; i < v->n; i++) {
        sb_adds(p->b, i == 0 ? "" : p->step.n && !one_line ? "," : ", ");
        if (!one_line)
            break_line(p, depth + 1);
        if (object) {
            sb_add_json_string(p->b, v->members[i].key);
            sb_adds(p->b, ": ");
        }
        put_pretty(p, object ? &v->members[i].value : &v->items[i], depth + 1);
    }
    if (!one_line)
        break_line(p, depth);
    sb_addc(p->b, object ? '}' : ']');
}

static void put_value(const struct jsonc_draft *d, struct sb *b, struct sv value, struct sv indent,
                      struct sv step)
{
    const struct jsonc_page p = { d, b, indent, step };
    struct json             v;
    struct err              ignored;

    if (json_parse(value, JSON_KEEP_ORDER, d->a, &v, &ignored) == ST_OK) /* callers pass JSON */
        put_pretty(&p, &v, 0);
}

/* "key": value, or the value alone. */
static struct sv part_text(const struct jsonc_draft *d, struct sv key, struct sv value,
                           struct sv indent, struct sv step)
{
    struct sb b = sb_in(d->a, 0);

    if (key.s) {
        sb_add_json_string(&b, key);
        sb_adds(&b, ": ");
    }
    put_value(d, &b, value, indent, step);
    return sb_sv(&b);
}

/* `text` with the bytes from..to replaced. */
static struct sv spliced(struct sv text, struct jsonc_span out, struct sv in, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, sv_first(text, out.from));
    sb_add(&b, in);
    sb_add(&b, sv_skip(text, out.to));
    return sb_sv(&b);
}

/* ---- inserting ------------------------------------------------------------------------------- */

/* Insert into an empty box, behind the spaces and comments that are in it. */
static struct sv into_empty(const struct jsonc_draft *d, struct jsonc_span box, struct sv key,
                            struct sv value)
{
    struct sv         outer = indent_at(d->text, box.from), step = step_of(d);
    struct sb         inner = sb_in(d->a, 0), b = sb_in(d->a, 0);
    struct jsonc_span inside = { box.from + 1, box.to - 1 };
    struct sv         kept = { d->text.s + inside.from, inside.to - inside.from };

    sb_addf(&inner, SV_FMT SV_FMT, SV_ARG(outer), SV_ARG(step));
    while (kept.n && is_space(kept.s[kept.n - 1]))
        kept.n--;
    sb_add(&b, kept);
    sb_addf(&b, "%s" SV_FMT, eol_of(d), SV_ARG(sb_sv(&inner)));
    sb_add(&b, part_text(d, key, value, sb_sv(&inner), step));
    sb_addf(&b, "%s" SV_FMT, eol_of(d), SV_ARG(outer));
    return spliced(d->text, inside, sb_sv(&b), d->a);
}

/* The next comma from `from` on that is not in a comment; the end of the box when there is none. */
static size_t comma_behind(const struct jsonc_draft *d, size_t from, struct jsonc_span box)
{
    while (from < box.to - 1 && d->text.s[from] != ',')
        from = comment_end(d->text, from) > from ? comment_end(d->text, from) : from + 1;
    return from;
}

/* Insert behind the last part of a box, and behind the comments on the line of that part. When a
 * comma follows that part, one follows the new part, too. */
static struct sv behind_last(const struct jsonc_draft *d, struct jsonc_span box,
                             const struct jsonc_part *last, struct sv key, struct sv value)
{
    bool      lines = has_break(d->text, box);
    struct sv indent = lines ? indent_at(d->text, last->whole.from) : SV("");
    struct sb b = sb_in(d->a, 0);
    size_t    comma = comma_behind(d, last->whole.to, box);
    bool      has_comma = comma < box.to - 1;
    size_t    start = has_comma ? comma + 1 : last->whole.to, at = start;

    for (size_t i = at, end; lines && i < box.to - 1 && !sv_has(SV("\r\n"), d->text.s[i]);
         i = end) {
        end = comment_end(d->text, i);
        at = end > i ? end : at; /* behind the comments of its line */
        end = end > i ? end : i + 1;
    }
    sb_adds(&b, has_comma ? "" : ",");
    sb_add(&b, (struct sv){ d->text.s + start, at - start });
    if (lines)
        sb_addf(&b, "%s" SV_FMT, eol_of(d), SV_ARG(indent));
    else
        sb_addc(&b, ' ');
    sb_add(&b, part_text(d, key, value, indent, lines ? step_of(d) : SV("")));
    sb_adds(&b, has_comma ? "," : "");
    return spliced(d->text, (struct jsonc_span){ start, at }, sb_sv(&b), d->a);
}

static struct sv put_into(const struct jsonc_draft *d, struct jsonc_span box, struct sv key,
                          struct sv value)
{
    struct jsonc_parts parts = parts_of(d->plain, box, d->a);

    return parts.list.n ? behind_last(d, box, &parts.list.v[parts.list.n - 1], key, value)
                        : into_empty(d, box, key, value);
}

/* The value inside of objects for the steps of the path that do not exist: {"b":{"c":value}} for b,
 * c. */
static struct sv wrapped(const struct sv *rest, size_t n, struct sv value, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < n; i++) {
        sb_addc(&b, '{');
        sb_add_json_string(&b, rest[i]);
        sb_addc(&b, ':');
    }
    sb_add(&b, value);
    sb_pad(&b, '}', n);
    return sb_sv(&b);
}

enum status jsonc_set(struct sv text, const struct sv *path, size_t n, struct sv value,
                      struct arena *a, struct sv *out, struct err *e)
{
    struct jsonc_draft d;
    struct jsonc_span  box;
    size_t             done;

    if (begin(text, a, &d, e) || follow_to_put(&d, path, n, &box, &done, e))
        return err_code(e);
    if (done < n) {
        *out = put_into(&d, box, path[done], wrapped(path + done + 1, n - done - 1, value, a));
        return ST_OK;
    }
    struct sv   there = { d.plain.s + box.from, box.to - box.from };
    struct json was, is;
    if (json_parse(there, 0, a, &was, e) || json_parse(value, 0, a, &is, e))
        return err_code(e);
    struct sb b = sb_in(a, 0);
    put_value(&d, &b, value, indent_at(d.text, box.from),
              has_break(d.text, d.root) ? step_of(&d) : SV(""));
    *out = json_eq(&was, &is) ? d.text : spliced(d.text, box, sb_sv(&b), a);
    return ST_OK;
}

enum status jsonc_add(struct sv text, const struct sv *path, size_t n, struct sv value,
                      struct arena *a, struct sv *out, struct err *e)
{
    struct jsonc_draft d;
    struct jsonc_span  box;
    struct sb          list = sb_in(a, 0);
    size_t             done;

    if (begin(text, a, &d, e) || follow_to_put(&d, path, n, &box, &done, e))
        return err_code(e);
    if (done == n && d.plain.s[box.from] != '[')
        return err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is not a list", SV_ARG(path[n - 1]));
    if (done == n) {
        *out = put_into(&d, box, (struct sv){ 0 }, value);
        return ST_OK;
    }
    sb_addf(&list, "[" SV_FMT "]", SV_ARG(value));
    *out = put_into(&d, box, path[done], wrapped(path + done + 1, n - done - 1, sb_sv(&list), a));
    return ST_OK;
}

/* ---- removing -------------------------------------------------------------------------------- */

/* The end of the last thing before `at` that is not space. *comment: it is a comment that extends
 * to the end of its line. */
static size_t end_before(struct sv text, size_t at, bool *comment)
{
    size_t last = 0;

    *comment = false;
    for (size_t i = 0, end; i < at; i = end) {
        end = comment_end(text, i);
        bool is_comment = end > i;
        if (!is_comment)
            end = text.s[i] == '"' ? string_end(text, i) : i + 1;
        if (!is_comment && is_space(text.s[i]))
            continue;
        *comment = is_comment && text.s[i + 1] == '/';
        last = end;
    }
    return last;
}

/* The bytes to remove with a part that starts at `at`: also the space in front of it. The text will
 * go on with what is at `next`. When a // comment precedes the space and `next` is not a line end,
 * the space stays, because without its line break the comment would swallow what follows. */
static struct jsonc_span with_space(const struct jsonc_draft *d, size_t at, size_t to, size_t next)
{
    bool   comment, ends = d->text.s[next] == '\n' || d->text.s[next] == '\r';
    size_t from = end_before(d->text, at, &comment);

    return (struct jsonc_span){ comment && !ends ? at : from, to };
}

/* The text without the only part of a box, its comma, and the space around it. */
static struct sv without_only(const struct jsonc_draft *d, struct jsonc_span box,
                              const struct jsonc_part *it)
{
    size_t to = comma_behind(d, it->whole.to, box);

    to = to < box.to - 1 ? to + 1 : it->whole.to;
    if (skip_space(d->text, to) == box.to - 1)
        to = box.to - 1;
    return spliced(d->text, with_space(d, it->whole.from, to, to), SV(""), d->a);
}

/* The text without part i of a box. This undoes behind_last() exactly; of the first of several
 * parts the space behind it is removed. */
static struct sv without(const struct jsonc_draft *d, struct jsonc_span box,
                         const struct jsonc_parts *p, size_t i)
{
    const struct jsonc_part *it = &p->list.v[i];

    if (i == 0 && p->list.n == 1)
        return without_only(d, box, it);
    if (i == 0)
        return spliced(d->text, (struct jsonc_span){ it->whole.from, p->list.v[1].whole.from },
                       SV(""), d->a);
    size_t            comma = comma_behind(d, p->list.v[i - 1].whole.to, box);
    size_t            next = comma_behind(d, it->whole.to, box);
    size_t            behind = it->whole.to + (next == it->whole.to && next < box.to - 1);
    struct jsonc_span out = with_space(d, it->whole.from, it->whole.to, behind);
    if (next == box.to - 1) { /* the last part, without a comma: remove the comma in front of it */
        struct sv text = spliced(d->text, out, SV(""), d->a);
        return spliced(text, (struct jsonc_span){ comma, comma + 1 }, SV(""), d->a);
    }
    struct sv text = spliced(d->text, (struct jsonc_span){ next, next + 1 }, SV(""), d->a);
    return spliced(text, out, SV(""), d->a);
}

enum status jsonc_remove(struct sv text, const struct sv *path, size_t n, struct arena *a,
                         struct sv *out, struct err *e)
{
    struct jsonc_draft d;
    struct jsonc_span  box;

    if (begin(text, a, &d, e))
        return err_code(e);
    *out = text;
    if (follow(&d, path, n - 1, &box) < n - 1 || d.plain.s[box.from] != '{')
        return ST_OK;
    struct jsonc_parts parts = parts_of(d.plain, box, a);
    for (size_t i = 0; i < parts.list.n; i++)
        if (sv_eq(parts.list.v[i].key, path[n - 1])) {
            *out = without(&d, box, &parts, i);
            break;
        }
    return ST_OK;
}

/* The index of the first item for which is() returns true, or the number of items. */
static size_t wanted(const struct jsonc_draft *d, const struct jsonc_parts *p,
                     bool (*is)(void *ctx, const struct json *item), void  *ctx)
{
    for (size_t i = 0; i < p->list.n; i++) {
        struct jsonc_span v = p->list.v[i].value;
        struct json       item;
        struct err        ignored;
        if (json_parse((struct sv){ d->plain.s + v.from, v.to - v.from }, 0, d->a, &item,
                       &ignored) == ST_OK &&
            is(ctx, &item))
            return i;
    }
    return p->list.n;
}

enum status jsonc_drop(struct sv text, const struct sv *path, size_t n,
                       bool (*is)(void *ctx, const struct json *item), void *ctx, struct arena *a,
                       struct sv *out, struct err *e)
{
    *out = text;
    for (;;) {
        struct jsonc_draft d;
        struct jsonc_span  box;
        if (begin(*out, a, &d, e))
            return err_code(e);
        if (follow(&d, path, n, &box) < n || d.plain.s[box.from] != '[')
            return ST_OK;
        struct jsonc_parts parts = parts_of(d.plain, box, a);
        size_t             i = wanted(&d, &parts, is, ctx);
        if (i == parts.list.n)
            return ST_OK;
        *out = without(&d, box, &parts, i);
    }
}
