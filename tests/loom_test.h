/* The tree of tests/spec/loom/fixture.sh in memory, for tests that look inside. One agent
 * (all permissions unless told otherwise), a subject model that records what it was asked, and one
 * document. */
#ifndef HEDDLE_LOOM_TEST_H
#define HEDDLE_LOOM_TEST_H

#include "base/hash.h"
#include "command/session.h"
#include "loom/agent.h"
#include "store/store.h"
#include "tap.h"
#include "thread/lane.h"

static const struct view *const loom_test_views[] = { &thread_view, &loom_view, &agents_view,
                                                      NULL };

struct loom_test {
    struct arena       a;
    struct store      *store;
    struct log         log;
    struct err         e;
    struct session     s;
    struct session_env env;
    struct sb          asked; /* every request, as text */
    int                requests;
    struct sv          doc_text;
    struct sv          web_text;     /* of what a search finds */
    enum status        model_status; /* what the model answers with */
    enum status        doc_status;   /* what writing a document ends with */
};

static enum status test_ask(void *ctx, const struct model_request *q, struct arena *a,
                            struct model_response *out, struct err *e)
{
    struct loom_test *t = ctx;
    struct sb         text = sb_in(a, 0);

    t->requests++;
    struct json body = { 0 };
    CHECK(json_parse(q->body, 0, a, &body, e) == ST_OK);
    const struct json *messages = json_find(&body, "messages");
    sb_addf(&t->asked, "system: " SV_FMT "\n", SV_ARG(json_text(&body, "system")));
    for (size_t i = 0; messages && i < messages->n; i++)
        sb_addf(&t->asked, SV_FMT ": " SV_FMT "\n", SV_ARG(json_text(&messages->items[i], "role")),
                SV_ARG(json_text(&messages->items[i], "content")));
    if (t->model_status)
        return err_set(e, t->model_status, "serverError");
    sb_addf(&text, "Answer %d.", t->requests);
    *out = (struct model_response){ .text = sb_sv(&text),
                                    .finish = SV("stop"),
                                    .provider = SV("test"),
                                    .model = SV("m"),
                                    .headers = SV("a: b"),
                                    .body = SV("{}"),
                                    .usage = MODEL_USAGE_NONE };
    return ST_OK;
}

static enum status test_read_doc(void *ctx, struct sv thread, struct sv name, struct arena *a,
                                 struct doc *out, struct err *e)
{
    struct loom_test *t = ctx;

    (void)thread;
    if (!sv_is(name, "character notes"))
        return err_set(e, ST_NOT_FOUND, "no document");
    *out = (struct doc){ .path = SV("notes.md"), .text = sv_dup(t->doc_text, a) };
    struct hash h = hash_blake2b(&t->doc_text, 1);
    out->hash = hash_hex(&h, a);
    return ST_OK;
}

static enum status test_write_doc(void *ctx, const struct doc *d, struct sv text, struct err *e)
{
    struct loom_test *t = ctx;

    (void)d;
    if (t->doc_status)
        return err_set(e, t->doc_status, "the disk said no");
    t->doc_text = sv_dup(text, &t->a);
    return ST_OK;
}

static enum status test_list_docs(void *ctx, struct sv thread, struct arena *a,
                                  struct doc_name **out, size_t *n, struct err *e)
{
    struct loom_test *t = ctx;

    (void)thread, (void)e;
    *n = 2;
    *out = ARENA_NEW(a, struct doc_name, 2);
    (*out)[0] = (struct doc_name){ .name = SV("character notes") };
    (*out)[1] = (struct doc_name){ .name = t->web_text, .from = t->web_text };
    return ST_OK;
}

/* One page, all of whose texts are `web_text`. */
static enum status test_search(void *ctx, const struct search_query *q, struct arena *a,
                               struct search_answer *out, struct err *e)
{
    struct loom_test *t = ctx;
    struct sv         text = t->web_text;

    (void)q, (void)a, (void)e;
    *out = (struct search_answer){ .n = 1, .ms = 1234 };
    out->results[0] = (struct search_result){
        .title = text, .url = text, .domain = text, .text = text, .published = SV("2026-11-15")
    };
    return ST_OK;
}

enum { TEST_NOW = 1000000000 };

static void test_node(struct loom_test *t, const char *local, const char *parent, const char *text,
                      struct sv author, enum author_kind kind)
{
    struct loom     l = { .log = &t->log, .thread = SV("marie"), .a = &t->a, .now = TEST_NOW };
    struct node     p, made;
    struct new_node n = { .text = sv_of(text),
                          .author = author,
                          .kind = kind,
                          .via = kind == AUTHOR_MODEL ? "continue" : "say",
                          .local = sv_of(local) };

    if (parent) {
        CHECK(node_find(&l, sv_of(parent), &p, &t->e) == ST_OK);
        n.parent = &p;
    }
    CHECK(loom_add(&l, &n, &made, &t->e) == ST_OK);
}

static void test_agent(struct loom_test *t, const char *name, const char *model,
                       unsigned permissions)
{
    struct agent x = { .name = sv_of(name),
                       .kind = model ? AUTHOR_MODEL : AUTHOR_HUMAN,
                       .model = sv_of(model),
                       .permissions = permissions };

    CHECK(log_begin(&t->log, GLOBAL_THREAD, STORE_WRITE, &t->e) == ST_OK);
    CHECK(agent_add(&t->log, &x, SV("t"), TEST_NOW, &t->a, &t->e) == ST_OK);
    CHECK(log_commit(&t->log, &t->e) == ST_OK);
}

static void test_tree(struct loom_test *t)
{
    static const struct {
        const char      *local, *parent, *text, *author;
        enum author_kind kind;
    } nodes[] = {
        { "r001", NULL, "Let us study Marie.", "ada", AUTHOR_HUMAN },
        { "a7x2", "r001", "Why does Marie hesitate?", "ada", AUTHOR_HUMAN },
        { "b3k9", "a7x2", "Building on the childhood theme.", "Sub", AUTHOR_MODEL },
        { "c4m2", "a7x2", "She is protecting someone.", "Sub", AUTHOR_MODEL },
        { "d5n7", "a7x2", "Only tiredness?", "ada", AUTHOR_HUMAN },
        { "e6p4", "b3k9", "Go on.", "ada", AUTHOR_HUMAN },
        { "f7q8", "e6p4", "Then silence is her gift.", "Sub", AUTHOR_MODEL },
        { "g8r2", "c4m2", "Whom?", "ada", AUTHOR_HUMAN },
    };

    CHECK(log_begin(&t->log, SV("marie"), STORE_WRITE, &t->e) == ST_OK);
    for (size_t i = 0; i < COUNT(nodes); i++)
        test_node(t, nodes[i].local, nodes[i].parent, nodes[i].text, sv_of(nodes[i].author),
                  nodes[i].kind);
    CHECK(log_commit(&t->log, &t->e) == ST_OK);
}

/* "fault:0:mem:" counts the calls of the store (fault_calls()). */
static const char *loom_test_store = "mem:";

static void loom_test_open(struct loom_test *t, unsigned permissions)
{
    *t = (struct loom_test){ 0 };
    CHECK(store_open(sv_of(loom_test_store), &(struct store_options){ .create = true }, &t->store,
                     &t->e) == ST_OK);
    t->log = log_of(t->store, loom_test_views);
    t->log.wanted = &loom_view;
    t->asked = sb_in(&t->a, 0);
    t->doc_text = SV("# Character notes\n\nEldest.\n\n## Core Motivation\n\nTo be forgiven.\n\n"
                     "## Setting\n\nA house.\n");
    t->env =
        (struct session_env){ .docs = { t, test_read_doc, test_write_doc, test_list_docs, NULL },
                              .ask = test_ask,
                              .ask_ctx = t,
                              .search = test_search,
                              .search_ctx = t };
    t->web_text = SV("A loom.");
    test_agent(t, "Collab", "offline:echo", permissions);
    test_agent(t, "Sub", "offline:echo", 0);
    test_tree(t);
    CHECK(session_open(&t->s, &t->log, &t->env, SV("marie"), SV("Collab"), TEST_NOW + 600000, &t->a,
                       &t->e) == ST_OK);
}

static void loom_test_close(struct loom_test *t)
{
    store_close(t->store);
    arena_free(&t->a);
}

/* What the agent is shown for a line. */
static inline struct sv loom_test_run(struct loom_test *t, const char *line, bool *ok)
{
    struct result r;
    struct sb     b = sb_in(&t->a, 0);

    CHECK(session_line(&t->s, sv_of(line), &r, &t->e) == ST_OK);
    result_show(&b, &r);
    *ok = r.ok;
    return sb_sv(&b);
}

#endif
