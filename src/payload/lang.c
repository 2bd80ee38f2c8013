/* The language tag of a fence, by the name of a file or the type of a page. */
#include "payload/lang.h"

#include "base/base.h"

enum { TAG_MAX = 32 };

struct lang_row {
    const char *from, *tag;
};

/* clang-format off */
static const struct lang_row extensions[] = {
    { "py", "python" },     { "js", "javascript" }, { "ts", "typescript" }, { "md", "markdown" },
    { "sh", "shell" },      { "bash", "shell" },    { "zsh", "shell" },     { "yml", "yaml" },
    { "txt", "text" },      { "ps1", "powershell" },{ "cs", "csharp" },     { "tf", "terraform" },
    { "cfg", "ini" },       { "conf", "ini" },      { "h", "c" },           { "hpp", "cpp" },
    { "cxx", "cpp" },       { "cc", "cpp" },        { "rb", "ruby" },       { "rs", "rust" },
};

static const struct lang_row media_types[] = {
    { "text/html", "html" },               { "application/xhtml+xml", "html" },
    { "application/json", "json" },        { "text/markdown", "markdown" },
    { "text/xml", "xml" },                 { "application/xml", "xml" },
    { "text/css", "css" },                 { "text/javascript", "javascript" },
    { "application/javascript", "javascript" }, { "text/csv", "csv" },
    { "application/yaml", "yaml" },        { "text/yaml", "yaml" },
    { "application/x-yaml", "yaml" },      { "application/toml", "toml" },
};
/* clang-format on */

static struct sv find(const struct lang_row *rows, size_t n, struct sv key)
{
    for (size_t i = 0; i < n; i++)
        if (sv_is(key, rows[i].from))
            return sv_of(rows[i].tag);
    return (struct sv){ 0 };
}

static bool is_tag(struct sv v)
{
    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.s[i];
        if (c <= 0x20 || c >= 0x7f || c == '`' || c == '~')
            return false;
    }
    return v.n > 0 && v.n <= TAG_MAX;
}

struct sv lang_of_path(struct sv path, struct arena *a)
{
    struct sv_cut part = sv_cut_last(path, '/');
    struct sv     name = part.found ? part.tail : path;
    struct sv_cut dot = sv_cut_last(name, '.');

    if (!dot.found || !dot.head.n || !is_tag(dot.tail)) /* .env has no extension */
        return SV("text");
    struct sv extension = sv_lower(dot.tail, a);
    struct sv tag = find(extensions, COUNT(extensions), extension);
    return tag.s ? tag : extension;
}

struct sv lang_of_url(struct sv url, struct sv content_type, struct arena *a)
{
    struct sv type = sv_lower(sv_trim(sv_cut(content_type, ';').head), a);
    struct sv tag = find(media_types, COUNT(media_types), type);

    if (tag.s)
        return tag;
    if (sv_ends(type, SV("+json")))
        return SV("json");
    if (sv_ends(type, SV("+xml")))
        return SV("xml");
    ptrdiff_t at = sv_find(url, SV("://"));
    struct sv path = sv_cut(sv_cut(url, '#').head, '?').head;
    if (at >= 0)
        path = sv_cut(sv_skip(path, (size_t)at + 3), '/').tail;
    return lang_of_path(path, a);
}
