/* The node tree of libcmark-gfm as JSON, within limits of size, depth and tables. Its functions are
 * looked up by name: their types are part of the ABI of the library's version. */
#include "markdown/markdown.h"

#include "base/arena.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum { VALIDATE_UTF8 = 1 << 9 }; /* CMARK_OPT_VALIDATE_UTF8 */
enum { DONE = 1, ENTER = 2 };    /* cmark_event_type */
enum { ORDERED = 2 };            /* cmark_list_type */

/* clang-format off */
#define CMARK_TABLE(X) \
    X(void *,       parser_new,                     (int)) \
    X(void,         parser_free,                    (void *)) \
    X(void,         parser_feed,                    (void *, const char *, size_t)) \
    X(void *,       parser_finish,                  (void *)) \
    X(int,          parser_attach_syntax_extension, (void *, void *)) \
    X(void *,       find_syntax_extension,          (const char *)) \
    X(void,         node_free,                      (void *)) \
    X(const char *, node_get_type_string,           (void *)) \
    X(const char *, node_get_literal,               (void *)) \
    X(const char *, node_get_fence_info,            (void *)) \
    X(const char *, node_get_url,                   (void *)) \
    X(const char *, node_get_title,                 (void *)) \
    X(int,          node_get_heading_level,         (void *)) \
    X(int,          node_get_list_type,             (void *)) \
    X(int,          node_get_list_start,            (void *)) \
    X(int,          node_get_list_tight,            (void *)) \
    X(void *,       iter_new,                       (void *)) \
    X(void,         iter_free,                      (void *)) \
    X(int,          iter_next,                      (void *)) \
    X(void *,       iter_get_node,                  (void *))
/* clang-format on */

static struct {
#define X(type, name, args) type(*name) args;
    CMARK_TABLE(X)
#undef X
    bool (*is_checked)(void *);
    void *table, *tasks; /* extensions; NULL: not installed */
    bool  there;
} lib;
static pthread_once_t lib_once = PTHREAD_ONCE_INIT;

/* ---- the library ----------------------------------------------------------------------------- */

static bool look_up(void *so, void *slot, const char *name)
{
    void *p = dlsym(so, name);

    memcpy(slot, &p, sizeof p);
    return p != NULL;
}

/* Of the extensions only those two: the others change a table of the whole library while they
 * parse, which several threads must not do. */
static void load_extensions(void)
{
    void *so = dlopen("libcmark-gfm-extensions.so.0.29.0.gfm.6", RTLD_NOW | RTLD_LOCAL);
    void (*enroll)(void);

    if (!so || !look_up(so, &enroll, "cmark_gfm_core_extensions_ensure_registered") ||
        !look_up(so, &lib.is_checked, "cmark_gfm_extensions_get_tasklist_item_checked"))
        return;
    enroll();
    lib.table = lib.find_syntax_extension("table");
    lib.tasks = lib.find_syntax_extension("tasklist");
}

static void load(void)
{
    void *so = dlopen("libcmark-gfm.so.0.29.0.gfm.6", RTLD_NOW | RTLD_GLOBAL);
    bool  all = so != NULL;

#define X(type, name, args) all = all && look_up(so, &lib.name, "cmark_" #name);
    CMARK_TABLE(X)
#undef X
    lib.there = all;
    if (all)
        load_extensions();
}

/* ---- what is written ---------------------------------------------------------------------------
 */

enum tag_shape { SHAPE_BLOCK, SHAPE_LEAF, SHAPE_TEXT, SHAPE_LINE, SHAPE_BREAK, SHAPE_NONE };

static const struct kind_of_node {
    const char    *theirs, *ours;
    enum tag_shape shape;
} kinds[] = {
    { "document", NULL, SHAPE_NONE },
    { "paragraph", "paragraph", SHAPE_BLOCK },
    { "heading", "heading", SHAPE_BLOCK },
    { "block_quote", "quote", SHAPE_BLOCK },
    { "list", "list", SHAPE_BLOCK },
    { "item", "item", SHAPE_BLOCK },
    { "tasklist", "item", SHAPE_BLOCK },
    { "table", "table", SHAPE_BLOCK },
    { "table_header", "row", SHAPE_BLOCK },
    { "table_row", "row", SHAPE_BLOCK },
    { "table_cell", "cell", SHAPE_BLOCK },
    { "emph", "emphasis", SHAPE_BLOCK },
    { "strong", "strong", SHAPE_BLOCK },
    { "link", "link", SHAPE_BLOCK },
    { "image", "image", SHAPE_BLOCK },
    { "code_block", "code_block", SHAPE_LEAF },
    { "code", "code", SHAPE_LEAF },
    { "thematic_break", "rule", SHAPE_LEAF },
    { "linebreak", "break", SHAPE_LEAF },
    { "text", NULL, SHAPE_TEXT },
    { "html_inline", NULL, SHAPE_TEXT },
    { "softbreak", NULL, SHAPE_BREAK },
    { "html_block", "paragraph", SHAPE_LINE }, /* shown as it was written */
};

struct markdown_walk {
    struct jw *w;
    struct sb  text; /* that waits to be written as one string */
    int        depth, skipped;
    size_t     nodes;
};

static const struct kind_of_node *kind_of_node(void *node)
{
    const char *name = lib.node_get_type_string(node);

    for (size_t i = 0; i < COUNT(kinds); i++)
        if (strcmp(kinds[i].theirs, name) == 0)
            return &kinds[i];
    return &kinds[0]; /* of no extension that is used: its text is shown */
}

static void flush_text(struct markdown_walk *k)
{
    if (!k->text.n)
        return;
    jw_str(k->w, sb_sv(&k->text));
    k->text.n = 0;
    k->nodes++;
}

static bool is_harmless(struct sv url)
{
    static const char *const starts[] = { "http:", "https:", "mailto:", "#" };

    for (size_t i = 0; i < COUNT(starts); i++) {
        size_t n = strlen(starts[i]);
        if (url.n >= n && strncasecmp(url.s, starts[i], n) == 0)
            return true;
    }
    return false;
}

static struct sv given(const char *text)
{
    return text ? sv_of(text) : (struct sv){ 0 };
}

static void put_link(struct jw *w, void *node)
{
    struct sv url = given(lib.node_get_url(node)), title = given(lib.node_get_title(node));

    if (is_harmless(url))
        jw_kstr(w, "url", url);
    if (title.n)
        jw_kstr(w, "title", title);
}

static void put_members(struct jw *w, const struct kind_of_node *x, void *node)
{
    if (strcmp(x->ours, "heading") == 0) {
        jw_kint(w, "level", lib.node_get_heading_level(node));
    } else if (strcmp(x->ours, "list") == 0) {
        bool ordered = lib.node_get_list_type(node) == ORDERED;
        jw_kbool(w, "ordered", ordered);
        if (ordered)
            jw_kint(w, "start", lib.node_get_list_start(node));
        jw_kbool(w, "tight", lib.node_get_list_tight(node));
    } else if (strcmp(x->theirs, "tasklist") == 0) {
        jw_kbool(w, "checked", lib.is_checked(node));
    } else if (strcmp(x->ours, "link") == 0 || strcmp(x->ours, "image") == 0) {
        put_link(w, node);
    } else if (strcmp(x->ours, "code_block") == 0) {
        jw_kstr(w, "info", sv_cut(given(lib.node_get_fence_info(node)), ' ').head);
    }
    if (strncmp(x->ours, "code", 4) == 0)
        jw_kstr(w, "text", given(lib.node_get_literal(node)));
}

static void open_node(struct markdown_walk *k, const struct kind_of_node *x, void *node)
{
    flush_text(k);
    k->nodes++;
    jw_open(k->w, '{');
    jw_kstr(k->w, "type", sv_of(x->ours));
    put_members(k->w, x, node);
}

static void enter(struct markdown_walk *k, const struct kind_of_node *x, void *node)
{
    if (k->skipped || (x->shape == SHAPE_BLOCK && k->depth >= MARKDOWN_DEPTH_MAX)) {
        k->skipped += x->shape == SHAPE_BLOCK;
        sb_add(&k->text, given(lib.node_get_literal(node)));
        return;
    }
    if (x->shape == SHAPE_TEXT)
        sb_add(&k->text, given(lib.node_get_literal(node)));
    if (x->shape == SHAPE_BREAK)
        sb_addc(&k->text, '\n');
    if (x->shape != SHAPE_BLOCK && x->shape != SHAPE_LEAF && x->shape != SHAPE_LINE)
        return;
    open_node(k, x, node);
    if (x->shape != SHAPE_LEAF) {
        jw_key(k->w, "children");
        jw_open(k->w, '[');
        k->depth++;
    }
    if (x->shape == SHAPE_LINE)
        jw_str(k->w, given(lib.node_get_literal(node)));
}

static void leave(struct markdown_walk *k, const struct kind_of_node *x)
{
    if (k->skipped) {
        k->skipped -= x->shape == SHAPE_BLOCK;
        return;
    }
    if (x->shape != SHAPE_BLOCK && x->shape != SHAPE_LEAF && x->shape != SHAPE_LINE)
        return;
    flush_text(k);
    if (x->shape != SHAPE_LEAF) {
        jw_close(k->w, ']');
        k->depth--;
    }
    jw_close(k->w, '}');
}

/* The iterator gives leaves once, and other nodes twice. */
static bool is_given_once(const struct kind_of_node *x)
{
    return x->shape != SHAPE_BLOCK && x->shape != SHAPE_NONE;
}

static void write_tree(struct markdown_walk *k, void *document, bool *cut)
{
    void *iter = lib.iter_new(document);
    int   event;

    while (k->nodes < MARKDOWN_NODES_MAX && (event = lib.iter_next(iter)) != DONE) {
        void                      *node = lib.iter_get_node(iter);
        const struct kind_of_node *x = kind_of_node(node);
        if (event == ENTER)
            enter(k, x, node);
        if (event != ENTER || is_given_once(x))
            leave(k, x);
    }
    *cut = k->nodes >= MARKDOWN_NODES_MAX;
    flush_text(k);
    for (; k->depth > 0; k->depth--) {
        jw_close(k->w, ']');
        jw_close(k->w, '}');
    }
    lib.iter_free(iter);
}

/* ---- what is read ------------------------------------------------------------------------------
 */

static bool may_have_tables(struct sv text)
{
    size_t lines = 1, pipes = 0;

    if (!lib.table || text.n > MARKDOWN_TABLE_BYTES)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.s[i] == '\n' || text.s[i] == '\r') {
            lines++;
            pipes = 0;
        }
        pipes += text.s[i] == '|';
        if (lines > MARKDOWN_TABLE_LINES || pipes > MARKDOWN_TABLE_COLUMNS)
            return false;
    }
    return true;
}

static void *parse(struct sv text)
{
    void *parser = lib.parser_new(VALIDATE_UTF8);

    if (may_have_tables(text))
        lib.parser_attach_syntax_extension(parser, lib.table);
    if (lib.tasks)
        lib.parser_attach_syntax_extension(parser, lib.tasks);
    lib.parser_feed(parser, text.s, text.n);
    void *document = lib.parser_finish(parser);
    lib.parser_free(parser);
    return document;
}

enum status markdown_write(struct sv text, struct jw *w, bool *cut, struct err *e)
{
    struct arena         scratch = { 0 };
    struct markdown_walk k = { .w = w, .text = sb_in(&scratch, 0) };

    if (text.n > MARKDOWN_BYTES_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "Markdown of more than %d bytes is shown as text",
                       MARKDOWN_BYTES_MAX);
    pthread_once(&lib_once, load);
    if (!lib.there) {
        err_set(e, ST_IO, "libcmark-gfm, which Markdown needs, is not installed");
        err_reason(e, "library");
        return err_hint(e, "install the package libcmark-gfm0.29.0.gfm.6");
    }
    void *document = parse(text.n ? text : SV(""));
    jw_open(w, '[');
    write_tree(&k, document, cut);
    jw_close(w, ']');
    lib.node_free(document);
    arena_free(&scratch);
    return ST_OK;
}
