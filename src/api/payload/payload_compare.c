/* payload.compare, payload.check and payload.verify: what has changed since a payload was made. */
#include "api/payload/payload_call.h"
#include "api/payload/payload_ops.h"
#include "api/term.h"
#include "payload/manifest.h"
#include "payload/show.h"

/* clang-format off */
static const struct param params[] = {
    PAYLOAD_PARAMS,
    { "file", PARAM_TEXT, PAYLOAD_PARAM(file), .value = "FILE", .help = "the payload (Markdown or JSON) or manifest to compare with" },
    { "text", PARAM_TEXT, PAYLOAD_PARAM(text), .value = "TEXT", .help = "the same as text, in the place of a file" },
    { 0 },
};
static const struct param verify_params[] = {
    { "file",         PARAM_TEXT, offsetof(struct payload_verify_params, file),     .required = true, .value = "FILE", .help = "the payload" },
    { "manifest",     PARAM_TEXT, offsetof(struct payload_verify_params, manifest), .required = true, .value = "FILE", .help = "its manifest" },
    { "line_numbers", PARAM_FLAG, offsetof(struct payload_verify_params, line_numbers), .help = "the lines of its contents are numbered" },
    { 0 },
};
static const char *const changes[] = { "added", "changed", "removed", NULL };
static const struct field difference_fields[] = {
    { "change", FIELD_ENUM, .values = changes, .help = "what happened to it" },
    { "path",   FIELD_TEXT, .help = "the resource, a directory of cut files, (project structure) or (memos)" },
    { 0 },
};
static const struct field answer[] = {
    { "differences", FIELD_LIST, .of = difference_fields, .help = "what is not as it was, in the order of now, then what is gone" },
    { 0 },
};
/* clang-format on */

static void write_differences(struct request *r, const manifest_differences *d)
{
    jw_open(r->doc, '{');
    jw_key(r->doc, "differences");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < d->n; i++) {
        struct sb name = sb_in(r->a, 0);
        sb_add_path(&name, d->v[i].path);
        jw_open(r->doc, '{');
        jw_kstr(r->doc, "change", sv_of(manifest_change_word(d->v[i].change)));
        jw_kstr(r->doc, "path", sb_sv(&name));
        jw_close(r->doc, '}');
    }
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
}

static void print_differences(const struct json *doc, struct term *t)
{
    const struct json *list = json_find(doc, "differences");

    for (size_t i = 0; i < list->n; i++) {
        term_f(t, "%-8.*s ", SV_ARG(json_text(&list->items[i], "change")));
        term_text(t, json_text(&list->items[i], "path"));
        term_f(t, "\n");
    }
}

/* ---- with what would be made now -------------------------------------------------------- */

static enum status compare(struct request *r, const struct payload_params *given,
                           manifest_differences *out, struct err *e)
{
    struct payload_params p = *given;
    struct payload_call   c;
    struct sv             text;
    manifest_rows         then, now;

    p.manifest = true;
    if (!p.self.s && p.file.s && !r->open) /* from the root */
        p.self = p.file;
    if (payload_call_text(r, p.file, p.text, &text, e))
        return err_code(e);
    if (manifest_read(text, p.line_numbers, r->a, &then, e))
        return p.file.s ? err_in(e, SV_FMT, SV_ARG(p.file)) : err_code(e);
    if (payload_call_begin(r, &p, &c, e))
        return err_code(e);
    enum status s = payload_call_write(r, &c, true, e);
    if (!s) {
        now = manifest_of_payload(&c.payload, r->a);
        *out = manifest_compare(&then, &now, r->a);
    }
    payload_call_end(&c);
    return s;
}

static enum status run_compare(struct request *r, const void *params_given, struct err *e)
{
    manifest_differences d;

    if (compare(r, params_given, &d, e))
        return err_code(e);
    write_differences(r, &d);
    return ST_OK;
}

static enum status run_check(struct request *r, const void *params_given, struct err *e)
{
    manifest_differences d;

    if (compare(r, params_given, &d, e))
        return err_code(e);
    write_differences(r, &d);
    if (d.n) {
        err_set(&r->verdict, ST_CONFLICT, "%zu %s changed since", d.n,
                d.n == 1 ? "thing has" : "things have");
        err_hint(&r->verdict,
                 "`heddle payload --since FILE` lists them, `heddle payload` makes it anew");
    }
    return ST_OK;
}

/* ---- with a manifest --------------------------------------------------------------------- */

static enum status run_verify(struct request *r, const void *params_given, struct err *e)
{
    const struct payload_verify_params *p = params_given;
    struct sv                           text, listed;
    manifest_rows                       held, promised;

    if (request_file(r, p->file, 0, &text, e) || request_file(r, p->manifest, 0, &listed, e))
        return err_code(e);
    if (manifest_read(text, p->line_numbers, r->a, &held, e))
        return err_in(e, SV_FMT, SV_ARG(p->file));
    if (manifest_read(listed, false, r->a, &promised, e))
        return err_in(e, SV_FMT, SV_ARG(p->manifest));
    manifest_differences d = manifest_compare(&promised, &held, r->a);
    struct hash          whole = hash_sha256(text);
    struct sv            want = manifest_payload_sha256(listed, r->a);
    if (!d.n && want.n && !sv_eq(want, hash_hex(&whole, r->a)))
        return err_set(e, ST_CONFLICT, "the resources are as the manifest says, the rest is not");
    write_differences(r, &d);
    if (d.n)
        err_set(&r->verdict, ST_CONFLICT, "it differs from the manifest in %zu places", d.n);
    return ST_OK;
}

static void print_verify(const struct json *doc, struct term *t)
{
    if (!json_find(doc, "differences")->n)
        term_f(t, "as the manifest says\n");
    print_differences(doc, t);
}

const struct operation op_payload_compare = {
    .name = "payload.compare",
    .summary = "List what changed since a payload or manifest was made",
    .details = "Give the parameters that it was made with.",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .slow = true,
    .params = params,
    .params_size = sizeof(struct payload_params),
    .answer = answer,
    .run = run_compare,
    .print = print_differences,
};

const struct operation op_payload_check = {
    .name = "payload.check",
    .summary = "Does a payload still hold what one would hold now?",
    .details = "As payload.compare; differences are a bad verdict.",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .slow = true,
    .params = params,
    .params_size = sizeof(struct payload_params),
    .answer = answer,
    .run = run_check,
    .print = print_differences,
};

const struct operation op_payload_verify = {
    .name = "payload.verify",
    .summary = "Does a payload hold what its manifest says?",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .slow = true,
    .params = verify_params,
    .params_size = sizeof(struct payload_verify_params),
    .answer = answer,
    .run = run_verify,
    .print = print_verify,
};
