/* tree.skeleton: the shape of a tree without its texts, for programs that draw all of it. */
#include "api/loom/loom_call.h"
#include "api/term.h"
#include "loom/agent.h"
#include "loom/columns.h"

struct skeleton_params {
    struct sv thread;
    int64_t   since;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME,   offsetof(struct skeleton_params, thread), .value = "T",   .required = true, .help = "the thread" },
    { "since",  PARAM_NUMBER, offsetof(struct skeleton_params, since),  .value = "SEQ", .min = -1, .max = INT64_MAX, .fallback = "-1", .help = "only what is new or was marked after this entry" },
    { 0 },
};
static const struct field answer[] = {
    { "thread",  FIELD_TEXT,   .help = "the thread" },
    { "rev",     FIELD_NUMBER, .help = "how many entries it has" },
    { "since",   FIELD_NUMBER, .help = "as it was asked for; -1: all nodes are here" },
    { "nodes",   FIELD_NUMBER, .help = "how many nodes are here" },
    { "seqs",    FIELD_LIST,   .item = FIELD_NUMBER, .optional = true, .help = "the entry of each node, rising" },
    { "parents", FIELD_LIST,   .item = FIELD_NUMBER, .optional = true, .help = "the node that each follows; -1: none. Of a version: the node in whose place it stands" },
    { "flags",   FIELD_LIST,   .item = FIELD_NUMBER, .optional = true, .help = "0 human, 1 model, 2 tool; 4 bookmarked, 8 pruned, 16 excluded, 32 withdrawn, 64 a version" },
    { "locals",  FIELD_LIST,   .item = FIELD_TEXT,   .optional = true, .help = "their ids; empty where they are longer than four characters" },
    { 0 },
};
/* clang-format on */

/* ---- bytes ----------------------------------------------------------------------------------- */

static void put_u32(struct sb *b, uint32_t n)
{
    char x[4] = { (char)n, (char)(n >> 8), (char)(n >> 16), (char)(n >> 24) };

    sb_put(b, (struct sv){ x, sizeof x });
}

static void write_bytes(struct sb *b, const struct tree_columns *c)
{
    put_u32(b, (uint32_t)c->n);
    put_u32(b, (uint32_t)c->rev);
    for (size_t i = 0; i < c->n; i++)
        put_u32(b, c->seq[i]);
    for (size_t i = 0; i < c->n; i++)
        put_u32(b, c->parent[i]);
    sb_add(b, (struct sv){ (const char *)c->local, c->n * sizeof *c->local });
    sb_add(b, (struct sv){ (const char *)c->flags, c->n });
}

/* ---- the document ---------------------------------------------------------------------------- */

static void write_lists(struct jw *w, const struct tree_columns *c)
{
    jw_key(w, "seqs");
    jw_open(w, '[');
    for (size_t i = 0; i < c->n; i++)
        jw_int(w, c->seq[i]);
    jw_close(w, ']');
    jw_key(w, "parents");
    jw_open(w, '[');
    for (size_t i = 0; i < c->n; i++)
        jw_int(w, c->parent[i] == COLUMN_NO_PARENT ? -1 : (int64_t)c->parent[i]);
    jw_close(w, ']');
    jw_key(w, "flags");
    jw_open(w, '[');
    for (size_t i = 0; i < c->n; i++)
        jw_int(w, c->flags[i]);
    jw_close(w, ']');
    jw_key(w, "locals");
    jw_open(w, '[');
    for (size_t i = 0; i < c->n; i++)
        jw_str(w, (struct sv){ c->local[i], strnlen(c->local[i], COLUMN_LOCAL) });
    jw_close(w, ']');
}

static enum status write_answer(struct request *r, struct loom *l, const struct skeleton_params *p,
                                struct err *e)
{
    struct tree_columns c;

    if (loom_columns(l, p->since, &c, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    jw_kint(r->doc, "rev", c.rev);
    jw_kint(r->doc, "since", p->since);
    jw_kint(r->doc, "nodes", (int64_t)c.n);
    if (r->out)
        write_bytes(r->out, &c);
    else
        write_lists(r->doc, &c);
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct skeleton_params *p = given;
    struct loom                   l = { .log = &r->log, .thread = p->thread, .a = r->a };

    if (loom_call_find_tree(r, p->thread, e) || log_begin(&r->log, p->thread, STORE_READ, e))
        return err_code(e);
    enum status s = write_answer(r, &l, p, e);
    log_abort(&r->log);
    return s;
}

const struct operation op_tree_skeleton = {
    .name = "tree.skeleton",
    .summary = "Write the shape of a tree as columns of bytes",
    .details =
        "For programs that draw the whole tree, and read texts only where they are shown (`heddle\n"
        "tree nodes`). Numbers are 32 bits, little endian: how many nodes there are, how many\n"
        "entries the thread has, the entry of each node, the node that each follows (2^32-1:\n"
        "none), then four bytes of local id a node, filled up with zeros, and one byte of flags:\n"
        "0 human, 1 model, 2 tool; and 4 bookmarked, 8 pruned, 16 excluded, 32 withdrawn, 64 a\n"
        "version in the place of the node it follows. With --json the same as lists.\n"
        "\n"
        "  heddle tree skeleton design > design.columns\n"
        "  heddle tree skeleton design --since 99 --json",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .of_log = true,
    .in_thread = true,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_READS,
    .streams = STREAM_OUT,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct skeleton_params),
    .answer = answer,
    .run = run,
    .print = term_nothing, /* The bytes were the answer. */
};
