/* Requests to the assembler over the tree of loom_test.h, for tests that look inside. */
#ifndef HEDDLE_ASSEMBLE_TEST_H
#define HEDDLE_ASSEMBLE_TEST_H

#include "assemble/assemble.h"
#include "loom_test.h"

struct assemble_test {
    struct loom_test t;
    struct tokens   *tokens;
    struct counts    counts;
};

static void assemble_test_open(struct assemble_test *x, unsigned permissions)
{
    loom_test_open(&x->t, permissions);
    CHECK(tokens_open(TOKENS_O200K, (struct sv){ 0 }, &x->tokens, &x->t.e) == ST_OK);
    counts_init(&x->counts, x->tokens, 1000);
}

static void assemble_test_close(struct assemble_test *x)
{
    counts_release(&x->counts);
    tokens_close(x->tokens);
    loom_test_close(&x->t);
}

static struct assembly_request assemble_test_request(struct assemble_test *x, const char *agent)
{
    struct assembly_request q = { .loom = x->t.s.loom, .counts = &x->counts, .budget = 50000 };
    bool                    found;

    CHECK(log_begin(&x->t.log, GLOBAL_THREAD, STORE_READ, &x->t.e) == ST_OK);
    CHECK(agent_find(&x->t.log, sv_of(agent), &x->t.a, &q.agent, &found, &x->t.e) == ST_OK);
    log_abort(&x->t.log);
    return q;
}

static enum status assemble_test_run(struct assemble_test *x, const struct assembly_request *q,
                                     struct assembly *out)
{
    CHECK(log_begin(&x->t.log, q->loom.thread, STORE_READ, &x->t.e) == ST_OK);
    enum status s = assembly_make(q, &x->t.a, out, &x->t.e);
    log_abort(&x->t.log);
    return s;
}

/* All of a context as text: what a person would compare. */
static struct sv assemble_test_text(struct assemble_test *x, const struct context *c)
{
    struct sb b = sb_in(&x->t.a, 0);

    sb_adds(&b, "SYSTEM\n");
    sb_add(&b, c->system_prompt);
    sb_addc(&b, '\n');
    for (size_t i = 0; i < c->n; i++) {
        struct json v;
        CHECK(json_parse(c->messages[i].content, 0, &x->t.a, &v, &x->t.e) == ST_OK);
        sb_adds(&b, sv_is(c->messages[i].role, "user") ? "USER\n" : "ASSISTANT\n");
        sb_add(&b, json_sv(&v));
        sb_addc(&b, '\n');
    }
    return sb_sv(&b);
}

/* A node behind another one; *tip becomes it. */
static void assemble_test_say(struct assemble_test *x, struct node *tip, const char *author,
                              enum author_kind kind, struct sv text)
{
    struct loom     l = x->t.s.loom;
    struct new_node made = {
        .text = text, .author = sv_of(author), .kind = kind, .parent = tip, .via = "say"
    };
    struct node next;

    CHECK(log_begin(&x->t.log, l.thread, STORE_WRITE, &x->t.e) == ST_OK);
    CHECK(loom_add(&l, &made, &next, &x->t.e) == ST_OK);
    CHECK(log_commit(&x->t.log, &x->t.e) == ST_OK);
    *tip = next;
}

static void assemble_test_go(struct assemble_test *x, const struct node *to)
{
    struct loom l = x->t.s.loom;

    CHECK(log_begin(&x->t.log, l.thread, STORE_WRITE, &x->t.e) == ST_OK);
    CHECK(loom_switch(&l, SV("Collab"), AUTHOR_MODEL, to, &x->t.e) == ST_OK);
    CHECK(log_commit(&x->t.log, &x->t.e) == ST_OK);
}

static inline struct node assemble_test_node(struct assemble_test *x, const char *local)
{
    struct loom l = x->t.s.loom;
    struct node n = { 0 };

    CHECK(log_begin(&x->t.log, l.thread, STORE_READ, &x->t.e) == ST_OK);
    CHECK(node_find(&l, sv_of(local), &n, &x->t.e) == ST_OK);
    log_abort(&x->t.log);
    return n;
}

/* "This is message 7. word0 word1 …" */
static struct sv assemble_test_words(struct assemble_test *x, int number, int words)
{
    struct sb b = sb_in(&x->t.a, 0);

    sb_addf(&b, "This is message %d.", number);
    for (int k = 0; k < words; k++)
        sb_addf(&b, " word%d", k % 10);
    return sb_sv(&b);
}

/* A conversation of `n` nodes behind g8r2, by turns of Sub and ada; Collab is at its end. */
static inline struct node assemble_test_grow(struct assemble_test *x, int n, int words)
{
    struct node tip = assemble_test_node(x, "g8r2");

    for (int i = 0; i < n; i++)
        assemble_test_say(x, &tip, i % 2 ? "ada" : "Sub", i % 2 ? AUTHOR_HUMAN : AUTHOR_MODEL,
                          assemble_test_words(x, i, words));
    assemble_test_go(x, &tip);
    return tip;
}

#endif
