/* Words by the tokenizer of SQLite's FTS5: other stores call it directly, so that no table of
 * letters has to be kept equal. */
#include "store/words.h"

#include "base/failure.h"
#include "base/utf8.h"

#include <sqlite3.h>
#include <stdlib.h>

struct words {
    sqlite3       *db;
    fts5_tokenizer how;
    Fts5Tokenizer *cutter;
};

struct sv words_spaced(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    size_t    len, done = 0;

    for (size_t i = 0; i < text.n; i += len) {
        len = 1;
        if ((unsigned char)text.s[i] < 0xe0) /* scripts without spaces begin at 0xe0 */
            continue;
        if (!utf8_is_unspaced(utf8_decode(sv_skip(text, i), &len)))
            continue;
        sb_add(&b, (struct sv){ text.s + done, i - done });
        sb_addc(&b, ' ');
        sb_add(&b, (struct sv){ text.s + i, len });
        sb_addc(&b, ' ');
        done = i + len;
    }
    if (!done)
        return text;
    sb_add(&b, sv_skip(text, done));
    return sb_sv(&b);
}

/* The beginning of a word, without cutting a character in two. */
static struct sv first_part(struct sv word)
{
    word = sv_first(word, WORD_MAX);
    while (word.n && utf8_invalid(word) >= 0)
        word.n--;
    return word;
}

static int add_word(void *ctx, int flags, const char *token, int n, int start, int end)
{
    struct sb *b = ctx;
    struct sv  word = { token, (size_t)n };

    (void)flags, (void)start, (void)end;
    if (word.n > WORD_MAX || utf8_invalid(word) >= 0)
        word = first_part(word);
    if (b->n)
        sb_addc(b, ' ');
    sb_add(b, word);
    return SQLITE_OK;
}

/* FTS5 hands its functions out through a statement. */
static const fts5_api *api_of(sqlite3 *db)
{
    const fts5_api *api = NULL;
    sqlite3_stmt   *st = NULL;

    if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &st, NULL) == SQLITE_OK) {
        sqlite3_bind_pointer(st, 1, (void *)&api, "fts5_api_ptr", NULL);
        sqlite3_step(st);
    }
    sqlite3_finalize(st);
    return api;
}

static bool start(struct words *w)
{
    const char *args[] = { "remove_diacritics", "2" };
    void       *own = NULL;

    if (sqlite3_open(":memory:", &w->db) != SQLITE_OK)
        return false;
    const fts5_api *api = api_of(w->db);
    return api &&
           api->xFindTokenizer((fts5_api *)(uintptr_t)api, "unicode61", &own, &w->how) ==
               SQLITE_OK &&
           w->how.xCreate(own, args, COUNT(args), &w->cutter) == SQLITE_OK;
}

enum status words_open(struct words **out, struct err *e)
{
    struct words *w = calloc(1, sizeof *w);

    if (!w)
        failure_memory(sizeof *w);
    if (!start(w)) {
        words_close(w);
        return err_set(e, ST_IO, "SQLite has no full text index, which cuts words for all stores");
    }
    *out = w;
    return ST_OK;
}

void words_close(struct words *w)
{
    if (!w)
        return;
    if (w->cutter)
        w->how.xDelete(w->cutter);
    sqlite3_close(w->db);
    free(w);
}

enum status words_of(struct words *w, struct sv text, struct arena *a, struct sv *out,
                     struct err *e)
{
    struct sb b = sb_in(a, 0);
    struct sv spaced = words_spaced(text, a);

    if (spaced.n > INT_MAX ||
        w->how.xTokenize(w->cutter, &b, FTS5_TOKENIZE_DOCUMENT, spaced.n ? spaced.s : "",
                         (int)spaced.n, add_word) != SQLITE_OK)
        return err_set(e, ST_IO, "a text cannot be cut into words");
    *out = sb_sv(&b);
    return ST_OK;
}
