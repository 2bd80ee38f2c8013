/* Reading a <thread_context> block with expat. A document type is refused, so no entity
 * but the five of XML itself can be declared; nothing outside the text is ever fetched. */
#include "share/block.h"

#include "base/failure.h"
#include "share/limits.h"

#include <expat.h>
#include <string.h>

struct block_reading {
    XML_Parser        parser;
    struct arena     *a;
    struct block_doc *doc;
    int               depth;
    size_t            items;
    bool              in_ref, ended, failed;
    size_t            end; /* offset just behind the block */
    struct err       *e;
};

static void stop(struct block_reading *r, enum status code, const char *what)
{
    if (!r->failed)
        err_set(r->e, code, "<thread_context>, line %lu: %s",
                (unsigned long)XML_GetCurrentLineNumber(r->parser), what);
    r->failed = true;
    XML_StopParser(r->parser, XML_FALSE);
}

static struct sv get(struct block_reading *r, const char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return sv_dup(sv_of(attributes[1]), r->a);
    return (struct sv){ 0 };
}

static void start_root(struct block_reading *r, const char *name, const char **attributes)
{
    if (strcmp(name, "thread_context") != 0) {
        stop(r, ST_INVALID_SYNTAX, "the root is not <thread_context>");
        return;
    }
    r->doc->thread = get(r, attributes, "thread");
    r->doc->objective = get(r, attributes, "objective");
    r->doc->relations_file = get(r, attributes, "relations_file");
    if (!r->doc->thread.n || !r->doc->objective.n)
        stop(r, ST_INVALID_SYNTAX, "thread and objective are required");
}

static void start_asset(struct block_reading *r, const char **attributes)
{
    struct block_asset x = { get(r, attributes, "type"), get(r, attributes, "path") };

    if (!x.type.n || !x.path.n) {
        stop(r, ST_INVALID_SYNTAX, "an <asset> needs type and path");
        return;
    }
    if (r->in_ref)
        *vec_push(&r->doc->refs.v[r->doc->refs.n - 1].assets, r->a) = x;
    else
        *vec_push(&r->doc->assets, r->a) = x;
}

static void start_ref(struct block_reading *r, const char **attributes)
{
    struct sv thread = get(r, attributes, "thread");

    if (!thread.n) {
        stop(r, ST_INVALID_SYNTAX, "a <ref> needs thread");
        return;
    }
    r->in_ref = true;
    *vec_push(&r->doc->refs, r->a) = (struct block_ref){ .thread = thread };
}

static void XMLCALL on_start(void *ctx, const char *name, const char **attributes)
{
    struct block_reading *r = ctx;
    int                   depth = r->depth++;

    if (++r->items > BLOCK_ITEMS_MAX)
        stop(r, ST_LIMIT_EXCEEDED, "too many elements");
    else if (depth == 0)
        start_root(r, name, attributes);
    else if (strcmp(name, "asset") == 0 && depth == (r->in_ref ? 2 : 1))
        start_asset(r, attributes);
    else if (strcmp(name, "ref") == 0 && depth == 1)
        start_ref(r, attributes);
    else if (strcmp(name, "asset") == 0 || strcmp(name, "ref") == 0)
        stop(r, ST_INVALID_SYNTAX, "<asset> and <ref> stand one level deep");
    /* other elements belong to later versions of the format and are passed over */
}

static void XMLCALL on_end(void *ctx, const char *name)
{
    struct block_reading *r = ctx;

    if (--r->depth == 1 && strcmp(name, "ref") == 0)
        r->in_ref = false;
    if (r->depth > 0)
        return;
    r->ended = true;
    r->end =
        (size_t)XML_GetCurrentByteIndex(r->parser) + (size_t)XML_GetCurrentByteCount(r->parser);
    XML_StopParser(r->parser, XML_FALSE); /* what follows is the task, not XML */
}

static void XMLCALL on_doctype(void *ctx, const char *name, const char *sysid, const char *pubid,
                               int internal)
{
    (void)name, (void)sysid, (void)pubid, (void)internal;
    stop(ctx, ST_INVALID_SYNTAX, "a document type is not allowed");
}

/* Where the block begins: the tag itself, not a longer name and not one in a comment. */
static ptrdiff_t find_start(struct sv text)
{
    size_t at = 0;

    for (;;) {
        ptrdiff_t hit = sv_find(sv_skip(text, at), SV("<thread_context"));
        if (hit < 0)
            return -1;
        at += (size_t)hit;
        char next = at + 15 < text.n ? text.s[at + 15] : 0;
        if (next == ' ' || next == '\t' || next == '\n' || next == '\r' || next == '>' ||
            next == '/')
            return (ptrdiff_t)at;
        at += 15;
    }
}

static enum status parse_block(struct block_reading *r, struct sv block)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    enum XML_Status st = XML_Parse(r->parser, block.s, (int)block.n, 1);

    if (r->failed)
        return err_code(r->e);
    if (st == XML_STATUS_ERROR && !r->ended)
        return err_set(r->e, ST_INVALID_SYNTAX, "<thread_context>, line %lu: %s",
                       (unsigned long)XML_GetCurrentLineNumber(r->parser),
                       XML_ErrorString(XML_GetErrorCode(r->parser)));
    if (!r->ended)
        return err_set(r->e, ST_INVALID_SYNTAX, "<thread_context> is not closed");
    return ST_OK;
}

enum status block_parse(struct sv text, struct arena *a, struct block_doc *out, struct err *e)
{
    struct block_doc     doc = { 0 };
    struct block_reading r = { .a = a, .doc = &doc, .e = e };
    ptrdiff_t            at;

    if (text.n > BLOCK_BYTES_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "the message is longer than %d bytes",
                       BLOCK_BYTES_MAX);
    /* A block that stands alone may follow an XML declaration; a document type before it is
     * still refused. */
    ptrdiff_t doctype = sv_find(text, SV("<!DOCTYPE"));
    at = find_start(text);
    if (at < 0)
        return err_set(e, ST_NOT_FOUND, "there is no <thread_context> block");
    if (doctype >= 0 && doctype < at && sv_starts(sv_trim(text), SV("<")))
        return err_set(e, ST_INVALID_SYNTAX, "<thread_context>: a document type is not allowed");
    r.parser = XML_ParserCreate("UTF-8");
    if (!r.parser)
        failure_memory(SIZE_MAX);
    struct sv   block = sv_skip(text, (size_t)at);
    enum status s = parse_block(&r, block);
    XML_ParserFree(r.parser);
    if (s)
        return s;
    doc.rest = sv_skip(block, r.end);
    *out = doc;
    return ST_OK;
}
