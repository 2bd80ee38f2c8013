/* Commands that only look: they read beside writers, and parse no text twice. The program is linked
 * with json_parse() and log_begin() wrapped, so that calls of other files can be counted. */
#include "base/json.h"
#include "fresh.h"
#include "loom_test.h"

#include <string.h>

enum { PARSES_MAX = 200, BEGINS_MAX = 20 };

static struct {
    bool            on;
    size_t          n_parses, n_begins;
    struct sv       parsed[PARSES_MAX];
    enum store_mode begun[BEGINS_MAX];
    struct arena    a;
} seen;

enum status __real_json_parse(struct sv text, enum json_flags flags, struct arena *a,
                              struct json *out, struct err *e);
enum status __wrap_json_parse(struct sv text, enum json_flags flags, struct arena *a,
                              struct json *out, struct err *e);
enum status __real_log_begin(struct log *l, struct sv thread, enum store_mode mode, struct err *e);
enum status __wrap_log_begin(struct log *l, struct sv thread, enum store_mode mode, struct err *e);

enum status __wrap_json_parse(struct sv text, enum json_flags flags, struct arena *a,
                              struct json *out, struct err *e)
{
    if (seen.on && seen.n_parses < PARSES_MAX)
        seen.parsed[seen.n_parses++] = sv_dup(text, &seen.a);
    return __real_json_parse(text, flags, a, out, e);
}

enum status __wrap_log_begin(struct log *l, struct sv thread, enum store_mode mode, struct err *e)
{
    if (seen.on && seen.n_begins < BEGINS_MAX)
        seen.begun[seen.n_begins++] = mode;
    return __real_log_begin(l, thread, mode, e);
}

static void watch(void)
{
    seen.on = true;
    seen.n_parses = seen.n_begins = 0;
}

static size_t parsed_twice(void)
{
    size_t twice = 0;

    for (size_t i = 0; i < seen.n_parses; i++)
        for (size_t k = 0; k < i; k++)
            if (sv_eq(seen.parsed[i], seen.parsed[k])) {
                printf("# twice: " SV_FMT "\n", SV_ARG(seen.parsed[i]));
                twice++;
            }
    return twice;
}

/* The second time, so that the rows of the trace and of the place are there and are read, too. */
static void view_parses_nothing_twice(void)
{
    struct loom_test t;
    struct turn      turn;

    loom_test_open(&t, PERM_ALL);
    CHECK(session_turn(&t.s, SV("→ view b3k9\n"), &turn, &t.e) == ST_OK);
    watch();
    CHECK(session_turn(&t.s, SV("→ view a7x2\n"), &turn, &t.e) == ST_OK);
    seen.on = false;
    CHECK(turn.n == 1 && turn.results[0].ok);
    CHECK_INT(parsed_twice(), 0);
    /* The node, its strand, its text; the record and the end of the turn, each as it is folded; the
     * rows that these change: trace, place, turn, and the result, which fades. */
    CHECK_INT(seen.n_parses, 9);
    loom_test_close(&t);
}

static void tools_that_look_begin_to_read(void)
{
    static const char *const lines[] = {
        "view a7x2",
        "list a7x2 continuations",
        "tree",
        "path",
        "diff b3k9 c4m2",
        "find \"silence\"",
        "changes since:turn",
        "memory",
        "help",
        "read doc:\"character notes\"",
        "search \"looms\"",
    };
    struct loom_test t;
    bool             ok;

    loom_test_open(&t, PERM_ALL);
    loom_test_run(&t, "find \"silence\"", &ok); /* puts the words into the index */
    for (size_t i = 0; i < COUNT(lines); i++) {
        watch();
        loom_test_run(&t, lines[i], &ok);
        seen.on = false;
        CHECK(ok);
        CHECK(seen.n_begins >= 2);
        for (size_t k = 0; k < seen.n_begins; k++) /* the trace is written last */
            CHECK(seen.begun[k] == (k + 1 < seen.n_begins ? STORE_READ : STORE_WRITE));
    }
    loom_test_close(&t);
}

static void tools_that_write_need_one_transaction(void)
{
    static const char *const lines[] = {
        "respond a7x2 \"Yes.\"", "switch to b3k9", "stash \"x\" \"text\"",
        "bookmark a7x2",         "view",           "flying carpet"
    };
    struct loom_test t;
    bool             ok;

    loom_test_open(&t, PERM_ALL);
    for (size_t i = 0; i < COUNT(lines); i++) {
        watch();
        loom_test_run(&t, lines[i], &ok);
        seen.on = false;
        if (ok || i >= 4) /* the last two are refused before they run */
            CHECK_INT(seen.n_begins, 1);
        CHECK(seen.begun[0] == STORE_WRITE);
    }
    loom_test_close(&t);
}

/* ---- another writer ------------------------------------------------------------------------- */

static struct sv other_url;

/* While the tool reads a document, somebody else appends to the same database. */
static enum status read_and_write(void *ctx, struct sv thread, struct sv name, struct arena *a,
                                  struct doc *out, struct err *e)
{
    struct store     *store;
    struct entry      n = { .at = 1, .kind = SV("note"), .actor = SV("bo"), .payload = SV("{}") };
    struct store_head head;

    CHECK(store_open(other_url, &(struct store_options){ .create = true }, &store, e) == ST_OK);
    struct log log = log_of(store, loom_test_views);
    CHECK(log_begin(&log, SV("other"), STORE_WRITE, e) == ST_OK);
    CHECK(log_append(&log, SV("other"), LOG_ANY_REV, &n, 1, &head, e) == ST_OK);
    CHECK(log_commit(&log, e) == ST_OK);
    store_close(store);
    return test_read_doc(ctx, thread, name, a, out, e);
}

static void others_write_while_a_tool_looks(void)
{
    struct fresh     folder = fresh_folder();
    struct loom_test t;
    char             url[sizeof folder.path + 16];
    bool             ok;

    snprintf(url, sizeof url, "%s/heddle.db", folder.path);
    other_url = sv_of(url);
    loom_test_store = url;
    loom_test_open(&t, PERM_ALL);
    loom_test_store = "mem:";
    t.s.env.docs.read = read_and_write;
    loom_test_run(&t, "read doc:\"character notes\"", &ok);
    CHECK(ok);
    loom_test_close(&t);
    fresh_done(&folder);
}

TAP_MAIN(T(view_parses_nothing_twice), T(tools_that_look_begin_to_read),
         T(tools_that_write_need_one_transaction), T(others_write_while_a_tool_looks), )
