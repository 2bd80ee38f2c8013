/* search: the web. The results are untrusted text: all of it goes through loom/shown.h here,
 * whichever service was used. */
#include "base/utf8.h"
#include "command/run.h"
#include "loom/shown.h"

enum { SNIPPET = 300, TITLE = 160 }; /* characters */

static enum status query_of(const struct call *c, struct search_query *out, struct err *e)
{
    int64_t max = call_count(c, "max", SEARCH_DEFAULT);

    if (max < 1 || max > SEARCH_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "max results per search is %d", SEARCH_MAX);
        return err_hint(e, max < 1 ? "use max:1 or more" : "use max:%d or less", SEARCH_MAX);
    }
    *out = (struct search_query){ .text = call_text(c, "query"),
                                  .deep = sv_is(call_text(c, "depth"), "deep"),
                                  .news = sv_is(call_text(c, "topic"), "news"),
                                  .max = (size_t)max,
                                  .include = call_text(c, "include"),
                                  .exclude = call_text(c, "exclude") };
    return ST_OK;
}

static void add_quoted(struct sb *b, struct sv text)
{
    sb_addc(b, '"');
    sb_add_oneline(b, text);
    sb_addc(b, '"');
}

static void add_snippet(struct sb *b, size_t number, const struct search_result *x)
{
    sb_addf(b, "\n[%zu] ", number);
    sb_add_preview(b, x->title, TITLE);
    sb_adds(b, " — ");
    sb_add_oneline(b, x->domain);
    if (sv_trim(x->text).n) {
        sb_adds(b, "\n    ");
        sb_add_preview(b, x->text, SNIPPET);
    }
    sb_addc(b, '\n');
}

/* A result over the threshold would be cut in the middle. To avoid that, each page gets an equal
 * share of the threshold, at about 3 bytes a token; a search for fewer pages shows more of each. */
static size_t share_of_page(const struct session *s, size_t pages)
{
    size_t all = (size_t)s->env.result_tokens * 5 / 2;

    if (small_any(s, s->agent.model) || !pages || all / pages > SEARCH_TEXT_MAX)
        return SEARCH_TEXT_MAX; /* a summary is made of the whole text */
    return all / pages;
}

static void add_page(struct sb *b, size_t number, const struct search_result *x, size_t share)
{
    struct sv text = utf8_first(x->text, share);
    size_t    left = utf8_count(sv_skip(x->text, text.n)) + x->left_out;

    sb_addf(b, "%s\n## Result %zu: ", number > 1 ? "\n---\n" : "", number);
    sb_add_oneline(b, x->title);
    sb_adds(b, "\nSource: ");
    sb_add_oneline(b, x->url);
    if (x->published.n) {
        sb_adds(b, "\nPublished: ");
        sb_add_oneline(b, x->published);
    }
    sb_adds(b, "\n\n");
    sb_add_shown(b, text);
    if (left) {
        sb_adds(b, "\n(");
        sb_add_count(b, (int64_t)left, "more character");
        sb_adds(b, " not shown)");
    }
    sb_addc(b, '\n');
}

static void show(struct session *s, const struct search_query *q, const struct search_answer *found,
                 struct sb *b)
{
    size_t share = share_of_page(s, found->n);

    sb_adds(b, "Search: ");
    add_quoted(b, q->text);
    sb_adds(b, q->deep ? " (deep)\n" : "\n");
    sb_add_count(b, (int64_t)found->n, "result");
    sb_adds(b, " (");
    sb_add_commas(b, found->ms);
    sb_adds(b, "ms)\n");
    for (size_t i = 0; i < found->n; i++) {
        if (q->deep)
            add_page(b, i + 1, &found->results[i], share);
        else
            add_snippet(b, i + 1, &found->results[i]);
    }
    if (found->n && !q->deep)
        sb_adds(b, "\nUse → search \"query\" depth:deep for full content extraction.\n");
}

RUN(search)
{
    struct search_query  q;
    struct search_answer found;
    struct sb            object = sb_in(s->a, 0);

    if (query_of(c, &q, e))
        return err_code(e);
    add_quoted(&object, q.text);
    r->object = sb_sv(&object);
    if (!s->env.search) {
        err_set(e, ST_PERMISSION_DENIED, "web search is not configured");
        return err_hint(e, "a person can set TAVILY_API_KEY or BRAVE_API_KEY, or "
                           "search.searxng_url with `heddle config set --user`");
    }
    /* The network is slow: others write meanwhile. */
    if (session_pause(s, e) || s->env.search(s->env.search_ctx, &q, s->a, &found, e) ||
        session_resume(s, e))
        return err_code(e);
    show(s, &q, &found, &r->text);
    return ST_OK;
}
