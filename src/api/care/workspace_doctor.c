/* workspace.doctor: a table of checks that report what is wrong and what to do about it. This file
 * has the table and runs it; doctor_log.c, doctor_files.c and doctor_user.c have the checks.
 */
#include "api/care/doctor.h"

#include "api/term.h"
#include "base/utf8.h"
#include "thread/care.h"

struct doctor_params {
    bool compact, rebuild, fix;
};

/* clang-format off */
static const struct param params[] = {
    { "fix",     PARAM_FLAG, offsetof(struct doctor_params, fix), .help = "do what is harmless: modes, temporary files, views, copies" },
    { "compact", PARAM_FLAG, offsetof(struct doctor_params, compact), .help = "empty the write-ahead log, give free pages back" },
    { "rebuild", PARAM_FLAG, offsetof(struct doctor_params, rebuild), .help = "fold every view anew from entry 0" },
    { 0 },
};
static const struct field problem_fields[] = {
    { "hint", FIELD_TEXT, .nullable = true, .help = "what to do about it" },
    { "text", FIELD_TEXT, .help = "what is wrong, and where" },
    { 0 },
};
static const struct field check_fields[] = {
    { "findings", FIELD_NUMBER, .help = "how many problems it found" },
    { "fixed",    FIELD_LIST, .help = "what was wrong and is not any more" },
    { "good",     FIELD_TEXT, .optional = true, .help = "what holds when there is no problem" },
    { "name",     FIELD_TEXT, .help = "of the check; it never changes" },
    { "notes",    FIELD_LIST, .help = "what is worth knowing and not wrong" },
    { "problems", FIELD_LIST, .of = problem_fields, .help = "each of them" },
    { 0 },
};
static const struct field answer[] = {
    { "checks",    FIELD_LIST, .of = check_fields, .help = "what was looked at, in order" },
    { "compacted", FIELD_FLAG, .help = "whether space was given back first" },
    { "findings",  FIELD_LIST, .help = "the problems of all checks" },
    { "fixed",     FIELD_LIST, .help = "what was fixed, of all checks" },
    { "notes",     FIELD_LIST, .help = "the notes of all checks" },
    { "ok",        FIELD_FLAG, .help = "whether there is no problem" },
    { "rebuilt",   FIELD_FLAG, .help = "whether the views were folded anew first" },
    { "root",      FIELD_TEXT, .help = "the workspace" },
    { 0 },
};
/* clang-format on */

/* clang-format off */
const struct doctor_check doctor_checks[] = {
    /* name        when nothing is found                         log    run              fix */
    { "modes",     "only you can read .heddle",                  false, doctor_check_modes,     doctor_fix_modes },
    { "owner",     "the workspace is yours",                     false, doctor_check_owner,     NULL },
    { "places",    "no other checkout has a log of its own",     false, doctor_check_places,    NULL },
    { "kept",      "git leaves .heddle alone",                   false, doctor_check_kept,      doctor_fix_kept },
    { "trust",     "no setting of the workspace needs trust",    false, doctor_check_trust,     NULL },
    { "user",      "only you can write your own settings",       false, doctor_check_user_files, doctor_fix_user_files },
    { "hooks",     "no hook of a coding agent failed",           false, doctor_check_hooks,     NULL },
    { "leftovers", "no temporary files were left behind",        false, doctor_check_leftovers, doctor_fix_leftovers },
    { "copies",    "no copies of older databases",               false, doctor_check_copies,    NULL },
    { "database",  "the database file is whole",                 true,  doctor_check_database,  doctor_fix_database },
    { "threads",   "every entry, chain and view agrees",         true,  doctor_check_threads,   doctor_fix_threads },
    { "moved",     "the log is in one store",                    true,  doctor_check_moved,     doctor_fix_moved },
    { "imports",   "no import was interrupted",                  true,  doctor_check_imports,   doctor_fix_imports },
    { "erasures",  "nothing erased is left in files",            true,  doctor_check_erasures,  doctor_fix_erasures },
    { "shared",    ".leslie and frozen copies agree with the log", true,  doctor_check_shared,  doctor_fix_shared },
    { "space",     "the write-ahead log is short",               true,  doctor_check_space,     doctor_fix_space },
    { 0 },
};
/* clang-format on */

/* The log itself, which other checks need. */
static enum status open_log(struct doctor *d, struct err *e)
{
    return request_log(d->r, d->fix ? STORE_WRITE : STORE_READ, e);
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
    struct doctor_finding *f = vec_push(&d->found, d->r->a);
    va_list                ap;

    va_start(ap, fmt);
    f->text = formatted(d->r->a, fmt, ap);
    va_end(ap);
    f->code = code;
    f->hint = hint && *hint ? clean(sv_of(hint), d->r->a) : (struct sv){ 0 };
}

void doctor_note(struct doctor *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct sv text = formatted(d->r->a, fmt, ap);
    va_end(ap);
    *vec_push(&d->notes, d->r->a) = text;
}

void doctor_say(void *doctor, struct sv finding)
{
    struct doctor *d = doctor;

    *vec_push(&d->found, d->r->a) =
        (struct doctor_finding){ .code = ST_CORRUPT, .text = clean(finding, d->r->a) };
}

void doctor_remark(void *doctor, struct sv text)
{
    struct doctor *d = doctor;

    *vec_push(&d->notes, d->r->a) = clean(text, d->r->a);
}

/* ---- running -------------------------------------------------------------------------- */

/* The report as it is made. */
struct report {
    struct request      *r;
    struct sb            checks; /* a JSON list without its brackets */
    struct care_findings findings, fixed, notes;
    struct care_findings fixed_now;   /* of the check that runs now */
    enum status          first;       /* code of the first finding; ST_OK: nothing is wrong */
    bool                 log_damaged; /* one is of the log itself, not of what is made from it */
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

/* Fix what the check found and run it again; what it no longer finds is reported as fixed. */
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
        if (is_found(d, before.found.v[i].text))
            continue;
        care_find(&r->fixed_now, before.found.v[i].text);
        care_find(&r->fixed, before.found.v[i].text);
    }
}

static void write_problem(struct jw *w, const struct doctor_finding *f)
{
    jw_open(w, '{');
    jw_kstr(w, "hint", f->hint);
    jw_kstr(w, "text", f->text);
    jw_close(w, '}');
}

static void count_problem(struct report *r, const struct doctor_check *c,
                          const struct doctor_finding *f)
{
    bool of_log =
        c == &log_opens || c->run == doctor_check_database || c->run == doctor_check_threads;

    care_find(&r->findings, f->text);
    if (!r->first)
        r->first = f->code;
    if (of_log && f->code == ST_CORRUPT)
        r->log_damaged = true;
}

static void report_check(struct report *r, const struct doctor *d, const struct doctor_check *c)
{
    struct care_findings notes = { .a = r->r->a };
    struct jw            w = jw_in(&r->checks, 0);

    sb_adds(&r->checks, r->checks.n ? "," : "");
    for (size_t i = 0; i < d->notes.n; i++) {
        care_find(&notes, d->notes.v[i]);
        care_find(&r->notes, d->notes.v[i]);
    }
    jw_open(&w, '{');
    jw_kint(&w, "findings", (int64_t)d->found.n);
    care_write(&w, "fixed", &r->fixed_now);
    if (!d->found.n)
        jw_kstr(&w, "good", d->good.s ? d->good : sv_of(c->good));
    jw_kstr(&w, "name", sv_of(c->name));
    care_write(&w, "notes", &notes);
    jw_key(&w, "problems");
    jw_open(&w, '[');
    for (size_t i = 0; i < d->found.n; i++) {
        write_problem(&w, &d->found.v[i]);
        count_problem(r, c, &d->found.v[i]);
    }
    jw_close(&w, ']');
    jw_close(&w, '}');
}

static void one_check(struct report *r, struct doctor *d, const struct doctor_check *c)
{
    r->fixed_now = (struct care_findings){ .a = r->r->a };
    run_check(d, c);
    if (d->fix && c->fix && d->found.n)
        fix_check(r, d, c);
    report_check(r, d, c);
}

static void write_document(struct report *r, const struct doctor_params *p)
{
    struct jw *w = r->r->doc;

    jw_open(w, '{');
    jw_key(w, "checks");
    jw_open(w, '[');
    jw_raw(w, sb_sv(&r->checks));
    jw_close(w, ']');
    jw_kbool(w, "compacted", p->compact);
    care_write(w, "findings", &r->findings);
    care_write(w, "fixed", &r->fixed);
    care_write(w, "notes", &r->notes);
    jw_kbool(w, "ok", r->findings.list.n == 0);
    jw_kbool(w, "rebuilt", p->rebuild);
    jw_kstr(w, "root", r->r->ws->root);
    jw_close(w, '}');
}

static void judge(const struct report *r, bool fix)
{
    struct err *verdict = &r->r->verdict;
    size_t      n = r->findings.list.n;

    if (!n)
        return;
    err_set(verdict, r->first, "%zu problem%s found", n, n == 1 ? "" : "s");
    err_hint(verdict, "%s%s",
             fix ? "this is left after what --fix could do"
                 : "`heddle doctor --fix` does what is harmless",
             r->log_damaged ? "; `heddle log export T > T.jsonl` saves what is readable of a "
                              "damaged log, and `heddle log import T --salvage` takes it "
                              "into a new workspace"
                            : "");
}

/* ---- what is done before anything is looked at ------------------------------------------- */

static enum status rebuild_all(struct request *r, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (care_threads(r, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (doctor_rebuild(r, list[i].id, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(list[i].id));
        request_progress(r, "doctor: views of threads", (int64_t)i + 1, (int64_t)n);
    }
    return ST_OK;
}

/* The log is given back, so that the checks open it as they need it. */
static enum status work_first(struct request *r, const struct doctor_params *p, struct err *e)
{
    if (!p->rebuild && !p->compact)
        return ST_OK;
    if (request_log(r, STORE_WRITE, e) || (p->rebuild && rebuild_all(r, e)) ||
        (p->compact && log_compact(&r->log, e)))
        return err_code(e);
    request_end(r);
    return ST_OK;
}

/* Without a log there is nothing to examine: that is not damage. */
static enum status check_workspace(const struct workspace *ws, struct err *e)
{
    if (ws->has_heddle || ws->store_url.n)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "there is no log at " SV_FMT, SV_ARG(ws->root));
    return err_hint(e, "`heddle init` makes one here; --root names another workspace");
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct doctor_params *p = params_given;
    struct report               report = {
                      .r = r, .checks = sb_in(r->a, 0), .findings.a = r->a, .fixed.a = r->a, .notes.a = r->a
    };
    struct doctor d = { .r = r, .fix = p->fix };

    if (check_workspace(r->ws, e) || work_first(r, p, e))
        return err_code(e);
    one_check(&report, &d, &log_opens);
    for (const struct doctor_check *c = doctor_checks; c->name; c++)
        if (!c->needs_log || r->log.store)
            one_check(&report, &d, c);
    write_document(&report, p);
    judge(&report, p->fix);
    return ST_OK;
}

/* ---- for a person --------------------------------------------------------------------------- */

static void print_lines(const struct json *list, const char *mark, struct term *t)
{
    for (size_t i = 0; i < list->n; i++) {
        term_f(t, "  %s ", mark);
        term_text(t, json_sv(&list->items[i]));
        term_f(t, "\n");
    }
}

static void print_problem(const struct json *problem, struct term *t)
{
    struct sv hint = json_text(problem, "hint");

    term_f(t, "  ✗ ");
    term_text(t, json_text(problem, "text"));
    term_f(t, "\n");
    if (!hint.s)
        return;
    term_f(t, "    ");
    term_text(t, hint);
    term_f(t, "\n");
}

static void print_check(const struct json *check, struct term *t)
{
    const struct json *problems = json_find(check, "problems");
    struct sv          good = json_text(check, "good");

    print_lines(json_find(check, "fixed"), "✓ fixed:", t);
    print_lines(json_find(check, "notes"), "-", t);
    for (size_t i = 0; i < problems->n; i++)
        print_problem(&problems->items[i], t);
    if (!good.s)
        return;
    term_f(t, "  ✓ ");
    term_text(t, good);
    term_f(t, "\n");
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *checks = json_find(doc, "checks");

    term_f(t, "workspace ");
    sb_add_plain_line(t->out, json_text(doc, "root"));
    term_f(t, "\n");
    for (size_t i = 0; i < checks->n; i++)
        print_check(&checks->items[i], t);
    if (json_truth(json_find(doc, "rebuilt")))
        term_f(t, "  ✓ views were folded anew\n");
    if (json_truth(json_find(doc, "compacted")))
        term_f(t, "  ✓ compacted\n");
}

const struct operation op_workspace_doctor = {
    .name = "workspace.doctor",
    .summary = "Say what is whole and what is not, and what to do about it",
    .details =
        "Checks the database file, recomputes the chain of every thread and its views, compares\n"
        "the files below .leslie/ and frozen copies with the log, and looks at who may read\n"
        ".heddle, whose workspace it is, which of its settings count, and at what killed commands\n"
        "left behind. Each line says what to do.\n"
        "\n"
        "--fix does what can lose nothing: it makes .heddle private, removes temporary files that\n"
        "are older than an hour, folds views anew and writes the files below .leslie/ again. It\n"
        "never changes an entry.\n\n"
        "  heddle doctor --fix",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .slow = true,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct doctor_params),
    .answer = answer,
    .run = run,
    .print = print,
};
