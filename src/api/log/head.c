/* head: where the log of a thread ends, to be kept elsewhere; signed, or anchored in the log. */
#include "api/request.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/note.h"
#include "loom/agent.h"
#include "thread/anchor.h"
#include "thread/scan.h"

struct head_params {
    struct sv thread, sign, new_key;
    bool      anchor;
};

/* clang-format off */
static const struct param params[] = {
    { "thread",  PARAM_TEXT, offsetof(struct head_params, thread), .value = "T", .help = "the thread (default: all)" },
    { "sign",    PARAM_TEXT, offsetof(struct head_params, sign), .value = "KEY", .help = "print a signed note; KEY is a file outside the workspace" },
    { "anchor",  PARAM_FLAG, offsetof(struct head_params, anchor), .help = "write the heads of all threads into .global" },
    { "new_key", PARAM_NAME, offsetof(struct head_params, new_key), .value = "NAME", .help = "make a key for sign, of this name, and return both parts" },
    { 0 },
};
static const struct field pin_fields[] = {
    { "at",     FIELD_NUMBER, .help = "when the last entry was written, in milliseconds since 1970" },
    { "chain",  FIELD_TEXT,   .help = "chain value of the last entry, 64 hex digits" },
    { "rev",    FIELD_NUMBER, .help = "number of entries" },
    { "thread", FIELD_TEXT,   .help = "the thread" },
    { 0 },
};
static const struct field answer[] = {
    { "items",      FIELD_LIST,   .of = pin_fields, .optional = true, .help = "without a thread: all of them" },
    { "at",         FIELD_NUMBER, .optional = true, .help = "when the last entry was written, in milliseconds since 1970" },
    { "chain",      FIELD_TEXT,   .optional = true, .help = "chain value of the last entry, 64 hex digits" },
    { "rev",        FIELD_NUMBER, .optional = true, .help = "number of entries" },
    { "thread",     FIELD_TEXT,   .optional = true, .help = "the thread" },
    { "heads",      FIELD_NUMBER, .optional = true, .help = "with anchor: how many heads were written" },
    { "seq",        FIELD_NUMBER, .optional = true, .help = "with anchor: into which entry" },
    { "note",       FIELD_TEXT,   .optional = true, .help = "with sign: the note" },
    { "public_key", FIELD_TEXT,   .optional = true, .help = "with new_key: for those who check signatures" },
    { "secret_key", FIELD_TEXT,   .optional = true, .help = "with new_key: for signing; it is not stored anywhere" },
    { 0 },
};
/* clang-format on */

/* ---- heads ---------------------------------------------------------------------------- */

/* The thread that was asked for, or all. In a transaction. */
static enum status find_threads(struct request *r, struct sv thread, struct store_thread **out,
                                size_t *n, struct err *e)
{
    if (!thread.s)
        return log_threads(&r->log, r->a, out, n, e);
    *out = ARENA_NEW(r->a, struct store_thread, 1);
    (*out)->id = thread;
    *n = 1;
    return ST_OK;
}

static enum status put_heads(struct request *r, struct jw *w, struct sv thread, bool lines,
                             struct err *e)
{
    struct store_thread *list;
    size_t               n;
    struct head_pin      p;

    if (find_threads(r, thread, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (pin_of(&r->log, list[i].id, &p, e))
            return err_code(e);
        if (lines)
            *w = jw_in(w->b, 0);
        pin_write(w, &p);
        if (lines)
            sb_addc(w->b, '\n');
    }
    return ST_OK;
}

static enum status show(struct request *r, struct sv thread, struct err *e)
{
    if (thread.s)
        return put_heads(r, r->doc, thread, false, e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    if (put_heads(r, r->doc, thread, false, e))
        return err_code(e);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

/* "heddle heads", then one pin per line. */
static enum status sign(struct request *r, const struct head_params *p, struct err *e)
{
    struct sb text = sb_in(r->a, 0);
    struct jw w = jw_in(&text, 0);
    struct sv note;

    sb_adds(&text, HEADS_NOTE);
    if (put_heads(r, &w, p->thread, true, e) || note_sign(sb_sv(&text), p->sign, r->a, &note, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "note", note);
    jw_close(r->doc, '}');
    return ST_OK;
}

/* ---- what is written ------------------------------------------------------------------ */

static enum status anchor(struct request *r, struct err *e)
{
    int64_t seq;
    size_t  n;

    request_end(r); /* it was opened for reading */
    if (request_log(r, STORE_WRITE, e) || log_begin(&r->log, ANCHOR_THREAD, STORE_WRITE, e))
        return err_code(e);
    enum status s = anchor_write(&r->log, r->actor, clock_now_ms(), &seq, &n, e);
    if (!s)
        s = log_commit(&r->log, e);
    log_abort(&r->log);
    if (s)
        return s;
    jw_open(r->doc, '{');
    jw_kint(r->doc, "heads", (int64_t)n);
    jw_kint(r->doc, "seq", seq);
    jw_kstr(r->doc, "thread", ANCHOR_THREAD);
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status new_key(struct request *r, struct sv name, struct err *e)
{
    struct sv secret, open_key;

    if (note_new_key(name, r->a, &secret, &open_key, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "public_key", open_key);
    jw_kstr(r->doc, "secret_key", secret);
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct head_params *p = given;

    if ((p->sign.s != NULL) + (p->new_key.s != NULL) + p->anchor > 1)
        return err_set(e, ST_USAGE, "--sign, --new-key and --anchor exclude each other");
    if (p->thread.s && (p->new_key.s || p->anchor))
        return err_set(e, ST_USAGE, "--new-key and --anchor are not about one thread");
    if (p->new_key.s)
        return new_key(r, p->new_key, e);
    if (p->anchor)
        return anchor(r, e);
    if (log_begin(&r->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = p->sign.s ? sign(r, p, e) : show(r, p->thread, e);
    log_abort(&r->log);
    return s;
}

static void print_pin(const struct json *pin, struct term *t)
{
    term_text(t, json_text(pin, "thread"));
    term_f(t, " %lld " SV_FMT " ", (long long)json_number(pin, "rev"),
           SV_ARG(json_text(pin, "chain")));
    sb_add_iso_ms(t->out, json_number(pin, "at"));
    term_f(t, "\n");
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");
    long long          heads = (long long)json_number(doc, "heads");

    if (json_find(doc, "public_key"))
        term_f(t, SV_FMT "\n", SV_ARG(json_text(doc, "public_key")));
    else if (json_find(doc, "note"))
        sb_add(t->out, json_text(doc, "note"));
    else if (json_find(doc, "heads"))
        term_f(t, "✓ %lld head%s anchored in .global, entry %lld\n", heads, heads == 1 ? "" : "s",
               (long long)json_number(doc, "seq"));
    else if (!items)
        print_pin(doc, t);
    for (size_t i = 0; items && i < items->n; i++)
        print_pin(&items->items[i], t);
}

const struct operation op_head = {
    .name = "head",
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
    .group = GROUP_CARE,
    .needs = NEEDS_LOG,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct head_params),
    .answer = answer,
    .run = run,
    .print = print,
};
