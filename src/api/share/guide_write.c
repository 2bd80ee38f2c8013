/* guide.write: what agents have to know about sharing work, in AGENTS.md. */
#include "api/share/guide_write.h"

#include "api/term.h"
#include "base/fs.h"

#define AGENTS_MD SV("AGENTS.md")
enum { AGENTS_MD_MAX = 16 << 20 };

/* clang-format off */
const char *const guide_states[] = { "created", "appended", "updated", "unchanged", "skipped", NULL };

static const struct param params[] = {
    { "replace", PARAM_FLAG, offsetof(struct guide_write_params, replace), .help = "replace a guide of another major version, too" },
    { 0 },
};
static const struct field answer[] = {
    { "status",           FIELD_ENUM, .values = guide_states, .help = "skipped: a guide of another major version is there, and stays" },
    { "previous_version", FIELD_TEXT, .nullable = true, .help = "of the guide that was there" },
    { "next_version",     FIELD_TEXT, .help = "of the guide as it is now written" },
    { 0 },
};
/* clang-format on */

enum status guide_write(struct request *r, bool replace, struct guide *out, struct err *e)
{
    struct sv   old = { 0 };
    enum status s = fs_read(workspace_project_fd(r->ws), AGENTS_MD, AGENTS_MD_MAX, r->a, &old, e);

    if ((s && s != ST_NOT_FOUND) || guide_apply(old, r->a, out, e))
        return err_code(e);
    if (out->major && !replace &&
        !request_ask(
            r, "AGENTS.md has the guide of version " SV_FMT "; replace it with " GUIDE_VERSION "?",
            SV_ARG(out->previous))) {
        out->status = "skipped";
        return ST_OK;
    }
    if (sv_is(sv_of(out->status), "unchanged"))
        return ST_OK;
    return fs_write(workspace_project_fd(r->ws), AGENTS_MD, out->text, 0644, e);
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct guide_write_params *p = params_given;
    struct guide                     g;

    if (guide_write(r, p->replace, &g, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "status", sv_of(g.status));
    jw_kstr(r->doc, "previous_version", g.previous);
    jw_kstr(r->doc, "next_version", SV(GUIDE_VERSION));
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    term_f(t, "AGENTS.md: " SV_FMT "\n", SV_ARG(json_text(doc, "status")));
}

const struct operation op_guide_write = {
    .name = "guide.write",
    .summary = "Write the guide for agents into AGENTS.md",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct guide_write_params),
    .answer = answer,
    .run = run,
    .print = print,
};
