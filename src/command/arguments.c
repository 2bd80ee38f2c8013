/* The arguments of a command, in two passes. The first takes what is named, key:value, "key value"
 * and "using NAME"; the second gives what is left, in order, to the parameters that may stand
 * without a key. When something does not fit, the error shows the nearest correct form. */
#include "command/arguments.h"

#include "base/sb.h"
#include "base/utf8.h"
#include "command/tools.h"
#include "command/words.h"

#include <stdio.h>
#include <string.h>

/* ---- hints -------------------------------------------------------------------------- */

static bool form_has(const char *form, const char *name, const char *mark)
{
    char        with_mark[40];
    const char *at = form;

    snprintf(with_mark, sizeof with_mark, "%.30s%s", name, mark);
    while ((at = strstr(at, with_mark)) && at > form && byte_lower(at[-1]) >= 'a' &&
           byte_lower(at[-1]) <= 'z')
        at++; /* "text" does not stand in "context" */
    return at != NULL;
}

/* How much of what was given stands in this form. */
static int form_score(const struct call *c, const char *form, struct sv key)
{
    char name[32];
    int  score = 0;

    snprintf(name, sizeof name, "%.*s", (int)(key.n < 24 ? key.n : 24), key.s ? key.s : "");
    if (key.n)
        score += form_has(form, name, ":") ? 8 : form_has(form, name, "") ? 4 : 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct tool_slot *p = c->args[i].param;
        if (form_has(form, p->name, ":") || (p->type == SLOT_FLAG && form_has(form, p->name, "")))
            score += 3;
        else if (p->type == SLOT_ID && (p->flags & SLOT_BARE) && strstr(form, " ID"))
            score += 1;
        else if (p->type == SLOT_TEXT && (p->flags & SLOT_BARE) && strstr(form, " \""))
            score += 2;
    }
    return score;
}

/* Show the form that is nearest to what was tried. */
static enum status misfit(const struct reading *r, struct sv key, struct err *e)
{
    const char *form = r->tool->syntax[0];
    int         best = form_score(r->call, form, key);

    for (size_t i = 1; r->tool->syntax[i]; i++) {
        int score = form_score(r->call, r->tool->syntax[i], key);
        if (score > best) {
            best = score;
            form = r->tool->syntax[i];
        }
    }
    return err_hint(e, "→ %s", form);
}

/* ---- one value ---------------------------------------------------------------------- */

static const struct call_arg *given(const struct call *c, const struct tool_slot *p)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->args[i].param == p)
            return &c->args[i];
    return NULL;
}

static enum status give(struct reading *r, const struct tool_slot *p, struct sv text, struct err *e)
{
    if (given(r->call, p) && !((p->flags & SLOT_MANY) && r->joined)) {
        err_set(e, ST_INVALID_SYNTAX, "%s is given twice", p->name);
        return err_hint(e, "one → line for each");
    }
    if (r->call->n == CALL_ARGS_MAX) {
        err_set(e, ST_INVALID_SYNTAX, "too many arguments");
        return err_hint(e, "use several → lines");
    }
    r->call->args[r->call->n++] = (struct call_arg){ p, text };
    return ST_OK;
}

static const struct tool_slot *param_named(const struct tool *t, struct sv name)
{
    struct sv meant;

    for (const struct tool_slot *p = t->params; p->type; p++)
        if (word_same(name, sv_of(p->name)))
            return p;
    for (const struct tool_slot *p = t->params; p->type; p++)
        if (word_in(p->keys, name, &meant))
            return p;
    return NULL;
}

static bool is_lines(struct sv v)
{
    struct sv_cut c = sv_cut(v, '-');
    struct sv     n;

    return c.found && word_as_count(sv_trim(c.head), &n) && word_as_count(sv_trim(c.tail), &n);
}

/* A word that belongs to the tool is not a value: link a7x2 to doc "x". */
static bool is_tool_word(const struct reading *r, const struct token *t)
{
    struct sv meant;

    if (!word_is_plain(t))
        return false;
    for (const struct tool_slot *p = r->tool->params; p->type; p++)
        if (p->type == SLOT_FLAG &&
            (word_same(t->text, sv_of(p->name)) || word_in(p->words, t->text, &meant)))
            return true;
    return param_named(r->tool, t->text) || word_in(r->tool->little, t->text, &meant);
}

/* Could this be a value of the parameter, where no key announces one? */
static bool could_be(const struct reading *r, const struct tool_slot *p, const struct token *t)
{
    struct sv meant;
    bool      word = t->type == TOKEN_WORD && !is_tool_word(r, t);

    if (t->key.s)
        return false;
    switch (p->type) {
    case SLOT_ID: return word && word_as_node(t, &meant);
    case SLOT_COUNT: return word && word_as_count(t->text, &meant);
    case SLOT_REAL: return word && word_is_real(t->text);
    case SLOT_TEXT: return t->type == TOKEN_TEXT || (word && (p->flags & (SLOT_LOOSE | SLOT_OPEN)));
    case SLOT_WORD: return word && (!p->words || word_in(p->words, t->text, &meant));
    case SLOT_RANGE: return word && sv_has(t->text, '-');
    case SLOT_LINES: return word && is_lines(t->text);
    case SLOT_DOC: return t->type == TOKEN_TEXT || word_is_file(t) || (word && word_is_plain(t));
    default: return false;
    }
}

static enum status fit_word(struct reading *r, const struct tool_slot *p, const struct token *t,
                            struct err *e)
{
    struct sv meant = t->text;
    bool      known = !p->words || word_in(p->words, t->text, &meant);

    if (known && !sv_starts(meant, SV("→")))
        return p->flags & SLOT_SILENT ? ST_OK : give(r, p, meant, e);
    err_set(e, ST_INVALID_SYNTAX, "%s cannot be '" SV_FMT "'", p->name,
            SV_ARG(utf8_first(t->text, 60)));
    return known ? err_hint(e, SV_FMT, SV_ARG(meant)) : misfit(r, sv_of(p->name), e);
}

static enum status fit_id(struct reading *r, const struct tool_slot *p, const struct token *t,
                          struct err *e)
{
    struct sv   id, meant;
    enum status st;

    if (word_as_node(t, &id)) {
        st = give(r, p, id, e);
        r->joined = t->comma;
        return st;
    }
    if (word_is_plain(t) && word_in(phrase_vague, t->text, &meant)) {
        err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' does not name a node",
                SV_ARG(utf8_first(t->text, 60)));
        return err_hint(e, "name it by its id, or write here, parent or root: → %s",
                        r->tool->syntax[0]);
    }
    err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is not a node id", SV_ARG(utf8_first(t->text, 60)));
    return misfit(r, t->key, e);
}

/* A value for a parameter, checked against its type. */
static enum status fit(struct reading *r, const struct tool_slot *p, const struct token *t,
                       struct err *e)
{
    struct sv   text = t->text;
    const char *wanted = NULL;

    if (p->type == SLOT_WORD)
        return fit_word(r, p, t, e);
    if (p->type == SLOT_ID)
        return fit_id(r, p, t, e);
    if (p->type == SLOT_COUNT && !word_as_count(t->text, &text))
        wanted = "a whole number";
    if (p->type == SLOT_REAL && !word_is_real(t->text))
        wanted = "a number such as 0.7";
    if (p->type == SLOT_RANGE && !sv_has(t->text, '-'))
        wanted = "a range such as A-B";
    if (p->type == SLOT_LINES && !is_lines(t->text))
        wanted = "a range such as 10-20";
    if (!wanted)
        return give(r, p, text, e);
    err_set(e, ST_INVALID_SYNTAX, "%s: takes %s, not '" SV_FMT "'", p->name, wanted,
            SV_ARG(utf8_first(t->text, 60)));
    return misfit(r, sv_of(p->name), e);
}

/* ---- first pass: what is named ------------------------------------------------------ */

/* full:true is full; append:"text" is append "text". */
static enum status keyed_flag(struct reading *r, const struct tool_slot *p, const struct token *t,
                              struct err *e)
{
    const struct tool_slot *text = param_named(r->tool, SV("text"));

    if (t->type == TOKEN_TEXT && text && !give(r, p, SV(""), e))
        return give(r, text, t->text, e);
    if (word_plain_in(&(struct token){ .text = t->text, .type = t->type }, "true|yes|on"))
        return give(r, p, SV(""), e);
    err_set(e, ST_INVALID_SYNTAX, "%s is given or left out, and has no value", p->name);
    return misfit(r, sv_of(p->name), e);
}

static enum status keyed(struct reading *r, const struct token *t, struct err *e)
{
    const struct tool_slot *p = param_named(r->tool, t->key);
    struct sv               meant;

    if (p && t->inner.s) { /* pin:doc:"name" */
        struct token inner = *t;
        inner.key = t->inner;
        inner.inner = (struct sv){ 0 };
        if (sv_is(t->key, "pin") && sv_is(t->inner, "doc"))
            return keyed(r, &inner, e);
        p = NULL;
    }
    for (const struct tool_slot *f = r->tool->params; !p && f->type; f++)
        if (f->type == SLOT_FLAG && word_in(f->words, t->key, &meant))
            p = f;
    if (p && !t->inner.s && p->type == SLOT_FLAG)
        return keyed_flag(r, p, t, e);
    if (p && (p->flags & (SLOT_KEYED | SLOT_BARE)))
        return fit(r, p, t, e);
    err_set(e, ST_INVALID_SYNTAX, "%s takes no '" SV_FMT ":'", r->tool->name, SV_ARG(t->key));
    return misfit(r, t->key, e);
}

/* The first word from `at` on that is neither a filler nor a connecting word. */
static size_t skip_little(const struct reading *r, size_t at)
{
    while (at < r->n && (r->tokens[at].filler || word_plain_in(&r->tokens[at], r->tool->little)))
        at++;
    return at;
}

/* [r001]-[a7x2] is r001-a7x2. */
static struct sv without_brackets(const struct reading *r, struct sv text)
{
    struct sb b = sb_in(r->a, 0);

    for (size_t i = 0; i < text.n; i++)
        if (text.s[i] != '[' && text.s[i] != ']')
            sb_addc(&b, text.s[i]);
    return sb_sv(&b);
}

/* `2 to 3`, `r001 to a7x2`: a range in words becomes one. *last is its last token. */
static void join_range(const struct reading *r, struct token *value, size_t *last)
{
    struct sb b = sb_in(r->a, 0);

    value->text = without_brackets(r, value->text);
    if (*last + 2 >= r->n || !word_plain_in(&r->tokens[*last + 1], "to|through") ||
        sv_has(value->text, '-'))
        return;
    sb_add(&b, value->text);
    sb_addc(&b, '-');
    sb_add(&b, r->tokens[*last + 2].text);
    value->text = sb_sv(&b);
    *last += 2;
}

static bool is_range(const struct tool_slot *p)
{
    return p->type == SLOT_RANGE || p->type == SLOT_LINES;
}

/* depth 3, section motivation, text: "…": a key without its colon. *last is the last token of it;
 * NULL: this is not one. */
static const struct tool_slot *pair(struct reading *r, size_t at, struct token *value, size_t *last)
{
    const struct token     *t = &r->tokens[at];
    const struct tool_slot *p =
        word_is_plain(t) && !t->filler ? param_named(r->tool, t->text) : NULL;

    if (!p || p->type == SLOT_FLAG || given(r->call, p))
        return NULL;
    size_t i = at + 1;
    bool   chosen = i < r->n && p->type == SLOT_WORD && word_plain_in(&r->tokens[i], p->words);
    if (!chosen) /* "as nodes": a word that says nothing elsewhere */
        i = skip_little(r, i);
    if (i >= r->n || r->used[i])
        return NULL;
    *value = r->tokens[i];
    *last = i;
    if (is_range(p) && value->type == TOKEN_WORD)
        join_range(r, value, last);
    return could_be(r, p, value) ? p : NULL;
}

/* 150 tokens, 3 levels, the motivation section of doc:"notes": the value stands before its key. */
static const struct tool_slot *value_first(struct reading *r, size_t at)
{
    const struct token     *t = &r->tokens[at];
    const struct tool_slot *p;
    struct sv               meant;

    if (at + 1 >= r->n || r->used[at + 1] || t->key.s || !word_is_plain(&r->tokens[at + 1]))
        return NULL;
    p = param_named(r->tool, r->tokens[at + 1].text);
    if (!p || given(r->call, p) || !(p->flags & SLOT_KEYED))
        return NULL;
    const struct token *next = at + 2 < r->n ? &r->tokens[at + 2] : NULL;
    if (p->type == SLOT_COUNT)
        return word_is_plain(t) && word_as_count(t->text, &meant) &&
                       !(next && word_as_count(next->text, &meant))
                   ? p
                   : NULL;
    bool name = t->type == TOKEN_TEXT ||
                (word_is_plain(t) && !t->filler && !is_tool_word(r, t) && !word_is_vague(t));
    bool ends = !next || word_plain_in(next, "of|in|from");
    return name && ends && sv_is(sv_of(p->name), "section") ? p : NULL;
}

/* using "Name", with GPT-4o. */
static const struct tool_slot *announced(struct reading *r, const struct token *t)
{
    for (const struct tool_slot *p = r->tool->params; p->type; p++)
        if (p->after && word_plain_in(t, p->after) && !given(r->call, p))
            return p;
    return NULL;
}

/* May the count that stands here be meant for a count? */
static bool is_free_count(struct reading *r, const struct token *t)
{
    struct sv n;

    if (!word_is_plain(t) || !word_as_count(t->text, &n))
        return false;
    for (const struct tool_slot *p = r->tool->params; p->type; p++)
        if (p->type == SLOT_COUNT && (p->flags & SLOT_BARE) && !given(r->call, p))
            return true;
    return false;
}

static enum status take_announced(struct reading *r, size_t at, const struct tool_slot *p,
                                  struct err *e)
{
    size_t i = at + 1;

    while (i < r->n && r->tokens[i].filler)
        i++;
    if (i >= r->n) {
        err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is followed by nothing",
                SV_ARG(r->tokens[at].text));
        return misfit(r, sv_of(p->name), e);
    }
    if (r->used[i] || !could_be(r, p, &r->tokens[i]) || is_free_count(r, &r->tokens[i]))
        return ST_OK; /* using agent:"Name", with 3 continuations: only a connecting word */
    if (sv_is(sv_of(p->name), "agent") && word_plain_in(&r->tokens[at], "with") &&
        r->tokens[i].type == TOKEN_TEXT) {
        err_set(e, ST_INVALID_SYNTAX, "is \"" SV_FMT "\" an agent or your own text?",
                SV_ARG(utf8_first(r->tokens[i].text, 60)));
        return err_hint(e, "→ continue from ID using agent:\"Name\", or → respond ID \"text\"");
    }
    for (size_t k = at; k <= i; k++)
        r->used[k] = true;
    return fit(r, p, &r->tokens[i], e);
}

static enum status named_at(struct reading *r, size_t i, struct err *e)
{
    const struct token     *t = &r->tokens[i];
    const struct tool_slot *p;
    struct token            value;
    size_t                  last;

    if (t->key.s) {
        r->used[i] = true;
        value = *t;
        p = param_named(r->tool, t->key);
        if (p && is_range(p))
            value.text = without_brackets(r, t->text);
        return keyed(r, &value, e);
    }
    if ((p = pair(r, i, &value, &last))) {
        for (size_t k = i; k <= last; k++)
            r->used[k] = true;
        return fit(r, p, &value, e);
    }
    if ((p = value_first(r, i))) {
        r->used[i] = r->used[i + 1] = true;
        return fit(r, p, t, e);
    }
    p = announced(r, t);
    return p ? take_announced(r, i, p, e) : ST_OK;
}

/* ---- second pass: what is left ------------------------------------------------------- */

static enum status quoted_text(struct reading *r, const struct token *t, struct err *e)
{
    for (const struct tool_slot *p = r->tool->params; p->type; p++) {
        bool takes =
            p->type == SLOT_TEXT || p->type == SLOT_DOC || (p->type == SLOT_WORD && !p->words);
        if (takes && (p->flags & SLOT_BARE) && !given(r->call, p))
            return give(r, p, t->text, e);
    }
    err_set(e, ST_INVALID_SYNTAX, "%s takes no further text", r->tool->name);
    return misfit(r, t->key, e);
}

/* A flag's own name, a word of a choice: these win over ids. */
static const struct tool_slot *word_param(struct reading *r, struct sv word, struct sv *meant)
{
    for (const struct tool_slot *p = r->tool->params; p->type; p++) {
        if (p->type == SLOT_FLAG &&
            (word_same(word, sv_of(p->name)) || word_in(p->words, word, meant))) {
            *meant = SV("");
            return p;
        }
        if (p->type == SLOT_WORD && (p->flags & SLOT_BARE) && p->words &&
            word_in(p->words, word, meant))
            return p;
    }
    return NULL;
}

enum { OPEN_WORDS_MAX = 6 };

/* find the mother knows: the words from here to the next key, as they were written. */
static enum status open_text(struct reading *r, const struct tool_slot *p, size_t *at,
                             struct err *e)
{
    size_t    first = *at, last = *at;
    struct sv meant;

    while (last + 1 < r->n && !r->used[last + 1] && word_is_plain(&r->tokens[last + 1]))
        last++;
    *at = last;
    while (last > first &&
           (r->tokens[last].filler || word_plain_in(&r->tokens[last], r->tool->little)))
        last--; /* "in the tree" */
    bool id = false;
    for (size_t i = first; i <= last; i++)
        id = id || word_is_surely_id(&r->tokens[i]); /* "find the children of a7x2" */
    if (id || word_in(phrase_not_a_text, r->tokens[first].text, &meant) ||
        last - first >= OPEN_WORDS_MAX || (first && r->tokens[first - 1].key.s)) {
        err_set(e, ST_INVALID_SYNTAX, "%s needs its %s in quotes", r->tool->name, p->name);
        return misfit(r, sv_of(p->name), e);
    }
    const char *end = r->tokens[last].text.s + r->tokens[last].text.n;
    return give(r, p,
                (struct sv){ r->tokens[first].text.s, (size_t)(end - r->tokens[first].text.s) }, e);
}

/* Is this word, which says nothing elsewhere, the beginning of a text? "the mother" begins one,
 * "the nodes about" does not; "a way" begins one that is refused. */
static bool opens_text(const struct reading *r, size_t at)
{
    bool article = word_plain_in(&r->tokens[at], "the") && strcmp(r->tool->name, "find") == 0;
    bool last = at + 1 >= r->n || r->used[at + 1];

    if (article)
        return !last && skip_little(r, at) == at + 1 && word_is_plain(&r->tokens[at + 1]);
    return word_plain_in(&r->tokens[at], phrase_not_a_text) &&
           !word_plain_in(&r->tokens[at], r->tool->little);
}

/* The first free parameter that may stand without a key and could be this. */
static const struct tool_slot *free_bare(struct reading *r, const struct token *t)
{
    const struct tool_slot *id = NULL;
    struct sv               n;

    for (const struct tool_slot *p = r->tool->params; p->type; p++) {
        bool again = given(r->call, p) && !((p->flags & SLOT_MANY) && r->joined);
        bool loose = (p->type == SLOT_TEXT && (p->flags & SLOT_LOOSE)) || (p->flags & SLOT_OPEN);
        if (!(p->flags & SLOT_BARE) || again)
            continue;
        if (p->type == SLOT_COUNT && !t->brackets && word_as_count(t->text, &n))
            return p;
        if (!id && (p->type == SLOT_ID || (loose && !t->brackets) ||
                    (p->type == SLOT_WORD && !p->words && !t->brackets) ||
                    (p->type == SLOT_DOC && word_is_file(t))))
            id = p;
    }
    return id;
}

/* "this node: a7x2", "this branch a7x2": the node is named behind it. */
static bool points_ahead(const struct reading *r, size_t at)
{
    size_t    next = skip_little(r, at + 1);
    struct sv id;

    return word_plain_in(&r->tokens[at], "this") && next < r->n && !r->used[next] &&
           !r->tokens[next].key.s && word_as_node(&r->tokens[next], &id) && !call_place(id).s;
}

/* "drop a7x2 pin", "read the "notes" document": the name of what was given, behind it. */
static bool given_by_name(const struct reading *r, struct sv word)
{
    const struct tool_slot *p = param_named(r->tool, word);

    return p && p->type != SLOT_FLAG && given(r->call, p);
}

static enum status bare_word(struct reading *r, size_t *at, struct err *e)
{
    const struct token     *t = &r->tokens[*at];
    struct sv               meant;
    const struct tool_slot *p;

    if (!t->brackets && (p = word_param(r, t->text, &meant)))
        return give(r, p, meant, e);
    if (word_plain_in(t, "and|&|plus")) {
        r->joined = true;
        for (p = r->tool->params; p->type; p++)
            if (p->flags & SLOT_MANY)
                return ST_OK;
    }
    if (points_ahead(r, *at) || (word_is_plain(t) && given_by_name(r, t->text)))
        return ST_OK;
    p = free_bare(r, t);
    bool open = p && p->type == SLOT_TEXT && (p->flags & SLOT_OPEN) && opens_text(r, *at);
    if (!open && (t->filler || word_plain_in(t, r->tool->little)))
        return ST_OK;
    if (p && (p->flags & SLOT_OPEN) && !word_is_file(t))
        return open_text(r, p, at, e);
    if (p)
        return fit(r, p, t, e);
    if (t->colon && param_named(r->tool, t->text)) {
        err_set(e, ST_INVALID_SYNTAX, SV_FMT ": has no value", SV_ARG(t->text));
        return err_hint(e, "write " SV_FMT ":value or " SV_FMT ":\"value\"", SV_ARG(t->text),
                        SV_ARG(t->text));
    }
    err_set(e, ST_INVALID_SYNTAX, "%s cannot take '" SV_FMT "'", r->tool->name,
            SV_ARG(utf8_first(t->text, 60)));
    return misfit(r, t->text, e);
}

static bool takes_text(const struct tool *t)
{
    for (const struct tool_slot *p = t ? t->params : NULL; p && p->type; p++)
        if (p->type == SLOT_TEXT && (p->flags & SLOT_BARE))
            return true;
    return false;
}

/* Words behind a text that nothing takes, or a second text: a quote inside the text was perhaps
 * taken for its end. */
enum status arguments_refused(const struct reading *r, size_t at, struct err *e)
{
    bool text = false;

    for (size_t i = 0; i < at && i < r->n; i++)
        text = text || (r->tokens[i].type == TOKEN_TEXT && !r->tokens[i].key.s);
    if (at < r->n && r->tokens[at].type == TOKEN_TEXT)
        text = text || takes_text(r->tool);
    return text && at < r->n && !r->tokens[at].key.s ? err_reason(e, LEX_QUOTES) : err_code(e);
}

static enum status read_args(struct reading *r, struct err *e)
{
    r->used = ARENA_NEW(r->a, bool, r->n + 1);
    for (size_t i = 0; i < r->n; i++)
        if (!r->used[i] && named_at(r, i, e))
            return arguments_refused(r, i, e);
    for (size_t i = 0; i < r->n; i++) {
        const struct token *t = &r->tokens[i];
        size_t              at = i;
        if (r->used[i])
            continue;
        if (t->type == TOKEN_TEXT ? quoted_text(r, t, e) : bare_word(r, &i, e))
            return arguments_refused(r, at, e);
    }
    return ST_OK;
}

/* ---- what was read, as a whole ------------------------------------------------------- */

/* The parameter that this one requires; NULL: none. */
static const char *companion(const struct tool_slot *p)
{
    return p->flags & PARAM_OF_ID       ? "id"
           : p->flags & PARAM_OF_BRANCH ? "branch"
           : p->flags & PARAM_OF_DOC    ? "doc"
           : p->flags & PARAM_OF_TREE   ? "tree"
                                        : NULL;
}

/* Everything that was given must have a meaning: no argument is ignored. */
static enum status check_given(const struct reading *r, const struct call_arg *x, struct err *e)
{
    const struct tool_slot *p = x->param;
    const char             *colon = p->flags & SLOT_KEYED ? ":" : "", *with = companion(p);

    if ((p->flags & SLOT_FILLED) && !sv_trim(x->text).n) {
        err_set(e, ST_INVALID_SYNTAX, "the %s is empty", p->name);
        return misfit(r, sv_of(p->name), e);
    }
    if (with && !call_has(r->call, with)) {
        bool id = p->flags & PARAM_OF_ID;
        err_set(e, ST_INVALID_SYNTAX, "%s%s goes with %s%s", p->name, colon, id ? "ID" : with,
                id ? "" : ":");
        return misfit(r, sv_of(p->name), e);
    }
    if ((p->flags & SLOT_ALONE) && r->call->n > 1) {
        err_set(e, ST_INVALID_SYNTAX, "%s%s stands alone", p->name, colon);
        return err_hint(e, "→ %s %s", r->tool->name, p->name);
    }
    return ST_OK;
}

static enum status check_complete(const struct reading *r, struct err *e)
{
    const struct tool *t = r->tool;
    size_t             one = 0, maybe = 0;
    bool               wants_one = false;

    for (const struct tool_slot *p = t->params; p->type; p++) {
        const struct call_arg *arg = given(r->call, p);
        bool                   there = arg != NULL;
        if (there && check_given(r, arg, e))
            return err_code(e);
        if ((p->flags & SLOT_REQUIRED) && !there) {
            err_set(e, ST_INVALID_SYNTAX, "%s needs a %s%s", t->name,
                    p->type == SLOT_ID ? "node" : p->name,
                    p->type == SLOT_TEXT ? " in quotes" : "");
            return misfit(r, sv_of(p->name), e);
        }
        one += there && (p->flags & SLOT_ONE);
        maybe += there && (p->flags & PARAM_MAYBE_ONE);
        wants_one = wants_one || (p->flags & SLOT_ONE);
    }
    if ((!wants_one || one == 1) && maybe <= 1)
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX,
            one == 0 && wants_one ? "%s needs something to act on" : "%s takes only one of these",
            t->name);
    return misfit(r, (struct sv){ 0 }, e);
}

enum status arguments_read(struct reading *r, struct err *e)
{
    if (read_args(r, e) || check_complete(r, e))
        return err_code(e);
    return ST_OK;
}
