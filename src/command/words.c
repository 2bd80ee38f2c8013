/* What a single word of a command may be. Pure functions over tokens and the lists of phrases.c. */
#include "command/words.h"

#include "command/tools.h"

bool word_same(struct sv a, struct sv b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (byte_lower(a.s[i]) != byte_lower(b.s[i]))
            return false;
    return true;
}

/* Is `word` in "a|b=a|c"? *meant is what it stands for. */
bool word_in(const char *words, struct sv word, struct sv *meant)
{
    struct sv_cut c = { .tail = sv_of(words), .found = words != NULL };

    while (c.found) {
        c = sv_cut(c.tail, '|');
        struct sv_cut alias = sv_cut(c.head, '=');
        if (word_same(alias.head, word)) {
            *meant = alias.found ? alias.tail : alias.head;
            return true;
        }
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

bool word_is_filler(const struct token *t)
{
    return word_plain_in(t, phrase_fillers);
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

/* A place, or an id that is not a word of ours. *id is what goes into the call. */
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

/* notes.md, drafts/one.md: a name of a document without quotes. */
bool word_is_file(const struct token *t)
{
    struct sv_cut c = sv_cut_last(t->text, '.');

    return t->type == TOKEN_WORD && !t->key.s && c.found && c.head.n && c.tail.n &&
           word_is_id(c.tail);
}
