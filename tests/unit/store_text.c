/* Words of entries: found by every word, newest first, whatever stands in the query. */
#include "store/store.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static struct arena  a;
static struct err    e;
static struct store *s;
static char          path[32];

static const char *const texts[] = { "The quick brown fox", "A lazy dog", "The fox and the dog",
                                     "Æther \"quoted\" AND NOT near*" };

static void open_with(const char *url)
{
    struct store_head head;

    CHECK(store_open(sv_of(url), &(struct store_options){ .create = true }, &s, &e) == ST_OK);
    CHECK(store_begin(s, STORE_WRITE, &e) == ST_OK);
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < COUNT(texts); i++) {
            struct sb    b = sb_in(&a, 0);
            struct sv    thread = t ? SV("two") : SV("one");
            struct entry n = { .kind = SV("ai_message"), .mark = MARK_MESSAGE, .lane = SV("l") };
            sb_addf(&b, "{\"content\":\"%s\"}", i == 3 ? "other" : texts[i]);
            n.payload = sb_sv(&b);
            CHECK(store_append(s, thread, STORE_ANY_REV, &n, 1, &head, &e) == ST_OK);
            CHECK(store_text_put(s, thread, (int64_t)i, sv_of(texts[i]), &e) == ST_OK);
            CHECK(store_text_put(s, thread, (int64_t)i, SV("again"), &e) == ST_OK);
        }
    CHECK(store_commit(s, &e) == ST_OK);
}

static void open_file(void)
{
    strcpy(path, "/tmp/heddle-text.XXXXXX");
    close(mkstemp(path));
    unlink(path);
    open_with(path);
}

static void close_file(void)
{
    store_close(s);
    unlink(path);
    arena_free(&a);
}

static size_t find(struct sv thread, struct sv one, struct sv two, size_t max,
                   struct store_hit **hits)
{
    struct sv words[] = { one, two };
    size_t    n = 99;

    CHECK(store_text_find(s, thread, words, two.s ? 2 : 1, max, &a, hits, &n, &e) == ST_OK);
    return n;
}

static const struct sv none;

static void every_word_must_be_there(void)
{
    struct store_hit *h;

    open_file();
    CHECK_INT(find(SV("one"), SV("fox"), none, 9, &h), 2);
    CHECK_INT(h[0].seq, 2);
    CHECK_INT(h[1].seq, 0);
    CHECK_INT(find(SV("one"), SV("FOX"), SV("dog"), 9, &h), 1);
    CHECK_INT(find(SV("one"), SV("quick brown"), none, 9, &h), 1);
    CHECK_INT(find(SV("one"), SV("brown quick"), none, 9, &h), 0);
    CHECK_INT(find(SV("one"), SV("fox"), none, 1, &h), 1);
    CHECK_INT(find(SV("one"), SV("again"), none, 9, &h), 0); /* the first words stay */
    CHECK_INT(find(none, SV("lazy"), none, 9, &h), 2);
    CHECK(!sv_eq(h[0].thread, h[1].thread));
    CHECK_INT(find(SV("three"), SV("fox"), none, 9, &h), 0);
    close_file();
}

static void a_query_is_text_and_no_language(void)
{
    struct store_hit *h;

    open_file();
    CHECK_INT(find(SV("one"), SV("\"quoted\""), none, 9, &h), 1);
    CHECK_INT(find(SV("one"), SV("fox OR dog"), none, 9, &h), 0);
    CHECK_INT(find(SV("one"), SV("body:fox"), none, 9, &h), 0);
    CHECK_INT(find(SV("one"), SV("fo*"), none, 9, &h), 0);
    CHECK_INT(find(SV("one"), SV("\"\"\""), none, 9, &h), 0);
    CHECK_INT(find(SV("one"), (struct sv){ "fo\0x", 4 }, none, 9, &h), 2);
    close_file();
}

static void the_last_one_is_known(void)
{
    int64_t seq;

    open_file();
    CHECK(store_text_last(s, SV("one"), &seq, &e) == ST_OK);
    CHECK_INT(seq, 3);
    CHECK(store_text_last(s, SV("three"), &seq, &e) == ST_OK);
    CHECK_INT(seq, -1);
    close_file();
}

static void a_store_without_an_index_looks_itself(void)
{
    struct store_hit *h;
    int64_t           seq;

    open_with("mem:");
    CHECK_INT(find(SV("one"), SV("FOX"), none, 9, &h), 2);
    CHECK_INT(h[0].seq, 2);
    CHECK_INT(find(none, SV("lazy"), none, 9, &h), 2);
    CHECK(store_text_last(s, SV("one"), &seq, &e) == ST_OK);
    CHECK(seq == INT64_MAX);
    store_close(s);
    arena_free(&a);
}

TAP_MAIN(T(every_word_must_be_there), T(a_query_is_text_and_no_language), T(the_last_one_is_known),
         T(a_store_without_an_index_looks_itself), )
