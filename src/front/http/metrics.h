/* What the server has done so far, in numbers: for /metrics (Prometheus), /api/status and the
 * access log. Any thread counts; nothing here waits. */
#ifndef HEDDLE_FRONT_METRICS_H
#define HEDDLE_FRONT_METRICS_H

#include "base/json.h"
#include "front/http/server.h"

/* clang-format off */
/* Upper limits of the classes of a histogram, in microseconds; the last one has none. */
#define METRICS_CLASSES(X) \
    X(250) X(500) X(1000) X(2500) X(5000) X(10000) X(25000) X(50000) X(100000) X(250000) X(500000) \
    X(1000000) X(2500000) X(5000000) X(10000000)
/* clang-format on */
enum {
#define X(us) +1
    METRICS_CLASS_COUNT = 1 METRICS_CLASSES(X),
#undef X
    METRICS_OPERATIONS = 512, /* more than the table of operations has */
};

/* Why a request was refused before an operation ran. */
/* clang-format off */
#define METRICS_REASONS(X) \
    X(framing) X(host) X(origin) X(site) X(method) X(type) X(unauthenticated) X(link) X(rate) \
    X(busy) X(body) X(permission) X(shell) X(path) X(other)
/* clang-format on */

enum metrics_reason {
#define X(name) METRICS_REFUSED_##name,
    METRICS_REASONS(X)
#undef X
        METRICS_REASON_COUNT
};

struct metrics_operation {
    atomic_llong count, failed, us;
    atomic_llong classes[METRICS_CLASS_COUNT];
};

struct serve_metrics {
    atomic_llong             requests, by_status[6]; /* 1xx … 5xx at [1] … [5] */
    atomic_llong             bytes_in, bytes_out;
    atomic_llong             kept; /* answers that came from the cache (cache.h) */
    atomic_llong             refused[METRICS_REASON_COUNT];
    struct metrics_operation operations[METRICS_OPERATIONS];
};

struct serve_call;

/* A request is over. */
void metrics_count(struct serve_metrics *m, const struct serve_call *c, int64_t us);
void metrics_refused(struct serve_metrics *m, const char *reason);

/* One line of the access log: no query, no secret, no body. */
void metrics_log(const struct serve_call *c, int64_t us);

/* Prometheus' text format, and the members of a JSON object. */
void metrics_text(const struct serve *s, struct sb *b);
void metrics_json(const struct serve *s, struct jw *w);

/* The time within which `percent` percent of the answers were made, in microseconds: the upper
 * limit of a class; -1: none was counted. */
int64_t metrics_quantile(const struct metrics_operation *o, int percent);

#endif
