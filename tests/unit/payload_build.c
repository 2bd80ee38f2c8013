/* Payloads made from small workspaces on disk. */
#include "tap.h"

#include "base/path.h"
#include "fresh.h"
#include "payload/manifest.h"
#include "payload/session.h"
#include "payload/show.h"

#include <sys/stat.h>

static struct arena a;

static void put(const struct fresh *f, const char *path, struct sv bytes)
{
    struct err e;
    struct sv  dir = path_dir(sv_of(path));

    if ((dir.n && fs_mkdirs(f->fd, dir, &e)) || fs_write(f->fd, sv_of(path), bytes, 0644, &e)) {
        printf("# %s\n", e.text);
        FAIL("file written");
    }
}

static struct sv tree_of(const struct fresh *f, struct tree_limits limits)
{
    struct walk w;
    struct sb   b = sb_in(&a, 0);

    walk_read(rules_in(f->fd, sv_of(f->path), environ, &a), f->fd, &a, &w);
    tree_write(&b, &w, limits);
    return sb_sv(&b);
}

/* ---- the tree -------------------------------------------------------------------------- */

/* One row of the override table: two ignore files, the files there are, the tree wanted. */
static void check_tree(const char *gitignore, const char *teddyignore, const char *files,
                       const char *want)
{
    struct fresh f = fresh_folder();

    if (gitignore)
        put(&f, ".gitignore", sv_of(gitignore));
    if (teddyignore)
        put(&f, ".teddyignore", sv_of(teddyignore));
    for (struct sv_cut c = { .tail = sv_of(files), .found = true }; c.found;) {
        c = sv_cut(c.tail, ' ');
        put(&f, sv_cstr(c.head, &a), SV("x"));
    }
    CHECK_SV(tree_of(&f, (struct tree_limits){ 0 }), sv_of(want));
    fresh_done(&f);
}

static void teddyignore_overrules_gitignore(void)
{
    check_tree("dist/\n", "!dist/index.html\n", "dist/index.html dist/bundle.js",
               "dist/\n  index.html\n");
    check_tree("dist/\n", "!dist/\n", "dist/index.html dist/sub/b.js",
               "dist/\n  sub/\n    b.js\n  index.html\n");
    check_tree("dist/*\n", "!dist/sub/\n", "dist/index.html dist/sub/b.js",
               "dist/\n  sub/\n    b.js\n");
    check_tree("*.log\n", "!.gitignore\n", "a", ".gitignore\na\n");
    check_tree("*.log\n", NULL, "logs/a.log a", "logs/\na\n");
    check_tree("/build\n", NULL, "build/x src/build/y", "src/\n  build/\n    y\n");
    check_tree(NULL, "secret.md\n", "secret.md a", "a\n");
    check_tree("*.log\n", "!keep.log\nkeep.log\n", "keep.log a", "a\n");
    check_tree("out/\n", "!out/deep/x\n", "out/deep/x out/deep/y out/z a",
               "out/\n  deep/\n    x\na\n");
}

static void built_in_names_come_back_only_through_teddyignore(void)
{
    check_tree(NULL, NULL, ".git/x .teddy/y .heddle/z .leslie/l __pycache__/p .venv/v a", "a\n");
    check_tree("!.teddy/\n!*/\n", NULL, ".teddy/y a", "a\n");
    check_tree(NULL, "!.teddy/\n", ".teddy/y a", ".teddy/\n  y\na\n");
    check_tree(NULL, "!x\n", ".git/x .teddy/x a", "a\n"); /* a bare name does not open them */
    check_tree("a\n!.gitignore\n", NULL, "a b", ".gitignore\nb\n");
}

static void folders_first_and_case_does_not_matter(void)
{
    check_tree(NULL, NULL, "Makefile .env b/x A/x zeta Alpha beta a/b/c/file.txt",
               "A/\n  x\na/\n  b/\n    c/\n      file.txt\nb/\n  x\n.env\nAlpha\nbeta\nMakefile\n"
               "zeta\n");
}

static void links_are_printed_and_never_entered(void)
{
    struct fresh f = fresh_folder();

    put(&f, "real/x", SV("x"));
    CHECK(symlinkat("real", f.fd, "lnk") == 0 && symlinkat("/", f.fd, "out") == 0 &&
          symlinkat(".", f.fd, "real/loop") == 0);
    CHECK_SV(tree_of(&f, (struct tree_limits){ 0 }), SV("real/\n  loop\n  x\nlnk\nout\n"));
    fresh_done(&f);
}

static void limits_say_what_they_leave_out(void)
{
    struct fresh f = fresh_folder();

    put(&f, "a/b/c", SV("x"));
    put(&f, "a/d", SV("x"));
    put(&f, "e", SV("x"));
    CHECK_SV(tree_of(&f, (struct tree_limits){ .max_depth = 1 }), SV("a/\n  … 3 more\ne\n"));
    CHECK_SV(tree_of(&f, (struct tree_limits){ .max_entries = 2 }),
             SV("a/\n  b/\n    … 1 more\n  … 1 more\n… 1 more\n"));
    fresh_done(&f);
}

static void odd_names_do_not_break_the_tree(void)
{
    struct fresh f = fresh_folder();

    put(&f, "a\nb", SV("x"));
    put(&f, "````", SV("x"));
    CHECK_SV(tree_of(&f, (struct tree_limits){ 0 }), SV("````\n\"a\\nb\"\n"));
    fresh_done(&f);
}

static void a_folder_s_own_gitignore_and_teddyignore_bring_back(void)
{
    struct fresh f = fresh_folder();

    put(&f, ".gitignore", SV("dist/\n*.log\n"));
    put(&f, ".teddyignore", SV("!dist/index.html\n"));
    put(&f, "src/.gitignore", SV("!keep.log\n"));
    put(&f, "dist/index.html", SV("x"));
    put(&f, "dist/other", SV("x"));
    put(&f, "src/keep.log", SV("x"));
    put(&f, "keep.log", SV("x"));
    CHECK_SV(tree_of(&f, (struct tree_limits){ 0 }), SV("dist/\n  index.html\nsrc/\n  keep.log\n"));
    fresh_done(&f);
}

/* ---- whole payloads ----------------------------------------------------------------------- */

struct made {
    struct payload_request q;
    struct payload         p;
    struct sv              text;
    struct err             e;
    enum status            status;
};

static void make(const struct fresh *f, struct made *m)
{
    struct sb out = sb_in(&a, 0);

    m->q.root_fd = f->fd;
    m->q.root = sv_of(f->path);
    m->q.fetch = (struct fetch_config)FETCH_DEFAULTS;
    m->q.fetch.offline = true;
    payload_collect(&m->p, &m->q, &a);
    m->status = ST_OK;
    if (m->q.budget) {
        m->status = payload_measure(&m->p, &m->e);
        if (!m->status)
            m->status = payload_apply_budget(&m->p, &m->e);
    }
    if (!m->status)
        m->status = payload_write(&m->p, &out, &m->e);
    m->text = sb_sv(&out);
    payload_release(&m->p);
}

static bool holds(struct sv text, const char *part)
{
    return sv_find(text, sv_of(part)) >= 0;
}

static void a_very_deep_folder_is_named_and_not_entered(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 };
    struct sb    path = sb_in(&a, 0);

    for (int i = 0; i < WALK_DEPTH_MAX + 20; i++)
        sb_adds(&path, "d/");
    sb_adds(&path, "leaf");
    put(&f, sb_sv(&path).s, SV("x"));
    put(&f, "z", SV("x"));
    make(&f, &m);
    payload_notes notes = payload_warnings(&m.p, &a);
    CHECK_INT(notes.n, 1);
    CHECK(sv_ends(notes.v[0], SV("/d: not listed: more than 512 folders deep")));
    CHECK(sv_ends(m.p.tree, SV("d/\nz\n")));
    fresh_done(&f);
}

static void the_layout_is_as_specified(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 };
    struct sb    want = sb_in(&a, 0);

    put(&f, "lib/util.c", SV("int x;\n"));
    put(&f, "README.md", SV("# hi"));
    put(&f, ".teddy/memos.yaml", SV("- one\n"));
    put(&f, ".teddy/global.context", SV("README.md\n"));
    put(&f, ".teddy/sessions/s/session.context", SV("gone.md\nlib/util.c\n"));
    put(&f, ".teddy/sessions/s/01/turn.context", SV("lib/util.c\n"));
    m.q.turn = SV(".teddy/sessions/s/01");
    m.q.session = SV(".teddy/sessions/s");
    make(&f, &m);
    sb_addf(
        &want,
        "# Agent Invocation Payload\n\n## 1. System Information\n- **CWD:** %s\n- **OS:** " SV_FMT
        "\n- **Shell:** " SV_FMT "\n\n",
        f.path, SV_ARG(m.p.os), SV_ARG(m.p.shell));
    sb_adds(
        &want,
        "## 2. Project Structure\n````\nlib/\n  util.c\nREADME.md\n````\n\n"
        "## 3. Memos\n````\n- one\n````\n\n"
        "## 4. Context Summary\n\n### Turn\n- [lib/util.c](/lib/util.c)\n\n"
        "### Session\n- [gone.md](/gone.md)\n- [lib/util.c](/lib/util.c)\n\n"
        "### Global\n- [README.md](/README.md)\n\n"
        "## 5. Resource Contents\n\n"
        "---\n**Resource:** `[lib/util.c](/lib/util.c)`\n````c\nint x;\n````\n"
        "---\n**Resource:** `[gone.md](/gone.md)`\n````\n--- FILE NOT FOUND ---\n````\n"
        "---\n**Resource:** `[README.md](/README.md)`\n````markdown no-newline\n# hi\n````\n---\n");
    CHECK_SV(m.text, sb_sv(&want));
    fresh_done(&f);
}

static void an_empty_workspace_has_its_headings(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 };

    make(&f, &m);
    CHECK(sv_ends(m.text, SV("## 2. Project Structure\n````\n````\n\n## 4. Context Summary\n\n"
                             "## 5. Resource Contents\n")));
    CHECK(!holds(m.text, "## 3."));
    fresh_done(&f);
}

static void a_bad_file_costs_only_itself(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 };
    struct sb    list = sb_in(&a, 0);

    put(&f, "good.c", SV("good\n"));
    put(&f, "bad", SV("\xff\xfe"));
    put(&f, "nul", SV("a\0b"));
    put(&f, "crlf.txt", SV("a\r\nb\r\n"));
    put(&f, "ticks.md", SV("```````\n"));
    put(&f, "empty", SV(""));
    CHECK(symlinkat("/etc/passwd", f.fd, "evil") == 0);
    sb_add(&list, SV("good.c\0x\n"));
    sb_adds(&list, "bad\nnul\ngood.c/child\n../etc/passwd\nevil\nempty\ncrlf.txt\nticks.md\n");
    sb_pad(&list, 'n', 300);
    sb_adds(&list, "\ngood.c\n");
    put(&f, ".teddy/global.context", sb_sv(&list));
    make(&f, &m);
    CHECK(m.status == ST_OK);
    CHECK(holds(m.text, "--- NOT UTF-8 TEXT: 2 bytes, sha256 "));
    CHECK(holds(m.text, "--- BINARY FILE: 3 bytes, sha256 "));
    CHECK(holds(m.text, "--- FILE NOT READABLE: Not a directory ---"));
    CHECK(holds(m.text,
                "`[\"good.c\\000x\"](/\"good.c\\000x\")`\n````\n--- FILE NOT READABLE: its name "
                "holds a NUL ---"));
    CHECK(holds(m.text, "--- FILE NOT READABLE: File name too long ---"));
    CHECK(holds(m.text, "`[../etc/passwd](/../etc/passwd)`\n````\n--- OUTSIDE THE PROJECT"));
    CHECK(holds(m.text, "`[evil](/evil)`\n````\n--- OUTSIDE THE PROJECT"));
    CHECK(!holds(m.text, "root:"));
    CHECK(holds(m.text, "`[empty](/empty)`\n````text\n````\n"));
    CHECK(holds(m.text, "````text\na\r\nb\r\n````\n"));
    CHECK(holds(m.text, "````````markdown\n```````\n````````\n"));
    CHECK(holds(m.text, "````c\ngood\n````\n"));
    fresh_done(&f);
}

static void lists_have_one_identity_per_path(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 };

    put(&f, "a.txt", SV("A\n"));
    put(&f, "sub/b.txt", SV("B\n"));
    put(&f, "sub/c.log", SV("C\n"));
    put(&f, "sub/deep/d.txt", SV("D\n"));
    put(&f, ".gitignore", SV("*.log\n"));
    put(&f, ".teddy/global.context",
        SV("\xef\xbb\xbf./a.txt\r\n# c\r\n  a.txt  \r\nsub/../a.txt\n/a.txt\nmore.context\n"
           "sub/c.log\nsub\\\\b.txt\n**/d.*\nno/*.such\n"));
    put(&f, "more.context", SV("sub/\nmore.context\n"));
    make(&f, &m);
    CHECK_INT(m.p.lists.resources.n, 4);
    CHECK_SV(m.p.lists.resources.v[0].name, SV("a.txt"));
    CHECK_SV(m.p.lists.resources.v[1].name, SV("sub/deep/d.txt")); /* folders first */
    CHECK_SV(m.p.lists.resources.v[2].name, SV("sub/b.txt"));
    CHECK_SV(m.p.lists.resources.v[3].name, SV("sub/c.log")); /* ignored, but named */
    CHECK_INT(m.p.lists.warnings.n, 1);                       /* the glob without a match */
    fresh_done(&f);
}

static void a_link_to_a_folder_is_no_file_of_one(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 };

    put(&f, "docs/a.md", SV("a\n"));
    put(&f, ".teddy/global.context", SV(".\n"));
    CHECK(symlinkat("docs", f.fd, "manual") == 0 && symlinkat("docs/a.md", f.fd, "one") == 0 &&
          symlinkat("nowhere", f.fd, "two") == 0);
    make(&f, &m);
    CHECK(holds(m.text, "````\ndocs/\n  a.md\nmanual\none\ntwo\n````\n"));
    CHECK(holds(m.text, "### Global\n- [docs/a.md](/docs/a.md)\n- [one](/one)\n- [two](/two)\n\n"));
    CHECK(holds(m.text, "`[one](/one)`\n````text\na\n````\n"));
    CHECK_INT(payload_warnings(&m.p, &a).n, 1); /* two leads nowhere */
    fresh_done(&f);
}

static void lists_in_lists_end_somewhere(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 };

    put(&f, ".teddy/global.context", SV("0.context\n"));
    for (int i = 0; i < LIST_DEPTH_MAX + 10; i++) {
        struct sb name = sb_in(&a, 0), text = sb_in(&a, 0);
        sb_addf(&name, "%d.context", i);
        sb_addf(&text, "%d.context\nf%d\n", i + 1, i);
        put(&f, sb_sv(&name).s, sb_sv(&text));
    }
    make(&f, &m);
    CHECK_INT(m.p.lists.resources.n, LIST_DEPTH_MAX - 1); /* the first list is the global one */
    CHECK_INT(m.p.lists.warnings.n, 1);
    CHECK(holds(m.p.lists.warnings.v[0], "more than 64 lists deep"));
    fresh_done(&f);
}

static void patterns_select_and_drop(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 };

    put(&f, "src/a.c", SV("a\n"));
    put(&f, "src/a.h", SV("a\n"));
    put(&f, "src/gen/b.c", SV("b\n"));
    put(&f, "doc.md", SV("d\n"));
    m.q.include = SV("src/,*.md,docz/,a.c,!*.c,*.c");
    m.q.exclude = SV("*.h,gen/");
    make(&f, &m);
    CHECK_INT(m.p.lists.warnings.n, 1);
    CHECK_SV(m.p.lists.warnings.v[0], SV("--include docz/ matches no file"));
    CHECK(holds(m.text, "### Turn\n- [src/a.c](/src/a.c)\n- [doc.md](/doc.md)\n\n"));
    CHECK(!holds(m.text, "b.c]("));
    fresh_done(&f);
}

static void long_things_are_complete(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 };
    struct sb    list = sb_in(&a, 0), lines = sb_in(&a, 0);

    for (int i = 0; i < 1500; i++)
        sb_addf(&list, "f%d\n", i);
    for (int i = 0; i < 5000; i++)
        sb_addf(&lines, "line %d\n", i);
    put(&f, "f7", sb_sv(&lines));
    put(&f, ".teddy/global.context", sb_sv(&list));
    make(&f, &m);
    CHECK_INT(m.p.lists.resources.n, 1500);
    CHECK(holds(m.text, "line 4999\n````\n"));
    CHECK(holds(m.text, "`[f1499](/f1499)`"));
    fresh_done(&f);
}

/* A file that is read in parts, twice: larger than RESOURCE_LARGE, with a run of backticks
 * and a character across the borders of its parts. */
static void a_large_file_is_the_same_in_parts(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { .q = { .hash = true } };
    struct sb    big = sb_in(&a, 0);

    while (big.n < RESOURCE_LARGE + 100000)
        sb_adds(&big, "caf\xc3\xa9 ````` and more text to fill the line\n");
    struct sv   bytes = sb_sv(&big);
    struct hash want = hash_sha256(bytes);
    put(&f, "big.txt", bytes);
    put(&f, ".teddy/global.context", SV("big.txt\n"));
    make(&f, &m);
    CHECK(m.status == ST_OK);
    CHECK(resource_is_large(&m.p.lists.resources.v[0]));
    CHECK(hash_eq(&m.p.lists.resources.v[0].sha256, &want));
    struct parsed back;
    CHECK(payload_parse(m.text, &a, &back, &m.e) == ST_OK && back.resources.n == 1);
    CHECK(sv_eq(back.resources.v[0].body, bytes));
    fresh_done(&f);
}

static bool collect_part(void *ctx, struct sv part)
{
    sb_add(ctx, part);
    return true;
}

/* Look at a large file, change it, and read it as for writing. */
static enum status read_after(const struct fresh *f, struct sv first, struct sv then, bool hash,
                              struct sv *got)
{
    struct resource_load_config c = { .root_fd = f->fd, .hash = hash };
    struct resource_load_own    own = { 0 };
    struct resource             r = { .name = SV("log") };
    struct pipeline_buffer      b = { 0 };
    struct sb                   out = sb_in(&a, 0);
    struct err                  e;

    put(f, "log", first);
    resource_load(&c, &own, &r, &b);
    CHECK(resource_is_large(&r));
    put(f, "log", then);
    enum status s = resource_parts(&c, &r, &b, collect_part, &out, &e);
    *got = sb_sv(&out);
    arena_free(&own.scratch);
    pipeline_buffer_free(&b);
    return s;
}

static void a_log_that_grows_is_shown_as_it_was_looked_at(void)
{
    struct fresh f = fresh_folder();
    struct sb    b = sb_in(&a, 0);
    struct sv    got;

    while (b.n < RESOURCE_LARGE + 1000)
        sb_adds(&b, "a line of a log\n");
    struct sv first = sv_dup(sb_sv(&b), &a);
    sb_adds(&b, "more\n");
    struct sv longer = sv_dup(sb_sv(&b), &a);
    sb_adds(&b, "```````` and one more\n\xff");
    struct sv grown = sv_dup(sb_sv(&b), &a);
    for (int hash = 0; hash < 2; hash++) {
        CHECK(read_after(&f, first, grown, hash, &got) == ST_OK);
        CHECK(sv_eq(got, first));
        CHECK(read_after(&f, longer, first, hash, &got) == ST_CONFLICT); /* it shrank */
    }
    /* Other bytes in front: harmless as long as they fit the frame and no hash was promised. */
    b.s[5] = 'X';
    CHECK(read_after(&f, first, sb_sv(&b), false, &got) == ST_OK);
    CHECK(read_after(&f, first, sb_sv(&b), true, &got) == ST_CONFLICT);
    memcpy(b.s, "`````", 5);
    CHECK(read_after(&f, first, sb_sv(&b), false, &got) == ST_CONFLICT);
    fresh_done(&f);
}

static void links_of_the_summary_are_read_back(void)
{
    static const char *const names[] = { "a.c",  "a (1).c", "pages/[id].ts", "a]b",  "](",
                                         "](</", "a\\[b",   "a\\]",          "\\",   "<x>",
                                         "[[]",  "a](/a)",  " lead",         "a\nb", "\xff",
                                         "q\"]", "/../x" };
    struct sb                text = sb_in(&a, 0);
    struct parsed            p;
    struct err               e;

    sb_adds(&text, "# Agent Invocation Payload\n\n## 4. Context Summary\n\n### Session\n");
    for (size_t i = 0; i < COUNT(names); i++) {
        sb_adds(&text, "- ");
        sb_add_link(&text, sv_of(names[i]));
        sb_adds(&text, i % 2 ? " (a note)\n" : "\n");
    }
    CHECK(payload_parse(sb_sv(&text), &a, &p, &e) == ST_OK);
    CHECK_INT(p.summary.n, COUNT(names));
    for (size_t i = 0; i < p.summary.n; i++) {
        CHECK_SV(p.summary.v[i].name, sv_of(names[i]));
        CHECK_SV(p.summary.v[i].note, i % 2 ? SV("(a note)") : SV(""));
        CHECK(p.summary.v[i].scope == SCOPE_SESSION);
    }
}

static void a_payload_cut_at_any_byte_is_told_from_a_whole_one(void)
{
    struct fresh  f = fresh_folder();
    struct made   m = { 0 };
    struct parsed p;

    put(&f, "a.md", SV("---\n**Resource:** `[b.c](/b.c)`\n````c\nx\n````\n---\n"));
    put(&f, "b.c", SV("no line end"));
    put(&f, "empty.txt", SV(""));
    put(&f, ".teddy/global.context", SV("a.md\nb.c\nempty.txt\ngone.txt\n"));
    make(&f, &m);
    CHECK(m.status == ST_OK);
    CHECK(payload_parse(m.text, &a, &p, &m.e) == ST_OK && !p.ends_early);
    CHECK_SV(p.resources.v[1].body, SV("no line end"));
    for (size_t n = 0; n + 1 < m.text.n; n++) /* without the last line end it is whole */
        CHECK(payload_parse(sv_first(m.text, n), &a, &p, &m.e) != ST_OK || p.ends_early);
    fresh_done(&f);
}

/* With every start of a target tried to the end of the line this would not end today. */
static void a_line_of_brackets_costs_its_length(void)
{
    static const char *const pieces[] = { "](", "](<", "](</", "](<\\", "\\](/", "a](</a" };

    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct sb     text = sb_in(&a, 0);
        struct parsed p;
        struct err    e;
        sb_adds(&text, "# Agent Invocation Payload\n\n## 4. Context Summary\n\n- [");
        while (text.n < 2 << 20)
            sb_adds(&text, pieces[i]);
        CHECK(payload_parse(sb_sv(&text), &a, &p, &e) == ST_INVALID_SYNTAX);
    }
}

static void secrets_are_left_out_unless_allowed(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { 0 }, open = { .q = { .allow_secrets = true } };

    put(&f, ".env", SV("# c\nPASSWORD=hunter2\n"));
    put(&f, "a.c", SV("a\n"));
    put(&f, ".teddy/global.context", SV(".env\na.c\n"));
    make(&f, &m);
    CHECK(holds(m.text,
                "--- LEFT OUT: may hold a secret (value in an environment file, line 2) ---"));
    CHECK(!holds(m.text, "hunter2") && holds(m.text, "````c\na\n"));
    make(&f, &open);
    CHECK(holds(open.text, "hunter2"));
    fresh_done(&f);
}

/* ---- counting ------------------------------------------------------------------------------ */

static void fill(const struct fresh *f)
{
    put(f, "g.c", SV("/* global */\nint g(void);\n"));
    put(f, "g2.md", SV("\n\n  starts with blanks and ends without a line end"));
    put(f, "s.py", SV("def f():\n    return 1\n"));
    put(f, "t.txt", SV("turn text\n"));
    put(f, "bin", SV("\0"));
    put(f, ".teddy/global.context", SV("g.c\ng2.md\nbin\nt.txt\n"));
    put(f, ".teddy/x/session.context", SV("s.py\n"));
    put(f, ".teddy/x/01/turn.context", SV("t.txt\n"));
}

static void the_total_is_the_count_of_the_text(void)
{
    struct fresh   f = fresh_folder();
    struct tokens *t;
    struct err     e;

    fill(&f);
    if (tokens_open(TOKENS_O200K, (struct sv){ 0 }, &t, &e)) {
        printf("# %s\n", e.text);
        FAIL("vocabulary");
        return;
    }
    for (int format = PAYLOAD_MARKDOWN; format <= PAYLOAD_JSON; format++)
        for (int numbers = 0; numbers < 2; numbers++) {
            struct made m = { .q = { .count = true,
                                     .format = (enum payload_format)format,
                                     .line_numbers = numbers } };
            make(&f, &m);
            CHECK_INT(m.p.tokens, tokens_count(t, m.text));
            CHECK_INT(m.p.bytes, m.text.n);
        }
    tokens_close(t);
    fresh_done(&f);
}

/* Read in parts and counted in parts: its ends meet the lines around it. */
static void a_large_file_counts_as_what_is_written(void)
{
    struct fresh   f = fresh_folder();
    struct sb      big = sb_in(&a, 0);
    struct tokens *t;
    struct err     e;

    sb_adds(&big, "\n\n   ");
    for (int i = 0; big.n < RESOURCE_LARGE + 5000; i++)
        sb_addf(&big, "line %d, \"quoted\" <tag> caf\xc3\xa9\n", i);
    sb_adds(&big, "the end!  \n\n");
    put(&f, "big.txt", sb_sv(&big));
    put(&f, "small.c", SV("int x;\n"));
    put(&f, ".teddy/global.context", SV("big.txt\nsmall.c\n"));
    CHECK(tokens_open(TOKENS_O200K, (struct sv){ 0 }, &t, &e) == ST_OK);
    for (int format = PAYLOAD_MARKDOWN; format <= PAYLOAD_JSON; format++)
        for (int numbers = 0; numbers < 2; numbers++) {
            struct made m = { .q = { .count = true,
                                     .format = (enum payload_format)format,
                                     .line_numbers = numbers } };
            make(&f, &m);
            CHECK(resource_is_large(&m.p.lists.resources.v[0]));
            CHECK_INT(m.p.tokens, tokens_count(t, m.text));
        }
    tokens_close(t);
    fresh_done(&f);
}

/* In this format a resource that is shown, and one that is named as cut. */
static const struct {
    const char *shown, *cut, *folded;
} marks[] = {
    [PAYLOAD_MARKDOWN] = { "**Resource:** `[%s](", "- [%s](/%s) (left out to fit the budget: ",
                           "- [./](/./) (left out to fit the budget: " },
    [PAYLOAD_XML] = { "<resource name=\"%s\"", " name=\"%s\" cut=\"true\" bytes=\"",
                      " name=\"./\" cut=\"true\" files=\"" },
    [PAYLOAD_JSON] = { "{\"name\":\"%s\",\"kind\"",
                       "{\"name\":\"%s\",\"bytes\":", "{\"name\":\"./\",\"files\":" },
};

static bool is_marked(struct sv text, const char *mark, const struct resource *r)
{
    struct sb b = sb_in(&a, 0);

    for (struct sv rest = sv_of(mark); rest.n;) { /* %s is the name */
        ptrdiff_t at = sv_find(rest, SV("%s"));
        sb_add(&b, sv_first(rest, at < 0 ? rest.n : (size_t)at));
        if (at >= 0)
            sb_add(&b, r->name);
        rest = at < 0 ? SV("") : sv_skip(rest, (size_t)at + 2);
    }
    return sv_find(text, sb_sv(&b)) >= 0;
}

static size_t check_cuts(const struct made *m)
{
    size_t cuts = 0;

    for (size_t i = 0; i < m->p.lists.resources.n; i++) {
        const struct resource *r = &m->p.lists.resources.v[i];
        CHECK(r->cut != is_marked(m->text, marks[m->q.format].shown, r));
        if (m->p.folded && r->cut)
            CHECK(is_marked(m->text, marks[m->q.format].folded, r));
        else
            CHECK(r->cut == is_marked(m->text, marks[m->q.format].cut, r));
        /* Nothing is left out that fits; folded, it would need a line of its own again. */
        size_t with = m->p.tokens + r->block_tokens + (m->p.folded ? 64 : 0);
        CHECK(!r->cut || (int64_t)with > m->q.budget);
        cuts += r->cut;
    }
    return cuts;
}

static void every_budget_is_kept_and_every_cut_is_named(void)
{
    struct fresh   f = fresh_folder();
    struct tokens *t;
    struct err     e;

    fill(&f);
    CHECK(tokens_open(TOKENS_O200K, (struct sv){ 0 }, &t, &e) == ST_OK);
    for (int format = PAYLOAD_MARKDOWN; format <= PAYLOAD_JSON; format++) {
        struct payload_request q = { .count = true, .format = (enum payload_format)format };
        q.turn = SV(".teddy/x/01");
        q.session = SV(".teddy/x");
        struct made all = { .q = q };
        size_t      cuts = 0, met = 0;
        make(&f, &all);
        for (int64_t n = (int64_t)all.p.tokens + 1; n > 60; n--) {
            struct made m = { .q = q };
            m.q.budget = n;
            make(&f, &m);
            if (m.status) {
                CHECK(m.status == ST_LIMIT_EXCEEDED && m.e.hint[0]);
                continue;
            }
            met++;
            CHECK(tokens_count(t, m.text) <= (size_t)n);
            CHECK_INT(tokens_count(t, m.text), m.p.tokens);
            cuts += check_cuts(&m);
        }
        CHECK(cuts > 20 && met > 20);
    }
    tokens_close(t);
    fresh_done(&f);
}

/* Many small files in directories, and one large one that the turn lists. */
static void fill_many(const struct fresh *f, int n)
{
    struct sb body = sb_in(&a, 0);

    for (int i = 0; i < n; i++) {
        struct sb name = sb_in(&a, 0);
        sb_addf(&name, "src/part%d/file%d.txt", i % 5, i);
        put(f, sb_sv(&name).s, SV("one two three four five six seven eight nine ten\n"));
    }
    for (int i = 0; i < 4000; i++)
        sb_addf(&body, "%d\n", i);
    put(f, "huge.txt", sb_sv(&body));
    put(f, ".teddy/global.context", SV("src/\n"));
    put(f, ".teddy/x/session.context", SV("src/part0/file0.txt\n"));
    put(f, ".teddy/x/01/turn.context", SV("huge.txt\n"));
}

static void one_that_never_fits_does_not_cost_the_others(void)
{
    struct fresh f = fresh_folder();
    struct made  m = { .q = { .count = true, .budget = 3000, .no_tree = true } };

    fill_many(&f, 20);
    m.q.turn = SV(".teddy/x/01");
    m.q.session = SV(".teddy/x");
    make(&f, &m);
    CHECK_INT(m.status, ST_OK);
    for (size_t i = 0; i < m.p.lists.resources.n; i++)
        CHECK(m.p.lists.resources.v[i].cut == sv_is(m.p.lists.resources.v[i].name, "huge.txt"));
    bool          told = false;
    payload_notes notes = payload_warnings(&m.p, &a);
    for (size_t i = 0; i < notes.n; i++)
        told =
            told || (holds(notes.v[i], "1 resource was left out") && holds(notes.v[i], "huge.txt"));
    CHECK(told);
    fresh_done(&f);
}

static void many_cuts_are_named_by_their_directories(void)
{
    struct fresh f = fresh_folder();

    fill_many(&f, 400);
    for (int format = PAYLOAD_MARKDOWN; format <= PAYLOAD_JSON; format++) {
        struct made m = { .q = { .count = true, .budget = 3000, .no_tree = true, .hash = true } };
        m.q.format = (enum payload_format)format;
        make(&f, &m);
        CHECK_INT(m.status, ST_OK);
        CHECK(m.p.folded && m.p.tokens <= 3000);
        CHECK(holds(m.text, "src/part3/") && holds(m.text, format ? "files" : " files, "));
        size_t cuts = 0;
        for (size_t i = 0; i < m.p.lists.resources.n; i++)
            cuts += m.p.lists.resources.v[i].cut;
        CHECK(cuts > 300 && cuts < 390); /* naming them takes little, the rest is content */
        if (format == PAYLOAD_MARKDOWN) {
            manifest_rows then, now = manifest_of_payload(&m.p, &a);
            struct err    e;
            CHECK(manifest_read(m.text, false, &a, &then, &e) == ST_OK);
            CHECK_INT(manifest_compare(&then, &now, &a).n, 0);
            for (size_t i = 0; i < now.n; i++) /* a cut file has grown */
                if (now.v[i].cut) {
                    now.v[i].size++;
                    break;
                }
            CHECK_INT(manifest_compare(&then, &now, &a).n, 1);
        }
    }
    fresh_done(&f);
}

static void two_runs_are_the_same_to_the_byte(void)
{
    struct fresh f = fresh_folder();
    struct made  one = { .q = { .threads = 1 } }, many = { .q = { .threads = 8 } };
    struct sb    body = sb_in(&a, 0);

    for (int i = 0; i < 300; i++) {
        struct sb name = sb_in(&a, 0);
        sb_addf(&name, "d%d/f%d.txt", i % 7, i);
        sb_addf(&body, "%d\n", i);
        put(&f, sb_sv(&name).s, sb_sv(&body));
    }
    put(&f, ".teddy/global.context", SV(".\n"));
    make(&f, &one);
    make(&f, &many);
    CHECK_INT(one.p.lists.resources.n, 300);
    CHECK(sv_eq(one.text, many.text));
    fresh_done(&f);
}

static void a_manifest_tells_what_changed(void)
{
    struct fresh  f = fresh_folder();
    struct made   before = { .q = { .hash = true } }, after = { .q = { .hash = true } };
    manifest_rows then, now;
    struct sb     json = sb_in(&a, 0);
    struct jw     w = jw_in(&json, 0);
    struct err    e;

    fill(&f);
    make(&f, &before);
    manifest_write(&w, &before.p);
    put(&f, "g.c", SV("changed\n"));
    put(&f, ".teddy/global.context", SV("g.c\ng2.md\nbin\ns.py\n"));
    make(&f, &after);
    now = manifest_of_payload(&after.p, &a);
    for (int i = 0; i < 2; i++) { /* from the payload itself, and from its manifest */
        CHECK(manifest_read(i ? sb_sv(&json) : before.text, false, &a, &then, &e) == ST_OK);
        manifest_differences d = manifest_compare(&then, &now, &a);
        CHECK_INT(d.n, 3);
        CHECK(d.v[0].change == CHANGE_CHANGED && sv_is(d.v[0].path, "g.c"));
        CHECK(d.v[1].change == CHANGE_ADDED && sv_is(d.v[1].path, "s.py"));
        CHECK(d.v[2].change == CHANGE_REMOVED && sv_is(d.v[2].path, "t.txt"));
        d = manifest_compare(&now, &now, &a);
        CHECK_INT(d.n, 0);
    }
    fresh_done(&f);
}

/* ---- sessions ---------------------------------------------------------------------------------
 */

static void after_turn_99_a_new_session_goes_on(void)
{
    struct fresh        f = fresh_folder();
    struct session_dir  s;
    struct session_turn t;
    struct err          e;

    put(&f, ".teddy/sessions/s/session.context", SV("a.txt\n"));
    put(&f, ".teddy/sessions/s/99/report.md", SV("# R\n"));
    put(&f, ".teddy/sessions/s/99/turn.context", SV("b.txt\n"));
    CHECK(session_find(f.fd, SV("s"), &a, &s, &e) == ST_OK && s.turn == 99);
    CHECK(session_turn_new(f.fd, &s, SV(""), 0, &a, &t, &e) == ST_OK);
    CHECK_SV(t.dir, SV(".teddy/sessions/s-2/01"));
    CHECK_SV(t.session, SV("s-2"));
    CHECK_INT(t.entries.n, 2);
    struct sv text;
    CHECK(fs_read(f.fd, SV(".teddy/sessions/s-2/session.context"), 0, &a, &text, &e) == ST_OK);
    CHECK_SV(text, SV("a.txt\n"));
    CHECK(session_find(f.fd, SV("s-2"), &a, &s, &e) == ST_OK);
    CHECK_SV(s.parent, SV("s"));
    fresh_done(&f);
}

static void a_turn_with_a_message_goes_to_the_session(void)
{
    struct fresh        f = fresh_folder();
    struct session_dir  s;
    struct session_turn t;
    struct err          e;
    struct sv           text;

    put(&f, ".teddy/sessions/s/session.context", SV("# mine\r\n\na.txt # not a comment"));
    put(&f, ".teddy/sessions/s/01/plan.md", SV("# P\n## Message\nhi\n"));
    put(&f, ".teddy/sessions/s/01/report.md",
        SV("# R\n### `READ`: x.c\n- **Status:** SUCCESS\n### `PRUNE`\n- **Status:** SUCCESS\n"
           "- **Resource:** [old.c](/old.c)\n"));
    put(&f, ".teddy/sessions/s/01/turn.context", SV("old.c\nz.c\n"));
    CHECK(session_find(f.fd, SV("s"), &a, &s, &e) == ST_OK);
    CHECK(session_turn_new(f.fd, &s, SV(""), 0, &a, &t, &e) == ST_OK);
    CHECK(fs_read(f.fd, SV(".teddy/sessions/s/02/turn.context"), 0, &a, &text, &e) == ST_OK);
    CHECK_SV(text, SV("x.c\nz.c\n"));
    CHECK(fs_read(f.fd, SV(".teddy/sessions/s/session.context"), 0, &a, &text, &e) == ST_OK);
    CHECK_SV(text, SV("# mine\r\n\na.txt # not a comment\n.teddy/sessions/s/01/plan.md\n"
                      ".teddy/sessions/s/01/report.md\n"));
    fresh_done(&f);
}

TAP_MAIN(T(teddyignore_overrules_gitignore), T(built_in_names_come_back_only_through_teddyignore),
         T(folders_first_and_case_does_not_matter), T(links_are_printed_and_never_entered),
         T(limits_say_what_they_leave_out), T(a_very_deep_folder_is_named_and_not_entered),
         T(odd_names_do_not_break_the_tree), T(a_folder_s_own_gitignore_and_teddyignore_bring_back),
         T(the_layout_is_as_specified), T(an_empty_workspace_has_its_headings),
         T(a_bad_file_costs_only_itself), T(lists_have_one_identity_per_path),
         T(a_link_to_a_folder_is_no_file_of_one), T(lists_in_lists_end_somewhere),
         T(patterns_select_and_drop), T(long_things_are_complete),
         T(a_large_file_is_the_same_in_parts), T(a_log_that_grows_is_shown_as_it_was_looked_at),
         T(links_of_the_summary_are_read_back),
         T(a_payload_cut_at_any_byte_is_told_from_a_whole_one),
         T(a_line_of_brackets_costs_its_length), T(secrets_are_left_out_unless_allowed),
         T(the_total_is_the_count_of_the_text), T(a_large_file_counts_as_what_is_written),
         T(every_budget_is_kept_and_every_cut_is_named),
         T(one_that_never_fits_does_not_cost_the_others),
         T(many_cuts_are_named_by_their_directories), T(two_runs_are_the_same_to_the_byte),
         T(a_manifest_tells_what_changed), T(after_turn_99_a_new_session_goes_on),
         T(a_turn_with_a_message_goes_to_the_session), )
