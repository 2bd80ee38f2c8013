/* Operations on a real folder: files that are patched are the files that would be rendered,
 * what others write is imported, a crash is repaired, circles are found at any depth. */
#include "base/map.h"
#include "fresh.h"
#include "share/asset.h"
#include "share/operation.h"
#include "share/share_internal.h"
#include "store/store.h"
#include "tap.h"
#include "thread/lane.h"

static const struct view *const views[] = { &thread_view, &share_view, NULL };

struct place {
    struct fresh  f;
    struct arena  a;
    struct store *store;
    struct log    log;
    struct share  s;
    struct err    e;
};

static void place_open(struct place *p)
{
    struct store_options o = { .create = true };
    struct sb            url;

    *p = (struct place){ .f = fresh_folder() };
    CHECK(fs_mkdirs(p->f.fd, SV(".heddle"), &p->e) == ST_OK);
    url = sb_in(&p->a, 0);
    sb_addf(&url, "%s/.heddle/heddle.db", p->f.path);
    CHECK(store_open(sb_sv(&url), &o, &p->store, &p->e) == ST_OK);
    p->log = log_of(p->store, views);
    share_init(&p->s, &p->log, p->f.fd, SV("user"), &p->a);
}

static void place_close(struct place *p)
{
    store_close(p->store);
    arena_free(&p->a);
    fresh_done(&p->f);
}

static void begin(struct place *p, enum store_mode mode)
{
    if (share_begin(&p->s, mode, &p->e))
        printf("# %s\n", p->e.text);
    CHECK(p->s.writing == (mode == STORE_WRITE));
}

static void commit(struct place *p)
{
    CHECK(share_commit(&p->s, &p->e) == ST_OK);
    for (size_t i = 0; i < p->s.warnings.n; i++)
        if (sv_find(p->s.warnings.v[i].message, SV("could not be written")) >= 0)
            CHECK_SV(p->s.warnings.v[i].message, SV("no trouble"));
}

static bool is_missing(int root, struct sv path)
{
    struct err   e;
    enum fs_kind kind = FS_OTHER;

    return fs_kind(root, path, &kind, &e) == ST_OK && kind == FS_MISSING;
}

static struct sv file(struct place *p, struct sv path)
{
    struct sv text = { 0 };

    CHECK(fs_read(p->f.fd, path, 0, &p->a, &text, &p->e) == ST_OK);
    return text;
}

static void write_file(struct place *p, struct sv path, struct sv text)
{
    CHECK(fs_mkdirs(p->f.fd, sv_cut_last(path, '/').head, &p->e) == ST_OK);
    CHECK(fs_write(p->f.fd, path, text, 0644, &p->e) == ST_OK);
}

static struct sv rendered(struct place *p, int which)
{
    struct sb b = sb_in(&p->a, 0);

    CHECK(render_file(&p->s, (enum share_file_id)which, &b, &p->e) == ST_OK);
    return sb_sv(&b);
}

static void files_are_what_rendering_gives(struct place *p)
{
    begin(p, STORE_READ);
    for (int i = 0; i < SHARE_FILES; i++)
        CHECK_SV(file(p, share_file_paths[i]), rendered(p, i));
    share_end(&p->s);
}

static void spawn(struct place *p, const char *id, const char *parent)
{
    struct spawn_request r = { .intent = SV("a \"title\"\nof } two lines {"),
                               .objective = SV("obj"),
                               .id = sv_of(id),
                               .parent = sv_of(parent) };
    struct share_thread  t;

    CHECK(share_spawn(&p->s, &r, &t, &p->e) == ST_OK);
}

static void make_objective(struct place *p)
{
    const struct objective_request objective = { .title = SV("An objective"), .id = SV("obj") };
    struct sv                      id;

    CHECK(share_objective_create(&p->s, &objective, &id, &p->e) == ST_OK);
}

static enum status refer(struct place *p, const char *from, const char *target, bool frozen)
{
    struct reference_request q = {
        .from = sv_of(from), .target = sv_of(target), .frozen = frozen, .given_as = "--target"
    };
    struct share_ref r;

    return share_reference(&p->s, &q, &r, &p->e);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void patched_files_equal_rendered_files(void)
{
    static const char *const actions[] = { "suspend", "resume", "done", "cancel", "archive" };
    struct place             p;
    uint32_t                 seed = 42;
    int                      made = 1;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    commit(&p);
    files_are_what_rendering_gives(&p);
    begin(&p, STORE_WRITE);
    spawn(&p, "t0", NULL);
    commit(&p);
    for (int round = 0; round < 60; round++) {
        char                one[16], two[16];
        struct share_thread t;
        seed = seed * 1664525u + 1013904223u;
        snprintf(one, sizeof one, "t%d", (int)(seed >> 16) % made);
        snprintf(two, sizeof two, "t%d", (int)(seed >> 8 & 0xff) % made);
        begin(&p, STORE_WRITE);
        switch (seed >> 28 & 3) {
        case 0:
        case 1: {
            char id[16];
            snprintf(id, sizeof id, "t%d", made++);
            spawn(&p, id, one);
            break;
        }
        case 2: (void)refer(&p, one, two, seed & 1); break;
        default:
            (void)!share_lifecycle(&p.s, sv_of(one), sv_of(actions[(seed >> 24) % 5]), SV("why"),
                                   &t, &p.e);
        }
        commit(&p);
        files_are_what_rendering_gives(&p);
    }
    place_close(&p);
}

static void deleted_files_come_back_from_the_log(void)
{
    struct place p;
    struct sv    before[SHARE_FILES];

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    spawn(&p, "a", NULL);
    commit(&p);
    for (int i = 0; i < SHARE_FILES; i++) {
        before[i] = file(&p, share_file_paths[i]);
        CHECK(fs_remove(p.f.fd, share_file_paths[i], &p.e) == ST_OK);
    }
    begin(&p, STORE_READ);
    share_end(&p.s);
    for (int i = 0; i < SHARE_FILES; i++)
        CHECK_SV(file(&p, share_file_paths[i]), before[i]);
    place_close(&p);
}

/* The log is committed, the files are not written: what kill -9 leaves in between. */
static void a_crash_after_the_commit_is_repaired(void)
{
    struct place p;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    spawn(&p, "a", NULL);
    commit(&p);
    write_file(&p, SV(".leslie/threads/a/plan.md"), SV("the plan\n"));
    begin(&p, STORE_WRITE);
    spawn(&p, "b", NULL);
    CHECK(refer(&p, "b", "a", true) == ST_OK);
    CHECK(log_commit(&p.log, &p.e) == ST_OK);
    share_end(&p.s);
    CHECK(is_missing(p.f.fd, SV(".leslie/threads/b")));
    CHECK(sv_find(file(&p, SHARE_RELATIONS), SV("\"b\"")) < 0);
    begin(&p, STORE_READ);
    share_end(&p.s);
    CHECK_SV(file(&p, SV(".leslie/threads/b/context/inherited/plan.md")), SV("the plan\n"));
    CHECK(sv_find(file(&p, SHARE_RELATIONS), SV("\"b\": {")) > 0);
    files_are_what_rendering_gives(&p);
    place_close(&p);
}

/* ---- what others write
 * --------------------------------------------------------------------------- */

static struct sv replaced(struct sv text, const char *from, const char *to, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    ptrdiff_t at = sv_find(text, sv_of(from));

    CHECK(at >= 0);
    if (at < 0)
        return text;
    sb_add(&b, sv_first(text, (size_t)at));
    sb_adds(&b, to);
    sb_add(&b, sv_skip(text, (size_t)at + strlen(from)));
    return sb_sv(&b);
}

static void unknown_keys_survive_a_write(void)
{
    struct place p;
    struct sv    text;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    spawn(&p, "a", NULL);
    commit(&p);
    text = file(&p, SHARE_RELATIONS);
    text = replaced(text, "\"version\": \"1.0\",",
                    "\"version\": \"1.0\", \"zeta\": [1, {\"a\": 2.0}],", &p.a);
    text = replaced(text, "\"title\":", "\"color\": \"red\", \"title\":", &p.a);
    text = replaced(text, "\"depends_on\":", "\"likes\": {}, \"depends_on\":", &p.a);
    write_file(&p, SHARE_RELATIONS, text);
    begin(&p, STORE_WRITE);
    spawn(&p, "b", "a");
    commit(&p);
    text = file(&p, SHARE_RELATIONS);
    CHECK(sv_find(text, SV("\"color\": \"red\"")) > 0);
    CHECK(sv_find(text, SV("\"likes\": {}")) > 0);
    CHECK(sv_find(text, SV("\n  \"zeta\": [\n    1,\n    {\n      \"a\": 2.0\n    }\n  ]\n}\n")) >
          0);
    files_are_what_rendering_gives(&p);
    begin(&p, STORE_WRITE);
    spawn(&p, "c", "a");
    commit(&p);
    files_are_what_rendering_gives(&p);
    place_close(&p);
}

static void rows_that_break_a_rule_are_kept_and_named(void)
{
    struct place        p;
    struct share_thread t;
    bool                found;
    struct sv           text;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    spawn(&p, "a", NULL);
    commit(&p);
    text = replaced(file(&p, SHARE_RELATIONS), "\"threads\": {",
                    "\"threads\": { \"../up\": {\"id\": \"../up\"}, ", &p.a);
    write_file(&p, SHARE_RELATIONS, text);
    begin(&p, STORE_READ);
    CHECK_INT(p.s.warnings.n, 1);
    CHECK(share_thread_find(&p.s, SV("../up"), &t, &found, &p.e) == ST_OK && !found);
    share_end(&p.s);
    CHECK(sv_find(file(&p, SHARE_RELATIONS), SV("\"../up\": {")) > 0);
    CHECK(is_missing(p.f.fd, SV(".leslie/up")));
    place_close(&p);
}

static void an_unreadable_file_never_costs_a_readable_one(void)
{
    struct place p;
    struct sv    good;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    spawn(&p, "a", NULL);
    commit(&p);
    good = file(&p, SHARE_RELATIONS);
    write_file(&p, SHARE_RELATIONS, SV("{ \"version\": tru"));
    begin(&p, STORE_READ);
    CHECK(p.s.warnings.n == 1);
    share_end(&p.s);
    CHECK_SV(file(&p, SHARE_RELATIONS), good);
    CHECK(is_missing(p.f.fd, SV(".leslie/thread_relations.json.bak")) ||
          sv_find(file(&p, SV(".leslie/thread_relations.json.bak")), SV("tru")) != (ptrdiff_t)13);
    struct fs_item *items;
    size_t          n, kept = 0;
    CHECK(fs_list(p.f.fd, SV(".leslie"), &p.a, &items, &n, &p.e) == ST_OK);
    for (size_t i = 0; i < n; i++)
        kept += sv_starts(items[i].name, SV("thread_relations.json.unreadable-"));
    CHECK_INT(kept, 1);
    place_close(&p);
}

/* ---- circles
 * -------------------------------------------------------------------------------------- */

enum { CHAIN = 100000 };

static void a_long_chain_is_followed_to_its_end(void)
{
    struct place p;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    spawn(&p, "n0", NULL);
    for (int i = 1; i < CHAIN; i++) { /* edges n1 → n0, n2 → n1, …: all but n0 broken, and kept */
        struct sb b = sb_in(&p.a, 0);
        sb_addf(&b,
                "{\"operation\":\"reference\",\"operator\":\"user\",\"ref_id\":\"r%d\","
                "\"from\":\"n%d\",\"target\":\"n%d\",\"binding\":\"live\",\"files\":[],"
                "\"scope\":[]}",
                i, i, i - 1);
        struct sb id = sb_in(&p.a, 0);
        sb_addf(&id, "op-chain-%d", i);
        if (share_append(&p.s, sb_sv(&id), sb_sv(&b), &p.e) != ST_OK) {
            CHECK_SV(sv_of(p.e.text), SV(""));
            break;
        }
    }
    char last[16];
    snprintf(last, sizeof last, "n%d", CHAIN - 1);
    CHECK(share_check_cycle(&p.s, SV("n0"), sv_of(last), "--target", &p.e) == ST_CONFLICT);
    CHECK(strcmp(p.e.reason, "circular_reference") == 0);
    struct json v;
    CHECK(json_parse(p.s.details, 0, &p.a, &v, &p.e) == ST_OK);
    CHECK_INT(json_find(&v, "path")->n, CHAIN + 1);
    CHECK(share_check_cycle(&p.s, sv_of(last), SV("n0"), "--target", &p.e) == ST_OK);
    share_end(&p.s);
    place_close(&p);
}

static void a_circle_says_its_whole_path(void)
{
    struct place p;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    spawn(&p, "A", NULL);
    spawn(&p, "B", NULL);
    spawn(&p, "C", NULL);
    CHECK(refer(&p, "A", "B", false) == ST_OK);
    CHECK(refer(&p, "B", "C", false) == ST_OK);
    CHECK(refer(&p, "C", "A", false) == ST_CONFLICT);
    CHECK(strstr(p.e.text, "Circular reference detected (C → A → B → C)") != NULL);
    CHECK(refer(&p, "A", "A", false) == ST_CONFLICT);
    CHECK(strstr(p.e.text, "(A → A)") != NULL);
    share_end(&p.s);
    place_close(&p);
}

/* ---- content
 * ---------------------------------------------------------------------------------------- */

static void equal_content_is_stored_once_and_dropped_with_its_last_copy(void)
{
    struct place           p;
    struct refresh_request q = { .from = SV("b") };
    struct refresh_result *done;
    size_t                 n;
    struct fs_item        *items;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    spawn(&p, "a", NULL);
    spawn(&p, "b", NULL);
    spawn(&p, "c", NULL);
    commit(&p);
    write_file(&p, SV(".leslie/threads/a/plan.md"), SV("same\n"));
    write_file(&p, SV(".leslie/threads/a/artifacts/design/x.md"), SV("same\n"));
    begin(&p, STORE_WRITE);
    CHECK(refer(&p, "b", "a", true) == ST_OK);
    CHECK(refer(&p, "c", "a", true) == ST_OK);
    commit(&p);
    CHECK(fs_list(p.f.fd, SV(".heddle/objects"), &p.a, &items, &n, &p.e) == ST_OK);
    CHECK_INT(n, 1);
    CHECK_SV(file(&p, SV(".leslie/threads/b/context/inherited/design/x.md")), SV("same\n"));
    write_file(&p, SV(".leslie/threads/a/plan.md"), SV("other\n"));
    CHECK_SV(file(&p, SV(".leslie/threads/b/context/inherited/plan.md")), SV("same\n"));
    CHECK(fs_remove(p.f.fd, SV(".leslie/threads/a/artifacts/design"), &p.e) == ST_OK);
    for (int i = 0; i < 2; i++) {
        q.from = i ? SV("c") : SV("b");
        begin(&p, STORE_WRITE);
        CHECK(share_refresh(&p.s, &q, &done, &n, &p.e) == ST_OK);
        CHECK_INT(done[0].changed, 1);
        CHECK_INT(done[0].removed, 1);
        commit(&p);
    }
    CHECK(is_missing(p.f.fd, SV(".leslie/threads/b/context/inherited/design")));
    CHECK_SV(file(&p, SV(".leslie/threads/b/context/inherited/plan.md")), SV("other\n"));
    size_t objects = 0;
    CHECK(fs_list(p.f.fd, SV(".heddle/objects"), &p.a, &items, &n, &p.e) == ST_OK);
    for (size_t i = 0; i < n; i++) {
        struct sb       dir = sb_in(&p.a, 0);
        struct fs_item *in;
        size_t          k;
        sb_addf(&dir, ".heddle/objects/" SV_FMT, SV_ARG(items[i].name));
        CHECK(fs_list(p.f.fd, sb_sv(&dir), &p.a, &in, &k, &p.e) == ST_OK);
        objects += k;
    }
    CHECK_INT(objects, 1);
    place_close(&p);
}

/* ---- frozen copies ------------------------------------------------------------------------------
 */

static void no_finding(void *ctx, struct sv finding)
{
    (void)ctx;
    CHECK_SV(finding, SV("no finding"));
}

static void ignore(void *ctx, struct sv finding)
{
    (void)ctx;
    (void)finding;
}

/* What the rows count is what the references hold; no place has two owners. */
struct recount {
    struct place *p;
    struct map   *places; /* source file in a reader → its place, of all steps before */
    struct map    blobs;  /* hash → int64_t */
    struct map    owners;
};

/* A file keeps its place. (One that was a folder meanwhile may have had to move.) */
static void check_place(struct recount *c, struct sv key, struct sv place)
{
    struct sv *had = map_find(c->places, key);

    if (!sv_ends(key, SV("plan.md")))
        return;
    if (had) {
        CHECK_SV(place, *had);
        return;
    }
    had = ARENA_NEW(&c->p->a, struct sv, 1);
    *had = place;
    map_put(c->places, key, had);
}

static void count_ref(struct recount *c, const struct share_ref *r, bool current)
{
    for (size_t i = 0; r->frozen && i < r->n_files; i++) {
        struct sv key = key_of_names("", r->from, r->files[i].place, &c->p->a), owner;
        owner = key_of_names("", r->target, r->files[i].source, &c->p->a);
        int64_t *n = map_find(&c->blobs, r->files[i].hash);
        if (!n) {
            n = ARENA_NEW(&c->p->a, int64_t, 1);
            map_put(&c->blobs, r->files[i].hash, n);
        }
        ++*n;
        check_place(c, key_of_names("", r->from, owner, &c->p->a), r->files[i].place);
        struct sv *had = map_find(&c->owners, key);
        if (had)
            CHECK_SV(owner, *had);
        had = ARENA_NEW(&c->p->a, struct sv, 1);
        *had = owner;
        if (current)
            map_put(&c->owners, key, had);
    }
}

static void rows_count_what_references_hold(struct place *p, struct map *places)
{
    static const char *const prefixes[] = { "ref/", "inh/", "kept/" };
    struct recount           c = { p, places, map_in(&p->a), map_in(&p->a) };
    struct sv               *rows, *keys;
    size_t                   n, n_keys;

    begin(p, STORE_READ);
    for (size_t k = 0; k < COUNT(prefixes); k++) {
        CHECK(share_rows_below(&p->s, sv_of(prefixes[k]), false, &p->a, &rows, &n, &p->e) == ST_OK);
        for (size_t i = 0; i < n; i++) {
            struct share_ref r;
            CHECK(share_ref_read(rows[i], &p->a, &r, &p->e) == ST_OK);
            count_ref(&c, &r, k < 2);
        }
    }
    CHECK(share_rows_below(&p->s, SV("blob/"), false, &p->a, &rows, &n, &p->e) == ST_OK);
    CHECK(share_rows_below(&p->s, SV("blob/"), true, &p->a, &keys, &n_keys, &p->e) == ST_OK);
    CHECK_INT(n, c.blobs.n);
    for (size_t i = 0; i < n; i++) {
        int64_t  is = 0;
        int64_t *want = map_find(&c.blobs, keys[i]);
        CHECK(want && sv_to_int(rows[i], &is) && is == *want);
    }
    share_end(&p->s);
    CHECK(share_verify(&p->s, no_finding, ignore, NULL, &p->e) == ST_OK);
}

static void change_a_source(struct place *p, uint32_t seed)
{
    static const char *const names[] = { "plan.md", "artifacts/plan.md", "t1/plan.md", "design",
                                         "design/a.md" };
    struct sb                path = sb_in(&p->a, 0), text = sb_in(&p->a, 0);

    sb_addf(&path, ".leslie/threads/t%u/%s", seed >> 8 & 1, names[(seed >> 12) % COUNT(names)]);
    sb_addf(&text, "text %u\n", seed >> 20 & 3);
    if ((seed >> 24 & 3) == 0)
        CHECK(fs_remove(p->f.fd, sb_sv(&path), &p->e) == ST_OK);
    else if (fs_mkdirs(p->f.fd, sv_cut_last(sb_sv(&path), '/').head, &p->e) == ST_OK)
        (void)!fs_write(p->f.fd, sb_sv(&path), sb_sv(&text), 0644, &p->e);
}

static void change_a_reference(struct place *p, uint32_t seed)
{
    struct sv                from = seed >> 9 & 1 ? SV("f0") : SV("f1");
    struct sv                target = seed >> 10 & 1 ? SV("t0") : SV("t1");
    struct refresh_request   q = { .from = from };
    struct refresh_result   *done;
    struct rebind_request    b = { .from = from,
                                   .target = target,
                                   .has_binding = seed >> 13 & 1,
                                   .frozen = seed >> 14 & 1,
                                   .as_before = !(seed >> 13 & 1) };
    struct sv                plan = SV("plan.md");
    struct reference_request r = { .from = from,
                                   .target = target,
                                   .scope = { &plan, seed >> 11 & 1 },
                                   .frozen = seed >> 14 & 1,
                                   .given_as = "--target" };
    struct share_ref         made;
    struct ref_list          refs;
    size_t                   n;

    switch (seed >> 16 & 3) {
    case 0: (void)!share_reference(&p->s, &r, &made, &p->e); break;
    case 1: (void)!share_refresh(&p->s, &q, &done, &n, &p->e); break;
    case 2: (void)!share_unreference(&p->s, from, target, (struct sv){ 0 }, &refs, &p->e); break;
    default: (void)!share_rebind(&p->s, &b, &refs, &p->e);
    }
}

static void no_sequence_of_operations_loses_or_mixes_up_a_copy(void)
{
    static const char *const ids[] = { "t0", "t1", "f0", "f1" };
    struct place             p;
    uint32_t                 seed = 7;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    for (size_t i = 0; i < COUNT(ids); i++)
        spawn(&p, ids[i], NULL);
    commit(&p);
    struct map places = map_in(&p.a);
    for (int step = 0; step < 150; step++) {
        seed = seed * 1664525u + 1013904223u;
        change_a_source(&p, seed);
        begin(&p, STORE_WRITE);
        seed = seed * 1664525u + 1013904223u;
        change_a_reference(&p, seed);
        commit(&p);
        rows_count_what_references_hold(&p, &places);
    }
    CHECK(places.n > 4);
    place_close(&p);
}

/* Versions before this one gave plan.md and artifacts/plan.md one place. */
static void an_older_log_with_two_files_at_one_place_is_mended_by_a_refresh(void)
{
    struct place           p;
    struct refresh_request q = { .from = SV("b") };
    struct refresh_result *done;
    struct share_file      one = { 0 }, two = { 0 };
    struct sb              b;
    size_t                 n;

    place_open(&p);
    begin(&p, STORE_WRITE);
    make_objective(&p);
    spawn(&p, "a", NULL);
    spawn(&p, "b", NULL);
    commit(&p);
    write_file(&p, SV(".leslie/threads/a/plan.md"), SV("own\n"));
    write_file(&p, SV(".leslie/threads/a/artifacts/plan.md"), SV("other\n"));
    begin(&p, STORE_WRITE);
    CHECK(object_put_file(&p.s, SV(".leslie/threads/a/artifacts/plan.md"), &one, &p.e) == ST_OK);
    CHECK(object_put_file(&p.s, SV(".leslie/threads/a/plan.md"), &two, &p.e) == ST_OK);
    b = sb_in(&p.a, 0);
    sb_addf(&b,
            "{\"operation\":\"reference\",\"operator\":\"user\",\"ref_id\":\"r\",\"from\":\"b\","
            "\"target\":\"a\",\"binding\":\"frozen\",\"scope\":[],\"files\":["
            "{\"name\":\"plan.md\",\"source\":\"artifacts/plan.md\",\"place\":\"plan.md\","
            "\"hash\":\"" SV_FMT "\",\"size\":6},"
            "{\"name\":\"plan.md\",\"source\":\"plan.md\",\"place\":\"plan.md\","
            "\"hash\":\"" SV_FMT "\",\"size\":4}]}",
            SV_ARG(one.hash), SV_ARG(two.hash));
    CHECK(share_append(&p.s, SV("op-old"), sb_sv(&b), &p.e) == ST_OK);
    commit(&p);
    begin(&p, STORE_WRITE);
    CHECK(share_refresh(&p.s, &q, &done, &n, &p.e) == ST_OK);
    commit(&p);
    CHECK_SV(file(&p, SV(".leslie/threads/b/context/inherited/plan.md")), SV("own\n"));
    CHECK_SV(file(&p, SV(".leslie/threads/b/context/inherited/artifacts/plan.md")), SV("other\n"));
    struct map places = map_in(&p.a);
    rows_count_what_references_hold(&p, &places);
    place_close(&p);
}

TAP_MAIN(T(patched_files_equal_rendered_files), T(deleted_files_come_back_from_the_log),
         T(a_crash_after_the_commit_is_repaired), T(unknown_keys_survive_a_write),
         T(rows_that_break_a_rule_are_kept_and_named),
         T(an_unreadable_file_never_costs_a_readable_one), T(a_long_chain_is_followed_to_its_end),
         T(a_circle_says_its_whole_path),
         T(equal_content_is_stored_once_and_dropped_with_its_last_copy),
         T(no_sequence_of_operations_loses_or_mixes_up_a_copy),
         T(an_older_log_with_two_files_at_one_place_is_mended_by_a_refresh), )
