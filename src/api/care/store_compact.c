/* store.compact: gives unused space back to the file system. */
#include "api/care/care.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "thread/care.h"

/* clang-format off */
static const struct field answer[] = {
    { "after",  FIELD_NUMBER, .help = "bytes of the database and its write-ahead log now" },
    { "before", FIELD_NUMBER, .help = "the same before" },
    { "removed", FIELD_LIST, .help = CARE_REMOVED_HELP },
    { 0 },
};
/* clang-format on */

static enum status size_of(struct request *r, int64_t *out, struct err *e)
{
    struct store_stats st;

    if (log_stats(&r->log, &st, e))
        return err_code(e);
    *out = st.file_bytes + st.wal_bytes;
    return ST_OK;
}

/* Content of frozen copies that no reference has any more. */
static enum status collect(struct request *r, struct err *e)
{
    struct share s;

    if (share_call_begin(r, &s, STORE_WRITE, e))
        return share_call_fail(r, &s, e);
    s.collect = true;
    s.foreign[0] = true; /* so that the files are looked at */
    if (share_commit(&s, e))
        return share_call_fail(r, &s, e);
    return share_call_end(r, &s);
}

static enum status run(struct request *r, const void *params, struct err *e)
{
    struct care_findings removed = { .a = r->a };
    int64_t              before, after;

    (void)params;
    if (size_of(r, &before, e) || collect(r, e))
        return err_code(e);
    request_progress(r, "compact-store: writing the database anew", 0, 0);
    if (log_scrub(&r->log, care_find, &removed, e) || size_of(r, &after, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kint(r->doc, "after", after);
    jw_kint(r->doc, "before", before);
    care_write(r->doc, "removed", &removed);
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    sb_add_commas(t->out, json_number(doc, "before"));
    term_f(t, " bytes before, ");
    sb_add_commas(t->out, json_number(doc, "after"));
    term_f(t, " now\n");
    care_print_removed(doc, t);
}

const struct operation op_store_compact = {
    .name = "store.compact",
    .summary = "Give space back: free pages, the write-ahead log, content nobody has",
    .details =
        "Writes the database anew without what is free in it, empties its write-ahead log,\n"
        "removes copies of older databases (`heddle doctor` lists them) and content of frozen\n"
        "copies that no reference has and that is older than an hour. Needs as much free\n"
        "space as the database takes, and others cannot write to a database in a file meanwhile.\n"
        "Another process that reads or writes makes it fail with CONFLICT; nothing is lost, and\n"
        "it can be run again.\n"
        "\n"
        "  heddle compact-store",
    .group = GROUP_CARE,
    .needs = NEEDS_WRITE,
    .slow = true,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_SAME,
    .answer = answer,
    .run = run,
    .print = print,
};
