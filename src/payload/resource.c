/* Loading resources: files, pages and diffs become text with its properties, or a state. */
#include "payload/resource.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/fs_where.h"
#include "base/utf8.h"
#include "payload/charset.h"
#include "payload/lang.h"
#include "payload/scan.h"
#include "payload/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *resource_scope_name(enum resource_scope s)
{
    static const char *const names[SCOPE_COUNT] = { "turn", "session", "global" };

    return names[s];
}

const char *resource_state_word(enum resource_state s)
{
    static const char *const words[] = {
#define X(id, word) word,
        RESOURCE_STATES(X)
#undef X
    };

    return words[s];
}

static void set_state(struct resource *r, enum resource_state s, const char *why)
{
    r->state = s;
    snprintf(r->why, sizeof r->why, "%.*s", (int)sizeof r->why - 1, why);
}

/* ---- files ----------------------------------------------------------------------- */

static int64_t stamp_of(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* Is it below .heddle, which holds keys and the log? A link in a checkout must not bring them into
 * what is sent. A person at a shell may name such a file. */
static bool is_own(const struct resource_load_config *c, const struct resource *r, int fd,
                   struct arena *scratch)
{
    struct stat st;
    bool linked = fstatat(c->root_fd, sv_cstr(r->name, scratch), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                  S_ISLNK(st.st_mode);

    return (c->outside || linked) && fs_where(fd, c->root_fd, ".heddle") != FS_ELSEWHERE;
}

/* An open regular file, or -1 and r's state says why not. */
static int open_file(const struct resource_load_config *c, struct resource *r,
                     struct arena *scratch, struct stat *st)
{
    if (sv_has(r->name, 0)) {
        set_state(r, RES_UNREADABLE, "its name holds a NUL");
        return -1;
    }
    int fd = fs_open_below(c->root_fd, sv_cstr(r->name, scratch), O_RDONLY | O_NONBLOCK);

    if (fd < 0 && errno == ENOENT)
        set_state(r, RES_MISSING, "");
    else if (fd < 0 && errno == EXDEV)
        set_state(r, RES_OUTSIDE, "");
    else if (fd < 0)
        set_state(r, RES_UNREADABLE, strerror(errno));
    if (fd < 0)
        return -1;
    bool regular = fstat(fd, st) == 0 && S_ISREG(st->st_mode);
    if (regular && !is_own(c, r, fd, scratch))
        return fd;
    if (regular)
        set_state(r, RES_UNREADABLE, "belongs to heddle itself");
    else
        set_state(r, RES_UNREADABLE,
                  S_ISDIR(st->st_mode) ? "is a folder" : "is not a regular file");
    close(fd);
    return -1;
}

static bool read_whole(int fd, size_t expected, struct pipeline_buffer *b)
{
    if (!pipeline_buffer_reserve(b, expected + 1))
        return false;
    for (;;) {
        ssize_t got = read(fd, b->s + b->n, b->cap - b->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        b->n += (size_t)got;
        if (got == 0 || (b->n == expected && b->n < b->cap && expected))
            return true;
        if (b->n == b->cap && !pipeline_buffer_reserve(b, b->cap * 2))
            return false;
    }
}

/* Parts of the first `size` bytes of an open file, cut between characters. False: a read
 * failed. */
static bool read_parts(int fd, uint64_t size, struct pipeline_buffer *b, resource_part_each *each,
                       void *ctx)
{
    size_t held = 0;

    b->n = 0;
    if (!pipeline_buffer_reserve(b, RESOURCE_PART))
        return false;
    for (;;) {
        size_t  room = RESOURCE_PART - held;
        ssize_t got = read(fd, b->s + held, room < size ? room : (size_t)size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        size -= (uint64_t)got;
        struct sv part = { b->s, held + (size_t)got };
        held = got ? utf8_unfinished(part) : 0;
        part.n -= held;
        if (part.n && !each(ctx, part))
            return true;
        if (got == 0)
            return true;
        memmove(b->s, b->s + part.n, held);
    }
}

/* Continue while further parts can change the result. */
static bool scan_part(void *ctx, struct sv part)
{
    struct scan_found *s = ctx;

    scan_add(s, part);
    return scan_wants_more(s);
}

/* ---- finding out about content --------------------------------------------------------------- */

void resource_take_scan(struct resource *r, const struct scan_found *s, bool allow_secrets)
{
    r->size = s->size;
    if (s->has_nul || s->is_invalid) {
        r->sha256 = s->sha256;
        set_state(r, s->has_nul ? RES_BINARY : RES_NOT_UTF8, "");
    } else if (s->secret && !allow_secrets) {
        r->state = RES_SECRET;
        snprintf(r->why, sizeof r->why, "%s, line %llu", s->secret,
                 (unsigned long long)s->secret_line);
    }
}

/* The second reading (when a payload is written after a budget was applied) does not count and hash
 * again; the results of the first are kept. */
static void take_scan(const struct resource_load_config *c, const struct resource_load_own *own,
                      struct resource *r, const struct scan_found *s)
{
    bool hashed = c->hash || s->has_nul || s->is_invalid;

    resource_take_scan(r, s, c->allow_secrets);
    r->run = s->run;
    if (own->tokens)
        r->tokens = s->tokens;
    if (hashed)
        r->sha256 = s->sha256;
    r->has_hash = r->has_hash || hashed;
    r->ends_with_newline = s->last == '\n';
}

static bool scan_file(int fd, struct scan_found *s, struct tokens *tokens, bool hash, bool secrets,
                      struct pipeline_buffer *b)
{
    if (!scan_begin(s, tokens, hash, secrets))
        return false;
    bool ok = read_parts(fd, UINT64_MAX, b, scan_part, s);
    int  error = errno;
    scan_end(s);
    b->n = 0;
    errno = error;
    return ok;
}

/* ---- other encodings ---------------------------------------------------------------- */

void resource_hold(struct resource *r, struct sv body)
{
    char *copy = malloc(body.n + 1);

    if (!copy) {
        set_state(r, r->kind == RESOURCE_URL ? RES_NOT_FETCHED : RES_UNREADABLE, strerror(ENOMEM));
        return;
    }
    memcpy(copy, body.n ? body.s : "", body.n);
    copy[body.n] = 0;
    r->body = (struct sv){ copy, body.n };
    /* cppcheck-suppress memleak ; r's now, see resource_release() */
}

/* Text that is not UTF-8 and declares its encoding is converted, held in r->body and scanned
 * again. */
static bool scan_converted(const struct resource_load_config *c,
                           const struct resource_load_own *own, struct resource *r, struct sv text,
                           struct scan_found *s)
{
    char      name[CHARSET_NAME_MAX];
    struct sv utf8;

    if (!charset_declared(text, sv_of(r->type), name) || !charset_convert(text, name, &utf8))
        return false;
    resource_release(r);
    r->body = utf8;
    struct sv path = s->path;
    *s = (struct scan_found){ .path = path };
    scan_text(s, utf8, own->tokens, c->hash, !c->allow_secrets);
    r->converted = true;
    snprintf(r->remark, sizeof r->remark, "converted from %s to UTF-8", name);
    return true;
}

/* ISO-2022 consists of ASCII bytes, so it is recognised only by its escape sequences. */
static bool is_escaped(struct sv text)
{
    return sv_find(text, SV("\x1b$")) >= 0 || sv_find(text, SV("\x1b(")) >= 0;
}

static void load_large(const struct resource_load_config *c, struct resource_load_own *own,
                       struct resource *r, int fd, const struct stat *st, struct pipeline_buffer *b)
{
    struct scan_found s = { .path = r->name };
    bool              ok = scan_file(fd, &s, own->tokens, c->hash, !c->allow_secrets, b);

    struct sv whole;
    if (ok && (s.has_nul || s.is_invalid) && st->st_size <= CHARSET_TEXT_MAX &&
        lseek(fd, 0, SEEK_SET) == 0 && read_whole(fd, (size_t)st->st_size, b)) {
        whole = (struct sv){ b->s, b->n };
        bool converted = scan_converted(c, own, r, whole, &s);
        b->n = 0;
        if (converted) {
            r->changed = stamp_of(st);
            take_scan(c, own, r, &s);
            return;
        }
    }
    /* The placeholder of what is not text always shows its hash. */
    if (ok && !c->hash && (s.has_nul || s.is_invalid)) {
        s = (struct scan_found){ .path = r->name };
        ok = lseek(fd, 0, SEEK_SET) == 0 && scan_file(fd, &s, NULL, true, false, b);
    }
    if (!ok) {
        set_state(r, RES_UNREADABLE, strerror(errno));
        return;
    }
    r->changed = stamp_of(st);
    take_scan(c, own, r, &s);
}

static void load_file(const struct resource_load_config *c, struct resource_load_own *own,
                      struct resource *r, struct pipeline_buffer *b)
{
    struct stat       st = { 0 };
    UNDO(fd_undo) int fd = open_file(c, r, &own->scratch, &st);

    if (fd < 0)
        return;
    if (st.st_size > RESOURCE_LARGE) {
        load_large(c, own, r, fd, &st, b);
        return;
    }
    if (!read_whole(fd, (size_t)st.st_size, b)) {
        set_state(r, RES_UNREADABLE, strerror(errno));
        b->n = 0;
        return;
    }
    r->changed = stamp_of(&st);
    struct scan_found s = { .path = r->name };
    struct sv         text = { b->s, b->n };
    scan_text(&s, text, own->tokens, c->hash, !c->allow_secrets);
    if ((s.has_nul || s.is_invalid) && scan_converted(c, own, r, text, &s))
        b->n = 0;
    take_scan(c, own, r, &s);
}

/* ---- pages ----------------------------------------------------------------------------- */

static void remark_stale(struct resource *r, const struct web_page *page)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);

    sb_add_minute(&b, page->at);
    snprintf(r->remark, sizeof r->remark, "the copy of %.24s is shown: " SV_FMT, sb_sv(&b).s,
             SV_ARG(sv_first(page->stale, page->stale.n < 80 ? page->stale.n : 80)));
    arena_free(&scratch);
}

void resource_fetch(const struct resource_load_config *c, struct resource *r)
{
    struct arena    scratch = { 0 };
    struct web_page page;
    struct err      e;

    if (r->kind != RESOURCE_URL || r->fetched)
        return;
    r->fetched = true;
    if (fetch_get(&c->fetch, r->name, &scratch, &page, &e)) {
        set_state(r, RES_NOT_FETCHED, e.text);
    } else {
        resource_hold(r, page.body);
        snprintf(r->type, sizeof r->type, SV_FMT, SV_ARG(sv_first(page.type, sizeof r->type - 1)));
        if (page.stale.n)
            remark_stale(r, &page);
    }
    arena_free(&scratch);
}

/* Bytes that are in memory already. */
static void load_held(const struct resource_load_config *c, struct resource_load_own *own,
                      struct resource *r)
{
    struct scan_found s = { .path = r->kind == RESOURCE_URL ? SV("") : r->name };

    scan_text(&s, r->body, own->tokens, c->hash, !c->allow_secrets);
    if (r->kind == RESOURCE_URL && (s.has_nul || s.is_invalid || is_escaped(r->body)))
        scan_converted(c, own, r, r->body, &s);
    take_scan(c, own, r, &s);
}

void resource_load(const struct resource_load_config *c, struct resource_load_own *own,
                   struct resource *r, struct pipeline_buffer *b)
{
    struct arena_mark mark = arena_mark(&own->scratch);
    bool              first = !r->loaded;

    r->loaded = true;
    if (r->kind == RESOURCE_OUTSIDE) {
        set_state(r, RES_OUTSIDE, "");
    } else if (r->kind == RESOURCE_SELF) {
        set_state(r, RES_SELF, "");
    } else if (r->kind == RESOURCE_FILE) {
        r->state = RES_OK;
        r->remark[0] = 0;
        r->converted = false;
        resource_release(r); /* frees text that the previous load converted */
        load_file(c, own, r, b);
    } else if (first) {
        resource_fetch(c, r);
        if (r->state == RES_OK)
            load_held(c, own, r);
    }
    if (r->state != RES_OK) {
        b->n = 0;
        r->tokens = 0;
    }
    arena_reset(&own->scratch, mark);
}

void resource_release(struct resource *r)
{
    free((void *)(uintptr_t)r->body.s);
    r->body = (struct sv){ 0 };
}

bool resource_is_large(const struct resource *r)
{
    return r->kind == RESOURCE_FILE && r->state == RES_OK && r->size > RESOURCE_LARGE && !r->body.s;
}

/* ---- writing ---------------------------------------------------------------------- */

enum status resource_changed(const struct resource *r, struct err *e)
{
    err_set(e, ST_CONFLICT, "'" SV_FMT "' changed while it was read", SV_ARG(r->name));
    return err_hint(e, "run the command again");
}

/* The second reading of a large file, scanned while it is written. */
struct second_look {
    resource_part_each *each;
    void               *ctx;
    struct scan_found   scan;
};

static bool look_and_pass(void *ctx, struct sv part)
{
    struct second_look *l = ctx;

    scan_add(&l->scan, part);
    return l->each(l->ctx, part);
}

static bool is_unchanged(const struct resource *r, const struct stat *st)
{
    return stamp_of(st) == r->changed && (uint64_t)st->st_size == r->size;
}

/* Does what was read now fit the fence that was chosen at the first reading? */
static bool fits_frame(const struct resource *r, const struct scan_found *s)
{
    return s->size == r->size && !s->has_nul && !s->is_invalid && s->run <= r->run &&
           (s->last == '\n') == r->ends_with_newline;
}

/* A log file may grow meanwhile: only what was there at the first reading is shown. */
enum status resource_parts(const struct resource_load_config *c, const struct resource *r,
                           struct pipeline_buffer *b, resource_part_each *each, void *ctx,
                           struct err *e)
{
    struct arena       scratch = { 0 };
    struct resource    copy = *r;
    struct stat        st = { 0 };
    UNDO(fd_undo) int  fd = open_file(c, &copy, &scratch, &st);
    struct second_look look = { .each = each, .ctx = ctx };

    arena_free(&scratch);
    if (fd < 0 || (uint64_t)st.st_size < r->size)
        return resource_changed(r, e);
    bool hash = c->hash && !is_unchanged(r, &st);
    if (!scan_begin(&look.scan, NULL, hash, false))
        return err_errno(e, "read " SV_FMT, SV_ARG(r->name));
    bool ok = read_parts(fd, r->size, b, look_and_pass, &look);
    scan_end(&look.scan);
    if (!ok)
        return err_errno(e, "read " SV_FMT, SV_ARG(r->name));
    if (fstat(fd, &st) == 0 && is_unchanged(r, &st))
        return ST_OK;
    bool same_bytes = !c->hash || (hash && hash_eq(&look.scan.sha256, &r->sha256));
    return same_bytes && fits_frame(r, &look.scan) ? ST_OK : resource_changed(r, e);
}

void resource_read_ends(const struct resource_load_config *c, const struct resource *r,
                        struct resource_ends *out)
{
    struct arena      scratch = { 0 };
    struct resource   copy = *r;
    struct stat       st = { 0 };
    UNDO(fd_undo) int fd = open_file(c, &copy, &scratch, &st);
    off_t             at = (off_t)r->size - (off_t)sizeof out->room[1];

    ssize_t first = fd < 0 ? 0 : pread(fd, out->room[0], sizeof out->room[0], 0);
    ssize_t last = fd < 0 ? 0 : pread(fd, out->room[1], sizeof out->room[1], at);
    out->first = (struct sv){ out->room[0], first > 0 ? (size_t)first : 0 };
    out->last = (struct sv){ out->room[1], last > 0 ? (size_t)last : 0 };
    arena_free(&scratch);
}

struct sv resource_tag(const struct resource *r, struct arena *a)
{
    if (r->kind == RESOURCE_URL)
        return lang_of_url(r->name, sv_of(r->type), a);
    return r->kind == RESOURCE_DIFF ? SV("diff") : lang_of_path(r->name, a);
}

static void add_size_and_hash(struct sb *b, const struct resource *r)
{
    sb_addf(b, "%llu bytes, sha256 ", (unsigned long long)r->size);
    sb_add_hex(b, r->sha256.b, sizeof r->sha256.b);
}

void resource_add_placeholder(struct sb *b, const struct resource *r)
{
    sb_adds(b, "--- ");
    switch (r->state) {
    case RES_OK: break;
    case RES_MISSING: sb_adds(b, "FILE NOT FOUND"); break;
    case RES_UNREADABLE: sb_addf(b, "FILE NOT READABLE: %s", r->why); break;
    case RES_OUTSIDE: sb_adds(b, "OUTSIDE THE PROJECT: not read"); break;
    case RES_SELF: sb_adds(b, "LEFT OUT: it is the file this is written to"); break;
    case RES_SECRET: sb_addf(b, "LEFT OUT: may hold a secret (%s)", r->why); break;
    case RES_NOT_FETCHED:
        sb_adds(b, "URL NOT FETCHED: ");
        sb_add_path(b, r->name);
        sb_addf(b, ": %s", r->why);
        break;
    case RES_BINARY:
        sb_adds(b, "BINARY FILE: ");
        add_size_and_hash(b, r);
        break;
    case RES_NOT_UTF8:
        sb_adds(b, "NOT UTF-8 TEXT: ");
        add_size_and_hash(b, r);
        break;
    }
    sb_adds(b, " ---");
}

static size_t fence_of(const struct resource *r)
{
    size_t run = r->state == RES_OK            ? r->run
                 : r->state == RES_NOT_FETCHED ? show_backtick_run(r->name)
                                               : 0;

    return show_fence_around(run);
}

static const struct {
    unsigned    bit;
    const char *word;
} forms[] = {
#define X(id, bit, word) { id, word },
    RESOURCE_FORMS(X)
#undef X
};

void resource_add_form(struct sb *b, unsigned form)
{
    for (size_t i = 0; i < COUNT(forms); i++)
        if (form & forms[i].bit)
            sb_addf(b, " %s", forms[i].word);
}

unsigned resource_form_in(struct sv words)
{
    unsigned form = 0;

    for (words = sv_trim(words); words.n;) {
        struct sv_cut c = sv_cut(words, ' ');
        unsigned      bit = FORM_UNKNOWN;
        for (size_t i = 0; i < COUNT(forms); i++)
            if (sv_is(c.head, forms[i].word))
                bit = forms[i].bit;
        form |= bit;
        words = sv_trim(c.tail);
    }
    return form;
}

static bool is_open(const struct resource *r)
{
    return r->size && !r->ends_with_newline;
}

void resource_add_head(struct sb *b, const struct resource *r, bool numbered, struct arena *scratch)
{
    sb_adds(b, "---\n**Resource:** ");
    sb_add_label(b, r->name);
    sb_addc(b, '\n');
    sb_add_fence(b, fence_of(r));
    if (r->state == RES_OK) {
        sb_add(b, resource_tag(r, scratch));
        resource_add_form(b, (numbered ? FORM_NUMBERED : 0u) |
                                 (r->converted ? FORM_CONVERTED : 0u) |
                                 (is_open(r) ? FORM_OPEN : 0u));
    }
    sb_addc(b, '\n');
}

void resource_add_tail(struct sb *b, const struct resource *r)
{
    if (r->state != RES_OK || is_open(r))
        sb_addc(b, '\n');
    sb_add_fence(b, fence_of(r));
    sb_addc(b, '\n');
}
