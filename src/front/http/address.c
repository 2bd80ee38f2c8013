/* The table of addresses and their operations. web/routes.js has the same addresses. */
#include "front/http/address.h"

#include "base/sb.h"

/* `path`: a segment `:x` is the parameter x, `*x` the rest of the path. `takes`: what of the query
 * is a parameter, PAGE=PARAMETER with spaces between. Of several rows for a path the first counts
 * whose `if_show` is what the query has as `show`; "" is any. */
/* clang-format off */
static const struct address_row {
    const char *path, *if_show, *operation, *fixed, *takes;
} rows[] = {
    { "/",                     "",           "thread.graph",   "",                     "" },
    { "/t/:thread",            "",           "tree.show",      "",                     "agent=agent" },
    { "/t/:thread/n/:to",      "",           "tree.nodes",     "&content=text",        "agent=agent last=last" },
    { "/t/:thread/log",        "",           "log.list",       "&backwards=true",      "at=from kind=kinds lane=lane limit=limit" },
    { "/t/:thread/context",    "",           "assemble",       "&explain=true",        "agent=agent at=at budget=budget format=format" },
    { "/t/:thread/files",      "",           "asset.list",     "",                     "" },
    { "/t/:thread/files/*name", "history",   "asset.history",  "",                     "" },
    { "/t/:thread/files/*name", "difference", "asset.compare", "",                     "from=hash to=to" },
    { "/t/:thread/files/*name", "",          "asset.read",     "",                     "" },
    { "/payload",              "",           "payload.weigh",  "",                     "files=paths exclude=exclude budget=budget" },
    { "/search",               "",           "loom.search",    "",                     "q=query thread=thread" },
    { "/import",               "",           "harness.list",   "&agents=true",         "" },
};
/* clang-format on */

static void add_pair(struct sb *b, struct sv name, struct sv value)
{
    if (b->n)
        sb_addc(b, '&');
    sb_add(b, name);
    sb_addc(b, '=');
    sb_add(b, value);
}

/* Does the path fit? Its parameters are added to `b`, still percent-encoded. */
static bool fits(struct sv pattern, struct sv path, struct sb *b)
{
    while (pattern.n || path.n) {
        struct sv_cut want = sv_cut(sv_skip(pattern, 1), '/'), have = sv_cut(sv_skip(path, 1), '/');
        bool          named = sv_starts(want.head, SV(":"));
        if (!pattern.n || !path.n || path.s[0] != '/')
            return false;
        if (sv_starts(want.head, SV("*"))) {
            add_pair(b, sv_skip(want.head, 1), sv_skip(path, 1));
            return path.n > 1;
        }
        if (named ? !have.head.n : !sv_eq(want.head, have.head))
            return false;
        if (named)
            add_pair(b, sv_skip(want.head, 1), have.head);
        pattern = sv_skip(pattern, 1 + want.head.n);
        path = sv_skip(path, 1 + have.head.n);
    }
    return true;
}

/* The value of a name in a query, still percent-encoded; absent: the query does not have it. */
static struct sv value_of(struct sv query, struct sv name)
{
    while (query.n) {
        struct sv_cut one = sv_cut(query, '&'), pair = sv_cut(one.head, '=');
        if (sv_eq(pair.head, name))
            return pair.tail.s ? pair.tail : SV("");
        query = one.tail;
    }
    return (struct sv){ 0 };
}

static struct sv query_of(const struct address_row *row, struct sv query, struct sb *b)
{
    struct sv takes = sv_of(row->takes);

    sb_adds(b, b->n || !row->fixed[0] ? row->fixed : row->fixed + 1);
    while (takes.n) {
        struct sv_cut one = sv_cut(takes, ' '), pair = sv_cut(one.head, '=');
        struct sv     value = value_of(query, pair.head);
        if (value.n)
            add_pair(b, pair.tail, value);
        takes = one.tail;
    }
    return sb_sv(b);
}

/* The address without `.json` or /api/at; absent: it is not an address of a document. */
static struct sv document_of(const struct serve_head *h)
{
    static const struct sv below = SV_STATIC("/api/at"), suffix = SV_STATIC(".json");

    if (sv_starts(h->path, SV("/api/at/")))
        return sv_skip(h->path, below.n);
    if (sv_starts(h->path, SV("/api/")) || !sv_ends(h->path, suffix) ||
        head_accepts(h, "text/html"))
        return (struct sv){ 0 };
    return sv_first(h->path, h->path.n - suffix.n);
}

void address_settle(struct serve_head *h, struct arena *a)
{
    struct sv path = document_of(h), show = value_of(h->query, SV("show"));

    for (size_t i = 0; path.n && i < COUNT(rows); i++) {
        struct sb query = sb_in(a, 0), operation = sb_in(a, 0);
        if (!fits(sv_of(rows[i].path), path, &query) ||
            (rows[i].if_show[0] && !sv_is(show, rows[i].if_show)))
            continue;
        sb_addf(&operation, "/api/%s", rows[i].operation);
        h->path = sb_sv(&operation);
        h->query = query_of(&rows[i], h->query, &query);
        h->accept = SV("application/json");
        return;
    }
}
