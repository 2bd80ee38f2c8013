#include "command/grammar.h"

#include "command/lexer.h"
#include "command/tools.h"

#include <stdio.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------ */

static bool same_word(struct sv a, struct sv b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (byte_lower(a.s[i]) != byte_lower(b.s[i]))
            return false;
    return true;
}

/* Is `word` in "a|b=a|c"? *meant is what it stands for. */
static bool in_words(const char *words, struct sv word, struct sv *meant)
{
    struct sv_cut c = { .tail = sv_of(words), .found = words != NULL };

    while (c.found) {
        c = sv_cut(c.tail, '|');
        struct sv_cut alias = sv_cut(c.head, '=');
        if (same_word(alias.head, word)) {
            *meant = alias.found ? alias.tail : alias.head;
            return true;
        }
    }
    return false;
}

static bool is_filler(const struct token *t)
{
    struct sv meant;

    return t->type == TOKEN_WORD && !t->key.s && !t->brackets &&
           in_words("please|me|the|node|a", t->text, &meant);
}

/* What may be the id of a node: letters, digits, edit marks, and ann-3. */
static bool is_id(struct sv v)
{
    if (!v.n || v.n > 128)
        return false;
    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.s[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool mark = c == '\'' || (c == '-' && i > 0) || c >= 0x80;
        if (!alnum && !(mark && i > 0))
            return false;
        if (c >= 0x80 && !sv_starts(sv_skip(v, i), SV("’")))
            return false;
        i += c >= 0x80 ? 2 : 0;
    }
    return true;
}

static bool is_count(struct sv v)
{
    int64_t n;

    return sv_to_int(v, &n);
}

/* ---- verbs ------------------------------------------------------------------------ */

struct reading {
    const struct token *tokens;
    size_t              n, at;
    struct call        *call;
    const struct tool  *tool;
};

static bool next_is(const struct reading *r, size_t at, enum next_kind kind)
{
    while (at < r->n && is_filler(&r->tokens[at]))
        at++;
    if (kind == NEXT_ANY)
        return true;
    if (at >= r->n)
        return false;
    const struct token *t = &r->tokens[at];
    if (kind == NEXT_DOC)
        return t->key.s && sv_is(t->key, "doc");
    if (kind == NEXT_TEXT)
        return !t->key.s && t->type == TOKEN_TEXT;
    return !t->key.s && t->type == TOKEN_WORD;
}

/* Does the phrase stand at `at`? Fillers between its words are skipped. */
static bool phrase_at(const struct reading *r, const char *phrase, size_t *at)
{
    struct sv_cut c = { .tail = sv_of(phrase), .found = true };
    size_t        i = *at;

    while (c.found) {
        c = sv_cut(c.tail, ' ');
        while (i < r->n && is_filler(&r->tokens[i]) && !same_word(r->tokens[i].text, c.head))
            i++;
        if (i >= r->n || r->tokens[i].key.s || r->tokens[i].type != TOKEN_WORD ||
            r->tokens[i].brackets || !same_word(r->tokens[i].text, c.head))
            return false;
        i++;
    }
    *at = i;
    return true;
}

static enum status unknown_verb(struct sv word, struct err *e)
{
    const char *nearest = NULL;

    for (size_t i = 0; tools[i].name && !nearest; i++)
        if (sv_distance(word, sv_of(tools[i].name)) == 1)
            nearest = tools[i].name;
    for (size_t i = 0; synonyms[i].phrase && !nearest; i++)
        if (sv_distance(word, sv_of(synonyms[i].phrase)) == 1)
            nearest = synonyms[i].tool;
    if (!word.n) {
        err_set(e, ST_INVALID_SYNTAX, "there is no command");
        return err_hint(e, "→ help lists the commands");
    }
    err_set(e, ST_INVALID_SYNTAX, "unknown command '%.*s'", word.n > 60 ? 60 : (int)word.n,
            word.s ? word.s : "");
    if (nearest)
        return err_hint(e, "did you mean → %s? → help lists the commands", nearest);
    return err_hint(e, "→ help lists the commands");
}

/* `3 continuations from X` has its number before its verb. */
static bool leading_count(struct reading *r)
{
    static const char *const nouns = "continuations|continuation|children|replies|branches";
    struct sv                meant;

    if (r->n < 2 || r->tokens[0].key.s || r->tokens[0].type != TOKEN_WORD ||
        !is_count(r->tokens[0].text) || r->tokens[1].key.s ||
        !in_words(nouns, r->tokens[1].text, &meant))
        return false;
    r->tool = tool_find(SV("continue"));
    r->at = 0;
    return true;
}

static enum status find_verb(struct reading *r, const char **with, struct err *e)
{
    *with = NULL;
    while (r->at < r->n && is_filler(&r->tokens[r->at]))
        r->at++;
    if (r->at >= r->n)
        return unknown_verb(SV(""), e);
    if (leading_count(r))
        return ST_OK;
    for (size_t i = 0; synonyms[i].phrase; i++) {
        size_t at = r->at;
        if (!phrase_at(r, synonyms[i].phrase, &at) || !next_is(r, at, synonyms[i].next))
            continue;
        r->tool = tool_find(sv_of(synonyms[i].tool));
        r->at = at;
        *with = synonyms[i].with;
        return ST_OK;
    }
    const struct token *t = &r->tokens[r->at];
    r->tool = t->key.s || t->type != TOKEN_WORD || t->brackets ? NULL : tool_find(t->text);
    if (!r->tool)
        return unknown_verb(t->key.s ? t->key : t->text, e);
    r->at++;
    return ST_OK;
}

/* ---- arguments -------------------------------------------------------------------- */

/* Show the form that is nearest to what was tried: the first that has this key in it. */
static enum status misfit(const struct tool *t, struct sv key, struct err *e)
{
    const char *form = t->syntax[0];
    char        with_colon[32];

    snprintf(with_colon, sizeof with_colon, "%.*s:", (int)(key.n < 24 ? key.n : 24),
             key.s ? key.s : "");
    for (size_t i = 0; key.n && t->syntax[i]; i++)
        if (strstr(t->syntax[i], with_colon)) {
            form = t->syntax[i];
            break;
        }
    return err_hint(e, "→ %s", form);
}

static const struct call_arg *given(const struct call *c, const struct param *p)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->args[i].param == p)
            return &c->args[i];
    return NULL;
}

static enum status give(struct reading *r, const struct param *p, struct sv text, struct err *e)
{
    if (given(r->call, p)) {
        err_set(e, ST_INVALID_SYNTAX, "%s is given twice", p->name);
        return err_hint(e, "one → line for each");
    }
    if (r->call->n == CALL_ARGS_MAX)
        return err_set(e, ST_INVALID_SYNTAX, "too many arguments");
    r->call->args[r->call->n++] = (struct call_arg){ p, text };
    return ST_OK;
}

static const struct param *param_named(const struct tool *t, struct sv name)
{
    for (const struct param *p = t->params; p->type; p++)
        if (sv_is(name, p->name))
            return p;
    return NULL;
}

static bool is_lines(struct sv v)
{
    struct sv_cut c = sv_cut(v, '-');

    return c.found && is_count(sv_trim(c.head)) && is_count(sv_trim(c.tail));
}

/* What a value of this type looks like, for the message when it does not; NULL when it fits. */
static const char *misfit_of(const struct param *p, const struct token *t)
{
    switch (p->type) {
    case PARAM_COUNT: return is_count(t->text) ? NULL : "a whole number";
    case PARAM_RANGE: return sv_has(t->text, '-') ? NULL : "a range such as A-B";
    case PARAM_LINES: return is_lines(t->text) ? NULL : "a range such as 10-20";
    default: return NULL;
    }
}

static enum status fit_word(struct reading *r, const struct param *p, const struct token *t,
                            struct err *e)
{
    struct sv meant = t->text;
    bool      known = !p->words || in_words(p->words, t->text, &meant);

    if (known && !sv_starts(meant, SV("→")))
        return give(r, p, meant, e);
    err_set(e, ST_INVALID_SYNTAX, "%s cannot be '" SV_FMT "'", p->name,
            SV_ARG(sv_first(t->text, 60)));
    return known ? err_hint(e, SV_FMT, SV_ARG(meant)) : misfit(r->tool, t->key, e);
}

/* A value for a parameter, checked against its type. */
static enum status fit(struct reading *r, const struct param *p, const struct token *t,
                       struct err *e)
{
    const char *wanted = misfit_of(p, t);

    if (p->type == PARAM_WORD)
        return fit_word(r, p, t, e);
    if (p->type == PARAM_ID && (t->type == TOKEN_TEXT || !is_id(t->text))) {
        err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is not a node id",
                SV_ARG(sv_first(t->text, 60)));
        return misfit(r->tool, t->key, e);
    }
    if (wanted) {
        err_set(e, ST_INVALID_SYNTAX, "%s: takes %s, not '" SV_FMT "'", p->name, wanted,
                SV_ARG(sv_first(t->text, 60)));
        return misfit(r->tool, t->key, e);
    }
    return give(r, p, t->text, e);
}

static enum status keyed(struct reading *r, const struct token *t, struct err *e)
{
    const struct param *p = param_named(r->tool, t->key);

    if (p && t->inner.s) { /* pin:doc:"name" */
        struct token inner = *t;
        inner.key = t->inner;
        inner.inner = (struct sv){ 0 };
        if (sv_is(t->key, "pin") && sv_is(t->inner, "doc"))
            return keyed(r, &inner, e);
        p = NULL;
    }
    if (p && (p->flags & PARAM_KEYED))
        return fit(r, p, t, e);
    err_set(e, ST_INVALID_SYNTAX, "%s takes no '" SV_FMT ":'", r->tool->name, SV_ARG(t->key));
    return misfit(r->tool, t->key, e);
}

/* The first bare parameter of one of these types that is still free. */
static const struct param *free_bare(struct reading *r, unsigned types)
{
    for (const struct param *p = r->tool->params; p->type; p++)
        if ((types & 1u << p->type) && (p->flags & PARAM_BARE) && !given(r->call, p))
            return p;
    return NULL;
}

static enum status quoted_text(struct reading *r, const struct token *t, struct err *e)
{
    const struct param *p = free_bare(r, 1u << PARAM_TEXT | 1u << PARAM_DOC);

    if (p)
        return give(r, p, t->text, e);
    err_set(e, ST_INVALID_SYNTAX, "%s takes no further text", r->tool->name);
    return misfit(r->tool, t->key, e);
}

/* A flag's own name, a word of a choice: these win over ids. */
static const struct param *word_param(struct reading *r, struct sv word, struct sv *meant)
{
    for (const struct param *p = r->tool->params; p->type; p++) {
        if (p->type == PARAM_FLAG &&
            (same_word(word, sv_of(p->name)) || in_words(p->words, word, meant))) {
            *meant = SV("");
            return p;
        }
        if (p->type == PARAM_WORD && (p->flags & PARAM_BARE) && p->words &&
            in_words(p->words, word, meant))
            return p;
    }
    return NULL;
}

/* using "Name", with GPT-4o. */
static const struct param *announced(struct reading *r, struct sv word)
{
    struct sv meant;

    for (const struct param *p = r->tool->params; p->type; p++)
        if (p->after && in_words(p->after, word, &meant) && !given(r->call, p))
            return p;
    return NULL;
}

static enum status take_announced(struct reading *r, const struct param *p, struct sv word,
                                  struct err *e)
{
    while (r->at < r->n && is_filler(&r->tokens[r->at]))
        r->at++;
    if (r->at < r->n && r->tokens[r->at].key.s)
        return ST_OK; /* using agent:"Name" */
    if (r->at < r->n)
        return fit(r, p, &r->tokens[r->at++], e);
    err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is followed by nothing", SV_ARG(word));
    return misfit(r->tool, sv_of(p->name), e);
}

static enum status bare_word(struct reading *r, const struct token *t, struct err *e)
{
    struct sv           meant;
    const struct param *p;

    if (!t->brackets && (p = announced(r, t->text)))
        return take_announced(r, p, t->text, e);
    if (!t->brackets && (p = word_param(r, t->text, &meant)))
        return give(r, p, meant, e);
    if (!t->brackets && in_words(r->tool->little, t->text, &meant))
        return ST_OK;
    if (!t->brackets && is_count(t->text) && (p = free_bare(r, 1u << PARAM_COUNT)))
        return fit(r, p, t, e);
    if ((p = free_bare(r, 1u << PARAM_ID)))
        return fit(r, p, t, e);
    p = free_bare(r, 1u << PARAM_WORD);
    if (p && !t->brackets)
        return fit(r, p, t, e);
    err_set(e, ST_INVALID_SYNTAX, "%s cannot take '" SV_FMT "'", r->tool->name,
            SV_ARG(sv_first(t->text, 60)));
    return misfit(r->tool, t->key, e);
}

static enum status read_args(struct reading *r, struct err *e)
{
    while (r->at < r->n) {
        const struct token *t = &r->tokens[r->at++];
        enum status         s;
        if (t->key.s)
            s = keyed(r, t, e);
        else if (t->type == TOKEN_TEXT)
            s = quoted_text(r, t, e);
        else
            s = is_filler(t) ? ST_OK : bare_word(r, t, e);
        if (s)
            return s;
    }
    return ST_OK;
}

/* The parameter without which this one means nothing; NULL: it stands by itself. */
static const char *companion(const struct param *p)
{
    return p->flags & PARAM_OF_ID       ? "id"
           : p->flags & PARAM_OF_BRANCH ? "branch"
           : p->flags & PARAM_OF_DOC    ? "doc"
           : p->flags & PARAM_OF_TREE   ? "tree"
                                        : NULL;
}

/* What is given must have a meaning where it stands: nothing is passed over. */
static enum status check_given(const struct tool *t, const struct call *c, const struct call_arg *x,
                               struct err *e)
{
    const struct param *p = x->param;
    const char         *colon = p->flags & PARAM_KEYED ? ":" : "", *with = companion(p);

    if ((p->flags & PARAM_FILLED) && !sv_trim(x->text).n)
        return err_set(e, ST_INVALID_SYNTAX, "the %s is empty", p->name);
    if (with && !call_has(c, with)) {
        bool id = p->flags & PARAM_OF_ID;
        err_set(e, ST_INVALID_SYNTAX, "%s%s goes with %s%s", p->name, colon, id ? "ID" : with,
                id ? "" : ":");
        return misfit(t, sv_of(p->name), e);
    }
    if ((p->flags & PARAM_ALONE) && c->n > 1) {
        err_set(e, ST_INVALID_SYNTAX, "%s%s stands alone", p->name, colon);
        return err_hint(e, "→ %s %s", t->name, p->name);
    }
    return ST_OK;
}

static enum status check_complete(const struct tool *t, const struct call *c, struct err *e)
{
    size_t one = 0, maybe = 0;
    bool   wants_one = false;

    for (const struct param *p = t->params; p->type; p++) {
        const struct call_arg *arg = given(c, p);
        bool                   there = arg != NULL;
        if (there && check_given(t, c, arg, e))
            return err_code(e);
        if ((p->flags & PARAM_REQUIRED) && !there) {
            err_set(e, ST_INVALID_SYNTAX, "%s needs a %s%s", t->name,
                    p->type == PARAM_ID ? "node" : p->name,
                    p->type == PARAM_TEXT ? " in quotes" : "");
            return misfit(t, (struct sv){ 0 }, e);
        }
        one += there && (p->flags & PARAM_ONE);
        maybe += there && (p->flags & PARAM_MAYBE_ONE);
        wants_one = wants_one || (p->flags & PARAM_ONE);
    }
    if ((!wants_one || one == 1) && maybe <= 1)
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX,
            one == 0 && wants_one ? "%s needs something to act on" : "%s takes only one of these",
            t->name);
    return misfit(t, (struct sv){ 0 }, e);
}

static int by_param(const struct call_arg *a, const struct call_arg *b)
{
    return (a->param > b->param) - (a->param < b->param);
}

/* In the order of the table, so that equal calls are equal arrays. */
static void sort_args(struct call *c)
{
    for (size_t i = 1; i < c->n; i++)
        for (size_t k = i; k > 0 && by_param(&c->args[k], &c->args[k - 1]) < 0; k--) {
            struct call_arg t = c->args[k];
            c->args[k] = c->args[k - 1];
            c->args[k - 1] = t;
        }
}

bool call_is_think(struct sv command, struct sv *text)
{
    size_t    n = 0;
    struct sv meant;

    command = sv_trim(command);
    while (n < command.n && ((command.s[n] >= 'a' && command.s[n] <= 'z') ||
                             (command.s[n] >= 'A' && command.s[n] <= 'Z')))
        n++;
    bool ends = n == command.n || !is_id(sv_first(sv_skip(command, n), 1));
    if (!ends || !in_words("think|reflect|scratchpad", sv_first(command, n), &meant))
        return false;
    command = sv_skip(command, n);
    *text = sv_trim(sv_starts(command, SV(":")) ? sv_skip(command, 1) : command);
    return true;
}

/* doc "name" is doc:"name". */
static size_t join_docs(struct token *t, size_t n)
{
    size_t    kept = 0;
    struct sv meant;

    for (size_t i = 0; i < n; i++) {
        bool word = t[i].type == TOKEN_WORD && !t[i].key.s && !t[i].brackets &&
                    in_words("doc|document", t[i].text, &meant);
        if (word && i + 1 < n && t[i + 1].type == TOKEN_TEXT && !t[i + 1].key.s)
            t[i + 1].key = SV("doc");
        else
            t[kept++] = t[i];
    }
    return kept;
}

enum status call_parse(struct sv line, struct arena *a, struct call *out, struct err *e)
{
    struct reading r = { .call = out };
    struct token  *tokens;
    const char    *with;

    *out = (struct call){ .line = sv_trim(line) };
    struct sv thought;
    if (call_is_think(out->line, &thought)) {
        out->tool = tool_find(SV("think"));
        if (thought.n)
            out->args[out->n++] = (struct call_arg){ &out->tool->params[0], thought };
        return ST_OK;
    }
    if (lex(out->line, a, &tokens, &r.n, e))
        return err_code(e);
    r.n = join_docs(tokens, r.n);
    r.tokens = tokens;
    if (find_verb(&r, &with, e))
        return err_code(e);
    out->tool = r.tool;
    if (with) {
        struct reading extra = { .call = out, .tool = r.tool };
        if (lex(sv_of(with), a, &tokens, &extra.n, e))
            return err_code(e);
        extra.tokens = tokens;
        if (read_args(&extra, e))
            return err_code(e);
    }
    if (read_args(&r, e) || check_complete(r.tool, out, e))
        return err_code(e);
    sort_args(out);
    return ST_OK;
}

/* ---- reading and printing a call --------------------------------------------------- */

static const struct call_arg *arg_named(const struct call *c, const char *param)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->args[i].param->name, param) == 0)
            return &c->args[i];
    return NULL;
}

struct sv call_text(const struct call *c, const char *param)
{
    const struct call_arg *a = arg_named(c, param);

    return a ? a->text : (struct sv){ 0 };
}

bool call_has(const struct call *c, const char *param)
{
    return arg_named(c, param) != NULL;
}

int64_t call_count(const struct call *c, const char *param, int64_t otherwise)
{
    int64_t n;

    return sv_to_int(call_text(c, param), &n) ? n : otherwise;
}

bool call_eq(const struct call *a, const struct call *b)
{
    if (a->tool != b->tool || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->args[i].param != b->args[i].param || !sv_eq(a->args[i].text, b->args[i].text))
            return false;
    return true;
}

static void print_quoted(struct sb *b, struct sv text)
{
    sb_addc(b, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] == '\n')
            sb_adds(b, "\\n");
        else if (text.s[i] == '"' || text.s[i] == '\\')
            sb_addf(b, "\\%c", text.s[i]);
        else
            sb_addc(b, text.s[i]);
    }
    sb_addc(b, '"');
}

static void print_arg(struct sb *b, const struct call_arg *x)
{
    const struct param *p = x->param;
    bool                bare = (p->flags & PARAM_BARE) && p->type != PARAM_DOC;

    sb_addc(b, ' ');
    if (p->type == PARAM_FLAG) {
        sb_adds(b, p->name);
        return;
    }
    if (!bare)
        sb_addf(b, "%s:", p->name);
    bool free_word = p->type == PARAM_WORD && !p->words && !bare;
    if (p->type == PARAM_TEXT || p->type == PARAM_DOC || p->type == PARAM_RANGE ||
        p->type == PARAM_LINES || free_word)
        print_quoted(b, x->text);
    else if (bare && p->type == PARAM_ID)
        sb_addf(b, "[" SV_FMT "]", SV_ARG(x->text)); /* so that no word of the tool is meant */
    else
        sb_add(b, x->text);
}

void call_print(struct sb *b, const struct call *c)
{
    sb_adds(b, c->tool->name);
    if (strcmp(c->tool->name, "think") == 0) {
        sb_adds(b, c->n ? " " : "");
        sb_add(b, c->n ? c->args[0].text : SV(""));
        return;
    }
    for (size_t i = 0; i < c->n; i++)
        print_arg(b, &c->args[i]);
}
