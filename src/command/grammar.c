/* From a line to a call: the lead-in, the verb (phrases.c), then the arguments (arguments.c). */
#include "command/grammar.h"

#include "command/arguments.h"
#include "command/doubt.h"
#include "command/tools.h"
#include "command/words.h"

#include <string.h>

/* ---- verbs ------------------------------------------------------------------------ */

static bool is_doc(const struct reading *r, size_t at)
{
    const struct token *t = &r->tokens[at];
    bool                follows = at + 1 < r->n && !r->tokens[at + 1].key.s;

    return (t->key.s && (sv_is(t->key, "doc") || sv_is(t->key, "document"))) || word_is_file(t) ||
           (word_plain_in(t, "doc|document|file") && follows);
}

static bool next_is(const struct reading *r, size_t at, enum next_kind kind)
{
    struct sv meant;

    while (at < r->n && r->tokens[at].filler)
        at++;
    if (kind == NEXT_ANY)
        return true;
    if (at >= r->n)
        return kind == NEXT_NOTHING;
    const struct token *t = &r->tokens[at];
    switch (kind) {
    case NEXT_NOTHING: return false;
    case NEXT_DOC: return is_doc(r, at);
    case NEXT_TEXT: return !t->key.s && t->type == TOKEN_TEXT;
    case NEXT_SURE_ID: return !t->key.s && t->type == TOKEN_WORD && word_is_surely_id(t);
    case NEXT_COUNT: return word_is_plain(t) && word_as_count(t->text, &meant);
    default: return (!t->key.s || sv_is(t->key, "id")) && word_as_node(t, &meant);
    }
}

/* Does the word stand anywhere from `at` on? "doc": does a document? */
static bool also_is(const struct reading *r, size_t at, const char *also)
{
    bool doc = also && strcmp(also, "doc") == 0;

    for (size_t i = at; also && i < r->n; i++)
        if (doc ? is_doc(r, i) : word_plain_in(&r->tokens[i], also))
            return true;
    return !also;
}

/* The last word of a phrase's first choice, for "did you mean". */
static bool is_near(struct sv word, const char *phrase)
{
    struct sv_cut c = { .tail = sv_cut(sv_of(phrase), ' ').head, .found = true };

    while (c.found) {
        c = sv_cut(c.tail, '/');
        if (sv_distance(word, c.head) == 1)
            return true;
    }
    return false;
}

static enum status unknown_verb(struct sv word, struct err *e)
{
    const char *nearest = NULL;

    for (size_t i = 0; word.n > 2 && tool_table[i].name && !nearest; i++)
        if (sv_distance(word, sv_of(tool_table[i].name)) == 1)
            nearest = tool_table[i].name;
    for (size_t i = 0; word.n > 3 && phrase_synonyms[i].phrase && !nearest; i++)
        if (phrase_synonyms[i].tool && is_near(word, phrase_synonyms[i].phrase))
            nearest = phrase_synonyms[i].tool;
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

    if (r->n < r->at + 2 || !word_is_plain(&r->tokens[r->at]) ||
        !word_as_count(r->tokens[r->at].text, &meant) ||
        !word_plain_in(&r->tokens[r->at + 1], nouns))
        return false;
    r->tool = tool_find(SV("continue"));
    return true;
}

/* "Please", "let me", "can you": what stands before the verb. */
static void skip_lead_in(struct reading *r)
{
    static const char *const *const lists[] = { phrase_lead_ins, phrase_polite };
    bool                            again = true;

    while (again) {
        again = false;
        for (size_t k = 0; k < COUNT(lists); k++)
            for (size_t i = 0; lists[k][i]; i++) {
                size_t at = r->at;
                if (words_phrase(r->tokens, r->n, lists[k][i], &at) && at < r->n) {
                    r->at = at;
                    again = true;
                }
            }
    }
    while (r->at < r->n && r->tokens[r->at].filler)
        r->at++;
}

static enum status check_doubt(const struct reading *r, struct err *e)
{
    for (size_t i = r->at; i < r->n; i++)
        if (word_plain_in(&r->tokens[i], phrase_doubts)) {
            err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' leaves open whether this should run",
                    SV_ARG(r->tokens[i].text));
            return err_hint(e, "nothing was run; write only the command, and text in quotes");
        }
    return ST_OK;
}

/* "What are the children of a7x2": the verb of looking is left out. */
static bool skip_question(struct reading *r)
{
    for (size_t i = 0; phrase_questions[i]; i++) {
        size_t at = r->at;
        if (words_phrase(r->tokens, r->n, phrase_questions[i], &at) && at < r->n) {
            r->at = at;
            return true;
        }
    }
    return false;
}

static enum status find_phrase(struct reading *r, const char **with, struct err *e)
{
    *with = NULL;
    if (r->at >= r->n)
        return unknown_verb(SV(""), e);
    if (leading_count(r))
        return ST_OK;
    for (size_t i = 0; phrase_synonyms[i].phrase; i++) {
        size_t at = r->at;
        if (!words_phrase(r->tokens, r->n, phrase_synonyms[i].phrase, &at) ||
            !next_is(r, at, phrase_synonyms[i].next) || !also_is(r, at, phrase_synonyms[i].also))
            continue;
        if (!phrase_synonyms[i].tool) {
            err_set(e, ST_INVALID_SYNTAX, "there is no command '" SV_FMT "'",
                    SV_ARG(r->tokens[r->at].text));
            return err_hint(e, "%s", phrase_synonyms[i].hint);
        }
        r->tool = tool_find(sv_of(phrase_synonyms[i].tool));
        r->at = at;
        *with = phrase_synonyms[i].with;
        return ST_OK;
    }
    const struct token *t = &r->tokens[r->at];
    r->tool = word_is_plain(t) ? tool_find(t->text) : NULL;
    if (!r->tool)
        return unknown_verb(t->key.s ? t->key : t->text, e);
    r->at++;
    return ST_OK;
}

static enum status find_verb(struct reading *r, const char **with, struct err *e)
{
    struct sv  meant;
    struct err tried = { 0 };
    size_t     at = r->at;

    if (find_phrase(r, with, &tried) == ST_OK)
        return ST_OK;
    r->at = at;
    if (skip_question(r) && find_phrase(r, with, e) == ST_OK) {
        if (r->tool && !r->tool->writes && !word_in(phrase_acting, sv_of(r->tool->name), &meant))
            return ST_OK;
        r->tool = NULL;
    }
    r->at = at;
    *e = tried;
    return err_code(e);
}

/* ---- the whole line ---------------------------------------------------------------- */

/* In the order of the table, so that equal calls are equal arrays; a list keeps its order. */
static void sort_args(struct call *c)
{
    for (size_t i = 1; i < c->n; i++)
        for (size_t k = i; k > 0 && c->args[k].param < c->args[k - 1].param; k--) {
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
    bool ends = n == command.n || !word_is_id(sv_first(sv_skip(command, n), 1));
    if (!ends || !word_in("think|reflect|scratchpad", sv_first(command, n), &meant))
        return false;
    command = sv_skip(command, n);
    *text = sv_trim(sv_starts(command, SV(":")) ? sv_skip(command, 1) : command);
    return true;
}

/* switch:b3k9 is switch b3k9. */
static void split_verb(struct token **tokens, size_t *n, struct arena *a)
{
    struct token *t = *tokens, *more;

    if (!*n || !t[0].key.s || !tool_find(t[0].key))
        return;
    more = ARENA_NEW(a, struct token, *n + 1);
    memcpy(more + 1, t, *n * sizeof *t);
    more[0] = (struct token){ .text = t[0].key, .raw = t[0].raw };
    more[1].key = t[0].inner;
    more[1].inner = (struct sv){ 0 };
    *tokens = more;
    ++*n;
}

/* The arguments: what the phrase stands for, then what was written. */
static enum status arguments(struct reading *r, const char *with, struct err *e)
{
    struct token *front = NULL, *all;
    size_t        n = 0;

    if (with && lexer_read(sv_of(with), r->a, &front, &n, e))
        return err_code(e);
    all = ARENA_NEW(r->a, struct token, n + r->n - r->at + 1);
    words_mark(front, n);
    if (n)
        memcpy(all, front, n * sizeof *all);
    if (r->n > r->at)
        memcpy(all + n, r->tokens + r->at, (r->n - r->at) * sizeof *all);
    r->n = n + r->n - r->at;
    r->tokens = all;
    r->at = 0;
    return ST_OK;
}

static enum status parse_call(struct reading *r, struct err *e)
{
    const char *with;

    skip_lead_in(r);
    if (check_doubt(r, e) || find_verb(r, &with, e))
        return arguments_refused(r, r->n ? r->n - 1 : 0, e);
    r->call->tool = r->tool;
    if (arguments(r, with, e) || arguments_read(r, e))
        return err_code(e);
    sort_args(r->call);
    return ST_OK;
}

static enum status check_words(const struct token *t, size_t n, struct err *e)
{
    if (n <= CALL_WORDS_MAX)
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX, "a command of %zu words outside quotes", n);
    err_hint(e, "put text in quotes, and \\ before a quote inside it");
    for (size_t i = 0; i < n; i++)
        if (t[i].type == TOKEN_TEXT)
            return err_reason(e, LEX_QUOTES);
    return err_code(e);
}

enum status call_meant(struct sv line, struct arena *a, struct call *out, struct err *e)
{
    struct reading r = { .call = out, .a = a };
    struct token  *tokens;
    struct sv      thought;

    *out = (struct call){ .line = sv_trim(line) };
    if (call_is_think(out->line, &thought)) {
        out->tool = tool_find(SV("think"));
        if (thought.n)
            out->args[out->n++] = (struct call_arg){ &out->tool->params[0], thought };
        return ST_OK;
    }
    out->line = sv_trim(lexer_plain_spaces(out->line, a));
    if (lexer_read(out->line, a, &tokens, &r.n, e) || check_words(tokens, r.n, e))
        return err_code(e);
    split_verb(&tokens, &r.n, a);
    words_mark(tokens, r.n);
    r.tokens = tokens;
    return parse_call(&r, e);
}

/* The answer to a line that leaves open whether it should run: the line that would do it. A text of
 * several lines, or a long one, is not repeated. */
static enum status ask_back(struct sv sign, const struct call *meant, struct arena *a,
                            struct err *e)
{
    enum { LINE_SHOWN = 500 };
    struct sb line = sb_in(a, 0);

    call_print(&line, meant);
    err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' leaves open whether this should run", SV_ARG(sign));
    if (line.n > LINE_SHOWN || sv_has(sb_sv(&line), '\n'))
        return err_hint(e, "nothing was run; if it should, repeat the line without '" SV_FMT "'",
                        SV_ARG(sign));
    return err_hint(e, "nothing was run; if it should: → " SV_FMT, SV_ARG(sb_sv(&line)));
}

enum status call_parse(struct sv line, struct arena *a, struct call *out, struct err *e)
{
    struct call  meant;
    struct err   ignored = { 0 };
    struct doubt doubt;
    enum status  st = call_meant(line, a, out, e);

    if (out->tool == tool_find(SV("think")) || !doubt_find(out->line, a, &doubt))
        return st;
    bool looks = !st && tool_only_looks(out->tool);
    bool understood = !call_meant(doubt.without, a, &meant, &ignored);
    if (looks && !(understood && doubt.only_marks && meant.tool == out->tool))
        return ST_OK;
    if (!understood && st)
        return st;
    meant = understood ? meant : *out;
    meant.line = out->line;
    if (doubt.only_marks && tool_only_looks(meant.tool)) {
        *out = meant;
        return ST_OK;
    }
    bool quotes = st && strcmp(e->reason, LEX_QUOTES) == 0;
    *out = (struct call){ .tool = meant.tool, .line = meant.line };
    ask_back(doubt.sign, &meant, a, e);
    return err_reason(e, quotes ? LEX_QUOTES : CALL_DOUBT);
}
