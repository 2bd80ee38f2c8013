/* Answers with files of the page. An address of the page (web/routes.js) is answered with the page
 * itself, which reads the address; so is every other path, with the status 404: the page then says
 * that there is nothing. */
#include "front/http/page.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/path.h"
#include "front/http/cache.h"
#include "front/http/route.h"

static const struct {
    const char *ending, *type;
} types[] = {
    { ".html", "text/html; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },
    { ".css", "text/css; charset=utf-8" },
    { ".svg", "image/svg+xml" },
    { ".png", "image/png" },
    { ".ico", "image/x-icon" },
    { ".txt", "text/plain; charset=utf-8" },
};

static const char *type_of(struct sv path)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (sv_ends(path, sv_of(types[i].ending)))
            return types[i].type;
    return NULL;
}

/* Is it an address of the page? With `.json` behind it, it is that of the document behind one. */
static bool is_address(struct sv path)
{
    static const struct sv addresses[] = { SV_STATIC("/"), SV_STATIC("/payload"),
                                           SV_STATIC("/search"), SV_STATIC("/import") };

    if (sv_ends(path, SV(".json")))
        path = sv_first(path, path.n - (sizeof ".json" - 1));
    for (size_t i = 0; i < COUNT(addresses); i++)
        if (sv_eq(path, addresses[i]))
            return true;
    return sv_starts(path, SV("/t/"));
}

/* What is asked for: a file, or the page. */
static struct sv file_path(struct sv path)
{
    return type_of(path) && !sv_starts(path, SV("/t/")) ? path : SV("/index.html");
}

/* Was the page chosen only because the path is neither a file nor an address of the page? */
static bool is_elsewhere(const struct serve_call *c, struct sv file)
{
    return !sv_eq(c->head.path, file) && sv_is(file, "/index.html") && !is_address(c->head.path);
}

static enum MHD_Result not_there(struct serve_call *c)
{
    struct serve_refusal why;

    guard_refuse(&why, 404, ST_NOT_FOUND, "path", "there is nothing at this path");
    return call_refuse(c, &why);
}

static enum MHD_Result answer_bytes(struct serve_call *c, struct sv path, struct sv bytes,
                                    struct sv hash)
{
    struct sb tag = sb_in(&c->a, 0);

    if (is_elsewhere(c, path))
        return call_answer(c, 404, type_of(path), bytes);
    sb_addc(&tag, '"');
    sb_add(&tag, sv_first(hash, 32));
    sb_addc(&tag, '"');
    call_header(c, "ETag", sb_sv(&tag));
    call_header(c, "Cache-Control", SV("no-cache"));
    if (sv_find(c->head.none_match, sb_sv(&tag)) >= 0)
        return call_answer(c, 304, type_of(path), SV(""));
    return call_answer(c, 200, type_of(path), bytes);
}

/* --page DIR: read from that directory for every request. */
static enum MHD_Result answer_from_dir(struct serve_call *c, struct sv path)
{
    UNDO(fd_undo) int dir = open(sv_cstr(c->s->o->page, &c->a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sv         bytes, inside;
    struct err        e;

    if (dir < 0 || path_normal(sv_skip(path, 1), &c->a, &inside, &e) ||
        fs_read(dir, inside, 0, &c->a, &bytes, &e))
        return not_there(c);
    struct hash h = hash_sha256(bytes);
    return answer_bytes(c, path, bytes, hash_hex(&h, &c->a));
}

enum MHD_Result page_answer(struct serve_call *c)
{
    struct sv       path = file_path(c->head.path);
    enum MHD_Result done;

    if (c->s->o->page.n)
        return answer_from_dir(c, path);
    if (!is_elsewhere(c, path) && cache_answer_page(c, path, &done))
        return done;
    for (size_t i = 0; i < web_files_n; i++)
        if (sv_is(path, web_files[i].path))
            return answer_bytes(c, path,
                                (struct sv){ (const char *)web_files[i].bytes,
                                             (size_t)(web_files[i].end - web_files[i].bytes) },
                                sv_of(web_files[i].sha256));
    return not_there(c);
}
