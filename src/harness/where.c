/* Which files are transcripts, and where they lie: one row for each program. */
#include "harness/where.h"

#include "base/fs.h"
#include "base/path.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

/* clang-format off */
static const struct {
    const char *variable, *below;       /* $variable/below, or ... */
    const char *home;                   /* ... $HOME/home */
    const char *prefix;                 /* of the names of transcripts; "": any */
    const char *suffixes;               /* of them, with spaces between */
    const char *skip;                   /* a directory that is not looked into, or "" */
    const char *resume;                 /* the command; the session's id follows */
} places[] = {
    [HARNESS_CLAUDE_CODE] = { "CLAUDE_CONFIG_DIR",   "projects",    ".claude/projects",        "",         ".jsonl",       "subagents", "claude --resume " },
    [HARNESS_CODEX]       = { "CODEX_HOME",          "sessions",    ".codex/sessions",         "rollout-", ".jsonl",       "",          "codex resume " },
    [HARNESS_OPENCODE]    = { "XDG_DATA_HOME",       "opencode",    ".local/share/opencode",   "opencode", ".db",          "snapshot",  "opencode --session " },
    [HARNESS_GEMINI]      = { "GEMINI_CLI_HOME",     ".gemini/tmp", ".gemini/tmp",             "",         ".jsonl .json", "",          "gemini --resume " },
    [HARNESS_PI]          = { "PI_CODING_AGENT_DIR", "sessions",    ".pi/agent/sessions",      "",         ".jsonl",       "",          "pi --session " },
};
/* clang-format on */

enum { DEPTH_MAX = 8 };

struct sv harness_home(enum harness h, harness_variable_fn variable, const void *ctx,
                       struct arena *a)
{
    struct sv own = variable(ctx, places[h].variable), home = variable(ctx, "HOME");

    if (h == HARNESS_PI && variable(ctx, "PI_CODING_AGENT_SESSION_DIR").n)
        return variable(ctx, "PI_CODING_AGENT_SESSION_DIR");
    if (own.n)
        return path_join(own, sv_of(places[h].below), a);
    return home.n ? path_join(home, sv_of(places[h].home), a) : (struct sv){ 0 };
}

enum status harness_home_open(struct sv path, struct arena *a, int *fd, struct err *e)
{
    *fd = open(sv_cstr(path, a), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return *fd < 0 ? err_errno(e, SV_FMT, SV_ARG(path)) : ST_OK;
}

const char *harness_home_variable(enum harness h)
{
    return places[h].variable;
}

void harness_resume_command(enum harness h, struct sv session, struct sv cwd, struct sb *b)
{
    if (cwd.n) {
        sb_adds(b, "cd ");
        sb_add_shell(b, cwd);
        sb_adds(b, " && ");
    }
    sb_adds(b, places[h].resume);
    sb_add_shell(b, session);
}

/* ---- listing ------------------------------------------------------------------------------- */

struct transcript_list {
    enum harness  harness;
    int           dir;
    struct arena *a;
    VEC(struct harness_transcript) found;
};

/* Of Gemini's files only those in a directory `chats`, or below one, are sessions. */
static bool is_transcript(const struct transcript_list *l, struct sv path)
{
    struct sv     name = path_base(path);
    struct sv_cut cut = { .tail = sv_of(places[l->harness].suffixes), .found = true };
    bool          ends = false;

    while (cut.found && !ends) {
        cut = sv_cut(cut.tail, ' ');
        ends = sv_ends(name, cut.head);
    }
    if (!ends || !sv_starts(name, sv_of(places[l->harness].prefix)))
        return false;
    return l->harness != HARNESS_GEMINI || sv_starts(name, SV("session-")) ||
           sv_find(path, SV("chats/")) >= 0;
}

/* When a file was made; 0: the file system does not know. */
static int64_t made_ns(int dir, struct sv path)
{
    UNDO(fd_undo) int fd = -1;
    struct statx      st;
    struct err        ignored;

    if (fs_open(dir, path, O_PATH | O_CLOEXEC, &fd, &ignored) ||
        statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) || !(st.stx_mask & STATX_BTIME))
        return 0;
    return (int64_t)st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec;
}

static enum status add_file(struct transcript_list *l, struct sv path, struct err *e)
{
    struct fs_mark mark;
    int64_t        made = 0;
    bool           found;

    if (!is_transcript(l, path))
        return ST_OK;
    if (fs_mark(l->dir, path, &mark, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    if (l->harness == HARNESS_CLAUDE_CODE) /* names of others begin with a time */
        made = made_ns(l->dir, path);
    *vec_push(&l->found, l->a) = (struct harness_transcript){
        .path = path, .changed_ns = mark.mtime_ns, .made_ns = made, .size = (int64_t)mark.size
    };
    return ST_OK;
}

static enum status list_below(struct transcript_list *l, struct sv dir, int depth, struct err *e)
{
    struct fs_item *items;
    size_t          n;

    if (fs_list(l->dir, dir.n ? dir : SV("."), l->a, &items, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct sv path = path_join(dir, items[i].name, l->a);
        bool      skip = sv_is(items[i].name, places[l->harness].skip) || depth == DEPTH_MAX;
        if (items[i].kind == FS_FILE           ? add_file(l, path, e) != ST_OK
            : items[i].kind == FS_DIR && !skip ? list_below(l, path, depth + 1, e) != ST_OK
                                               : false)
            return err_code(e);
    }
    return ST_OK;
}

static int by_age(const void *a, const void *b)
{
    const struct harness_transcript *x = a, *y = b;

    if (x->made_ns != y->made_ns)
        return x->made_ns < y->made_ns ? -1 : 1;
    return sv_cmp(path_base(x->path), path_base(y->path));
}

enum status harness_transcripts(enum harness h, int dir, struct arena *a,
                                struct harness_transcript **out, size_t *n, struct err *e)
{
    struct transcript_list l = { .harness = h, .dir = dir, .a = a };

    if (list_below(&l, SV(""), 0, e))
        return err_code(e);
    if (l.found.n)
        qsort(l.found.v, l.found.n, sizeof *l.found.v, by_age);
    *out = l.found.v;
    *n = l.found.n;
    return ST_OK;
}
