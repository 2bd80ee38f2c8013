/* One truth about what of a tree is seen: after each of many random operations of two people, the
 * tree, the request that is assembled, the contexts in every format and all exports agree on what
 * is pruned, undone, edited and excluded, and on where each of the two is; and the past stays as it
 * was. */
#include "api/request.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"
#include "fresh.h"
#include "store/store.h"
#include "tap.h"

enum { STEPS = 24, SEEDS = 3, PEOPLE = 2 };

static struct workspace ws;
static struct err       e;
static const char      *people[PEOPLE] = { "ada", "bob" };

/* ---- chance: the same for every run ---- */

static uint64_t dice;

static size_t roll(size_t n)
{
    dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
    return n ? (size_t)(dice >> 33) % n : 0;
}

/* ---- calls ---- */

struct answer {
    enum status status;
    struct sv   out; /* what was streamed */
    struct json doc;
};

static struct answer call(const char *name, const char *who, struct sv params, struct arena *a)
{
    const struct operation *op = operation_find(sv_of(name));
    struct answer           x = { 0 };
    struct request          r;
    struct sb               out = sb_in(a, 0);
    struct json             given;
    void                   *p = params_init(op->params, op->params_size, a);

    request_init(&r, &ws, a);
    r.actor = sv_of(who);
    r.out = &out;
    x.status = json_parse(params, 0, a, &given, &e) || params_read(op->params, &given, p, a, &e)
                   ? e.code
                   : operation_run(op, &r, p, &e);
    if (!x.status && request_document(&r).n)
        CHECK(json_parse(sv_dup(request_document(&r), a), 0, a, &x.doc, &e) == ST_OK);
    x.out = sb_sv(&out);
    request_end(&r);
    return x;
}

static struct sv text_of(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
static struct sv text_of(struct arena *a, const char *fmt, ...)
{
    struct sb b = sb_in(a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    return sb_sv(&b);
}

/* Every text is a word of its own, W1X, W2X, ...: the words of an output, in order. No id of a node
 * looks like one: ids are in lower case. */
static struct sv words_of(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i + 2 < text.n; i++) {
        size_t k = i + 1;
        if (text.s[i] != 'W')
            continue;
        while (k < text.n && text.s[k] >= '0' && text.s[k] <= '9')
            k++;
        if (k > i + 1 && k < text.n && text.s[k] == 'X')
            sb_addf(&b, "%.*s ", (int)(k - i), text.s + i);
    }
    return sb_sv(&b);
}

/* The words of the conversation in a request: not those of the prompt and the loom's blocks. */
static struct sv words_of_request(struct sv request, struct arena *a)
{
    struct sb   b = sb_in(a, 0);
    struct json v;

    CHECK(json_parse(request, 0, a, &v, &e) == ST_OK);
    const struct json *list = json_find(&v, "messages");
    for (size_t i = 0; list && i < list->n; i++) {
        struct sv text = json_text(&list->items[i], "content");
        if (!sv_is(json_text(&list->items[i], "role"), "system") && !sv_starts(text, SV("=== ")))
            sb_add(&b, words_of(text, a));
    }
    return sb_sv(&b);
}

/* ---- one walk ---- */

struct recorded {
    int64_t   at;
    struct sv words[PEOPLE];
};

static struct {
    bool         buffer;
    int          seed, step, said;
    struct arena a; /* lives through the walk */
    VEC(struct recorded) past;
} walk;

#define AGREE(what, got, want)                                                                     \
    do {                                                                                           \
        struct sv got_ = got, want_ = want;                                                        \
        if (!sv_eq(got_, want_))                                                                   \
            printf("# %s mode, seed %d, step %d, %s: " SV_FMT " instead of " SV_FMT "\n",          \
                   walk.buffer ? "buffer" : "dialogue", walk.seed, walk.step, what, SV_ARG(got_),  \
                   SV_ARG(want_));                                                                 \
        CHECK(sv_eq(got_, want_));                                                                 \
    } while (0)

static struct sv projected(const char *who, const char *format, struct sv more, struct arena *a)
{
    struct answer x =
        call("project", who,
             text_of(a, "{\"thread\":\"t\",\"format\":\"%s\"" SV_FMT "}", format, SV_ARG(more)), a);

    CHECK_INT(x.status, ST_OK);
    return words_of(x.out, a);
}

static struct sv random_node(const struct json *nodes)
{
    return json_text(&nodes->items[roll(nodes->n)], "local_id");
}

/* Most steps are said; the rest moves, hides, shows, and changes. Refusals are steps, too. Returns
 * who said something, or PEOPLE. */
static size_t step(const struct json *nodes, struct arena *a)
{
    static const char *const lines[] = {
        "→ switch to %s",
        "→ prune %s",
        "→ restore %s",
        "→ undo",
        "→ exclude %s",
        "→ include %s",
        "→ edit %s \\\"W%dX.\\\"",
        "→ respond to %s \\\"W%dX.\\\"",
        "→ switch to %s",
        "→ undo",
    };
    size_t      person = roll(PEOPLE);
    const char *who = people[person];
    size_t      what = roll(COUNT(lines) * 2);

    walk.said++;
    if (what >= COUNT(lines)) {
        CHECK_INT(
            call("loom.say", who, text_of(a, "{\"thread\":\"t\",\"text\":\"W%dX.\"}", walk.said), a)
                .status,
            ST_OK);
        return person;
    }
    struct sv node = sv_dup(random_node(nodes), a);
    struct sb id = sb_in(a, 0), line = sb_in(a, 0);
    sb_add(&id, node);
    sb_addc(&id, '\0');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    sb_addf(&line, lines[what], sb_sv(&id).s, walk.said);
#pragma GCC diagnostic pop
    call("loom.do", who,
         text_of(a, "{\"thread\":\"t\",\"lines\":\"" SV_FMT "\"}", SV_ARG(sb_sv(&line))), a);
    return PEOPLE;
}

/* The nodes that are not hidden, by the marks of heddle's own JSON, against the tree that is drawn.
 */
static void check_tree(const struct json *nodes, struct arena *a)
{
    struct sv     root = json_text(&nodes->items[0], "local_id");
    struct answer drawn = call(
        "tree.show", "ada",
        text_of(a, "{\"thread\":\"t\",\"depth\":50,\"from\":\"" SV_FMT "\"}", SV_ARG(root)), a);
    struct map hidden = map_in(a);

    CHECK_INT(drawn.status, ST_OK);
    struct sv text = json_canonical(json_find(&drawn.doc, "tree"), a);
    for (size_t i = 0; i < nodes->n; i++) {
        const struct json *n = &nodes->items[i];
        struct sv          id = json_text(n, "local_id"), parent = json_text(n, "parent");
        bool gone = json_truth(json_find(n, "pruned")) || (parent.n && map_find(&hidden, parent));
        if (gone)
            map_put(&hidden, id, &hidden);
        if (walk.buffer) /* a slot is drawn in the version that is seen */
            continue;
        bool is_drawn = sv_find(text, text_of(a, "\"local_id\":\"" SV_FMT "\"", SV_ARG(id))) >= 0;
        if (is_drawn == gone)
            printf("# seed %d, step %d: [" SV_FMT "] is %s\n", walk.seed, walk.step, SV_ARG(id),
                   gone ? "pruned and drawn" : "not drawn");
        CHECK(is_drawn != gone);
    }
}

static void check_person(size_t i, bool spoke, struct recorded *now, struct arena *a)
{
    static const char *const others[] = { "anthropic", "openai", "text", "markdown" };
    const char              *who = people[i];
    struct sv                context = projected(who, "json", SV(""), a);
    struct answer            request =
        call("assemble", who, SV("{\"thread\":\"t\",\"format\":\"openai\",\"budget\":100000}"), a);
    struct answer page =
        call("tree.export", who, SV("{\"thread\":\"t\",\"format\":\"markdown\"}"), a);
    struct answer session =
        call("harness.export", who, SV("{\"thread\":\"t\",\"to\":\"claude-code\"}"), a);
    struct answer listed = call("project.compare", who, SV("{\"thread\":\"t\",\"vs\":-1}"), a);

    for (size_t k = 0; k < COUNT(others); k++)
        AGREE(others[k], projected(who, others[k], SV(""), a), context);
    CHECK_INT(request.status, ST_OK);
    CHECK_INT(session.status, ST_OK);
    CHECK_INT(listed.status, ST_OK);
    struct sv sent = words_of_request(request.out, a);
    /* What another said behind the place of this one is in its lane; it is sent it when it goes
     * there. */
    AGREE("the request", sent, sv_first(context, sent.n));
    if (spoke)
        AGREE("the request of who spoke", sent, context);
    struct sv_cut head = sv_cut(page.out, '*'); /* the title may be a text */
    AGREE("markdown", words_of(head.tail, a), sent);
    struct sb lines = sb_in(a, 0);
    for (struct sv rest = session.out; rest.n;) {
        struct sv_cut line = sv_cut(rest, '\n');
        struct json   v;
        if (line.head.n && json_parse(line.head, 0, a, &v, &e) == ST_OK && json_find(&v, "message"))
            sb_add(&lines,
                   words_of(json_canonical(json_find(json_find(&v, "message"), "content"), a), a));
        rest = line.tail;
    }
    AGREE("a session", sb_sv(&lines), context);
    struct sb          items = sb_in(a, 0);
    const struct json *list = json_find(&listed.doc, "items");
    for (size_t k = 0; list && k < list->n; k++)
        sb_add(&items, words_of(json_text(&list->items[k], "line"), a));
    AGREE("a comparison", sb_sv(&items), context);
    now->words[i] = sv_dup(context, &walk.a);
}

/* In buffer mode which version counts is known for now only. */
static void check_past(struct arena *a)
{
    if (walk.buffer || !walk.past.n)
        return;
    const struct recorded *then = &walk.past.v[roll(walk.past.n)];
    struct sv              at = text_of(a, ",\"at\":%lld", (long long)then->at);
    for (size_t i = 0; i < PEOPLE; i++)
        AGREE("the past", projected(people[i], "json", at, a), then->words[i]);
}

static void take_step(struct arena *a)
{
    struct recorded now = { 0 };
    struct answer   tree =
        call("tree.export", "ada", SV("{\"thread\":\"t\",\"format\":\"json\"}"), a);
    struct json v;

    CHECK(json_parse(tree.out, 0, a, &v, &e) == ST_OK);
    size_t spoke = step(json_find(&v, "nodes"), a);
    tree = call("tree.export", "ada", SV("{\"thread\":\"t\",\"format\":\"json\"}"), a);
    CHECK(json_parse(tree.out, 0, a, &v, &e) == ST_OK);
    check_tree(json_find(&v, "nodes"), a);
    for (size_t i = 0; i < PEOPLE; i++)
        check_person(i, i == spoke, &now, a);
    struct answer head = call("head", "ada", SV("{\"thread\":\"t\"}"), a);
    now.at = json_number(&head.doc, "rev") - 1;
    check_past(a);
    *vec_push(&walk.past, &walk.a) = now;
}

struct place {
    struct fresh  folder;
    struct store *keeper;
};

static struct place begin(bool buffer, int seed)
{
    struct place x = { .folder = fresh_folder() };
    struct arena a = { 0 };
    char         url[64];

    memset(&walk, 0, sizeof walk);
    walk.buffer = buffer;
    walk.seed = seed;
    dice = (uint64_t)seed * 2654435761U + buffer;
    snprintf(url, sizeof url, "mem:agree-%d-%d", buffer, seed);
    CHECK(store_open(sv_of(url), &(struct store_options){ .create = true }, &x.keeper, &e) ==
          ST_OK);
    workspace_init(&ws);
    ws.root = ws.start = sv_dup(sv_of(x.folder.path), &walk.a);
    ws.root_fd = open(x.folder.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ws.store_url = sv_dup(sv_of(url), &walk.a);
    CHECK(workspace_make(&ws, SV(".heddle"), &e) == ST_OK);
    if (buffer)
        CHECK_INT(call("tree.set", "ada", SV("{\"thread\":\"t\",\"mode\":\"buffer\"}"), &a).status,
                  ST_OK);
    call("loom.say", "ada", SV("{\"thread\":\"t\",\"text\":\"W0X.\"}"), &a);
    arena_free(&a);
    return x;
}

static void end(struct place *x)
{
    workspace_close(&ws);
    store_close(x->keeper);
    fresh_done(&x->folder);
    arena_free(&walk.a);
}

static void go(bool buffer, int seed)
{
    struct place x = begin(buffer, seed);

    for (walk.step = 0; walk.step < STEPS; walk.step++) {
        struct arena a = { 0 };
        take_step(&a);
        arena_free(&a);
    }
    end(&x);
}

static void trees_requests_contexts_and_exports_agree_after_every_step(void)
{
    for (int seed = 1; seed <= SEEDS; seed++)
        go(false, seed);
}

static void and_so_they_do_in_a_text_that_is_edited_in_place(void)
{
    for (int seed = 1; seed <= SEEDS; seed++)
        go(true, seed);
}

/* Whoever stands on a node that another edits in place, or on one below it that is pruned then, is
 * sent what it reads now. */
static void the_request_has_the_text_that_others_gave_a_node(void)
{
    struct place    x = begin(true, SEEDS + 1);
    struct arena    a = { 0 };
    struct recorded now = { 0 };

    struct answer one = call("loom.say", "ada", SV("{\"thread\":\"t\",\"text\":\"W1X.\"}"), &a);
    struct sv     first = sv_dup(json_text(&one.doc, "local_id"), &a);
    call("loom.do", "bob",
         text_of(&a, "{\"thread\":\"t\",\"lines\":\"→ edit " SV_FMT " \\\"W2X.\\\"\"}",
                 SV_ARG(first)),
         &a);
    check_person(0, true, &now, &a);
    CHECK_SV(now.words[0], SV("W0 W2 "));
    struct answer two = call("loom.say", "ada", SV("{\"thread\":\"t\",\"text\":\"W3X.\"}"), &a);
    struct sv     below = sv_dup(json_text(&two.doc, "local_id"), &a);
    call("loom.say", "bob", SV("{\"thread\":\"t\",\"text\":\"W4X.\"}"), &a);
    call("loom.do", "ada",
         text_of(&a, "{\"thread\":\"t\",\"lines\":\"→ prune " SV_FMT "\"}", SV_ARG(below)), &a);
    check_person(0, true, &now, &a);
    arena_free(&a);
    end(&x);
}

/* An agent stays on its lane when a message of its own is appended to another. */
static void a_message_appended_to_another_lane_moves_nobody(void)
{
    struct place    x = begin(false, SEEDS + 2);
    struct arena    a = { 0 };
    struct recorded now = { 0 };

    call("op.fork", "ada", SV("{\"thread\":\"t\",\"lane\":\"other\"}"), &a);
    CHECK_INT(
        call("op.switch", "ada", SV("{\"thread\":\"t\",\"lane\":\"other\",\"agent\":\"ada\"}"), &a)
            .status,
        ST_OK);
    CHECK_INT(call("log.append", "ada",
                   SV("{\"thread\":\"t\",\"entries\":[{\"kind\":\"ai_message\",\"lane\":"
                      "\"default\",\"payload\":{\"content\":\"W1X.\",\"role\":\"user\"}}]}"),
                   &a)
                  .status,
              ST_OK);
    check_person(0, false, &now, &a);
    CHECK_SV(now.words[0], SV("W0 "));
    call("loom.say", "ada", SV("{\"thread\":\"t\",\"text\":\"W2X.\"}"), &a);
    check_person(0, true, &now, &a);
    CHECK_SV(now.words[0], SV("W0 W2 "));
    arena_free(&a);
    end(&x);
}

TAP_MAIN(T(trees_requests_contexts_and_exports_agree_after_every_step),
         T(and_so_they_do_in_a_text_that_is_edited_in_place),
         T(the_request_has_the_text_that_others_gave_a_node),
         T(a_message_appended_to_another_lane_moves_nobody), )
