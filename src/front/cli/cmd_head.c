/* `head`: where each log ends. The shell reads and writes the key files, which are outside the
 * workspace. */
#include "base/fs.h"
#include "base/process.h"
#include "front/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct operation op_head;

enum { KEY_FILE_MAX = 4096 };

struct head_opts {
    struct sv file, name;
};
static const struct opt opts[] = {
    { OPT_TEXT, "new-key", "FILE", "make a key for --sign and print its public part",
      offsetof(struct head_opts, file), 0 },
    { OPT_TEXT, "name", "NAME", "whose key it is (default: who asks)",
      offsetof(struct head_opts, name), 0 },
    { 0 },
};
static const struct cli_word words[] = {
    { "thread", WORD_OPTIONAL },
    { "new_key", WORD_HIDDEN },
    { 0 },
};

static struct sv *text_param(void *params, const char *name)
{
    return (struct sv *)(void *)((char *)params + param_find(op_head.params, sv_of(name))->offset);
}

/* Refuse a key in the workspace: a process that can change the log could sign the change with
 * it. */
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

static enum status prepare(struct app *app, struct request *r, void *params, struct err *e)
{
    const struct head_opts *o = command_shell_opts(app->command, params);
    struct sv              *key = text_param(params, "sign");

    (void)r;
    if (o->file.s || key->s)
        process_hide(); /* from here on a secret is in memory */
    if (o->file.s)
        *text_param(params, "new_key") = o->name.s ? o->name : app->actor;
    return key->s && !o->file.s ? read_key(app, *key, key, e) : ST_OK;
}

static enum status keep_key(struct app *app, struct sv file, struct sv secret, struct err *e)
{
    struct sb         line = sb_in(app->a, 0);
    UNDO(fd_undo) int fd = open(file.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0 && errno == EEXIST) {
        err_set(e, ST_CONFLICT, SV_FMT " is there already", SV_ARG(file));
        return err_hint(e, "take another name: a key that signed notes is not replaced");
    }
    if (fd < 0)
        return err_errno(e, "make " SV_FMT, SV_ARG(file));
    sb_add(&line, secret);
    sb_addc(&line, '\n');
    if (check_outside(app, file.s, e) ||
        (write(fd, sb_sv(&line).s, line.n) != (ssize_t)line.n && err_errno(e, "write the key"))) {
        unlink(file.s);
        return err_code(e);
    }
    return ST_OK;
}

/* The secret part goes into the file and nowhere else. */
static enum status finish(struct app *app, struct request *r, const void *params, struct err *e)
{
    const struct head_opts *o = command_shell_opts(app->command, params);
    struct jw               w = jw_in(&app->out, 0);
    struct json             doc;

    if (!o->file.s)
        return command_print_answer(app, r->op, r, e);
    if (json_parse(request_document(r), 0, app->a, &doc, e) ||
        keep_key(app, o->file, json_text(&doc, "secret_key"), e))
        return err_code(e);
    if (app->json) {
        jw_open(&w, '{');
        jw_kstr(&w, "public_key", json_text(&doc, "public_key"));
        jw_close(&w, '}');
    } else {
        sb_add(&app->out, json_text(&doc, "public_key"));
    }
    sb_addc(&app->out, '\n');
    return ST_OK;
}

const struct command cmd_head = {
    .name = "head",
    .synopsis = "[T] [--sign KEY] [--anchor] [--new-key FILE [--name NAME]]",
    .op = &op_head,
    .words = words,
    .opts = opts,
    .opts_size = sizeof(struct head_opts),
    .prepare = prepare,
    .finish = finish,
};
