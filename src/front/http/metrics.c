/* Counters, their output, and the access log. */
#include "front/http/metrics.h"

#include "api/operation.h"
#include "base/clock.h"
#include "front/http/call.h"
#include "front/http/route.h"
#include "front/http/watch.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static const int64_t classes[] = {
#define X(us) us,
    METRICS_CLASSES(X)
#undef X
};

static const char *const reasons[] = {
#define X(name) #name,
    METRICS_REASONS(X)
#undef X
};

/* ---- counting ----------------------------------------------------------------------------------
 */

static size_t class_of(int64_t us)
{
    size_t i = 0;

    while (i < COUNT(classes) && us > classes[i])
        i++;
    return i;
}

static size_t index_of(const struct operation *op)
{
    size_t i = 0;

    while (operation_table[i] && operation_table[i] != op)
        i++;
    return i < METRICS_OPERATIONS ? i : METRICS_OPERATIONS - 1;
}

void metrics_count(struct serve_metrics *m, const struct serve_call *c, int64_t us)
{
    atomic_fetch_add(&m->requests, 1);
    if (c->status >= 100 && c->status < 600)
        atomic_fetch_add(&m->by_status[c->status / 100], 1);
    atomic_fetch_add(&m->bytes_in, c->body_bytes);
    atomic_fetch_add(&m->bytes_out, c->sent);
    if (!c->op || c->refused)
        return;
    struct metrics_operation *o = &m->operations[index_of(c->op)];
    atomic_fetch_add(&o->count, 1);
    atomic_fetch_add(&o->failed, c->status >= 400);
    atomic_fetch_add(&o->us, us);
    atomic_fetch_add(&o->classes[class_of(us)], 1);
}

void metrics_refused(struct serve_metrics *m, const char *reason)
{
    size_t i = 0;

    while (i + 1 < METRICS_REASON_COUNT && strcmp(reasons[i], reason) != 0)
        i++;
    atomic_fetch_add(&m->refused[i], 1);
}

int64_t metrics_quantile(const struct metrics_operation *o, int percent)
{
    int64_t all = 0, so_far = 0;

    for (size_t i = 0; i < METRICS_CLASS_COUNT; i++)
        all += o->classes[i];
    for (size_t i = 0; i < METRICS_CLASS_COUNT; i++) {
        so_far += o->classes[i];
        if (all && so_far * 100 >= all * percent)
            return i < COUNT(classes) ? classes[i] : classes[COUNT(classes) - 1];
    }
    return -1;
}

/* ---- the access log ----------------------------------------------------------------------------
 */

static const char *const callers[] = { [CALLER_NOBODY] = "nobody",
                                       [CALLER_PAGE] = "page",
                                       [CALLER_SHELL] = "shell",
                                       [CALLER_TOKEN] = "token" };

void metrics_log(const struct serve_call *c, int64_t us)
{
    char         room[1024];
    struct arena scratch = { 0 };
    struct sb    b = sb_on(room, sizeof room, &scratch);
    struct jw    w = jw_in(&b, 0);

    if (c->s->log_fd < 0)
        return;
    jw_open(&w, '{');
    jw_ktime(&w, "at", clock_now_ms());
    jw_kstr(&w, "caller", sv_of(callers[c->caller.kind]));
    if (c->caller.kind != CALLER_NOBODY)
        jw_kstr(&w, "actor", c->caller.actor);
    if (c->caller.kind == CALLER_TOKEN)
        jw_kstr(&w, "token", c->caller.id); /* its name, not its secret */
    jw_kstr(&w, "method", sv_of(c->method));
    jw_klossy(&w, "path", sv_first(sv_cut(c->target, '?').head, 200));
    jw_kint(&w, "status", c->status);
    jw_kint(&w, "in", c->body_bytes);
    jw_kint(&w, "out", c->sent);
    jw_kint(&w, "us", us);
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    (void)!write(c->s->log_fd, b.s, b.n); /* one write: lines do not mix */
    arena_free(&scratch);
}

/* ---- telling -----------------------------------------------------------------------------------
 */

static void put(struct sb *b, const char *name, const char *type, const char *help, int64_t value)
{
    sb_addf(b, "# HELP heddle_%s %s\n# TYPE heddle_%s %s\nheddle_%s %lld\n", name, help, name, type,
            name, (long long)value);
}

static void put_operation(struct sb *b, const char *name, const struct metrics_operation *o)
{
    int64_t so_far = 0;

    for (size_t i = 0; i < METRICS_CLASS_COUNT; i++) {
        so_far += o->classes[i];
        if (i < COUNT(classes))
            sb_addf(b, "heddle_operation_seconds_bucket{operation=\"%s\",le=\"%g\"} %lld\n", name,
                    (double)classes[i] / 1e6, (long long)so_far);
    }
    sb_addf(b, "heddle_operation_seconds_bucket{operation=\"%s\",le=\"+Inf\"} %lld\n", name,
            (long long)so_far);
    sb_addf(b, "heddle_operation_seconds_sum{operation=\"%s\"} %.6f\n", name, (double)o->us / 1e6);
    sb_addf(b, "heddle_operation_seconds_count{operation=\"%s\"} %lld\n", name, (long long)so_far);
}

static void put_operations(const struct serve_metrics *m, struct sb *b)
{
    sb_adds(b, "# HELP heddle_operation_seconds Time from a request to the end of its answer.\n"
               "# TYPE heddle_operation_seconds histogram\n");
    for (size_t i = 0; i < METRICS_OPERATIONS && operation_table[i]; i++)
        if (m->operations[i].count)
            put_operation(b, operation_table[i]->name, &m->operations[i]);
    sb_adds(b,
            "# HELP heddle_operation_failures_total Operations that were answered with an error.\n"
            "# TYPE heddle_operation_failures_total counter\n");
    for (size_t i = 0; i < METRICS_OPERATIONS && operation_table[i]; i++)
        if (m->operations[i].count)
            sb_addf(b, "heddle_operation_failures_total{operation=\"%s\"} %lld\n",
                    operation_table[i]->name, (long long)m->operations[i].failed);
}

static void put_classes(const struct serve_metrics *m, struct sb *b)
{
    sb_adds(b, "# HELP heddle_requests_total Requests, by the class of their status.\n"
               "# TYPE heddle_requests_total counter\n");
    for (size_t i = 1; i < COUNT(m->by_status); i++)
        sb_addf(b, "heddle_requests_total{status=\"%zuxx\"} %lld\n", i, (long long)m->by_status[i]);
    sb_adds(b, "# HELP heddle_refused_total Requests that the door refused, by reason.\n"
               "# TYPE heddle_refused_total counter\n");
    for (size_t i = 0; i < METRICS_REASON_COUNT; i++)
        sb_addf(b, "heddle_refused_total{reason=\"%s\"} %lld\n", reasons[i],
                (long long)m->refused[i]);
}

static int64_t resident_bytes(void)
{
    long  pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f && fscanf(f, "%*s %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

void metrics_text(const struct serve *s, struct sb *b)
{
    const struct serve_metrics *m = s->metrics;
    struct feed_counts          feed = feed_counts(s->feed);
    struct writer_counts        writer = writer_counts(s->writer);
    struct crew_counts readers = crew_counts(s->readers), streams = crew_counts(s->streams);
    struct crew_counts waits = crew_counts(s->waits);

    put_classes(m, b);
    put(b, "bytes_in_total", "counter", "Bytes of bodies that came in.", m->bytes_in);
    put(b, "bytes_out_total", "counter", "Bytes of bodies that went out.", m->bytes_out);
    put(b, "answers_kept_total", "counter",
        "Answers that were given again because nothing was committed since.", m->kept);
    put(b, "connections", "gauge", "Connections now.", s->watch->n);
    put(b, "connections_total", "counter", "Connections so far.", s->watch->accepted);
    put(b, "connections_shut_total", "counter",
        "Connections that took too long and were shut down.", s->watch->shut);
    put(b, "event_streams", "gauge", "Readers of /api/events now.", feed.readers);
    put(b, "events_total", "counter", "News that were sent to readers.", feed.news);
    put(b, "event_streams_dropped_total", "counter", "Readers that were too slow.", feed.dropped);
    put(b, "writes_queued", "gauge", "Requests that wait to be committed.", writer.queued);
    put(b, "writes_total", "counter", "Requests that were committed in groups.", writer.jobs);
    put(b, "write_groups_total", "counter", "Groups in which they were.", writer.groups);
    put(b, "write_group_largest", "gauge", "Requests in the largest group.", writer.largest);
    put(b, "writes_alone_total", "counter",
        "Requests that were run again after their group failed.", writer.alone);
    put(b, "readers_busy", "gauge", "Operations that run.", readers.threads - readers.idle);
    put(b, "readers_queued", "gauge", "Operations that wait for a thread.", readers.queued);
    put(b, "streams_busy", "gauge", "Operations with streams that run.",
        streams.threads - streams.idle);
    put(b, "streams_queued", "gauge", "Operations with streams that wait for a thread.",
        streams.queued);
    put(b, "waits_busy", "gauge", "Operations that wait for models, programs or news.",
        waits.threads - waits.idle);
    put(b, "resident_bytes", "gauge", "Memory of the process.", resident_bytes());
    put(b, "start_time_seconds", "gauge", "When the server was started.", s->since_ms / 1000);
    put_operations(m, b);
}

static void write_operations(const struct serve_metrics *m, struct jw *w)
{
    jw_key(w, "operations");
    jw_open(w, '[');
    for (size_t i = 0; i < METRICS_OPERATIONS && operation_table[i]; i++) {
        const struct metrics_operation *o = &m->operations[i];
        if (!o->count)
            continue;
        jw_open(w, '{');
        jw_kint(w, "count", o->count);
        jw_kint(w, "failed", o->failed);
        jw_kstr(w, "name", sv_of(operation_table[i]->name));
        jw_kint(w, "p50_us", metrics_quantile(o, 50));
        jw_kint(w, "p99_us", metrics_quantile(o, 99));
        jw_kint(w, "us", o->us);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static int busy(struct crew *c)
{
    struct crew_counts n = crew_counts(c);

    return n.threads - n.idle;
}

void metrics_json(const struct serve *s, struct jw *w)
{
    const struct serve_metrics *m = s->metrics;
    struct feed_counts          feed = feed_counts(s->feed);
    struct writer_counts        writer = writer_counts(s->writer);
    int64_t                     refused = 0;

    for (size_t i = 0; i < METRICS_REASON_COUNT; i++)
        refused += m->refused[i];
    jw_kint(w, "bytes_in", m->bytes_in);
    jw_kint(w, "bytes_out", m->bytes_out);
    jw_kint(w, "connections", s->watch->n);
    jw_kint(w, "event_streams", feed.readers);
    jw_kint(w, "events", feed.news);
    jw_kint(w, "memory", resident_bytes());
    write_operations(m, w);
    jw_kint(w, "refused", refused);
    jw_kint(w, "requests", m->requests);
    jw_kint(w, "running", busy(s->streams) + busy(s->waits));
    jw_kint(w, "write_groups", writer.groups);
    jw_kint(w, "writes", writer.jobs);
    jw_kint(w, "writes_queued", writer.queued);
}
