/* What the renderers of all providers share: from a projection to turns, then to the chosen one. */
#include "assemble/render_internal.h"
#include "assemble/repair.h"

#include "base/hash.h"
#include "thread/scan.h"

static const char *const names[] = {
#define X(format, name) [format] = name,
    RENDER_TABLE(X)
#undef X
};

enum status render_format_of(struct sv name, enum render_format *out, struct err *e)
{
    for (size_t i = 0; i < COUNT(names); i++)
        if (sv_is(name, names[i])) {
            *out = (enum render_format)i;
            return ST_OK;
        }
    err_set(e, ST_USAGE, "no format is called '" SV_FMT "'", SV_ARG(name));
    return err_hint(e, "--format is " RENDER_NAMES);
}

bool render_base64(struct sv text, struct arena *a, struct sv *out)
{
    struct sb b = sb_in(a, 0);

    while (sv_ends(text, SV("=")))
        text.n--;
    for (size_t i = 0; i < text.n; i++)
        sb_addc(&b, text.s[i] == '+' ? '-' : text.s[i] == '/' ? '_' : text.s[i]);
    return base64url_read(sb_sv(&b), a, out);
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

struct sv render_call_name(const struct tool_call *c, size_t max, struct repair_place at,
                           const struct rendering *x)
{
    struct sb b = sb_in(x->a, 0);

    for (size_t i = 0; i < c->name.n && i < max; i++)
        sb_addc(&b, is_name_byte(c->name.s[i]) ? c->name.s[i] : '_');
    if (!b.n)
        sb_addc(&b, '_');
    if (sv_eq(sb_sv(&b), c->name))
        return c->name;
    at.tool_call_id = c->id;
    report_add(x->r, REPAIR_RENAMED, at, "its tool '" SV_FMT "' to " SV_FMT, SV_ARG(c->name),
               SV_ARG(sb_sv(&b)));
    return sb_sv(&b);
}

/* Replaces lone surrogates in the prompt, which is text and not JSON: three bytes from ed a0 80
 * on. */
static struct sv clean_prompt(struct sv text, struct arena *a, struct render_report *r)
{
    struct sb b = sb_in(a, 0);
    size_t    n = 0;

    for (size_t i = 0, len; i < text.n; i += len) {
        bool half = i + 2 < text.n && (unsigned char)text.s[i] == 0xed &&
                    (unsigned char)text.s[i + 1] >= 0xa0;
        len = half ? 3 : 1;
        n += half;
        sb_add(&b, half ? SV("\xef\xbf\xbd") : (struct sv){ text.s + i, 1 });
    }
    if (!n)
        return text;
    report_add(r, REPAIR_CHANGED, REPAIR_OF_ALL, "%zu half character%s of the prompt to U+FFFD", n,
               n == 1 ? "" : "s");
    return sb_sv(&b);
}

static int64_t limit_of(const struct render_options *o)
{
    if (!o || !o->limited)
        return LIMIT_NONE;
    return o->limit < 0 ? 0 : o->limit;
}

/* The change of a message; a message of a snapshot may name its node. NULL: none. */
static const struct loom_change *change_of(const struct render_options *o, const struct message *m,
                                           struct arena *a)
{
    size_t      low = 0, high = o->n_changes;
    struct json refs;
    struct err  ignored;

    while (m->seq >= 0 && low < high) {
        size_t mid = low + (high - low) / 2;
        if (o->changes[mid].seq == m->seq)
            return &o->changes[mid];
        if (o->changes[mid].seq < m->seq)
            low = mid + 1;
        else
            high = mid;
    }
    if (m->seq >= 0 || !m->refs.s || json_parse(m->refs, 0, a, &refs, &ignored) ||
        !json_text(&refs, "node").n)
        return NULL;
    for (size_t i = 0; i < o->n_changes; i++)
        if (o->changes[i].by == NO_NODE && sv_eq(o->changes[i].local, json_text(&refs, "node")))
            return &o->changes[i];
    return NULL;
}

/* The message in the place of another one, which is a version of it. */
static enum status version_of(struct projection *p, int64_t seq, struct message *m, struct err *e)
{
    struct entry *n = ARENA_NEW(p->a, struct entry, 1); /* the message points into it */
    bool          found;

    if (log_entry(p->log, p->thread, seq, p->a, n, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_CORRUPT, "entry %lld is missing", (long long)seq);
    *m = message_of_entry(n);
    return ST_OK;
}

enum status render_changed(struct projection *p, const struct context *c,
                           const struct render_options *o, struct context *out,
                           struct render_report *r, struct err *e)
{
    *out = *c;
    if (!o || !o->n_changes)
        return ST_OK;
    out->messages = ARENA_NEW(p->a, struct message, c->n + 1);
    out->n = 0;
    for (size_t i = 0; i < c->n; i++) {
        struct message            m = c->messages[i];
        const struct loom_change *x = change_of(o, &m, p->a);
        bool                      excluded = x && x->by == NO_NODE, result = sv_is(m.role, "tool");
        if (x && !excluded && version_of(p, x->by, &m, e))
            return err_code(e);
        if (excluded)
            report_add(r, result ? REPAIR_CHANGED : REPAIR_DROPPED,
                       (struct repair_place){ m.seq, { 0 }, SIZE_MAX }, "%s",
                       result ? "a result that is excluded: only its place is sent"
                              : "a message that is excluded");
        if (excluded && result)
            m.content = SV("\"(this result is excluded)\"");
        if (!excluded || result)
            out->messages[out->n++] = m;
    }
    return ST_OK;
}

/* `cut`: the context is only the newest part of a longer one. */
static enum status render_part(enum render_format f, const struct context *c,
                               const struct render_options *o, bool cut, struct arena *a,
                               struct sb *out, struct render_report *r, struct err *e)
{
    static void (*const renderers[])(const struct rendering *) = {
        [RENDER_ANTHROPIC] = render_anthropic,
        [RENDER_OPENAI] = render_openai,
        [RENDER_TEXT] = render_text,
        [RENDER_MARKDOWN] = render_markdown,
    };
    struct parsed_message *turns, *mended;
    size_t                 n;

    if (parsed_of(c, a, &turns, &n, r, e))
        return err_code(e);
    repair_all(turns, n, a, &mended, &n, r);
    size_t start = limit_start(mended, n, limit_of(o), a);
    report_cut(r, start);
    struct sv prompt = c->system_prompt;
    if (prompt.s && sv_has(prompt, (char)0xed))
        prompt = clean_prompt(prompt, a, r);
    struct rendering x = { .system_prompt = prompt,
                           .turns = n ? mended + start : NULL,
                           .n = n - start,
                           .a = a,
                           .out = out,
                           .r = r,
                           .cut = cut || start > 0 };
    if (o) {
        x.cache = o->cache;
        x.merge = o->merge;
        x.details = o->details;
        x.user_last = o->user_last;
    }
    renderers[f](&x);
    return ST_OK;
}

enum status render_context(enum render_format f, const struct context *c,
                           const struct render_options *o, struct arena *a, struct sb *out,
                           struct render_report *r, struct err *e)
{
    return render_part(f, c, o, false, a, out, r, e);
}

/* The document of project_write(), with only the messages from `start` on. */
static void write_tail(const struct projection *p, const struct context *c, size_t start,
                       struct sb *out)
{
    sb_adds(out, "{\"at\":");
    sb_add_int(out, p->at);
    sb_adds(out, ",\"lane\":");
    sb_add_json_string(out, p->lane);
    sb_adds(out, ",\"messages\":[");
    for (size_t i = start; i < c->n; i++) {
        sb_adds(out, i > start ? "," : "");
        message_write(out, &c->messages[i]);
    }
    sb_adds(out, "],\"system_prompt\":");
    if (c->system_prompt.s)
        sb_add_json_string(out, c->system_prompt);
    else
        sb_adds(out, "null");
    sb_adds(out, ",\"thread\":");
    sb_add_json_string(out, p->thread);
    sb_addc(out, '}');
}

/* Is this newest part of a context, of which the messages from `from` on are kept, large enough
 * that the complete context would give the same result? */
static bool is_enough(const struct parsed_message *turns, size_t n, size_t from, size_t want,
                      int64_t limit, struct arena *a)
{
    if (from == 0 && limit) /* the group of calls and results may begin before it */
        return false;
    return want > (uint64_t)limit + RENDER_LOOK_BACK || !limit_lacks_call(turns, n, from, a);
}

/* A little more than the limit at first, then twice as much. */
static size_t first_want(int64_t limit)
{
    return limit > INT32_MAX ? SIZE_MAX : (size_t)limit + 8;
}

static enum status write_json(struct projection *p, const struct render_options *o, struct sb *out,
                              struct render_report *r, struct err *e)
{
    struct context c, shown;
    bool           all = false;
    size_t         from = 0;
    int64_t        limit = limit_of(o);

    if (limit == LIMIT_NONE && (!o || !o->n_changes))
        return project_write(p, out, e);
    for (size_t want = limit == LIMIT_NONE ? SIZE_MAX : first_want(limit); !all; want *= 2) {
        struct render_report   unused = report_in(p->a);
        struct parsed_message *turns;
        size_t                 n;
        if (project_newest(p, want, &c, &all, e) || render_changed(p, &c, o, &shown, &unused, e) ||
            parsed_of(&shown, p->a, &turns, &n, &unused, e))
            return err_code(e);
        size_t start = limit_start(turns, n, limit, p->a);
        from = start < n ? turns[start].message : shown.n;
        if (limit != LIMIT_NONE && is_enough(turns, n, from, want, limit, p->a))
            break;
    }
    if (render_changed(p, &c, o, &shown, r, e)) /* once more, for its report */
        return err_code(e);
    write_tail(p, &shown, from, out);
    return ST_OK;
}

/* The newest messages that decide what a limit leaves. */
static enum status limited_context(struct projection *p, const struct render_options *o,
                                   struct context *c, bool *all, struct err *e)
{
    int64_t limit = limit_of(o);

    *all = false;
    for (size_t want = first_want(limit); !*all; want *= 2) {
        struct render_report   unused = report_in(p->a);
        struct parsed_message *turns, *mended;
        size_t                 n, n_mended;
        if (project_newest(p, want, c, all, e))
            return err_code(e);
        struct context sent;
        if (render_changed(p, c, o, &sent, &unused, e) ||
            parsed_of(&sent, p->a, &turns, &n, &unused, e))
            return err_code(e);
        repair_all(turns, n, p->a, &mended, &n_mended, &unused);
        size_t start = limit_start(mended, n_mended, limit, p->a);
        size_t from = start < n_mended ? mended[start].message : sent.n;
        if (is_enough(turns, n, from, want, limit, p->a))
            break;
    }
    return ST_OK;
}

enum status render_write(enum render_format f, struct projection *p, const struct render_options *o,
                         struct sb *out, struct render_report *r, struct err *e)
{
    struct context c, shown;
    bool           all = true;
    int64_t        limit = limit_of(o);

    if (f == RENDER_JSON)
        return write_json(p, o, out, r, e);
    if ((limit == LIMIT_NONE ? project_context(p, &c, e) : limited_context(p, o, &c, &all, e)) ||
        render_changed(p, &c, o, &shown, r, e))
        return err_code(e);
    return render_part(f, &shown, o, !all, p->a, out, r, e);
}
