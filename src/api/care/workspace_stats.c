/* workspace.stats: how much there is, and the bytes it takes. */
#include "api/care/care.h"
#include "api/term.h"
#include "thread/care.h"
#include "thread/scan.h"

/* clang-format off */
static const struct field view_row[] = {
    { "bytes", FIELD_NUMBER, .help = "keys and values of its rows" },
    { "rows",  FIELD_NUMBER, .help = "how many there are" },
    { "view",  FIELD_TEXT, .help = "name of the view" },
    { 0 },
};
static const struct field thread_row[] = {
    { "bytes",   FIELD_NUMBER, .help = "what its entries take, without what the engine adds; a large payload counts for each entry that has it" },
    { "damaged", FIELD_FLAG, .help = "its end cannot be read, or is not where it was: `heddle doctor` says more" },
    { "id",      FIELD_TEXT, .help = "the thread" },
    { "rev",     FIELD_NUMBER, .help = "how many entries it has" },
    { "updated", FIELD_TIME, .nullable = true, .help = "when the last of them was written" },
    { "view_bytes", FIELD_NUMBER, .help = "what the rows of its views take" },
    { "views",   FIELD_LIST, .of = view_row, .help = "each of its views" },
    { 0 },
};
static const struct field answer[] = {
    { "blobs",      FIELD_NUMBER, .help = "large payloads, which are stored beside their entries" },
    { "entries",    FIELD_NUMBER, .help = "entries of all threads" },
    { "file_bytes", FIELD_NUMBER, .help = "size of the database" },
    { "free_bytes", FIELD_NUMBER, .help = "how much of it holds nothing: `heddle compact-store` gives it back" },
    { "rows",       FIELD_NUMBER, .help = "rows of all views" },
    { "schema",     FIELD_NUMBER, .help = "version of the database's tables" },
    { "threads",    FIELD_LIST, .of = thread_row, .help = "one for each thread that has a log, by id" },
    { "wal_bytes",  FIELD_NUMBER, .help = "size of the write-ahead log" },
    { 0 },
};
/* clang-format on */

/* The sizes of all threads, by thread and view; those of one thread stand together. */
struct sizes {
    struct store_size *list;
    size_t             n, next;
};

static void write_views(struct jw *w, struct sizes *s, struct sv thread)
{
    int64_t all = 0;
    size_t  from = s->next;

    for (; s->next < s->n && sv_eq(s->list[s->next].thread, thread); s->next++)
        all += s->list[s->next].bytes;
    jw_kint(w, "view_bytes", all);
    jw_key(w, "views");
    jw_open(w, '[');
    for (; from < s->next; from++) {
        jw_open(w, '{');
        jw_kint(w, "bytes", s->list[from].bytes);
        jw_kint(w, "rows", s->list[from].n);
        jw_kstr(w, "view", s->list[from].view);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void write_thread(struct jw *w, const struct store_thread *t, struct sizes *s)
{
    struct err why;
    int64_t    bytes = 0;

    while (s->next < s->n && sv_cmp(s->list[s->next].thread, t->id) < 0)
        s->next++;
    if (s->next < s->n && sv_eq(s->list[s->next].thread, t->id) && !s->list[s->next].view.s)
        bytes = s->list[s->next++].bytes;
    jw_open(w, '{');
    jw_kint(w, "bytes", bytes);
    jw_kbool(w, "damaged", log_thread_ends_whole(t, &why) != ST_OK);
    jw_kstr(w, "id", t->id);
    jw_kint(w, "rev", t->head.rev);
    jw_ktime_if(w, "updated", !t->damaged, t->head.updated);
    write_views(w, s, t->id);
    jw_close(w, '}');
}

static enum status run(struct request *r, const void *params, struct err *e)
{
    struct store_stats   st;
    struct store_thread *list;
    struct jw           *w = r->doc;
    struct sizes         sizes = { 0 };
    struct err           why;
    size_t               n;

    (void)params;
    if (log_stats(&r->log, &st, e) || care_threads(r, &list, &n, e))
        return err_code(e);
    if (log_sizes(&r->log, r->a, &sizes.list, &sizes.n, &why)) {
        sizes.n = 0;
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 }, "what threads take is not known: %s",
                     why.text);
    }
    jw_open(w, '{');
    jw_kint(w, "blobs", st.blobs);
    jw_kint(w, "entries", st.entries);
    jw_kint(w, "file_bytes", st.file_bytes);
    jw_kint(w, "free_bytes", st.free_bytes);
    jw_kint(w, "rows", st.rows);
    jw_kint(w, "schema", st.schema);
    jw_key(w, "threads");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        write_thread(w, &list[i], &sizes);
    jw_close(w, ']');
    jw_kint(w, "wal_bytes", st.wal_bytes);
    jw_close(w, '}');
    return ST_OK;
}

static void row(struct term *t, const char *name, int64_t value, const char *unit)
{
    term_f(t, "%-16s ", name);
    sb_add_commas(t->out, value);
    term_f(t, "%s\n", unit);
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *threads = json_find(doc, "threads");

    row(t, "threads", (int64_t)threads->n, "");
    row(t, "entries", json_number(doc, "entries"), "");
    row(t, "view rows", json_number(doc, "rows"), "");
    row(t, "large payloads", json_number(doc, "blobs"), "");
    row(t, "file", json_number(doc, "file_bytes"), " bytes");
    row(t, "write-ahead log", json_number(doc, "wal_bytes"), " bytes");
    row(t, "free in file", json_number(doc, "free_bytes"), " bytes");
    for (size_t i = 0; i < threads->n; i++) {
        const struct json *one = &threads->items[i];
        int64_t            rev = json_number(one, "rev");
        term_f(t, "  %-32.*s ", SV_ARG(json_text(one, "id")));
        if (json_truth(json_find(one, "damaged"))) {
            term_f(t, "damaged: `heddle doctor` says more\n");
            continue;
        }
        care_print_count(t, rev, "entry", "entries");
        term_f(t, ", ");
        care_print_count(t, json_number(one, "bytes"), "byte", "bytes");
        term_f(t, ", views ");
        sb_add_commas(t->out, json_number(one, "view_bytes"));
        term_f(t, "\n");
    }
}

const struct operation op_workspace_stats = {
    .name = "workspace.stats",
    .summary = "Count threads and entries and the bytes they take",
    .details =
        "One line for each thread that has a log; .global is what the workspace knows of threads,\n"
        "objectives and agents. Behind the entries stand the bytes that they take, and those of "
        "the\n"
        "views made from them, both without what the database adds; --json has each view. Reads\n"
        "the whole log.\n"
        "\n"
        "  heddle stats --json",
    .group = GROUP_CARE,
    .needs = NEEDS_LOG,
    .slow = true,
    .answer = answer,
    .run = run,
    .print = print,
};
