/* What the operations on payloads have in common: their parameters, from which a payload is
 * collected, and how it is measured, cut and written.
 *
 *     struct payload_call c;
 *     if (payload_call_begin(r, p, &c, e)) return err_code(e);
 *     enum status s = payload_call_write(r, &c, false, e);
 *     ... c.payload ...
 *     payload_call_end(&c);                                                            */
#ifndef HEDDLE_PAYLOAD_CALL_H
#define HEDDLE_PAYLOAD_CALL_H

#include "api/request.h"
#include "payload/payload.h"

struct payload_params {
    struct sv      turn, format, encoding, self, file, text;
    struct sv_list paths, names, include, exclude;
    int64_t        budget, max_depth, max_entries;
    bool diff, line_numbers, allow_secrets, refresh, offline, estimate, no_tree, no_gitignore,
        lock_files, manifest, count;
};

extern const char *const payload_formats[];

/* The rows of a table of parameters that say what a payload holds. */
/* clang-format off */
#define PAYLOAD_PARAM(field) offsetof(struct payload_params, field)
#define PAYLOAD_PARAMS \
    { "paths",         PARAM_LIST,   PAYLOAD_PARAM(paths),         .value = "PATH", .whole = true, .help = "entries of the turn's list: files, directories, globs, URLs" }, \
    { "names",         PARAM_LIST,   PAYLOAD_PARAM(names),         .value = "NAME", .whole = true, .help = "files by their names, which need not be there; in the place of paths" }, \
    { "turn",          PARAM_TEXT,   PAYLOAD_PARAM(turn),          .value = "DIR", .help = "the turn to make it for; its input.md is written" }, \
    { "budget",        PARAM_NUMBER, PAYLOAD_PARAM(budget),        .value = "N", .min = 1, .max = INT64_MAX, .help = "at most N tokens: what does not fit is left out, and named" }, \
    { "include",       PARAM_LIST,   PAYLOAD_PARAM(include),       .value = "GLOB", .whole = true, .help = "add the files that match, as .gitignore patterns do; also {a,b}" }, \
    { "exclude",       PARAM_LIST,   PAYLOAD_PARAM(exclude),       .value = "GLOB", .whole = true, .help = "leave out the resources that match" }, \
    { "diff",          PARAM_FLAG,   PAYLOAD_PARAM(diff),          .help = "add the changes of the working tree (git diff HEAD)" }, \
    { "line_numbers",  PARAM_FLAG,   PAYLOAD_PARAM(line_numbers),  .help = "number the lines of contents" }, \
    { "format",        PARAM_ENUM,   PAYLOAD_PARAM(format),        .value = "F", .values = payload_formats, .help = "markdown (the default), xml or json" }, \
    { "max_depth",     PARAM_NUMBER, PAYLOAD_PARAM(max_depth),     .value = "N", .min = 1, .max = INT64_MAX, .help = "show N levels of the project's tree" }, \
    { "max_entries",   PARAM_NUMBER, PAYLOAD_PARAM(max_entries),   .value = "N", .min = 1, .max = INT64_MAX, .help = "show N lines of the project's tree" }, \
    { "no_tree",       PARAM_FLAG,   PAYLOAD_PARAM(no_tree),       .help = "leave out the project's tree" }, \
    { "no_gitignore",  PARAM_FLAG,   PAYLOAD_PARAM(no_gitignore),  .help = "list what git ignores as well; .teddyignore still counts" }, \
    { "lock_files",    PARAM_FLAG,   PAYLOAD_PARAM(lock_files),    .help = "take lock files (package-lock.json, Cargo.lock …) from directories too" }, \
    { "allow_secrets", PARAM_FLAG,   PAYLOAD_PARAM(allow_secrets), .help = "show files that seem to hold keys or tokens" }, \
    { "refresh",       PARAM_FLAG,   PAYLOAD_PARAM(refresh),       .help = "fetch pages anew, whatever is kept" }, \
    { "offline",       PARAM_FLAG,   PAYLOAD_PARAM(offline),       .help = "use only pages that are kept" }, \
    { "encoding",      PARAM_ENUM,   PAYLOAD_PARAM(encoding),      .value = "E", .values = tokens_encoding_names, .help = "count in o200k_base (the default) or cl100k_base" }, \
    { "estimate",      PARAM_FLAG,   PAYLOAD_PARAM(estimate),      .help = "count a quarter of the characters" }, \
    { "self",          PARAM_TEXT,   PAYLOAD_PARAM(self),          .value = "FILE", .help = "the file it goes to, below the workspace: never part of it" }
/* clang-format on */

struct payload_call {
    struct payload_request q;
    struct payload         payload;
};

/* Check the parameters and collect. The payload holds only what has been listed so far; nothing is
 * to be ended after an error. ST_USAGE, ST_NOT_FOUND, ST_PERMISSION_DENIED: a path. */
enum status payload_call_begin(struct request *r, const struct payload_params *p,
                               struct payload_call *c, struct err *e) MUST_USE;

/* Measure and cut it when there is a budget, and write it where the request wants it; `nowhere`:
 * only count and hash. If a file changes meanwhile, the attempt is repeated, unless bytes were
 * already written to the caller. */
enum status payload_call_write(struct request *r, struct payload_call *c, bool nowhere,
                               struct err *e) MUST_USE;

/* Warn of what is worth knowing about a written payload: some of it, or `all`; and of one that has
 * no contents, which is allowed but seldom intended. */
void payload_call_warn(struct request *r, const struct payload_call *c, bool all);
void payload_call_warn_empty(struct request *r, const struct payload_call *c);

void payload_call_end(struct payload_call *c);

/* The turn and its session, below the root, that `turn` (absent: the directory in which the program
 * was called) names; empty when it is not a turn. */
enum status payload_call_turn(const struct workspace *ws, struct sv turn, struct arena *a,
                              struct sv *session, struct sv *out, struct err *e) MUST_USE;

/* The text of p->text or of the file p->file; one of them must be there. */
enum status payload_call_text(struct request *r, struct sv file, struct sv text, struct sv *out,
                              struct err *e) MUST_USE;

#endif
