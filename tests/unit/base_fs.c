#include "base/fs.h"

#include "base/path.h"
#include "base/rand.h"
#include "fresh.h"
#include "tap.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* A workspace with things in it, and a secret beside it.
 *     top/secret          what must never be reached
 *     top/root/file       "content"
 *     top/root/dir/inner  "inner"
 *     top/root/out        a link to ../secret
 *     top/root/up         a link to ..
 *     top/root/abs        a link to the secret's absolute path
 *     top/root/in         a link to dir/inner
 *     top/root/loop       a link to itself */
struct place {
    struct fresh top;
    int          root;
};

static void put(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static struct place make_place(void)
{
    struct place p = { .top = fresh_folder() };
    char         absolute[512];

    put(p.top.fd, "secret", "secret");
    mkdirat(p.top.fd, "root", 0755);
    p.root = openat(p.top.fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    put(p.root, "file", "content");
    mkdirat(p.root, "dir", 0755);
    put(p.root, "dir/inner", "inner");
    snprintf(absolute, sizeof absolute, "%s/secret", p.top.path);
    CHECK(symlinkat("../secret", p.root, "out") == 0);
    CHECK(symlinkat("..", p.root, "up") == 0);
    CHECK(symlinkat(absolute, p.root, "abs") == 0);
    CHECK(symlinkat("dir/inner", p.root, "in") == 0);
    CHECK(symlinkat("loop", p.root, "loop") == 0);
    return p;
}

static void drop_place(struct place *p)
{
    close(p->root);
    fresh_done(&p->top);
}

static const char *const ways_out[] = {
    "..",
    "../secret",
    "dir/../../secret",
    "out",
    "up",
    "up/secret",
    "abs",
    "loop",
    "/etc/passwd",
    "./../secret",
    "dir/..//../secret",
    "up/root/file",
};

static void nothing_leads_out_of_the_root(void)
{
    struct place p = make_place();
    struct arena a = { 0 };

    for (size_t i = 0; i < COUNT(ways_out); i++) {
        struct sv  path = sv_of(ways_out[i]), bytes;
        struct err e = { 0 };
        int        fd = -1;
        CHECK_INT(fs_open(p.root, path, O_RDONLY, &fd, &e), ST_PERMISSION_DENIED);
        CHECK_INT(fd, -1);
        CHECK_INT(fs_read(p.root, path, 0, &a, &bytes, &e), ST_PERMISSION_DENIED);
    }
    drop_place(&p);
    arena_free(&a);
}

/* What is at a path; -1: it cannot be said. */
static int kind_or_refused(int root, struct sv path)
{
    struct err   e;
    enum fs_kind kind;

    return fs_kind(root, path, &kind, &e) ? -1 : (int)kind;
}

static void nothing_outside_is_changed(void)
{
    static const char *const paths[] = { "..",       "../secret", "up/secret", "dir/../../secret",
                                         "up/new",   "../new",    "/new",      "up/..",
                                         "dir/../.." };
    struct place             p = make_place();
    struct arena             a = { 0 };

    for (size_t i = 0; i < COUNT(paths); i++) {
        struct sv  path = sv_of(paths[i]);
        struct err e = { 0 };
        CHECK(fs_write(p.root, path, SV("x"), 0644, &e) != ST_OK);
        CHECK(fs_remove(p.root, path, &e) != ST_OK);
        CHECK(fs_mkdirs(p.root, path, &e) != ST_OK);
        CHECK_INT(kind_or_refused(p.root, path), -1);
    }
    struct sv  secret;
    struct err e;
    CHECK(fs_read(p.top.fd, SV("secret"), 0, &a, &secret, &e) == ST_OK);
    CHECK_SV(secret, SV("secret"));
    CHECK_INT(kind_or_refused(p.top.fd, SV("new")), FS_MISSING);
    CHECK_INT(kind_or_refused(p.root, SV("dir/inner")), FS_FILE);
    drop_place(&p);
    arena_free(&a);
}

static void the_root_itself_is_not_removed(void)
{
    struct place p = make_place();
    struct err   e = { 0 };

    CHECK_INT(fs_remove(p.root, SV("."), &e), ST_INVALID_SYNTAX);
    CHECK_INT(fs_remove(p.root, SV(""), &e), ST_INVALID_SYNTAX);
    CHECK_INT(fs_remove(p.root, SV("dir/.."), &e), ST_INVALID_SYNTAX);
    CHECK_INT(fs_remove(p.root, SV("dir/."), &e), ST_INVALID_SYNTAX);
    CHECK_INT(kind_or_refused(p.root, SV("dir/inner")), FS_FILE);
    drop_place(&p);
}

static void a_nul_byte_does_not_shorten_a_path(void)
{
    struct place p = make_place();
    struct arena a = { 0 };
    struct err   e = { 0 };
    struct sv    bytes, path = SV("file\0.txt");

    CHECK_INT(fs_read(p.root, path, 0, &a, &bytes, &e), ST_INVALID_SYNTAX);
    CHECK_INT(fs_write(p.root, path, SV("x"), 0644, &e), ST_INVALID_SYNTAX);
    CHECK_INT(fs_remove(p.root, path, &e), ST_INVALID_SYNTAX);
    CHECK_INT(fs_mkdirs(p.root, SV("new\0x"), &e), ST_INVALID_SYNTAX);
    CHECK_INT(kind_or_refused(p.root, path), -1);
    CHECK_INT(kind_or_refused(p.root, SV("file")), FS_FILE);
    CHECK_INT(kind_or_refused(p.root, SV("new")), FS_MISSING);
    drop_place(&p);
    arena_free(&a);
}

static void links_that_stay_inside_are_followed_for_reading(void)
{
    struct place p = make_place();
    struct arena a = { 0 };
    struct sv    bytes;
    struct err   e = { 0 };

    CHECK_INT(fs_read(p.root, SV("in"), 0, &a, &bytes, &e), ST_OK);
    CHECK_SV(bytes, SV("inner"));
    CHECK_INT(fs_read(p.root, SV("dir/../file"), 0, &a, &bytes, &e), ST_OK);
    CHECK_SV(bytes, SV("content"));
    drop_place(&p);
    arena_free(&a);
}

static void writing_replaces_a_link_and_not_what_it_points_to(void)
{
    struct place p = make_place();
    struct arena a = { 0 };
    struct sv    bytes;
    struct err   e = { 0 };

    CHECK_INT(fs_write(p.root, SV("out"), SV("mine"), 0644, &e), ST_OK);
    CHECK_INT(kind_or_refused(p.root, SV("out")), FS_FILE);
    CHECK_INT(fs_read(p.top.fd, SV("secret"), 0, &a, &bytes, &e), ST_OK);
    CHECK_SV(bytes, SV("secret"));
    CHECK_INT(fs_remove(p.root, SV("up"), &e), ST_OK); /* removes the link only */
    CHECK_INT(kind_or_refused(p.root, SV("up")), FS_MISSING);
    CHECK_INT(kind_or_refused(p.root, SV("file")), FS_FILE);
    drop_place(&p);
    arena_free(&a);
}

static void kinds_are_of_the_thing_itself(void)
{
    struct place p = make_place();

    CHECK(mkfifoat(p.root, "pipe", 0600) == 0);
    CHECK_INT(kind_or_refused(p.root, SV("file")), FS_FILE);
    CHECK_INT(kind_or_refused(p.root, SV("dir")), FS_DIR);
    CHECK_INT(kind_or_refused(p.root, SV("")), FS_DIR);
    CHECK_INT(kind_or_refused(p.root, SV(".")), FS_DIR);
    CHECK_INT(kind_or_refused(p.root, SV("out")), FS_LINK);
    CHECK_INT(kind_or_refused(p.root, SV("pipe")), FS_OTHER);
    CHECK_INT(kind_or_refused(p.root, SV("nope")), FS_MISSING);
    CHECK_INT(kind_or_refused(p.root, SV("file/x")), FS_MISSING);
    drop_place(&p);
}

static void what_is_not_a_regular_file_is_not_read(void)
{
    struct place p = make_place();
    struct arena a = { 0 };
    struct sv    bytes = SV("untouched");
    struct err   e = { 0 };

    CHECK(mkfifoat(p.root, "pipe", 0600) == 0);
    CHECK_INT(fs_read(p.root, SV("pipe"), 0, &a, &bytes, &e), ST_IO); /* and does not wait */
    CHECK_INT(fs_read(p.root, SV("dir"), 0, &a, &bytes, &e), ST_IO);
    CHECK_INT(fs_read(p.root, SV("nope"), 0, &a, &bytes, &e), ST_NOT_FOUND);
    CHECK_INT(fs_read(p.root, SV("file/x"), 0, &a, &bytes, &e), ST_NOT_FOUND);
    CHECK_SV(bytes, SV("untouched"));
    drop_place(&p);
    arena_free(&a);
}

/* n bytes through a pipe, read with a limit. */
static enum status read_pipe(size_t n, size_t max, struct arena *a, struct sv *out)
{
    int        ends[2];
    struct err e = { 0 };

    if (pipe(ends) != 0)
        exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char block[4096];
        memset(block, 'p', sizeof block);
        signal(SIGPIPE, SIG_DFL);
        for (size_t left = n; left;) {
            ssize_t wrote = write(ends[1], block, left < sizeof block ? left : sizeof block);
            if (wrote <= 0)
                _exit(1);
            left -= (size_t)wrote;
        }
        _exit(0);
    }
    close(ends[1]);
    enum status s = fs_read_fd(ends[0], max, a, out, &e);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return s;
}

static void a_limit_holds_for_files_and_pipes_of_every_size(void)
{
    static const size_t sizes[] = { 0, 1, 99, 100, 101, 65535, 65536, 65537, 200000 };
    struct place        p = make_place();
    struct arena        a = { 0 };

    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct sb  text = sb_in(&a, 0);
        struct err e = { 0 };
        struct sv  got = { 0 };
        sb_pad(&text, 'p', sizes[i]);
        CHECK_INT(fs_write(p.root, SV("sized"), sb_sv(&text), 0644, &e), ST_OK);
        for (int d = -1; d <= 1; d++) {
            size_t max = sizes[i] + (size_t)d;
            if (max == 0 || max == SIZE_MAX)
                continue; /* 0 is no limit */
            enum status want = d < 0 ? ST_LIMIT_EXCEEDED : ST_OK;
            CHECK_INT(fs_read(p.root, SV("sized"), max, &a, &got, &e), want);
            CHECK_INT(read_pipe(sizes[i], max, &a, &got), want);
        }
        CHECK_INT(fs_read(p.root, SV("sized"), 0, &a, &got, &e), ST_OK);
        CHECK_SV(got, sb_sv(&text));
        CHECK_INT(got.s[got.n], 0);
        CHECK_INT(read_pipe(sizes[i], 0, &a, &got), ST_OK);
        CHECK_SV(got, sb_sv(&text));
    }
    drop_place(&p);
    arena_free(&a);
}

static void folders_are_made_with_their_parents(void)
{
    struct place p = make_place();
    struct err   e = { 0 };

    CHECK_INT(fs_mkdirs(p.root, SV("x/y/z"), &e), ST_OK);
    CHECK_INT(fs_mkdirs(p.root, SV("x/y/z"), &e), ST_OK);
    CHECK_INT(kind_or_refused(p.root, SV("x/y/z")), FS_DIR);
    CHECK_INT(fs_mkdirs(p.root, SV("t/r/"), &e), ST_OK);
    CHECK_INT(kind_or_refused(p.root, SV("t/r")), FS_DIR);
    CHECK_INT(fs_mkdirs(p.root, SV("u//v"), &e), ST_OK);
    CHECK_INT(kind_or_refused(p.root, SV("u/v")), FS_DIR);
    CHECK_INT(fs_mkdirs(p.root, SV(""), &e), ST_OK);
    CHECK_INT(fs_mkdirs(p.root, SV("file"), &e), ST_NOT_FOUND); /* a file is in the way */
    CHECK_INT(fs_mkdirs(p.root, SV("file/x"), &e), ST_NOT_FOUND);
    drop_place(&p);
}

static void removing_takes_a_whole_tree_and_is_fine_with_nothing(void)
{
    struct place p = make_place();
    struct err   e = { 0 };

    CHECK_INT(fs_mkdirs(p.root, SV("t/a/b"), &e), ST_OK);
    put(p.root, "t/a/b/file", "x");
    CHECK(symlinkat("../../file", p.root, "t/a/link") == 0);
    CHECK_INT(fs_remove(p.root, SV("t"), &e), ST_OK);
    CHECK_INT(kind_or_refused(p.root, SV("t")), FS_MISSING);
    CHECK_INT(kind_or_refused(p.root, SV("file")), FS_FILE);
    CHECK_INT(fs_remove(p.root, SV("t"), &e), ST_OK);
    CHECK_INT(fs_remove(p.root, SV("no/such/thing"), &e), ST_OK);
    drop_place(&p);
}

static void a_mode_is_kept_and_old_bytes_go(void)
{
    struct place p = make_place();
    struct arena a = { 0 };
    struct stat  st;
    struct sv    bytes;
    struct err   e = { 0 };

    umask(022);
    CHECK_INT(fs_write(p.root, SV("key"), SV("long secret bytes"), 0600, &e), ST_OK);
    CHECK(fstatat(p.root, "key", &st, 0) == 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK_INT(fs_write(p.root, SV("key"), SV("s\0t"), 0600, &e), ST_OK);
    CHECK_INT(fs_read(p.root, SV("key"), 0, &a, &bytes, &e), ST_OK);
    CHECK_SV(bytes, SV("s\0t"));
    CHECK_INT(fs_write(p.root, SV("no/parent"), SV("x"), 0600, &e), ST_NOT_FOUND);
    CHECK_INT(fs_write(p.root, SV("dir"), SV("x"), 0600, &e), ST_IO); /* a folder stays one */
    CHECK_INT(kind_or_refused(p.root, SV("dir/inner")), FS_FILE);
    drop_place(&p);
    arena_free(&a);
}

static size_t count_files(int root)
{
    struct arena a = { 0 };
    struct sv    bytes;
    struct err   e;
    size_t       n = 0;
    char         name[64];

    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "f%d", i);
        n += fs_read(root, sv_of(name), 0, &a, &bytes, &e) == ST_OK;
    }
    arena_free(&a);
    return n;
}

/* A file size limit makes write() fail half way, as a full disk does. */
static void a_failed_write_leaves_the_old_bytes_and_no_litter(void)
{
    struct place p = make_place();

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct arena  a = { 0 };
        struct err    e = { 0 };
        struct sb     big = sb_in(&a, 0);
        struct sv     bytes;
        struct rlimit limit = { 8192, 8192 };
        sb_pad(&big, 'x', 100000);
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        bool refused = fs_write(p.root, SV("file"), sb_sv(&big), 0644, &e) == ST_IO;
        bool kept =
            fs_read(p.root, SV("file"), 0, &a, &bytes, &e) == ST_OK && sv_is(bytes, "content");
        bool clean = fs_remove(p.root, SV("file"), &e) == ST_OK &&
                     fs_remove(p.root, SV("dir"), &e) == ST_OK && unlinkat(p.root, "out", 0) == 0 &&
                     unlinkat(p.root, "up", 0) == 0 && unlinkat(p.root, "abs", 0) == 0 &&
                     unlinkat(p.root, "in", 0) == 0 && unlinkat(p.root, "loop", 0) == 0 &&
                     unlinkat(p.top.fd, "root", AT_REMOVEDIR) == 0; /* only when empty */
        arena_free(&a);
        _exit(refused ? kept ? clean ? 0 : 3 : 2 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_INT(WEXITSTATUS(status), 0);
    drop_place(&p);
}

/* A real full disk: a small tmpfs, where the machine lets us mount one. */
static void a_full_disk_is_an_error_with_a_hint(void)
{
    struct place p = make_place();
    struct arena a = { 0 };
    struct err   e = { 0 };
    char         path[512];
    struct sb    big = sb_in(&a, 0);

    snprintf(path, sizeof path, "%s/root/dir", p.top.path);
    if (mount("tmpfs", path, "tmpfs", 0, "size=64k") != 0) {
        printf("# a tmpfs cannot be mounted here (%s): left out\n", strerror(errno));
    } else {
        int small = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        sb_pad(&big, 'x', 40000);
        CHECK_INT(fs_write(small, SV("f1"), sb_sv(&big), 0644, &e), ST_OK);
        CHECK_INT(fs_write(small, SV("f2"), sb_sv(&big), 0644, &e), ST_IO);
        CHECK(strstr(e.text, "No space left") != NULL);
        CHECK(strstr(e.hint, "disk is full") != NULL);
        CHECK_INT(count_files(small), 1);
        CHECK_INT(fs_write(small, SV("f3"), SV("little"), 0644, &e),
                  ST_OK); /* the litter is gone */
        close(small);
        umount(path);
    }
    drop_place(&p);
    arena_free(&a);
}

/* Leftovers of a killed run have the names a seeded run will draw again. */
static void leftovers_of_a_killed_run_are_not_in_the_way(void)
{
    struct place p = make_place();

    for (int round = 0; round < 2; round++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            struct err e = { 0 };
            rand_seed(SV("leftover"));
            if (round == 0) { /* make the temporary file, then be killed */
                struct rlimit limit = { 0, 0 };
                setrlimit(RLIMIT_FSIZE, &limit);
                signal(SIGXFSZ, SIG_DFL);
            }
            _exit(fs_write(p.root, SV("file"), SV("new"), 0644, &e) == ST_OK ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(round == 0 ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    drop_place(&p);
}

/* Everything above once more where the kernel has no openat2. */
static void the_walk_for_old_kernels_is_as_strict(void)
{
    struct place p = make_place();

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { COUNT(code), code };
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            _exit(77);
        struct arena a = { 0 };
        struct err   e = { 0 };
        struct sv    bytes;
        int          wrong = 0;
        for (size_t i = 0; i < COUNT(ways_out); i++)
            wrong += fs_read(p.root, sv_of(ways_out[i]), 0, &a, &bytes, &e) != ST_PERMISSION_DENIED;
        wrong += fs_read(p.root, SV("dir//./inner"), 0, &a, &bytes, &e) != ST_OK;
        wrong += !sv_is(bytes, "inner");
        wrong += fs_read(p.root, SV("nope/x"), 0, &a, &bytes, &e) != ST_NOT_FOUND;
        wrong += fs_read(p.root, SV("file/x"), 0, &a, &bytes, &e) != ST_NOT_FOUND;
        wrong += fs_write(p.root, SV("dir/new"), SV("x"), 0644, &e) != ST_OK;
        wrong += fs_mkdirs(p.root, SV("a/b/c"), &e) != ST_OK;
        wrong += kind_or_refused(p.root, SV("a/b/c")) != FS_DIR;
        wrong += fs_remove(p.root, SV(".."), &e) != ST_INVALID_SYNTAX;
        wrong += fs_write(p.root, SV("up/x"), SV("x"), 0644, &e) != ST_PERMISSION_DENIED;
        arena_free(&a);
        _exit(wrong);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        printf("# no seccomp here: left out\n");
    else
        CHECK_INT(WEXITSTATUS(status), 0);
    drop_place(&p);
}

static void a_file_is_changed_in_place_only_when_it_has_one_name(void)
{
    struct place p = make_place();
    struct arena a = { 0 };
    struct err   e = { 0 };
    struct sv    bytes;
    int          fd = -1;

    CHECK(linkat(p.top.fd, "secret", p.root, "hard", 0) == 0);
    CHECK(mkfifoat(p.root, "pipe", 0600) == 0);
    CHECK_INT(fs_open_own(p.root, SV("out"), O_WRONLY, &fd, &e), ST_PERMISSION_DENIED);
    CHECK_INT(fs_open_own(p.root, SV("in"), O_WRONLY, &fd, &e), ST_PERMISSION_DENIED);
    CHECK_INT(fs_open_own(p.root, SV("hard"), O_WRONLY, &fd, &e), ST_PERMISSION_DENIED);
    CHECK_SV(sv_of(e.reason), SV("link"));
    CHECK_INT(fs_open_own(p.root, SV("up/new"), O_WRONLY, &fd, &e), ST_PERMISSION_DENIED);
    CHECK_INT(fs_open_own(p.root, SV("pipe"), O_RDWR, &fd, &e), ST_IO);
    CHECK(fs_open_own(p.root, SV("dir"), O_WRONLY, &fd, &e) != ST_OK);
    CHECK_INT(fd, -1);
    CHECK_INT(fs_open_own(p.root, SV("made"), O_WRONLY | O_APPEND, &fd, &e), ST_OK);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    close(fd);
    CHECK_INT(fs_read(p.top.fd, SV("secret"), 0, &a, &bytes, &e), ST_OK);
    CHECK_SV(bytes, SV("secret"));
    drop_place(&p);
    arena_free(&a);
}

static void nothing_is_written_into_git_through_a_link(void)
{
    struct place    p = make_place();
    struct err      e = { 0 };
    struct fs_draft d;

    CHECK(fs_mkdirs(p.root, SV(".git/hooks"), &e) == ST_OK);
    CHECK(fs_mkdirs(p.root, SV("docs"), &e) == ST_OK);
    CHECK(symlinkat("../.git/hooks", p.root, "dir/sly") == 0);
    CHECK(symlinkat("../docs", p.root, "dir/docs") == 0);
    CHECK_INT(fs_write(p.root, SV("dir/sly/pre-commit"), SV("x"), 0755, &e), ST_PERMISSION_DENIED);
    CHECK_INT(fs_mkdirs(p.root, SV("dir/sly/x"), &e), ST_PERMISSION_DENIED);
    CHECK_INT(fs_remove(p.root, SV("dir/sly/x"), &e), ST_PERMISSION_DENIED);
    CHECK_INT(fs_draft_open(&d, p.root, SV("dir/sly/x"), 0644, &e), ST_PERMISSION_DENIED);
    CHECK_INT(fs_write(p.root, SV("dir/docs/a.md"), SV("x"), 0644, &e), ST_OK);
    CHECK_INT(fs_write(p.root, SV(".git/hooks/own"), SV("x"), 0644, &e), ST_OK);
    drop_place(&p);
}

/* In a process that draws the names of a seed: 0 plants links there, others write. */
static int write_where_links_wait(int root, int round)
{
    struct arena    a = { 0 };
    struct err      e = { 0 };
    struct fs_draft d;
    char            name[FS_TEMP_NAME];
    int             wrong = 0;

    rand_seed(SV("links"));
    for (int i = 0; round == 0 && i < 5; i++)
        wrong += symlinkat("../secret", root, rand_id(".heddle-tmp-", 12, &a).s) != 0;
    if (round == 1) {
        int fd = fs_temp(root, 0644, name);
        wrong += fd < 0 || write(fd, "bad", 3) != 3;
    }
    if (round == 2)
        wrong += fs_write(root, SV("one"), SV("1"), 0644, &e) != ST_OK;
    if (round == 3)
        wrong += fs_draft_open(&d, root, SV("two"), 0644, &e) || write(d.fd, "2", 1) != 1 ||
                 fs_draft_commit(&d, &e);
    arena_free(&a);
    return wrong;
}

static void a_link_at_a_temporary_name_is_left_alone(void)
{
    struct place p = make_place();
    struct arena a = { 0 };
    struct err   e = { 0 };
    struct sv    bytes;

    for (int round = 0; round < 4; round++) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            _exit(write_where_links_wait(p.root, round));
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK_INT(kind_or_refused(p.root, SV("one")), FS_FILE);
    CHECK_INT(kind_or_refused(p.root, SV("two")), FS_FILE);
    CHECK_INT(fs_read(p.top.fd, SV("secret"), 0, &a, &bytes, &e), ST_OK);
    CHECK_SV(bytes, SV("secret"));
    drop_place(&p);
    arena_free(&a);
}

/* 77: no seccomp here. Afterwards every call of `nr` fails with EIO. */
static void break_call(unsigned nr)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { COUNT(code), code };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

/* How many of the ways to ask what is there take a failure for "nothing". */
static int asked_wrongly(int root, bool has_stat)
{
    struct arena    a = { 0 };
    struct err      e = { 0 };
    enum fs_kind    kind = FS_OTHER;
    struct fs_mark  mark;
    struct fs_item *items;
    size_t          n;
    bool            there = true;
    int             wrong = 0;

    wrong += fs_kind(root, SV("dir/inner"), &kind, &e) != ST_IO || kind != FS_OTHER;
    wrong += fs_kind(root, SV("nope"), &kind, &e) != ST_IO;
    wrong += fs_exists(root, SV("dir/inner"), &there, &e) != ST_IO || !there;
    if (!has_stat)
        wrong += fs_list(root, SV("dir"), &a, &items, &n, &e) != ST_IO;
    else
        wrong += fs_mark(root, SV("dir/inner"), &mark, &there, &e) != ST_IO || !there;
    arena_free(&a);
    return wrong;
}

static void what_cannot_be_looked_at_is_an_error_and_not_missing(void)
{
    static const unsigned calls[] = { SYS_newfstatat, SYS_openat2, SYS_getdents64 };
    struct place          p = make_place();

    for (size_t i = 0; i < COUNT(calls); i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            struct arena    a = { 0 };
            struct err      e;
            struct fs_item *items;
            size_t          n;
            break_call(calls[i]);
            if (calls[i] == SYS_getdents64)
                _exit(fs_list(p.root, SV("dir"), &a, &items, &n, &e) != ST_IO);
            _exit(asked_wrongly(p.root, calls[i] == SYS_openat2));
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
            printf("# no seccomp here: left out\n");
        else
            CHECK_INT(WEXITSTATUS(status), 0);
    }
    drop_place(&p);
}

static void a_folder_without_write_permission_says_what_to_check(void)
{
    struct place p = make_place();
    struct err   e = { 0 };

    if (geteuid() == 0) { /* root may write anywhere: become nobody in a child */
        fchmod(p.top.fd, 0755);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            if (setgid(65534) != 0 || setuid(65534) != 0)
                _exit(0);
            _exit(fs_write(p.root, SV("new"), SV("x"), 0644, &e) == ST_IO &&
                          strstr(e.hint, "ls -ld")
                      ? 0
                      : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK_INT(WEXITSTATUS(status), 0);
    } else {
        fchmod(p.root, 0555);
        CHECK_INT(fs_write(p.root, SV("new"), SV("x"), 0644, &e), ST_IO);
        CHECK(strstr(e.hint, "ls -ld") != NULL);
        fchmod(p.root, 0755);
    }
    drop_place(&p);
}

TAP_MAIN(T(nothing_leads_out_of_the_root), T(nothing_outside_is_changed),
         T(the_root_itself_is_not_removed), T(a_nul_byte_does_not_shorten_a_path),
         T(links_that_stay_inside_are_followed_for_reading),
         T(writing_replaces_a_link_and_not_what_it_points_to), T(kinds_are_of_the_thing_itself),
         T(what_is_not_a_regular_file_is_not_read),
         T(a_limit_holds_for_files_and_pipes_of_every_size), T(folders_are_made_with_their_parents),
         T(removing_takes_a_whole_tree_and_is_fine_with_nothing),
         T(a_mode_is_kept_and_old_bytes_go), T(a_failed_write_leaves_the_old_bytes_and_no_litter),
         T(a_full_disk_is_an_error_with_a_hint), T(leftovers_of_a_killed_run_are_not_in_the_way),
         T(the_walk_for_old_kernels_is_as_strict),
         T(what_cannot_be_looked_at_is_an_error_and_not_missing),
         T(a_file_is_changed_in_place_only_when_it_has_one_name),
         T(nothing_is_written_into_git_through_a_link), T(a_link_at_a_temporary_name_is_left_alone),
         T(a_folder_without_write_permission_says_what_to_check), )
