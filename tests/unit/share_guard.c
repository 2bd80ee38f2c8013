/* What a thread may not write, and what changed while somebody ran a tool. */
#include "api/workspace.h"
#include "fresh.h"
#include "share/block.h"
#include "share/guard.h"
#include "share/operation.h"
#include "tap.h"

static struct fresh     folder;
static struct workspace ws;
static struct log       log_;
static struct share     s;
static struct arena     a;
static struct err       e;

static void put(const char *path, const char *text)
{
    CHECK(fs_mkdirs(ws.root_fd, sv_cut_last(sv_of(path), '/').head, &e) == ST_OK);
    CHECK(fs_write(ws.root_fd, sv_of(path), sv_of(text), 0644, &e) == ST_OK);
}

static void spawn(const char *id)
{
    struct spawn_request r = { .intent = sv_of(id), .objective = SV("goal"), .id = sv_of(id) };
    struct share_thread  t;

    CHECK(share_spawn(&s, &r, &t, &e) == ST_OK);
}

static void refer(const char *target, bool frozen)
{
    struct reference_request r = { .from = SV("own"), .target = sv_of(target), .frozen = frozen };
    struct share_ref         made;

    CHECK(share_begin(&s, STORE_WRITE, &e) == ST_OK &&
          share_reference(&s, &r, &made, &e) == ST_OK && share_commit(&s, &e) == ST_OK);
}

/* "own" may read "live" and a copy of "still", and has nothing to do with "other". */
static void make(void)
{
    struct objective_request o = { .title = SV("Goal"), .id = SV("goal") };
    struct store            *store;
    struct sv                made;

    folder = fresh_folder();
    workspace_init(&ws);
    ws.root = ws.start = sv_of(folder.path);
    ws.root_fd = open(folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(workspace_take(&ws, STORE_WRITE, &store, &e) == ST_OK);
    log_ = log_of(store, workspace_views);
    share_init(&s, &log_, ws.root_fd, SV("user"), &a);
    CHECK(share_begin(&s, STORE_WRITE, &e) == ST_OK &&
          share_objective_create(&s, &o, &made, &e) == ST_OK);
    spawn("own");
    spawn("live");
    spawn("still");
    spawn("other");
    CHECK(share_commit(&s, &e) == ST_OK);
    put(".leslie/threads/live/design.md", "live");
    put(".leslie/threads/still/plan.md", "still");
    refer("live", false);
    refer("still", true);
    CHECK(share_begin(&s, STORE_READ, &e) == ST_OK);
}

static void unmake(void)
{
    share_end(&s);
    workspace_give(&ws, log_.store, STORE_WRITE);
    workspace_close(&ws);
    fresh_done(&folder);
    arena_free(&a);
}

static void only_what_belongs_to_others_is_refused(void)
{
    static const struct {
        const char    *path;
        enum guard_why why;
    } cases[] = {
        { ".leslie/threads/live/design.md", GUARD_REFERENCE },
        { ".leslie/threads/live", GUARD_REFERENCE },
        { ".leslie/threads/still/new.md", GUARD_REFERENCE },
        { ".leslie/threads/livery/x", GUARD_ALLOWED },
        { ".leslie/threads/other/plan.md", GUARD_ALLOWED },
        { ".leslie/threads/own/plan.md", GUARD_ALLOWED },
        { ".leslie/threads/own/contexts.md", GUARD_ALLOWED },
        { ".leslie/threads/own/context/inherited/plan.md", GUARD_COPY },
        { ".leslie/threads/other/context/live/.refs.json", GUARD_COPY },
        { ".leslie/threads/.global/registry.json", GUARD_CONTROL },
        { ".leslie/thread_relations.json", GUARD_CONTROL },
        { ".leslie/thread_relations.json.bak", GUARD_CONTROL },
        { ".leslie", GUARD_CONTROL },
        { ".leslie/threads", GUARD_CONTROL },
        { ".leslie/notes.md", GUARD_ALLOWED },
        { ".heddle/heddle.db", GUARD_CONTROL },
        { ".heddle", GUARD_CONTROL },
        { ".heddler", GUARD_ALLOWED },
        { "src/main.c", GUARD_ALLOWED },
        { "", GUARD_ALLOWED },
    };
    struct guard_refusal x;

    make();
    for (size_t i = 0; i < COUNT(cases); i++) {
        CHECK(guard_path(&s, SV("own"), sv_of(cases[i].path), &x, &e) == ST_OK);
        CHECK_INT(x.why, cases[i].why);
    }
    CHECK(guard_path(&s, SV("nobody"), SV(".leslie/threads/live/x"), &x, &e) == ST_OK);
    CHECK_INT(x.why, GUARD_ALLOWED);
    unmake();
}

/* The places that an operation on all that is at `path` and below would touch. */
static struct sv places_below(const char *path)
{
    struct guard_place_list places;
    struct sb               b = sb_in(&a, 0);
    struct sv               dir = sv_of(path);

    CHECK(guard_places(&s, SV("own"), dir, false, &places, &e) == ST_OK);
    for (size_t i = 0; i < places.list.n; i++) {
        struct sv            p = places.list.v[i].path;
        struct guard_refusal x;
        CHECK(guard_path(&s, SV("own"), p, &x, &e) == ST_OK);
        CHECK_INT(x.why, places.list.v[i].refusal.why);
        if (!dir.n || (sv_starts(p, dir) && (p.n == dir.n || p.s[dir.n] == '/')))
            sb_addf(&b, " " SV_FMT, SV_ARG(p));
    }
    return sb_sv(&b);
}

static void what_is_below_a_path_is_known(void)
{
    make();
    CHECK_SV(places_below("src"), SV(""));
    CHECK_SV(places_below(".heddle"), SV(" .heddle .heddle/heddle.db"));
    CHECK_SV(places_below(".leslie/threads/own"), SV(" .leslie/threads/own/context"));
    CHECK_SV(places_below(".leslie/threads/other"), SV(""));
    put(".leslie/threads/other/context/inherited/x", "x");
    CHECK_SV(places_below(".leslie/threads/other"), SV(" .leslie/threads/other/context"));
    CHECK_SV(places_below(".leslie/threads"),
             SV(" .leslie/threads/live .leslie/threads/still .leslie/threads/own/context "
                ".leslie/threads .leslie/threads/.global"));
    unmake();
}

static size_t changed(const struct guard_mark_list *before)
{
    struct guard_mark_list out;

    CHECK(guard_marks_changed(&s, SV("own"), before, &out, &e) == ST_OK);
    return out.list.n;
}

static void a_change_is_one_of_the_bytes_where_their_hash_is_known(void)
{
    struct guard_mark_list hashed, plain;

    make();
    CHECK(guard_marks(&s, SV("own"), 1 << 20, &hashed, &e) == ST_OK);
    CHECK(guard_marks(&s, SV("own"), 0, &plain, &e) == ST_OK);
    CHECK_INT(hashed.list.n, 2);
    CHECK_INT(changed(&hashed), 0);
    CHECK_INT(changed(&plain), 0);
    put(".leslie/threads/live/design.md", "live"); /* another file with the same bytes */
    CHECK_INT(changed(&hashed), 0);
    CHECK_INT(changed(&plain), 1);
    put(".leslie/threads/live/design.md", "LIVE");
    CHECK_INT(changed(&hashed), 1);
    put(".leslie/threads/live/new.md", "x");
    put(".leslie/threads/still/new.md", "not shown by a copy");
    CHECK_INT(changed(&hashed), 2);
    CHECK(fs_remove(ws.root_fd, SV(".leslie/threads/own/context/inherited/plan.md"), &e) == ST_OK);
    CHECK_INT(changed(&hashed), 3);
    unmake();
}

static void a_thread_that_is_about_to_be_made_has_a_block(void)
{
    struct sv        text;
    struct block_doc doc;

    make();
    CHECK(block_of_new(&s, SV("new"), SV("goal"), BLOCK_NOTES, &text, &e) == ST_OK);
    CHECK(block_parse(text, &a, &doc, &e) == ST_OK);
    CHECK_SV(doc.thread, SV("new"));
    CHECK(doc.assets.n == 0 && doc.refs.n == 0);
    unmake();
}

TAP_MAIN(T(only_what_belongs_to_others_is_refused), T(what_is_below_a_path_is_known),
         T(a_change_is_one_of_the_bytes_where_their_hash_is_known),
         T(a_thread_that_is_about_to_be_made_has_a_block), )
