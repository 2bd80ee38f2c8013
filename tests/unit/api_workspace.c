/* Opening a workspace: the place, the settings, and an environment that the door hands in. */
#include "api/mark.h"
#include "api/workspace_open.h"
#include "fresh.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

static struct arena a;
static struct err   e;
static char         noted[512];

static void note(void *ctx, struct sv text)
{
    (void)ctx;
    snprintf(noted, sizeof noted, SV_FMT, SV_ARG(text));
}

static char *joined(const char *lead, const struct fresh *f, const char *tail)
{
    struct sb b = sb_in(&a, 0);

    sb_addf(&b, "%s%s%s", lead, f->path, tail);
    return (char *)(uintptr_t)sb_sv(&b).s;
}

static void write_file(const struct fresh *f, const char *dir, const char *name, const char *text)
{
    char  *folder = joined("", f, dir);
    FILE  *file;
    size_t n = strlen(folder);

    for (size_t i = strlen(f->path) + 1; i <= n; i++)
        if (folder[i] == '/' || i == n) {
            char kept = folder[i];
            folder[i] = 0;
            mkdir(folder, 0700);
            folder[i] = kept;
        }
    struct sb path = sb_in(&a, 0);
    sb_addf(&path, "%s/%s", folder, name);
    file = fopen(sb_sv(&path).s, "w");
    CHECK(file != NULL && fputs(text, file) >= 0);
    if (file)
        fclose(file);
}

static struct workspace fresh_workspace(char **variables)
{
    struct workspace ws;

    workspace_init(&ws);
    ws.variables = variables;
    ws.note = note;
    noted[0] = 0;
    return ws;
}

static int64_t budget_of(const struct workspace *ws)
{
    enum config_source from;
    int64_t            n = -1;

    if (!json_int(config_value(&ws->config, SV("loom.budget"), &from), &n))
        return -1;
    return n;
}

static void the_nearest_workspace_above_is_found(void)
{
    struct fresh     f = fresh_folder();
    struct workspace ws = fresh_workspace(NULL);

    write_file(&f, "/project/.heddle", "config.json", "{}");
    write_file(&f, "/project/src/deep", "main.c", "");
    CHECK(workspace_open(&ws, joined("", &f, "/project/src/deep"), NEEDS_PLACE, &a, &e) == ST_OK);
    CHECK_SV(ws.root, sv_of(joined("", &f, "/project")));
    CHECK_SV(ws.start, sv_of(joined("", &f, "/project/src/deep")));
    CHECK(ws.is_workspace && ws.has_heddle && !ws.is_named);
    workspace_close(&ws);

    ws = fresh_workspace(NULL);
    CHECK(workspace_open(&ws, joined("", &f, "/project"), NEEDS_PLACE, &a, &e) == ST_OK);
    CHECK(ws.is_named);
    workspace_close(&ws);

    ws = fresh_workspace(NULL);
    CHECK(workspace_open(&ws, joined("", &f, "/lost"), NEEDS_PLACE, &a, &e) == ST_NOT_FOUND);
    CHECK_INT(ws.root_fd, -1);
    CHECK(workspace_open(&ws, joined("", &f, "/lost"), NEEDS_NOTHING, &a, &e) == ST_OK);
    workspace_close(&ws);
    fresh_done(&f);
}

/* A repository with a linked worktree, as git makes them. */
static void make_repository(const struct fresh *f)
{
    write_file(f, "/main/.git", "HEAD", "ref: refs/heads/main\n");
    write_file(f, "/main/.git/objects", "x", "");
    write_file(f, "/main/.git/refs", "x", "");
    write_file(f, "/main/.git/worktrees/tree", "HEAD", "ref: refs/heads/tree\n");
    write_file(f, "/main/.git/worktrees/tree", "commondir", "../..\n");
    write_file(f, "/main/src", "main.c", "");
    write_file(f, "/tree/src", "main.c", "");
    write_file(f, "/tree", ".git", joined("gitdir: ", f, "/main/.git/worktrees/tree\n"));
}

static void all_checkouts_have_one_workspace(void)
{
    struct fresh     f = fresh_folder();
    struct workspace ws = fresh_workspace(NULL);

    make_repository(&f);
    CHECK(workspace_open(&ws, joined("", &f, "/main/src"), NEEDS_ROOT, &a, &e) == ST_OK);
    CHECK_SV(ws.root, sv_of(joined("", &f, "/main")));
    CHECK_SV(workspace_project(&ws), ws.root);
    CHECK(!ws.is_workspace);
    write_file(&f, "/main/.heddle", "config.json", "{}");
    write_file(&f, "/tree/.heddle", "heddle.db", "");
    CHECK(workspace_open(&ws, joined("", &f, "/tree/src"), NEEDS_ROOT, &a, &e) == ST_OK);
    CHECK_SV(ws.root, sv_of(joined("", &f, "/main")));
    CHECK_SV(workspace_project(&ws), sv_of(joined("", &f, "/tree")));
    CHECK(ws.is_workspace && ws.has_heddle && !ws.is_named);
    CHECK_SV(ws.left, sv_of(joined("", &f, "/tree")));
    CHECK(sv_find(sv_of(noted), SV("is not used")) > 0);
    workspace_close(&ws);

    ws =
        fresh_workspace(NULL); /* a directory of the worktree, and only at that place a workspace */
    write_file(&f, "/main/src/.leslie", "x", "");
    CHECK(workspace_open(&ws, joined("", &f, "/tree/src"), NEEDS_PLACE, &a, &e) == ST_OK);
    CHECK_SV(ws.root, sv_of(joined("", &f, "/main/src")));
    workspace_close(&ws);
    fresh_done(&f);
}

static void a_pointer_that_leads_nowhere_opens_no_log(void)
{
    struct fresh     f = fresh_folder();
    struct workspace ws = fresh_workspace(NULL);
    struct store    *store;

    write_file(&f, "/lost", ".git", joined("gitdir: ", &f, "/nowhere\n"));
    write_file(&f, "/lost/.heddle", "config.json", "{}");
    CHECK(workspace_open(&ws, joined("", &f, "/lost"), NEEDS_ROOT, &a, &e) == ST_OK);
    CHECK(!ws.is_workspace && ws.trouble.code == ST_NOT_FOUND);
    CHECK(workspace_take(&ws, STORE_WRITE, &store, &e) == ST_NOT_FOUND);
    CHECK(sv_find(sv_of(e.hint), SV("git worktree repair")) >= 0);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_NOT_FOUND);
    workspace_close(&ws);
    fresh_done(&f);
}

static void a_variable_names_the_workspace(void)
{
    struct fresh     f = fresh_folder();
    char            *variables[] = { joined("HEDDLE_ROOT=", &f, "/named"), NULL };
    struct workspace ws = fresh_workspace(variables);

    make_repository(&f);
    write_file(&f, "/named", "x", "");
    ws.is_seen = true;
    CHECK(workspace_open(&ws, joined("", &f, "/tree/src"), NEEDS_PLACE, &a, &e) == ST_OK);
    CHECK_SV(ws.root, sv_of(joined("", &f, "/named")));
    CHECK_SV(workspace_project(&ws), sv_of(joined("", &f, "/tree")));
    ws.is_seen = false; /* a person named the directory */
    CHECK(workspace_open(&ws, joined("", &f, "/tree/src"), NEEDS_PLACE, &a, &e) == ST_OK);
    CHECK_SV(ws.root, sv_of(joined("", &f, "/main")));
    ws.is_seen = true;
    variables[0] = joined("HEDDLE_ROOT=", &f, "/missing");
    CHECK(workspace_open(&ws, joined("", &f, "/tree"), NEEDS_PLACE, &a, &e) == ST_USAGE);
    variables[0] = (char[]){ "HEDDLE_ROOT=relative" };
    CHECK(workspace_open(&ws, joined("", &f, "/tree"), NEEDS_PLACE, &a, &e) == ST_USAGE);
    workspace_close(&ws);
    fresh_done(&f);
}

/* Two in one process, as a server for two people would have them. */
static void each_workspace_has_the_environment_that_it_was_given(void)
{
    struct fresh     f = fresh_folder();
    char             store[] = "HEDDLE_STORE=mem:";
    char            *ana[] = { joined("HOME=", &f, "/ana"), store, NULL };
    char            *ben[] = { joined("HOME=", &f, "/ben"), NULL };
    struct workspace ones = fresh_workspace(ana), others = fresh_workspace(ben);

    write_file(&f, "/ana/.config/heddle", "config.json", "{\"loom\":{\"budget\":7}}");
    write_file(&f, "/ben/.config/heddle", "config.json", "{\"loom\":{\"budget\":8}}");
    write_file(&f, "/project/.heddle", "config.json", "{}");
    CHECK(workspace_open(&ones, joined("", &f, "/project"), NEEDS_ROOT, &a, &e) == ST_OK);
    CHECK(workspace_open(&others, joined("", &f, "/project"), NEEDS_ROOT, &a, &e) == ST_OK);
    CHECK_INT(budget_of(&ones), 7);
    CHECK_INT(budget_of(&others), 8);
    CHECK_SV(ones.store_url, SV("mem:"));
    CHECK(!others.store_url.n);
    workspace_close(&ones);
    workspace_close(&others);
    fresh_done(&f);
}

static void what_is_ignored_is_told_to_the_door(void)
{
    struct fresh     f = fresh_folder();
    char            *variables[] = { joined("HOME=", &f, "/ana"), NULL };
    struct workspace ws = fresh_workspace(variables);

    write_file(&f, "/ana/.config/heddle", "config.json", "{\"loom\":{\"budget\":7}}");
    CHECK(chmod(joined("", &f, "/ana/.config/heddle/config.json"), 0666) == 0);
    write_file(&f, "/project/.heddle", "config.json", "{}");
    CHECK(workspace_open(&ws, joined("", &f, "/project"), NEEDS_ROOT, &a, &e) == ST_OK);
    CHECK(budget_of(&ws) != 7);
    CHECK(strstr(noted, "can be written by everybody") != NULL);
    workspace_close(&ws);
    fresh_done(&f);
}

static void settings_that_are_wrong_are_an_error(void)
{
    struct fresh     f = fresh_folder();
    struct workspace ws = fresh_workspace(NULL);

    write_file(&f, "/project/.heddle", "config.json", "{\"loom\":{\"bugdet\":7}}");
    CHECK(workspace_open(&ws, joined("", &f, "/project"), NEEDS_ROOT, &a, &e) != ST_OK);
    CHECK(strstr(e.text, "bugdet") != NULL);
    workspace_close(&ws);
    fresh_done(&f);
}

static int64_t rev_in(struct store *store)
{
    struct store_head h = { .rev = -1 };

    return store_head(store, SV("t"), &h, &e) == ST_OK ? h.rev : -1;
}

/* Append one entry to t, with a store of the workspace. */
static void append(struct workspace *ws)
{
    struct entry      one = { .kind = SV("note"), .actor = SV("ana"), .payload = SV("{}") };
    struct store     *store = NULL;
    struct store_head h;

    CHECK(workspace_take(ws, STORE_WRITE, &store, &e) == ST_OK);
    int64_t rev = rev_in(store);
    CHECK(store_begin(store, STORE_WRITE, &e) == ST_OK);
    CHECK(store_append(store, SV("t"), rev, &one, 1, &h, &e) == ST_OK);
    CHECK(store_commit(store, &e) == ST_OK);
    workspace_give(ws, store, STORE_WRITE);
}

/* An idle store has the removed file open: what is written there would be lost. */
static void a_log_that_was_removed_is_not_written_to(void)
{
    struct fresh        f = fresh_folder();
    struct workspace    ws = fresh_workspace(NULL);
    struct mark_reader *marks;
    struct store_mark   mark, later;
    struct store       *store = NULL;

    write_file(&f, "/project/.heddle", "config.json", "{}");
    CHECK(workspace_open(&ws, joined("", &f, "/project"), NEEDS_ROOT, &a, &e) == ST_OK);
    marks = mark_reader_open(&ws);
    append(&ws);
    append(&ws);
    CHECK(!mark_reader_now(marks, &mark)); /* nobody has prepared it */
    mark_reader_prepare(marks);
    CHECK(mark_reader_now(marks, &mark));
    CHECK(unlink(joined("", &f, "/project/.heddle/heddle.db")) == 0);
    unlink(joined("", &f, "/project/.heddle/heddle.db-wal"));
    unlink(joined("", &f, "/project/.heddle/heddle.db-shm"));
    CHECK(!mark_reader_now(marks, &mark));
    append(&ws);
    CHECK(workspace_take(&ws, STORE_READ, &store, &e) == ST_OK);
    CHECK_INT(rev_in(store), 1); /* a new log begins */
    workspace_give(&ws, store, STORE_READ);
    CHECK(!mark_reader_now(marks, &mark));
    mark_reader_prepare(marks);
    CHECK(mark_reader_now(marks, &mark));
    append(&ws);
    CHECK(mark_reader_now(marks, &later) && !mark_eq(&mark, &later));
    mark_reader_close(marks);
    workspace_close(&ws);
    fresh_done(&f);
}

TAP_MAIN(T(the_nearest_workspace_above_is_found), T(all_checkouts_have_one_workspace),
         T(a_pointer_that_leads_nowhere_opens_no_log), T(a_variable_names_the_workspace),
         T(each_workspace_has_the_environment_that_it_was_given),
         T(what_is_ignored_is_told_to_the_door), T(settings_that_are_wrong_are_an_error),
         T(a_log_that_was_removed_is_not_written_to), )
