/* `head`: where each log ends, to be kept elsewhere and compared with `verify --pin`. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/note.h"
#include "front/cli/command.h"
#include "thread/anchor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_text(struct app *app, const struct pin *p)
{
    sb_add_plain(&app->out, p->thread);
    sb_addf(&app->out, " %lld ", (long long)p->rev);
    sb_add_hex(&app->out, p->chain.b, HASH_SIZE);
    sb_addc(&app->out, ' ');
    sb_add_iso_ms(&app->out, p->at);
    sb_addc(&app->out, '\n');
}

static enum status print_one(struct app *app, struct sv thread, struct jw *w, struct err *e)
{
    struct pin p;

    if (pin_of(&app->log, thread, &p, e))
        return err_code(e);
    if (app->json)
        pin_write(w, &p);
    else
        print_text(app, &p);
    return ST_OK;
}

static enum status print_all(struct app *app, struct jw *w, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (store_threads(app->log.store, app->a, &list, &n, e))
        return err_code(e);
    jw_open(w, '{');
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        if (print_one(app, list[i].id, w, e))
            return err_code(e);
    jw_close(w, ']');
    jw_close(w, '}');
    return ST_OK;
}

/* ---- signing and anchoring --------------------------------------------------------------------
 */

enum { KEY_FILE_MAX = 4096 };

struct head_opts {
    struct sv sign, new_key, name;
    bool      anchor;
};

static const struct opt head_opts[] = {
    { OPT_TEXT, "sign", "KEY", "print a signed note; KEY is a file outside the workspace",
      offsetof(struct head_opts, sign), 0 },
    { OPT_FLAG, "anchor", NULL, "write the heads of all threads into .global",
      offsetof(struct head_opts, anchor), 0 },
    { OPT_TEXT, "new-key", "FILE", "make a key for --sign and print its public part",
      offsetof(struct head_opts, new_key), 0 },
    { OPT_TEXT, "name", "NAME", "whose key it is (default: who asks)",
      offsetof(struct head_opts, name), 0 },
    { 0 },
};

/* A key that lies in the workspace signs whatever somebody puts there beside it. */
static enum status check_outside(struct app *app, const char *path, struct err *e)
{
    char *real = realpath(path, NULL), *root = realpath(sv_cstr(app->ws.root, app->a), NULL);
    bool  inside = real && root && sv_starts(sv_of(real), sv_of(root)) &&
                  (real[strlen(root)] == '/' || real[strlen(root)] == 0);

    free(real);
    free(root);
    if (!inside)
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "%s lies in the workspace", path);
    return err_hint(e, "keep the key elsewhere: whoever changes the log could take it too");
}

static enum status read_key(struct app *app, struct sv file, struct sv *out, struct err *e)
{
    struct stat       st;
    UNDO(fd_undo) int fd = open(file.s, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) != 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(file));
    if (st.st_mode & 077) {
        err_set(e, ST_PERMISSION_DENIED, "others may read " SV_FMT, SV_ARG(file));
        return err_hint(e, "chmod 600 it, and consider the key known");
    }
    if (check_outside(app, file.s, e))
        return err_code(e);
    return fs_read_fd(fd, KEY_FILE_MAX, app->a, out, e);
}

static enum status new_key(struct app *app, const struct head_opts *o, struct err *e)
{
    struct sv         secret, open_key;
    struct sb         line = sb_in(app->a, 0);
    UNDO(fd_undo) int fd = -1;

    if (note_new_key(o->name.s ? o->name : app->actor, app->a, &secret, &open_key, e))
        return err_code(e);
    fd = open(o->new_key.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_errno(e, "make " SV_FMT, SV_ARG(o->new_key));
    sb_add(&line, secret);
    sb_addc(&line, '\n');
    if (check_outside(app, o->new_key.s, e) ||
        (write(fd, sb_sv(&line).s, line.n) != (ssize_t)line.n && err_errno(e, "write the key"))) {
        unlink(o->new_key.s);
        return err_code(e);
    }
    sb_add(&app->out, open_key);
    sb_addc(&app->out, '\n');
    return ST_OK;
}

/* "heddle heads", then one pin a line. */
static enum status sign_heads(struct app *app, const struct head_opts *o, struct err *e)
{
    struct sb            text = sb_in(app->a, 0);
    struct store_thread *list, one = { .id = app_arg(app, 0) };
    struct sv            key, note;
    size_t               n = 1;
    enum status          s = read_key(app, o->sign, &key, e);

    if (s)
        return s;
    if (log_begin(&app->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    if (app->n_args)
        list = &one;
    else
        s = store_threads(app->log.store, app->a, &list, &n, e);
    sb_adds(&text, HEADS_NOTE);
    for (size_t i = 0; i < n && !s; i++) {
        struct pin p;
        struct jw  w = jw_in(&text, 0);
        s = pin_of(&app->log, list[i].id, &p, e);
        if (!s)
            pin_write(&w, &p);
        sb_addc(&text, '\n');
    }
    log_abort(&app->log);
    if (s || note_sign(sb_sv(&text), key, app->a, &note, e))
        return err_code(e);
    sb_add(&app->out, note);
    return ST_OK;
}

static enum status anchor_heads(struct app *app, struct err *e)
{
    int64_t seq;
    size_t  n;

    if (log_begin(&app->log, ANCHOR_THREAD, STORE_WRITE, e))
        return err_code(e);
    enum status s = anchor_write(&app->log, app->actor, clock_now_ms(), &seq, &n, e);
    if (!s)
        s = log_commit(&app->log, e);
    log_abort(&app->log);
    if (s)
        return s;
    if (app->json)
        sb_addf(&app->out, "{\"heads\":%zu,\"seq\":%lld,\"thread\":\".global\"}\n", n,
                (long long)seq);
    else
        sb_addf(&app->out, "✓ %zu head%s anchored in .global, entry %lld\n", n, n == 1 ? "" : "s",
                (long long)seq);
    return ST_OK;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct head_opts *o = opts;
    struct sb               text = sb_in(app->a, 0); /* printed only when all went well */
    struct jw               w = jw_in(&text, 0);

    if ((o->sign.s != NULL) + (o->new_key.s != NULL) + o->anchor > 1)
        return err_set(e, ST_USAGE, "--sign, --new-key and --anchor exclude each other");
    if (o->new_key.s)
        return new_key(app, o, e);
    if (o->sign.s)
        return sign_heads(app, o, e);
    if (o->anchor) {
        store_close(app->log.store); /* it was opened for reading */
        app->log.store = NULL;
        return app_open_log(app, STORE_WRITE, e) ? err_code(e) : anchor_heads(app, e);
    }
    if (log_begin(&app->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = app->n_args ? print_one(app, app_arg(app, 0), &w, e) : print_all(app, &w, e);
    log_abort(&app->log);
    if (s || !app->json)
        return s;
    sb_add(&app->out, sb_sv(&text));
    sb_addc(&app->out, '\n');
    return ST_OK;
}

const struct command cmd_head = {
    .name = "head",
    .synopsis = "[T] [--sign KEY] [--anchor] [--new-key FILE [--name NAME]]",
    .group = GROUP_CARE,
    .summary = "Print where the log of a thread ends: revision, chain value, time",
    .details =
        "The chain value of the last entry stands for all entries before it. Kept outside the\n"
        "workspace it shows what nothing inside can: that an older copy was put back, or that the\n"
        "log was written anew. `heddle verify --pin` compares. With --json one object, or without\n"
        "T {\"items\":[…]} of every thread.\n\n"
        "--sign prints a note that says the same and is signed (Ed25519): others can check it "
        "with\n"
        "the public key, `heddle verify --signed`, and add lines of their own below. --new-key "
        "makes\n"
        "a key and prints its public part; keep the file outside the workspace. --anchor writes "
        "all\n"
        "heads into the log of the workspace, where `heddle verify` compares them; that also "
        "happens\n"
        "by itself now and then.\n\n"
        "  heddle head --json > pins.json",
    .opts = head_opts,
    .opts_size = sizeof(struct head_opts),
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run,
};
