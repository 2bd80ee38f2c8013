/* The operations. Each is called between share_begin(STORE_WRITE) and share_commit(), checks
 * everything first, and appends entries; what it does to directories and files follows the commit
 * (effects.c) and is repeated by the next command if the process dies in between. */
#ifndef HEDDLE_OPERATION_H
#define HEDDLE_OPERATION_H

#include "share/share.h"

/* What an id that nobody chose is made from: letters and digits of the first line, those of ASCII
 * in lower case, with dashes between words; at most 40 characters. Empty: the title has none. */
struct sv id_of_title(struct sv title, struct arena *a);

struct objective_request {
    struct sv title;
    struct sv id;        /* absent: made from the title */
    bool      random_id; /* or drawn: obj-1f2e3d4c */
};
enum status share_objective_create(struct share *s, const struct objective_request *r,
                                   struct sv *made, struct err *e) MUST_USE;

/* ST_CONFLICT reason "not_empty": it has threads. */
enum status share_objective_delete(struct share *s, struct sv id, struct err *e) MUST_USE;

struct ref_list {
    VEC(struct share_ref) list;
};

struct spawn_request {
    struct sv      intent, objective;
    struct sv      id;        /* absent: made from the intent */
    bool           random_id; /* or drawn: thread-1f2e3d4c */
    struct sv      parent;    /* absent: none */
    struct sv      inherit;   /* "full", "partial", "none"; absent: none */
    struct sv      executor;  /* "human", "agent", "system"; absent: agent */
    struct sv      mode;      /* "dialogue", "buffer"; or absent */
    bool           frozen;    /* binding of the refs */
    struct sv_list scope, refs, tags;

    struct ref_list *made; /* NULL, or where to put the references that were made */
};
/* ST_NOT_FOUND: no such objective or parent. ST_CONFLICT "exists": the id is taken;
 * "circular_reference". */
enum status share_spawn(struct share *s, const struct spawn_request *r, struct share_thread *out,
                        struct err *e) MUST_USE;

struct reference_request {
    struct sv      from, target;
    struct sv_list scope;
    bool           frozen;
    const char    *given_as; /* "--ref" at spawn, else "--target": for the message of a cycle */
};
enum status share_reference(struct share *s, const struct reference_request *r,
                            struct share_ref *out, struct err *e) MUST_USE;

/* Copy the frozen references again, to one target or to all. *out: the references afterwards. */
struct refresh_request {
    struct sv      from, target; /* target absent: all */
    struct sv_list scope;
};
struct refresh_result {
    struct share_ref ref;
    size_t           added, changed, removed;
    bool source_gone; /* nothing was copied; existing copies were kept, and missing ones restored
                         from the stored content */
};
enum status share_refresh(struct share *s, const struct refresh_request *r,
                          struct refresh_result **out, size_t *n, struct err *e) MUST_USE;

/* Drop the references from → target, or the one of that id: `*out` has them as they were. Their
 * copies are removed from the disk; the content is kept, so that share_rebind() can restore the
 * references.
 */
enum status share_unreference(struct share *s, struct sv from, struct sv target, struct sv id,
                              struct ref_list *out, struct err *e) MUST_USE;

/* Change the binding of the references from → target, or of the one with that id; or restore
 * dropped references. `*out` has those that changed. A frozen one gets copies of the present files,
 * unless `as_before`. */
struct rebind_request {
    struct sv from, target, id; /* target or id, or both */
    bool      has_binding, frozen;
    bool      as_before; /* the binding, and the copies, that it had before */
};
enum status share_rebind(struct share *s, const struct rebind_request *q, struct ref_list *out,
                         struct err *e) MUST_USE;

/* The one table of states: `action` is suspend, resume, done, cancel, archive, or a transfer's
 * direction. False: the action is not allowed in this state. */
bool lifecycle_next(enum thread_status from, struct sv action, enum thread_status *to);
bool lifecycle_is_action(struct sv action);
bool lifecycle_is_direction(struct sv direction);

/* ST_CONFLICT reason "transition"; ST_USAGE: no such action. */
enum status share_lifecycle(struct share *s, struct sv thread, struct sv action, struct sv reason,
                            struct share_thread *out, struct err *e) MUST_USE;

/* These two also take a thread that only has a log: see share_any_thread() for what *out is then.
 *
 * Give a thread another title. Its id stays: the log, references and directories have it. */
enum status share_rename(struct share *s, struct sv thread, struct sv title,
                         struct share_thread *out, struct err *e) MUST_USE;
/* Archive a thread. An active thread is first marked as done, because only a thread that has ended
 * can be archived. */
enum status share_archive(struct share *s, struct sv thread, struct sv reason,
                          struct share_thread *out, struct err *e) MUST_USE;

struct transfer_request {
    struct sv      thread, direction, reason, executor; /* executor: the new one, or absent */
    struct sv_list scope;
};
enum status share_transfer(struct share *s, const struct transfer_request *r,
                           struct share_thread *out, struct err *e) MUST_USE;

enum status share_inject(struct share *s, struct sv thread, struct sv type, struct sv content,
                         int64_t *at, struct err *e) MUST_USE;

struct injection {
    struct sv type, content, actor;
    int64_t   at, seq;
};
enum status share_pending(struct share *s, struct sv thread, struct injection **out, size_t *n,
                          struct err *e) MUST_USE;
enum status share_delivered(struct share *s, struct sv thread, const struct injection *v, size_t n,
                            struct err *e) MUST_USE;

enum status share_session(struct share *s, struct sv thread, struct sv session,
                          struct err *e) MUST_USE;

/* Would from → target make a cycle of references? ST_CONFLICT reason "circular_reference", with the
 * whole path in s->details. Costs two look-ups unless both ends have edges. */
enum status share_check_cycle(struct share *s, struct sv from, struct sv target,
                              const char *given_as, struct err *e) MUST_USE;

/* ---- merge ----------------------------------------------------------------------------- */

struct merge_request {
    struct sv_list sources, scope;
    struct sv      target, strategy; /* interactive, agent-first, human, strict */
    bool           dry_run;
};
struct merge_result {
    VEC(struct sv) merged, removed, conflicts; /* paths below the target's directory */
    VEC(struct sv) kept; /* below the workspace: texts of the target that were overwritten */
    size_t unsettled;    /* conflicts that a person has to settle */
};
/* ST_CONFLICT reason "merge_conflict" under strict, and when a file meets a directory: nothing
 * changes. */
enum status share_merge(struct share *s, const struct merge_request *r, struct merge_result *out,
                        struct err *e) MUST_USE;

/* Line by line: changes of both sides against base. *clean is false when some lines were
 * changed by both in different ways; these stand between markers, or `theirs` are taken. */
enum merge_side { MERGE_MARKERS, MERGE_THEIRS };
enum status merge_text(struct sv base, struct sv ours, struct sv theirs, struct sv ours_name,
                       struct sv theirs_name, enum merge_side side, struct arena *a, struct sv *out,
                       bool *clean, struct err *e) MUST_USE;

/* ---- transcripts ------------------------------------------------------------------------ */

struct transcript_request {
    struct sv thread, chat, query, assistant;
    struct sv mode, stop_reason; /* absent: agent, end_turn */
    int64_t   start, end;        /* ms; 0: now */
};
enum status share_transcript(struct share *s, const struct transcript_request *r, struct sv *path,
                             struct err *e) MUST_USE;

/* Runs of other characters become one dash; at most 50 UTF-16 units; "task" if empty. */
struct sv transcript_slug(struct sv text, struct arena *a);
/* At most `max` characters, the last three of them dots when something was cut. */
struct sv transcript_cut(struct sv text, size_t max, struct arena *a);

#endif
