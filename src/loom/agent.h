/* Agents: people and models, and what each may do. They are kept in the workspace's own
 * log (thread .global) as thread_operation entries agent_add, agent_set and agent_remove, and read
 * from the "agents" view. */
#ifndef HEDDLE_AGENT_H
#define HEDDLE_AGENT_H

#include "loom/agent_settings.h"
#include "loom/node.h"

/* clang-format off */
/*    bit  name             needs            what it allows */
#define PERMISSION_TABLE(X)                                                                       \
    X(0,  loom_aware,       0,               "see the tree, navigate, inspect, think, keep memory") \
    X(1,  loom_write,       PERM_loom_aware, "create nodes, annotate, link, edit, mark, prune")   \
    X(2,  loom_generate,    PERM_loom_aware, "ask subject models for continuations")              \
    X(3,  doc_read,         0,               "read the thread's documents")                       \
    X(4,  doc_write,        PERM_doc_read,   "edit the thread's documents")
/* clang-format on */

enum permission {
#define X(bit, name, needs, what) PERM_##name = 1 << bit,
    PERMISSION_TABLE(X)
#undef X
#define X(bit, name, needs, what) | PERM_##name
        PERM_ALL = 0 PERMISSION_TABLE(X)
#undef X
};

const char *permission_name(enum permission p); /* of a single bit */

/* "loom_aware, loom_write", or "none". */
void permissions_list(struct sb *b, unsigned permissions);

/* A comma-separated list of names, "all" or "none". ST_USAGE: an unknown name; ST_INVALID_SYNTAX:
 * one whose requirement is missing. */
enum status permissions_parse(struct sv list, unsigned *out, struct err *e) MUST_USE;

/* The one place where permission is checked. ST_PERMISSION_DENIED: "loom_write not enabled". */
enum status permission_check(unsigned have, enum permission needed, struct err *e) MUST_USE;

struct agent {
    struct sv             name;
    enum author_kind      kind;  /* human or model; never changes */
    struct sv             model; /* "provider:identifier"; absent for people */
    unsigned              permissions;
    struct sv             system_prompt; /* or absent */
    struct agent_settings settings;
};

extern const struct view agents_view;

#define GLOBAL_THREAD SV(".global")

/* In any transaction; the view is brought up to date by log_begin() on GLOBAL_THREAD. Results live
 * in `a`. */
enum status agent_find(struct log *l, struct sv name, struct arena *a, struct agent *out,
                       bool *found, struct err *e) MUST_USE;
/* The same for an agent that must exist: ST_NOT_FOUND. */
enum status agent_named(struct log *l, struct sv name, struct arena *a, struct agent *out,
                        struct err *e) MUST_USE;
enum status agent_list(struct log *l, struct arena *a, struct agent **out, size_t *n,
                       struct err *e) MUST_USE;

/* A name that new agents may have: one that name_check() accepts, and that cannot be confused with
 * a line, a mark or a word that heddle prints. ST_INVALID_SYNTAX. */
enum status agent_name_check(struct sv name, struct err *e) MUST_USE;

/* Append in an open write transaction on GLOBAL_THREAD. agent_add: ST_CONFLICT when the name is
 * taken, ST_USAGE when a model has no `model`, ST_INVALID_SYNTAX when a person has one, and what
 * agent_settings_check() says. agent_put changes an existing agent. */
enum status agent_add(struct log *l, const struct agent *x, struct sv actor, int64_t now,
                      struct arena *a, struct err *e) MUST_USE;
enum status agent_put(struct log *l, const struct agent *x, struct sv actor, int64_t now,
                      struct arena *a, struct err *e) MUST_USE;
enum status agent_remove(struct log *l, struct sv name, struct sv actor, int64_t now,
                         struct arena *a, struct err *e) MUST_USE;

#endif
