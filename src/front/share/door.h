/* What the commands on threads and references have in common: how they open the workspace and
 * how they answer. One answer serves three doors: text for people, Leslie's envelope under
 * --json, and whatever --format says under the name `leslie`.
 *
 *     struct door d;
 *     if (door_open(&d, app, STORE_WRITE, e) ||
 *         share_lifecycle(&d.s, id, action, reason, &t, e) || door_commit(&d, e))
 *         return door_fail(&d, e);
 *     jw_open(d.data, '{'); ... jw_close(d.data, '}');          the envelope's data
 *     sb_addf(&d.text, "…\n");                                  what people read
 *     return door_done(&d, e);                                                          */
#ifndef HEDDLE_DOOR_H
#define HEDDLE_DOOR_H

#include "api/request.h"
#include "front/app.h"
#include "share/operation.h"

struct door {
    struct app  *app;
    struct share s;
    struct sb    data_text, text;
    struct jw    data_writer, *data;
    bool         warnings; /* the envelope has "warnings" even when there are none */
};

/* Open the log and begin. Reading a workspace that cannot be written is fine. */
enum status door_open(struct door *d, struct app *app, enum store_mode mode,
                      struct err *e) MUST_USE;
enum status door_commit(struct door *d, struct err *e) MUST_USE;
enum status door_fail(struct door *d, struct err *e);          /* ends it; returns e->code */
enum status door_done(struct door *d, struct err *e) MUST_USE; /* ends it, prints the answer */

bool is_leslie(const struct app *app);

/* "2026-03-01T10:00:05.101Z" */
struct sv iso(int64_t ms, struct arena *a);

/* Rows under headings, columns as wide as their widest cell. */
enum { TABLE_COLUMNS = 8 };
struct table_cells {
    struct sv *v;
};
struct table {
    VEC(struct table_cells) rows;
    const char *const *heads; /* ends with NULL */
    size_t             n, width[TABLE_COLUMNS];
};
void table_row(struct table *t, struct arena *a, const struct sv *cells);
void table_print(const struct table *t, struct sb *out);

/* --binding: live, frozen, or absent and then `otherwise`. */
enum status parse_binding(struct sv word, bool otherwise, bool *frozen, struct err *e) MUST_USE;

/* "build ▣ research  frozen, 2 files copied", without a line break. */
void put_binding(struct sb *b, const struct share_ref *r);

/* Records as Leslie prints them. */
void        json_thread_members(struct jw *w, const struct share_thread *t);
enum status json_objective(struct jw *w, struct share *s, const struct share_objective *o,
                           struct err *e);

#endif
