/* Addresses of resources: heddle://input.md, and heddle://thread/T with what stands behind it. */
#include "base/path.h"
#include "base/uri.h"
#include "mcp/mcp_internal.h"

static enum status unknown(struct sv uri, struct err *e)
{
    err_set(e, ST_NOT_FOUND, "there is no resource '" SV_FMT "'", SV_ARG(uri));
    return err_hint(e, "resources/list and resources/templates/list name what there is");
}

/* "12" of "from=12"; false when it is not a number from 0 on. */
static bool read_number(struct sv value, int64_t *out)
{
    return sv_to_int(value, out) && *out >= 0;
}

static bool read_query(struct sv query, struct mcp_resource *out)
{
    while (query.n) {
        struct sv_cut part = sv_cut(query, '&'), pair = sv_cut(part.head, '=');
        int64_t      *to = sv_is(pair.head, "from") ? &out->from
                           : sv_is(pair.head, "to") ? &out->to
                                                    : NULL;
        if (!to || !read_number(pair.tail, to))
            return false;
        query = part.tail;
    }
    return true;
}

/* What stands behind the thread. */
static bool read_part(struct sv part, struct arena *a, struct mcp_resource *out)
{
    static const struct {
        const char            *name;
        enum mcp_resource_kind kind;
    } parts[] = { { "context", RESOURCE_CONTEXT },
                  { "tree", RESOURCE_TREE },
                  { "log", RESOURCE_LOG },
                  { "input.md", RESOURCE_THREAD_INPUT } };
    struct sv_cut query = sv_cut(part, '?');

    if (sv_starts(part, SV("asset/"))) {
        out->kind = RESOURCE_ASSET;
        return uri_read(sv_skip(part, 6), a, &out->path) && out->path.n;
    }
    for (size_t i = 0; i < COUNT(parts); i++)
        if (sv_is(query.head, parts[i].name)) {
            out->kind = parts[i].kind;
            return !query.found || (out->kind == RESOURCE_LOG && read_query(query.tail, out));
        }
    return false;
}

enum status mcp_resource_parse(struct sv uri, struct arena *a, struct mcp_resource *out,
                               struct err *e)
{
    struct sv  scheme = SV("heddle://thread/");
    struct err why;

    *out = (struct mcp_resource){ .kind = RESOURCE_INPUT, .from = -1, .to = -1 };
    if (sv_is(uri, "heddle://input.md"))
        return ST_OK;
    if (!sv_starts(uri, scheme))
        return unknown(uri, e);
    struct sv_cut at = sv_cut(sv_skip(uri, scheme.n), '/');
    if (!at.found || !uri_read(at.head, a, &out->thread) || !read_part(at.tail, a, out) ||
        name_check(out->thread, "thread id", &why))
        return unknown(uri, e);
    return ST_OK;
}

void mcp_resource_uri(struct sb *b, struct sv thread, const char *part, struct sv path)
{
    sb_adds(b, "heddle://thread/");
    sb_add_uri(b, thread, NULL);
    sb_adds(b, part);
    sb_add_uri(b, path, "/");
}
