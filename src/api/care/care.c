/* Reading the list of threads, and collecting findings. */
#include "api/care/care.h"

#include "api/term.h"
#include "base/utf8.h"
#include "thread/scan.h"

enum status care_threads(struct request *r, struct store_thread **list, size_t *n, struct err *e)
{
    if (log_begin(&r->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = log_threads(&r->log, r->a, list, n, e);
    log_abort(&r->log);
    return s;
}

void care_find(void *findings, struct sv text)
{
    struct care_findings *f = findings;
    struct sb             b = sb_in(f->a, 0);

    sb_add_lossy(&b, text);
    *vec_push(&f->list, f->a) = sb_sv(&b);
}

void care_write(struct jw *w, const char *key, const struct care_findings *f)
{
    jw_key(w, key);
    jw_open(w, '[');
    for (size_t i = 0; i < f->list.n; i++)
        jw_str(w, f->list.v[i]);
    jw_close(w, ']');
}

void care_print_removed(const struct json *doc, struct term *t)
{
    const struct json *removed = json_find(doc, "removed");

    for (size_t i = 0; i < removed->n; i++) {
        sb_adds(t->out, "  - ");
        sb_add_plain_line(t->out, json_sv(&removed->items[i]));
        sb_adds(t->out, ": a copy of an older database, removed\n");
    }
}

void care_warn_removed(void *request, struct sv name)
{
    request_warn(request, (struct sv){ 0 }, (struct sv){ 0 },
                 SV_FMT ": a copy of an older database, removed", SV_ARG(name));
}

void care_print_count(struct term *t, int64_t n, const char *one, const char *many)
{
    sb_add_commas(t->out, n);
    term_f(t, " %s", n == 1 ? one : many);
}
