/* workspace.verify: checks that everything agrees with the log. The chain and every view are
 * computed again and compared, or only the heads that were recorded earlier. */
#include "api/care/care.h"
#include "api/term.h"
#include "base/note.h"
#include "base/path.h"
#include "share/share.h"
#include "thread/anchor.h"
#include "thread/care.h"
#include "thread/pin.h"

struct verify_params {
    struct sv thread, pin, signed_note, key, source;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_TEXT, offsetof(struct verify_params, thread), .value = "T", .help = "only this thread, or only its pinned heads" },
    { "pin",    PARAM_TEXT, offsetof(struct verify_params, pin), .value = "FILE",
      .help = "only check that the heads of FILE (`heddle head --json`) are still there; - is stdin" },
    { "signed", PARAM_TEXT, offsetof(struct verify_params, signed_note), .value = "FILE",
      .help = "the same for a note of `heddle head --sign`" },
    { "key",    PARAM_TEXT, offsetof(struct verify_params, key), .value = "PUB",
      .help = "public key of who signed it: the text, or a file that holds it" },
    { "source", PARAM_TEXT, offsetof(struct verify_params, source), .value = "NAME",
      .help = "what messages call the place that the heads or the note come from" },
    { 0 },
};
static const struct field answer[] = {
    { "entries",  FIELD_NUMBER, .optional = true, .help = "how many entries were read" },
    { "erased",   FIELD_NUMBER, .optional = true, .help = "how many of them have lost their content to an erasure" },
    { "findings", FIELD_LIST,   .help = "each difference, in one sentence" },
    { "ignored",  FIELD_LIST,   .optional = true, .help = "entries that are kept and not acted on, since their kind does not allow them" },
    { "ok",       FIELD_FLAG,   .help = "whether there is no difference" },
    { "pins",     FIELD_NUMBER, .optional = true, .help = "how many heads were compared, when pinned heads were given" },
    { "threads",  FIELD_NUMBER, .optional = true, .help = "how many threads were read" },
    { 0 },
};
/* clang-format on */

/* ---- recorded heads -------------------------------------------------------------------- */

static enum status check_pins(struct request *r, const struct head_pin *pins, size_t n,
                              struct care_findings *f, struct err *e)
{
    if (log_begin(&r->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = ST_OK;
    for (size_t i = 0; i < n && !s; i++)
        s = pin_check(&r->log, &pins[i], care_find, f, e);
    log_abort(&r->log);
    return s;
}

/* The pins of a signed note, once its signature holds. */
static enum status open_note(struct sv note, struct sv key, struct arena *a, struct sv *pins,
                             struct err *e)
{
    struct sv text;

    if (!sv_trim(key).n)
        return err_set(e, ST_USAGE, "`heddle verify` needs --key");
    if (note_open(note, key, a, &text, e))
        return err_code(e);
    if (!sv_starts(text, SV(HEADS_NOTE))) {
        err_set(e, ST_INVALID_SYNTAX, "the note is signed, but says nothing about heads");
        return err_hint(e, "`heddle head --sign KEY` prints one that does");
    }
    *pins = sv_skip(text, sizeof HEADS_NOTE - 1);
    return ST_OK;
}

/* Only those of the thread that was named. */
static enum status pins_of_thread(struct sv thread, struct head_pin *pins, size_t *n, struct err *e)
{
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++)
        if (sv_eq(pins[i].thread, thread))
            pins[kept++] = pins[i];
    *n = kept;
    if (kept)
        return ST_OK;
    return err_set(e, ST_NOT_FOUND, "holds no pinned head of thread '" SV_FMT "'", SV_ARG(thread));
}

static enum status verify_pins(struct request *r, const struct verify_params *p, struct err *e)
{
    struct care_findings f = { .a = r->a };
    struct sv            text = p->pin;
    struct head_pin     *pins;
    size_t               n;

    if ((p->signed_note.s && open_note(p->signed_note, p->key, r->a, &text, e)) ||
        pins_read(text, r->a, &pins, &n, e) ||
        (p->thread.s && pins_of_thread(p->thread, pins, &n, e)))
        return p->source.s ? err_in(e, SV_FMT, SV_ARG(p->source)) : err_code(e);
    if (check_pins(r, pins, n, &f, e))
        return err_code(e);
    jw_open(r->doc, '{');
    care_write(r->doc, "findings", &f);
    jw_kbool(r->doc, "ok", f.list.n == 0);
    jw_kint(r->doc, "pins", (int64_t)n);
    jw_close(r->doc, '}');
    if (!f.list.n)
        return ST_OK;
    err_set(&r->verdict, ST_CORRUPT, "%zu of %zu pinned heads differ", f.list.n, n);
    err_hint(&r->verdict, "the database is an older copy, or was changed outside heddle");
    return ST_OK;
}

/* ---- everything -------------------------------------------------------------------------- */

struct verifying {
    struct request      *r;
    struct care_findings damage, ignored;
    int64_t              entries, erased;
};

static void find_damage(void *ctx, struct sv text)
{
    struct verifying *v = ctx;

    care_find(&v->damage, text);
}

static void find_ignored(void *ctx, struct sv text)
{
    struct verifying *v = ctx;

    care_find(&v->ignored, text);
}

static void remark(void *ctx, struct sv text)
{
    struct verifying *v = ctx;

    request_warn(v->r, (struct sv){ 0 }, (struct sv){ 0 }, SV_FMT, SV_ARG(text));
}

static enum status verify_thread(struct verifying *v, struct sv thread, struct err *e)
{
    struct log_findings to = { find_damage, find_ignored, v, &v->erased };
    int64_t             read = 0;
    enum status         s = log_examine(&v->r->log, thread, &to, &read, e);

    v->entries += read;
    if (!s || s == ST_NOT_FOUND) /* that one names the thread */
        return s;
    err_in(e, "thread " SV_FMT, SV_ARG(thread));
    if (s != ST_CORRUPT && s != ST_INVALID_SYNTAX)
        return s;
    find_damage(v, sv_of(e->text)); /* the other threads may be intact */
    return ST_OK;
}

static enum status verify_threads(struct verifying *v, const struct store_thread *list, size_t n,
                                  struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (request_check(v->r, e) || verify_thread(v, list[i].id, e))
            return err_code(e);
        request_progress(v->r, "verify: threads", (int64_t)i + 1, (int64_t)n);
    }
    return ST_OK;
}

/* Compare the logs with the heads recorded in .global. */
static enum status verify_anchors(struct verifying *v, struct err *e)
{
    int64_t n;

    if (log_begin(&v->r->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = anchor_check(&v->r->log, find_damage, v, &n, e);
    log_abort(&v->r->log);
    return s;
}

/* The files below .leslie/ are a view too. */
static enum status verify_files(struct verifying *v, struct err *e)
{
    struct request *r = v->r;
    struct share    s;

    share_init(&s, &r->log, r->ws->root_fd, r->actor, r->a);
    return share_verify(&s, find_damage, remark, v, e);
}

static void write_answer(struct verifying *v, size_t threads)
{
    struct jw *w = v->r->doc;

    jw_open(w, '{');
    jw_kint(w, "entries", v->entries);
    jw_kint(w, "erased", v->erased);
    care_write(w, "findings", &v->damage);
    care_write(w, "ignored", &v->ignored);
    jw_kbool(w, "ok", v->damage.list.n == 0);
    jw_kint(w, "threads", (int64_t)threads);
    jw_close(w, '}');
}

static void judge(struct err *verdict, size_t n)
{
    if (!n)
        return;
    err_set(verdict, ST_CORRUPT, "%zu difference%s found", n, n == 1 ? "" : "s");
    err_hint(verdict, "`heddle doctor --fix` makes views and files below .leslie/ anew; a broken "
                      "chain means that entries were changed outside heddle");
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct verify_params *p = params_given;
    struct verifying            v = { .r = r, .damage = { .a = r->a }, .ignored = { .a = r->a } };
    struct store_thread         one = { .id = p->thread }, *list = &one;
    bool                        all = !p->thread.s;
    size_t                      n = 1;

    if (p->pin.s && p->signed_note.s)
        return err_set(e, ST_USAGE, "--pin and --signed exclude each other");
    if (p->key.s && !p->signed_note.s)
        return err_set(e, ST_USAGE, "--key is the key of a note: give it with --signed");
    if (p->pin.s || p->signed_note.s)
        return verify_pins(r, p, e);
    if (!all && !sv_eq(p->thread, SHARE_GLOBAL) && name_check(p->thread, "thread id", e))
        return err_code(e);
    if (all && (care_threads(r, &list, &n, e) || log_check_store(&r->log, find_damage, &v, e)))
        return err_code(e);
    if (verify_threads(&v, list, n, e) ||
        ((all || sv_eq(p->thread, ANCHOR_THREAD)) && verify_anchors(&v, e)) ||
        ((all || sv_eq(p->thread, SHARE_GLOBAL)) && verify_files(&v, e)))
        return err_code(e);
    write_answer(&v, n);
    judge(&r->verdict, v.damage.list.n);
    return ST_OK;
}

/* ---- for a person -------------------------------------------------------------------------- */

static void print_list(const struct json *list, const char *mark, struct term *t)
{
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++) {
        term_f(t, "  %s ", mark);
        term_text(t, json_sv(&list->items[i]));
        term_f(t, "\n");
    }
}

static void print_totals(const struct json *doc, size_t n_ignored, struct term *t)
{
    int64_t threads = json_number(doc, "threads"), entries = json_number(doc, "entries");
    int64_t erased = json_number(doc, "erased");

    term_f(t, "✓ %lld thread%s, ", (long long)threads, threads == 1 ? "" : "s");
    sb_add_commas(t->out, entries);
    term_f(t, " entr%s: chain and views agree\n", entries == 1 ? "y" : "ies");
    if (erased)
        term_f(t, "  %lld erased\n", (long long)erased);
    if (n_ignored)
        term_f(t, "  %zu of them %s kept and not acted on\n", n_ignored,
               n_ignored == 1 ? "is" : "are");
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *ignored = json_find(doc, "ignored"), *pins = json_find(doc, "pins");
    bool               ok = json_truth(json_find(doc, "ok"));

    print_list(json_find(doc, "findings"), "✗", t);
    print_list(ignored, "·", t);
    if (ok && pins)
        term_f(t, "✓ %lld pinned head%s still there\n", (long long)json_number(doc, "pins"),
               json_number(doc, "pins") == 1 ? " is" : "s are");
    else if (ok)
        print_totals(doc, ignored->n, t);
}

const struct operation op_workspace_verify = {
    .name = "workspace.verify",
    .summary = "Recompute the chain and every view, and compare",
    .details =
        "Names each difference and exits with 1 if there is any. An entry that its kind does not\n"
        "allow, which only an import brings in, is named too: it is kept and not acted on. The\n"
        "files below .leslie/ are compared with what the log gives, and frozen copies with their\n"
        "hashes. That the end of a log was cut off shows too, since each append records where it\n"
        "ends.\n"
        "\n"
        "With --pin only the pinned heads are compared, one read each: an entry that was pinned\n"
        "must be there, with the chain value it had. --signed does so for a signed note, whose\n"
        "signature is checked first. With T only the heads of this thread are compared.\n\n"
        "  heddle verify design\n"
        "  heddle head --json | heddle verify --pin -",
    .group = GROUP_CARE,
    .needs = NEEDS_LOG,
    .slow = true,
    .params = params,
    .params_size = sizeof(struct verify_params),
    .answer = answer,
    .run = run,
    .print = print,
};
