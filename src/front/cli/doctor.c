/* `heddle doctor` as a table of checks: this file has the table, runs it and prints the report;
 * doctor_log.c and doctor_files.c have the checks. */
#include "front/cli/doctor.h"

#include "base/utf8.h"

/* clang-format off */
const struct doctor_check doctor_checks[] = {
    /* name        when nothing is found                         log    run              fix */
    { "modes",     "only you can read .heddle",                  false, check_modes,     fix_modes },
    { "owner",     "the workspace is yours",                     false, check_owner,     NULL },
    { "trust",     "no setting of the workspace needs trust",    false, check_trust,     NULL },
    { "user",      "only you can write your own settings",       false, check_user_files, fix_user_files },
    { "leftovers", "no temporary files were left behind",        false, check_leftovers, fix_leftovers },
    { "copies",    "no copies of older databases",               false, check_copies,    NULL },
    { "database",  "the database file is whole",                 true,  check_database,  fix_database },
    { "threads",   "every entry, chain and view agrees",         true,  check_threads,   fix_threads },
    { "erasures",  "nothing erased is left in files",            true,  check_erasures,  fix_erasures },
    { "shared",    ".leslie and frozen copies agree with the log", true,  check_shared,  fix_shared },
    { "space",     "the write-ahead log is short",               true,  check_space,     fix_space },
    { 0 },
};
/* clang-format on */

/* The log itself, which other checks need. */
static enum status open_log(struct doctor *d, struct err *e)
{
    return app_open_log(d->app, d->fix ? STORE_WRITE : STORE_READ, e);
}

static const struct doctor_check log_opens = { "log", "the log opens", false, open_log, NULL };

/* ---- what a check reports ------------------------------------------------------------ */

/* Text from a damaged file may be anything: made fit for a terminal and for JSON. */
static struct sv clean(struct sv text, struct arena *a)
{
    struct sb lossy = sb_in(a, 0), plain = sb_in(a, 0);

    sb_add_lossy(&lossy, text);
    sb_add_plain(&plain, sb_sv(&lossy));
    return sb_sv(&plain);
}

static struct sv formatted(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0);
static struct sv formatted(struct arena *a, const char *fmt, va_list ap)
{
    struct sb b = sb_in(a, 0);

    sb_addvf(&b, fmt, ap);
    return clean(sb_sv(&b), a);
}

void doctor_find(struct doctor *d, enum status code, const char *hint, const char *fmt, ...)
{
    struct doctor_finding *f = vec_push(&d->found, d->app->a);
    va_list                ap;

    va_start(ap, fmt);
    f->text = formatted(d->app->a, fmt, ap);
    va_end(ap);
    f->code = code;
    f->hint = hint && *hint ? clean(sv_of(hint), d->app->a) : (struct sv){ 0 };
}

void doctor_note(struct doctor *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct sv text = formatted(d->app->a, fmt, ap);
    va_end(ap);
    *vec_push(&d->notes, d->app->a) = text;
}

void doctor_say(void *doctor, struct sv finding)
{
    struct doctor *d = doctor;

    *vec_push(&d->found, d->app->a) =
        (struct doctor_finding){ .code = ST_CORRUPT, .text = clean(finding, d->app->a) };
}

void doctor_remark(void *doctor, struct sv text)
{
    struct doctor *d = doctor;

    *vec_push(&d->notes, d->app->a) = clean(text, d->app->a);
}

/* ---- running -------------------------------------------------------------------------- */

/* The report as it is made: text goes straight out, the lists of the document wait. */
struct report {
    struct app          *app;
    struct sb            checks, findings, fixed, notes; /* JSON lists without their brackets */
    struct doctor_result result;
};

static void run_check(struct doctor *d, const struct doctor_check *c)
{
    struct err e;

    d->found.n = d->notes.n = 0;
    d->good = (struct sv){ 0 };
    if (c->run(d, &e))
        doctor_find(d, e.code, e.hint, "%s", e.text);
}

static bool is_found(const struct doctor *d, struct sv text)
{
    for (size_t i = 0; i < d->found.n; i++)
        if (sv_eq(d->found.v[i].text, text))
            return true;
    return false;
}

static void list_add(struct sb *list, struct sv text)
{
    sb_adds(list, list->n ? "," : "");
    sb_add_json_string(list, text);
}

static void line(struct report *r, const char *mark, struct sv text)
{
    if (!r->app->json)
        sb_addf(&r->app->out, "  %s " SV_FMT "\n", mark, SV_ARG(text));
}

/* Fix what the check found and look again; what is gone is told as fixed. */
static void fix_check(struct report *r, struct doctor *d, const struct doctor_check *c)
{
    struct doctor before = *d;
    struct err    e;

    d->found.v = NULL;
    d->found.n = d->found.cap = 0;
    bool failed = c->fix(d, &e) != ST_OK;
    run_check(d, c);
    if (failed)
        doctor_find(d, e.code, e.hint, "cannot be fixed: %s", e.text);
    for (size_t i = 0; i < before.found.n; i++) {
        struct sb b = sb_in(r->app->a, 0);
        if (is_found(d, before.found.v[i].text))
            continue;
        sb_addf(&b, "fixed: " SV_FMT, SV_ARG(before.found.v[i].text));
        line(r, "✓", sb_sv(&b));
        list_add(&r->fixed, before.found.v[i].text);
    }
}

static void report_finding(struct report *r, const struct doctor_check *c,
                           const struct doctor_finding *f)
{
    bool of_log = c == &log_opens || c->run == check_database || c->run == check_threads;

    line(r, "✗", f->text);
    if (f->hint.s && !r->app->json)
        sb_addf(&r->app->out, "    " SV_FMT "\n", SV_ARG(f->hint));
    list_add(&r->findings, f->text);
    if (!r->result.first)
        r->result.first = f->code;
    if (of_log && f->code == ST_CORRUPT)
        r->result.log_damaged = true;
    r->result.problems++;
}

static void report_check(struct report *r, const struct doctor *d, const struct doctor_check *c)
{
    struct jw w = jw_in(&r->checks, 0);

    for (size_t i = 0; i < d->notes.n; i++) {
        line(r, "-", d->notes.v[i]);
        list_add(&r->notes, d->notes.v[i]);
    }
    for (size_t i = 0; i < d->found.n; i++)
        report_finding(r, c, &d->found.v[i]);
    if (!d->found.n)
        line(r, "✓", d->good.s ? d->good : sv_of(c->good));
    sb_adds(&r->checks, r->checks.n ? "," : "");
    jw_open(&w, '{');
    jw_kint(&w, "findings", (int64_t)d->found.n);
    jw_kstr(&w, "name", sv_of(c->name));
    jw_close(&w, '}');
}

static void one_check(struct report *r, struct doctor *d, const struct doctor_check *c)
{
    run_check(d, c);
    if (d->fix && c->fix && d->found.n)
        fix_check(r, d, c);
    report_check(r, d, c);
}

static void write_list(struct jw *w, const char *key, struct sb *list)
{
    jw_key(w, key);
    jw_open(w, '[');
    jw_raw(w, sb_sv(list));
    jw_close(w, ']');
}

static void write_document(struct report *r)
{
    struct jw w = jw_in(&r->app->out, 0);

    jw_open(&w, '{');
    write_list(&w, "checks", &r->checks);
    write_list(&w, "findings", &r->findings);
    write_list(&w, "fixed", &r->fixed);
    write_list(&w, "notes", &r->notes);
    jw_kbool(&w, "ok", r->result.problems == 0);
    jw_kstr(&w, "root", r->app->ws.root);
    jw_close(&w, '}');
    sb_addc(&r->app->out, '\n');
}

struct doctor_result doctor_run(struct app *app, bool fix)
{
    struct arena *a = app->a;
    struct report r = { .app = app,
                        .checks = sb_in(a, 0),
                        .findings = sb_in(a, 0),
                        .fixed = sb_in(a, 0),
                        .notes = sb_in(a, 0) };
    struct doctor d = { .app = app, .fix = fix };

    if (!app->json) {
        sb_adds(&app->out, "workspace ");
        sb_add_plain_line(&app->out, app->ws.root);
        sb_addc(&app->out, '\n');
    }
    one_check(&r, &d, &log_opens);
    for (const struct doctor_check *c = doctor_checks; c->name; c++)
        if (!c->needs_log || app->log.store)
            one_check(&r, &d, c);
    if (app->json)
        write_document(&r);
    return r.result;
}
