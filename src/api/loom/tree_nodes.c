/* tree.nodes: some nodes of a tree, named or as the end of a path; a line each, or all they say. */
#include "api/loom/loom_call.h"
#include "api/markdown_doc.h"
#include "api/term.h"
#include "base/utf8.h"
#include "loom/agent.h"
#include "tokens/tokens.h"

enum {
    NODES_AT_ONCE = 200,
    LINE_CHARS = 160,
    TEXT_BYTES = 64 * 1024,
    TEXT_BYTES_MAX = 16 * 1024 * 1024,
};

struct nodes_params {
    struct sv          thread, to, agent, content;
    struct sv_list     ids;
    struct number_list seqs;
    int64_t            last, max_bytes;
};

/* clang-format off */
static const char *const contents[] = { "line", "text", "markdown", NULL };

static const struct param params[] = {
    { "thread",    PARAM_NAME,    offsetof(struct nodes_params, thread),    .value = "T",      .required = true, .help = "the thread" },
    { "ids",       PARAM_LIST,    offsetof(struct nodes_params, ids),       .value = "ID,...", .help = "these nodes, at most 200" },
    { "seqs",      PARAM_NUMBERS, offsetof(struct nodes_params, seqs),      .value = "N,...",  .min = 0, .max = INT64_MAX, .help = "the nodes of these entries, at most 200" },
    { "to",        PARAM_TEXT,    offsetof(struct nodes_params, to),        .value = "ID",     .help = "the path that ends with this node (default: with where the agent is)" },
    { "last",      PARAM_NUMBER,  offsetof(struct nodes_params, last),      .value = "N",      .min = 1, .max = NODES_AT_ONCE, .fallback = "50", .help = "of the path, the last N nodes" },
    { "agent",     PARAM_TEXT,    offsetof(struct nodes_params, agent),     .value = "A",      .help = "whose position and versions count (default: yours)" },
    { "content",   PARAM_ENUM,    offsetof(struct nodes_params, content),   .values = contents, .fallback = "line", .help = "one line of each, its text, or the text and its Markdown as a tree of nodes" },
    { "max_bytes", PARAM_NUMBER,  offsetof(struct nodes_params, max_bytes), .value = "N",      .min = 1, .max = TEXT_BYTES_MAX, .fallback = "65536", .help = "of each text at most its first N bytes" },
    { 0 },
};
static const struct field node_fields[] = {
    { "seq",         FIELD_NUMBER, .help = "its entry in the log" },
    { "id",          FIELD_TEXT,   .help = "the node, in this tree" },
    { "parent",      FIELD_NUMBER, .nullable = true, .help = "the entry of the node it follows; null: none" },
    { "slot",        FIELD_NUMBER, .help = "the entry of the node in whose place it stands: its own, unless it is a version" },
    { "depth",       FIELD_NUMBER, .help = "0 for a root" },
    { "author",      FIELD_TEXT,   .help = "who wrote it" },
    { "kind",        FIELD_ENUM,   .values = loom_author_kinds, .help = "what the author is" },
    { "at",          FIELD_TIME,   .help = "when it was written" },
    { "lane",        FIELD_TEXT,   .help = "the lane it was written on" },
    { "line",        FIELD_TEXT,   .help = "the start of what it says" },
    { "bytes",       FIELD_NUMBER, .help = "of what it says" },
    { "tokens",      FIELD_NUMBER, .help = "of what it says" },
    { "children",    FIELD_NUMBER, .help = "how many nodes follow it that are not pruned" },
    { "hidden",      FIELD_NUMBER, .help = "how many nodes follow it that are" },
    { "annotations", FIELD_NUMBER, .help = "how many annotations it has" },
    { "links",       FIELD_NUMBER, .help = "how many links it has" },
    { "versions",    FIELD_NUMBER, .help = "how many versions it has" },
    { "edited_from", FIELD_TEXT,   .nullable = true, .help = "the node that it is an edit of" },
    { "bookmarked",  FIELD_FLAG,   .help = "whether it is bookmarked" },
    { "label",       FIELD_TEXT,   .nullable = true, .help = "of the bookmark" },
    { "pruned",      FIELD_FLAG,   .help = "whether it was pruned itself" },
    { "excluded",    FIELD_FLAG,   .help = "whether it is left out of what models are sent" },
    { "text",        FIELD_TEXT,   .optional = true, .help = "what it says, or the start of it: see cut" },
    { "cut",         FIELD_FLAG,   .optional = true, .help = "whether the text is longer than what is here" },
    { "markdown",    FIELD_LIST,   .item = FIELD_ANY, .optional = true, .nullable = true, .help = "strings and nodes, each with type and children; null: it is too long, or cannot be parsed" },
    { 0 },
};
static const struct field answer[] = {
    { "thread",     FIELD_TEXT,   .help = "the thread" },
    { "rev",        FIELD_NUMBER, .help = "how many entries it has" },
    { "counted_by", FIELD_TEXT,   .help = "how tokens were counted" },
    { "items",      FIELD_LIST,   .of = node_fields, .help = "the nodes, in the order asked for; of a path the oldest first" },
    { "missing",    FIELD_LIST,   .item = FIELD_NUMBER, .help = "of the seqs, those that are no nodes" },
    { 0 },
};
/* clang-format on */

struct nodes_call {
    struct request            *r;
    struct loom_call           c;
    const struct nodes_params *p;
    VEC(struct node) list;
    VEC(int64_t) missing;
};

/* ---- which ------------------------------------------------------------------------------------
 */

static enum status take_ids(struct nodes_call *x, struct err *e)
{
    for (size_t i = 0; i < x->p->ids.n; i++)
        if (node_find(&x->c.s.loom, x->p->ids.v[i], vec_push(&x->list, x->r->a), e))
            return err_code(e);
    return ST_OK;
}

/* A program that has only seqs may ask for one that is not a node: that is part of the answer. */
static enum status take_seqs(struct nodes_call *x, struct err *e)
{
    struct loom *l = &x->c.s.loom;
    struct node  n;

    loom_want(l, x->p->seqs.v, x->p->seqs.n);
    for (size_t i = 0; i < x->p->seqs.n; i++) {
        enum status s = node_at(l, x->p->seqs.v[i], &n, e);
        if (s == ST_CORRUPT)
            *vec_push(&x->missing, x->r->a) = x->p->seqs.v[i];
        else if (s)
            return s;
        else
            *vec_push(&x->list, x->r->a) = n;
    }
    return ST_OK;
}

static enum status take_path(struct nodes_call *x, struct err *e)
{
    struct session *s = &x->c.s;
    struct node     end, *path;
    size_t          n;
    bool            found = true;

    if (x->p->to.s ? node_find(&s->loom, x->p->to, &end, e)
                   : loom_position(&s->loom, s->agent.name, &end, &found, e))
        return err_code(e);
    if (!found)
        return ST_OK;
    int64_t from = end.depth - x->p->last + 1;
    if (node_path(&s->loom, s->agent.name, &end, from > 0 ? from : 0, &path, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        *vec_push(&x->list, x->r->a) = path[i];
    return ST_OK;
}

static enum status choose(struct nodes_call *x, struct err *e)
{
    const struct nodes_params *p = x->p;

    if (!!p->ids.v + !!p->seqs.v + !!p->to.s > 1)
        return err_set(e, ST_USAGE, "ids, seqs and to exclude each other");
    if (p->ids.n > NODES_AT_ONCE || p->seqs.n > NODES_AT_ONCE)
        return err_set(e, ST_LIMIT_EXCEEDED, "more than %d nodes at once", NODES_AT_ONCE);
    if (p->ids.v)
        return take_ids(x, e);
    return p->seqs.v ? take_seqs(x, e) : take_path(x, e);
}

/* ---- what they say ------------------------------------------------------------------------------
 */

/* The first `max` bytes, without a character that is cut in two. */
static struct sv start_of(struct sv text, size_t max)
{
    struct sv start = sv_first(text, max);

    while (start.n < text.n && start.n && ((unsigned char)text.s[start.n] & 0xc0) == 0x80)
        start.n--;
    return start;
}

static void write_text(struct nodes_call *x, struct sv text)
{
    struct sv start = start_of(text, (size_t)x->p->max_bytes);

    if (sv_is(x->p->content, "line"))
        return;
    jw_klossy(x->r->doc, "text", start);
    jw_kbool(x->r->doc, "cut", start.n < text.n);
    if (sv_is(x->p->content, "markdown"))
        markdown_doc(x->r, x->p->thread, start);
}

static size_t tokens_of(struct session *s, struct sv text)
{
    return s->env.count_tokens ? s->env.count_tokens(s->env.tokens_ctx, text)
                               : tokens_estimate(text);
}

static void write_marks(struct jw *w, const struct node *n)
{
    jw_kint(w, "children", n->kids);
    jw_kint(w, "hidden", n->all - n->kids);
    jw_kint(w, "annotations", n->notes);
    jw_kint(w, "links", n->links);
    jw_kint(w, "versions", n->versions);
    jw_kstr(w, "edited_from", n->edited_from);
    jw_kbool(w, "bookmarked", n->bookmarked);
    jw_kstr(w, "label", n->label);
    jw_kbool(w, "pruned", n->pruned);
    jw_kbool(w, "excluded", n->excluded);
}

/* Children and marks belong to the place, whichever version of it is shown. */
static enum status write_node(struct nodes_call *x, const struct node *n, struct err *e)
{
    struct loom *l = &x->c.s.loom;
    struct jw   *w = x->r->doc;
    struct node  slot = *n;
    struct sv    text;

    if ((n->slot != n->seq && node_at(l, n->slot, &slot, e)) || node_text(l, n->seq, &text, e))
        return err_code(e);
    jw_open(w, '{');
    jw_kint(w, "seq", n->seq);
    jw_kstr(w, "id", n->local);
    jw_kint_if(w, "parent", n->parent != NO_NODE, n->parent);
    jw_kint(w, "slot", n->slot);
    jw_kint(w, "depth", n->depth);
    jw_kstr(w, "author", n->author);
    jw_kstr(w, "kind", sv_of(author_kind_name(n->kind)));
    jw_ktime(w, "at", n->at);
    jw_kstr(w, "lane", n->lane);
    jw_klossy(w, "line", loom_one_line(text, LINE_CHARS, x->r->a));
    jw_kint(w, "bytes", (int64_t)text.n);
    jw_kint(w, "tokens", (int64_t)tokens_of(&x->c.s, text));
    slot.edited_from = n->edited_from;
    write_marks(w, &slot);
    write_text(x, text);
    jw_close(w, '}');
    return ST_OK;
}

static enum status write_answer(struct nodes_call *x, struct err *e)
{
    struct jw        *w = x->r->doc;
    struct store_head h;

    if (choose(x, e) || log_head(&x->r->log, x->p->thread, &h, e))
        return err_code(e);
    jw_open(w, '{');
    jw_kstr(w, "thread", x->p->thread);
    jw_kint(w, "rev", h.rev);
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < x->list.n; i++)
        if (write_node(x, &x->list.v[i], e))
            return err_code(e);
    jw_close(w, ']');
    jw_kstr(w, "counted_by",
            sv_of(x->c.env.tokens ? tokens_label(x->c.env.tokens) : "chars/4 (estimate)"));
    jw_key(w, "missing");
    jw_open(w, '[');
    for (size_t i = 0; i < x->missing.n; i++)
        jw_int(w, x->missing.v[i]);
    jw_close(w, ']');
    jw_close(w, '}');
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    struct nodes_call x = { .r = r, .p = given };

    if (loom_call_read(&x.c, r, x.p->thread, x.p->agent, e))
        return err_code(e);
    return loom_call_close(&x.c, loom_node_hint(write_answer(&x, e), x.p->thread, e));
}

/* `[a7x2] ana 2026-11-15 21:36  12 tokens`, and what it says. */
static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i];
        struct sv          text = json_text(x, "text");
        term_f(t, "[" SV_FMT "] ", SV_ARG(json_text(x, "id")));
        sb_add_plain_line(t->out, json_text(x, "author"));
        term_f(t, " %.16s  %lld tokens  ", json_text(x, "at").s,
               (long long)json_number(x, "tokens"));
        sb_add_plain_line(t->out, text.s ? SV("") : json_text(x, "line"));
        term_f(t, "\n");
        if (!text.s)
            continue;
        sb_add_plain(t->out, text);
        term_f(t, "\n");
    }
}

const struct operation op_tree_nodes = {
    .name = "tree.nodes",
    .summary = "Show nodes of a tree: some, or the end of a path",
    .details =
        "One line of each, its text, or its Markdown as a tree of nodes, in which what looks\n"
        "like HTML is text. Programs that draw a tree from `heddle tree skeleton` read here\n"
        "what stands in the rows that are in view.\n"
        "\n"
        "  heddle tree nodes design --to a7x2 --last 5 --content text\n"
        "  heddle tree nodes design --ids a7x2 --json",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .in_thread = true,
    .permission = PERM_loom_aware,
    .repeat = REPEAT_READS,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct nodes_params),
    .answer = answer,
    .run = run,
    .print = print,
};
