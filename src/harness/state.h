/* What is remembered of a session between two reads of its transcript: how far it was read, where
 * its lanes end, and what `heddle sessions` lists. It is the `state` of a harness_position
 * entry, and small: it is written with every batch. */
#ifndef HEDDLE_HARNESS_STATE_H
#define HEDDLE_HARNESS_STATE_H

#include "base/json.h"
#include "harness/limits.h"

/* A short text in place: setting it allocates nothing, so that a million records cost no memory. */
struct harness_text {
    uint16_t n;
    char     s[HARNESS_TEXT_MAX];
};
void      harness_text_set(struct harness_text *t, struct sv v); /* cut at a character */
struct sv harness_text_sv(const struct harness_text *t);         /* absent when it is empty */

/* Tokens, each counted once: `input` has no cached ones. */
struct harness_usage {
    int64_t input, output, cache_read, cache_write, reasoning;
    int64_t cost; /* see base/money.h */
    bool    priced;
};
void harness_usage_add(struct harness_usage *to, const struct harness_usage *more, int sign);

/* Dollars from a JSON number, which may have an exponent. */
bool harness_dollars(const struct json *number, int64_t *nano);

/* The end of a lane: its last record, and the entry at which the last answer of the model begins
 * (results of its calls may follow any part of it). */
struct harness_tip {
    struct harness_text lane, key;
    int64_t             answer;
};

/* A call that starts a sub-agent, until its file is found. */
struct harness_call {
    struct harness_text id, key;
};

struct harness_state {
    /* How far. */
    struct harness_text tail;     /* hash of the last bytes before `offset` */
    int64_t             offset;   /* bytes; of a database: its records */
    int64_t             number;   /* records, or lines */
    struct harness_text previous; /* the last record that has an id of its own */
    int64_t             loose;    /* records without one since then */

    /* Where. */
    struct harness_text lane; /* that of the last record */
    struct harness_tip  tips[HARNESS_TIPS_MAX];
    size_t              n_tips;
    struct harness_call calls[HARNESS_CALLS_MAX];
    size_t              n_calls;
    struct harness_text starts[HARNESS_STARTS_MAX]; /* what each of the last turns followed */
    size_t              n_starts;
    struct harness_text origin; /* what the next record follows, after a fork or a rollback */
    int64_t             seen;   /* sum of tokens that was reported last (Codex) */
    struct harness_text keeps;  /* first record that stays behind the compaction that comes */
    struct harness_text list;   /* hash of the ids that the program has in its context (Gemini) */

    /* What. */
    struct sv            path, cwd; /* of the transcript, of the project; absent: unknown */
    struct harness_text  title, branch, version, model;
    struct harness_text  asked, prompt; /* first and last */
    struct harness_text  named;         /* what the thread was called */
    struct harness_text  parent;        /* the session it was forked from or that started it */
    bool                 is_agent;
    bool                 has_usage_records; /* (Codex) */
    bool                 is_numbered;       /* its records had no ids at first (pi, version 1) */
    int64_t              first, last;       /* times; 0: none */
    int64_t              turns, messages, records;
    struct harness_usage total;
    struct harness_text  group;   /* the answer that was counted last ... */
    struct harness_usage counted; /* ... with this, which a later part of it replaces */
    int64_t              told;    /* cost as summed by the program, as far as it is counted here */
    int64_t              base; /* the part of it that belongs to the session it was forked from */
};

void harness_state_init(struct harness_state *s);
void harness_state_write(struct jw *w, const struct harness_state *s);

/* `a` keeps path and cwd. What is missing or of another type stays at its default. */
void harness_state_read(const struct json *v, struct arena *a, struct harness_state *s);

/* Remember a call that may have started a sub-agent, and find the record it stands in (absent: it
 * is not known); a call that was found is forgotten. The oldest one makes room. */
void      harness_call_add(struct harness_state *s, struct sv id, struct sv key);
struct sv harness_call_take(struct harness_state *s, struct sv id, struct arena *a);

/* A turn begins behind `key` (absent: nothing is before it); go back over n turns: what the first
 * of them followed, "-" for nothing, absent when fewer turns are remembered. */
void      harness_start_add(struct harness_state *s, struct sv key);
struct sv harness_start_back(struct harness_state *s, int64_t n);

/* ---- ends of lanes ---- */

struct harness_tip *harness_tip_of_lane(struct harness_state *s, struct sv lane); /* NULL: none */
struct harness_tip *harness_tip_with_key(struct harness_state *s, struct sv key);

/* The lane now ends with `key`. The tip that was used longest ago makes room. */
struct harness_tip *harness_tip_set(struct harness_state *s, struct sv lane, struct sv key);

#endif
