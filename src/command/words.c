/* What a single word of a command may be. Pure functions over tokens and the lists of phrases.c. */
#include "command/words.h"

#include "command/tools.h"

#include <string.h>

bool word_same(struct sv a, struct sv b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (byte_lower(a.s[i]) != byte_lower(b.s[i]))
            return false;
    return true;
}

static bool ends_item(char c)
{
    return c == '|' || c == '=' || !c;
}

/* Is `word` in "a|b=a|c"? *meant is what it stands for. Every word of a command is looked for in
 * lists of up to a hundred, so most items cost one comparison. */
bool word_in(const char *words, struct sv word, struct sv *meant)
{
    for (const char *item = words; item; item = strchr(item, '|'), item = item ? item + 1 : NULL) {
        size_t i = 0;
        while (i < word.n && !ends_item(item[i]) && byte_lower(item[i]) == byte_lower(word.s[i]))
            i++;
        if (i < word.n || !ends_item(item[i]))
            continue;
        struct sv all = { item, strcspn(item, "|") };
        *meant = item[i] == '=' ? sv_skip(all, i + 1) : all;
        return true;
    }
    return false;
}

/* A word that was written as a word: no key, no quotes, no brackets. */
bool word_is_plain(const struct token *t)
{
    return t->type == TOKEN_WORD && !t->key.s && !t->brackets;
}

bool word_plain_in(const struct token *t, const char *words)
{
    struct sv meant;

    return word_is_plain(t) && word_in(words, t->text, &meant);
}

void words_mark(struct token *tokens, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tokens[i].filler = word_plain_in(&tokens[i], phrase_fillers);
}

/* What may be the id of a node: letters, digits, edit marks, and ann-3. */
bool word_is_id(struct sv v)
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

/* Letters and digits mixed: hardly an English word. */
bool word_is_surely_id(const struct token *t)
{
    bool letter = false, digit = false;

    for (size_t i = 0; i < t->text.n; i++) {
        char c = byte_lower(t->text.s[i]);
        digit = digit || (c >= '0' && c <= '9');
        letter = letter || (c >= 'a' && c <= 'z');
    }
    return (t->brackets || (letter && digit)) && word_is_id(t->text);
}

/* It, the last, here: a word that stands for something else. */
bool word_is_vague(const struct token *t)
{
    return word_plain_in(t, phrase_vague) || word_plain_in(t, phrase_places);
}

/* A place, or an id that is not a word of the language. *id is what goes into the call. */
bool word_as_node(const struct token *t, struct sv *id)
{
    static const struct {
        const char *place, *text;
    } places[] = { { "here", "@here" }, { "parent", "@parent" }, { "root", "@root" } };
    struct sv meant;

    *id = t->text;
    if (t->type != TOKEN_WORD)
        return false;
    if (!t->brackets && word_in(phrase_places, t->text, &meant)) {
        for (size_t i = 0; i < COUNT(places); i++)
            if (sv_is(meant, places[i].place))
                *id = sv_of(places[i].text);
        return true;
    }
    return word_is_id(t->text) && (t->brackets || !word_in(phrase_vague, t->text, &meant));
}

bool word_as_count(struct sv v, struct sv *digits)
{
    int64_t n;

    *digits = v;
    return sv_to_int(v, &n) || word_in(phrase_numbers, v, digits);
}

/* 1, 0.7: digits, and perhaps more of them behind a point. */
bool word_is_real(struct sv v)
{
    size_t digits = 0, points = 0;

    for (size_t i = 0; i < v.n; i++) {
        bool digit = v.s[i] >= '0' && v.s[i] <= '9';
        if (!digit && (v.s[i] != '.' || points++ || i == 0 || i + 1 == v.n))
            return false;
        digits += digit;
    }
    return digits > 0 && (v.s[0] != '0' || v.n == 1 || v.s[1] == '.');
}

/* notes.md, drafts/one.md: a name of a document without quotes. */
bool word_is_file(const struct token *t)
{
    struct sv_cut c = sv_cut_last(t->text, '.');

    return t->type == TOKEN_WORD && !t->key.s && c.found && c.head.n && c.tail.n &&
           word_is_id(c.tail);
}

static bool ends_choice(char c)
{
    return c == '/' || c == ' ' || !c;
}

/* Is the word one of "show/view/open", the first word of a phrase? *after is what follows it. Every
 * command is compared with every phrase, so that nothing is cut apart here. */
static bool is_choice(const char *phrase, struct sv word, const char **after)
{
    bool same = false;

    for (const char *p = phrase;; p++) {
        size_t i = 0;
        while (!same && i < word.n && !ends_choice(p[i]) &&
               byte_lower(p[i]) == byte_lower(word.s[i]))
            i++;
        same = same || (i == word.n && ends_choice(p[i]));
        p += strcspn(p, "/ ");
        if (*p == '/')
            continue;
        *after = *p ? p + 1 : p;
        return same;
    }
}

bool words_phrase(const struct token *tokens, size_t n, const char *phrase, size_t *at)
{
    size_t i = *at;

    do {
        const char *after = phrase;
        bool        here = false;
        while (i < n && !here) {
            const struct token *t = &tokens[i++];
            here = word_is_plain(t) && is_choice(phrase, t->text, &after);
            if (!here && !t->filler)
                return false;
        }
        if (!here)
            return false;
        phrase = after;
    } while (*phrase);
    *at = i;
    return true;
}
