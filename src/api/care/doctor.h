/* What `heddle doctor` looks at: one row of doctor_checks (workspace_doctor.c) per check.
 *
 * To add a check, write `run` (and `fix`, when something harmless can be done about it) in a file
 * of its own or in doctor_files.c, declare both here, and add a row:
 *
 *     { "modes", "only you can read .heddle", false, doctor_check_modes, doctor_fix_modes },
 *
 * `run` only looks. It calls doctor_find() for each thing that is wrong and doctor_note() for
 * what is worth knowing and not wrong. With --fix, a check that found something and has a `fix`
 * is fixed and run again: what it no longer finds is reported as fixed, the rest as a problem. */
#ifndef HEDDLE_DOCTOR_H
#define HEDDLE_DOCTOR_H

#include "api/care/care.h"

struct doctor_finding {
    enum status code; /* what kind of problem: ST_CORRUPT, ST_PERMISSION_DENIED, … */
    struct sv   text; /* one line: what is wrong, and where */
    struct sv   hint; /* what to do about it; absent: see the end of the report */
};

struct doctor {
    struct request *r;                /* r->log.store is NULL unless the row needs the log */
    bool            fix;              /* --fix */
    VEC(struct doctor_finding) found; /* of the check that runs now */
    VEC(struct sv) notes;             /* of the check that runs now */
    struct sv good;                   /* set by `run` to replace the row's `good`; or absent */
};

struct doctor_check {
    const char *name;      /* one word that never changes: --json has it */
    const char *good;      /* printed when nothing was found */
    bool        needs_log; /* skipped when the log cannot be opened */
    /* ST_OK also when there are findings; an error is a finding of its own. */
    enum status (*run)(struct doctor *d, struct err *e);
    /* NULL: nothing harmless can be done. Must never remove or change what a user wrote. */
    enum status (*fix)(struct doctor *d, struct err *e);
};

/* Both copy the text. `hint` may be NULL. */
void doctor_find(struct doctor *d, enum status code, const char *hint, const char *fmt, ...)
    PRINTF(4, 5);
void doctor_note(struct doctor *d, const char *fmt, ...) PRINTF(2, 3);

/* Findings of a function that reports through say(ctx, text), with ctx = the doctor: ST_CORRUPT. */
void doctor_say(void *doctor, struct sv finding);
void doctor_remark(void *doctor, struct sv text); /* a note */

/* All rows, in the order in which they run and are printed; ends with a row without a name. */
extern const struct doctor_check doctor_checks[];

/* Fold the views of a thread again, in a transaction of its own. */
enum status doctor_rebuild(struct request *r, struct sv thread, struct err *e) MUST_USE;

/* ---- the checks: doctor_log.c ------------------------------------------------------- */

enum status doctor_check_database(struct doctor *d, struct err *e);
enum status doctor_fix_database(struct doctor *d, struct err *e);
enum status doctor_check_threads(struct doctor *d, struct err *e);
enum status doctor_fix_threads(struct doctor *d, struct err *e);
enum status doctor_check_shared(struct doctor *d, struct err *e);
enum status doctor_fix_shared(struct doctor *d, struct err *e);
enum status doctor_check_imports(struct doctor *d, struct err *e);
enum status doctor_fix_imports(struct doctor *d, struct err *e);
enum status doctor_check_erasures(struct doctor *d, struct err *e);
enum status doctor_fix_erasures(struct doctor *d, struct err *e);
enum status doctor_check_moved(struct doctor *d, struct err *e);
enum status doctor_fix_moved(struct doctor *d, struct err *e);
enum status doctor_check_space(struct doctor *d, struct err *e);
enum status doctor_fix_space(struct doctor *d, struct err *e);

/* ---- the checks: doctor_files.c ----------------------------------------------------- */

enum status doctor_check_modes(struct doctor *d, struct err *e);
enum status doctor_fix_modes(struct doctor *d, struct err *e);
enum status doctor_check_leftovers(struct doctor *d, struct err *e);
enum status doctor_fix_leftovers(struct doctor *d, struct err *e);
enum status doctor_check_copies(struct doctor *d, struct err *e);

/* ---- the checks: doctor_hooks.c ------------------------------------------------------ */

enum status doctor_check_hooks(struct doctor *d, struct err *e);

/* ---- the checks: doctor_places.c ----------------------------------------------------- */

enum status doctor_check_places(struct doctor *d, struct err *e);
enum status doctor_check_kept(struct doctor *d, struct err *e);
enum status doctor_fix_kept(struct doctor *d, struct err *e);

/* ---- the checks: doctor_user.c ------------------------------------------------------ */

enum status doctor_check_owner(struct doctor *d, struct err *e);
enum status doctor_check_trust(struct doctor *d, struct err *e);
enum status doctor_check_user_files(struct doctor *d, struct err *e);
enum status doctor_fix_user_files(struct doctor *d, struct err *e);

#endif
