/* Reading the action log of a turn's report.md. */
#include "payload/report.h"

#include <string.h>

static const struct {
    const char      *word;
    enum report_kind kind;
} kinds[] = {
    { "READ", ACTION_READ },
    { "CREATE", ACTION_CREATE },
    { "EDIT", ACTION_EDIT },
    { "PRUNE", ACTION_PRUNE },
};

/* Lines outside fences. */
struct report_lines {
    struct sv rest;
    size_t    fence; /* length of the open one, 0: none */
};

static bool next(struct report_lines *l, struct sv *line)
{
    while (l->rest.n) {
        struct sv_cut c = sv_cut(l->rest, '\n');
        size_t        ticks = 0;
        l->rest = c.tail;
        *line = sv_trim(c.head);
        while (ticks < line->n && line->s[ticks] == '`')
            ticks++;
        if (l->fence) {
            if (ticks >= l->fence && ticks == line->n)
                l->fence = 0;
            continue;
        }
        if (ticks >= 3 && !sv_has(sv_skip(*line, ticks), '`')) {
            l->fence = ticks;
            continue;
        }
        return true;
    }
    return false;
}

/* Level of a heading and its text; 0: no heading. */
static size_t heading(struct sv line, struct sv *text)
{
    size_t n = 0;

    while (n < line.n && line.s[n] == '#')
        n++;
    if (!n || n > 6 || n >= line.n || line.s[n] != ' ')
        return 0;
    *text = sv_trim(sv_skip(line, n));
    return n;
}

/* The path in [text](target) or `code`, else the text itself. */
static struct sv bare_target(struct sv v)
{
    v = sv_trim(v);
    while (v.n > 1 && v.s[0] == '`' && v.s[v.n - 1] == '`')
        v = (struct sv){ v.s + 1, v.n - 2 };
    ptrdiff_t at = sv_find(v, SV("]("));
    if (v.n && v.s[0] == '[' && at > 0 && v.s[v.n - 1] == ')')
        v = (struct sv){ v.s + at + 2, v.n - (size_t)at - 3 };
    if (v.n > 1 && v.s[0] == '<' && v.s[v.n - 1] == '>')
        v = (struct sv){ v.s + 1, v.n - 2 };
    while (v.n && v.s[0] == '/')
        v = sv_skip(v, 1);
    return v;
}

/* "READ", "`READ`", "`READ`: path", "READ: path". */
static enum report_kind action_of(struct sv text, struct sv *target)
{
    if (text.n && text.s[0] == '`')
        text = sv_skip(text, 1);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct sv word = sv_of(kinds[i].word), rest = sv_skip(text, word.n);
        if (!sv_starts(text, word))
            continue;
        if (rest.n && rest.s[0] == '`')
            rest = sv_skip(rest, 1);
        if (rest.n && rest.s[0] != ':' && rest.s[0] != ' ')
            continue;
        *target = bare_target(rest.n && rest.s[0] == ':' ? sv_skip(rest, 1) : SV(""));
        return kinds[i].kind;
    }
    return ACTION_OTHER;
}

static enum report_outcome outcome_of(struct sv value)
{
    static const struct {
        const char         *word;
        enum report_outcome outcome;
    } words[] = { { "SUCCESS", ACTION_DONE },    { "Completed", ACTION_DONE },
                  { "FAIL", ACTION_FAILED },     { "Failed", ACTION_FAILED },
                  { "SKIPPED", ACTION_SKIPPED }, { "Skipped", ACTION_SKIPPED },
                  { "ABORTED", ACTION_SKIPPED } };

    for (size_t i = 0; i < COUNT(words); i++)
        if (sv_find(value, sv_of(words[i].word)) >= 0)
            return words[i].outcome;
    return ACTION_UNKNOWN;
}

/* "- **Key:** value" below an action. */
static void read_field(struct report_action *action, struct sv line)
{
    struct sv start = SV("- **");

    if (!sv_starts(line, start))
        return;
    line = sv_skip(line, start.n);
    ptrdiff_t at = sv_find(line, SV(":**"));
    if (at < 0)
        return;
    struct sv key = sv_first(line, (size_t)at), value = sv_trim(sv_skip(line, (size_t)at + 3));
    if (sv_is(key, "Status"))
        action->outcome = outcome_of(value);
    else if (sv_is(key, "Resource") || sv_is(key, "File Path") || sv_is(key, "Path"))
        action->target = bare_target(value);
    else if (sv_is(key, "Lines") || sv_is(key, "Line Range") || sv_is(key, "Range"))
        action->is_range = value.n > 0;
}

void report_read(struct sv text, struct arena *a, struct report_actions *out)
{
    struct report_lines   l = { .rest = text };
    struct report_action *action = NULL;
    struct sv             line, title, target;

    *out = (struct report_actions){ 0 };
    while (next(&l, &line)) {
        size_t level = heading(line, &title);
        if (!level) {
            if (action)
                read_field(action, line);
            continue;
        }
        action = NULL;
        if (sv_starts(title, SV("User Request")))
            out->has_user_request = true;
        enum report_kind kind = level >= 3 ? action_of(title, &target) : ACTION_OTHER;
        if (kind != ACTION_OTHER) {
            action = vec_push(&out->actions, a);
            *action = (struct report_action){ .kind = kind, .target = target };
        }
    }
}

bool report_plan_has_message(struct sv text)
{
    struct report_lines l = { .rest = text };
    struct sv           line, title;

    while (next(&l, &line))
        if (heading(line, &title) == 2 && sv_is(title, "Message"))
            return true;
    return false;
}
