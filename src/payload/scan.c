/* One pass over a text: is it text, which fence it needs, its hash, its tokens, its secrets. */
#include "payload/scan.h"

#include "base/utf8.h"
#include "payload/secret.h"
#include "payload/show.h"

#include <stdlib.h>
#include <string.h>

struct scan_part {
    struct hash_sha256   hash;
    struct tokens_stream stream;
    bool                 counts, hashes, secrets;
    size_t               ticks; /* length of the run at the end of the last part */
    uint64_t             lines;
    char                 seam[2 * SECRET_OVERLAP];
    size_t               seam_n;
};

static uint64_t count_lines(struct sv v)
{
    uint64_t n = 0;

    for (const char *p = v.s, *end = v.s + v.n; p < end && (p = memchr(p, '\n', (size_t)(end - p)));
         p++)
        n++;
    return n;
}

static bool is_invalid(struct sv v)
{
    size_t i = 0;

    for (; i + 32 <= v.n; i += 32) { /* skip what is plain ASCII */
        uint64_t w[4];
        memcpy(w, v.s + i, sizeof w);
        if ((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080u)
            break;
    }
    return utf8_invalid(sv_skip(v, i)) >= 0;
}

static void look_for_secret(struct scan_found *s, struct sv text, uint64_t lines_before)
{
    size_t at;

    if (s->secret)
        return;
    s->secret = secret_find_in_file(s->path, text, &at);
    if (s->secret)
        s->secret_line = lines_before + count_lines(sv_first(text, at)) + 1;
}

static void look_at(struct scan_found *s, struct sv v)
{
    s->size += v.n;
    s->has_nul = s->has_nul || (v.n && memchr(v.s, 0, v.n));
    s->is_invalid = s->is_invalid || is_invalid(v);
    if (v.n)
        s->last = v.s[v.n - 1];
}

void scan_text(struct scan_found *s, struct sv text, struct tokens *tokens, bool hash, bool secrets)
{
    look_at(s, text);
    bool is_text = !s->has_nul && !s->is_invalid;
    if (hash || !is_text)
        s->sha256 = hash_sha256(text);
    if (!is_text)
        return;
    s->run = show_backtick_run(text);
    if (secrets)
        look_for_secret(s, text, 0);
    if (tokens)
        s->tokens = tokens_count(tokens, text);
}

bool scan_begin(struct scan_found *s, struct tokens *tokens, bool hash, bool secrets)
{
    s->part = calloc(1, sizeof *s->part);
    if (!s->part)
        return false;
    s->part->secrets = secrets;
    s->part->counts = tokens != NULL;
    s->part->hashes = hash;
    if (hash)
        hash_sha256_init(&s->part->hash);
    if (tokens)
        tokens_stream_init(&s->part->stream, tokens);
    return true;
}

/* A run may go on from the last part into this one. */
static void add_runs(struct scan_found *s, struct sv v)
{
    size_t head = 0, tail = 0, inside = show_backtick_run(v);

    while (head < v.n && v.s[head] == '`')
        head++;
    while (tail < v.n && v.s[v.n - 1 - tail] == '`')
        tail++;
    size_t joined = s->part->ticks + head;
    s->run = joined > s->run ? joined : s->run;
    s->run = inside > s->run ? inside : s->run;
    s->part->ticks = head == v.n ? joined : tail;
}

/* A secret may lie across the border of two parts: scan the end of the last and the start of this
 * one together. */
static void add_secrets(struct scan_found *s, struct sv v)
{
    struct scan_part *p = s->part;
    size_t            take = v.n < SECRET_OVERLAP ? v.n : SECRET_OVERLAP;

    if (p->seam_n) {
        memcpy(p->seam + p->seam_n, v.s, take);
        struct sv seam = { p->seam, p->seam_n + take };
        look_for_secret(s, seam, p->lines - count_lines(sv_first(seam, p->seam_n)));
    }
    look_for_secret(s, v, p->lines);
    p->lines += count_lines(v);
    if (v.n >= SECRET_OVERLAP) {
        memcpy(p->seam, v.s + v.n - SECRET_OVERLAP, SECRET_OVERLAP);
        p->seam_n = SECRET_OVERLAP;
        return;
    }
    memcpy(p->seam + p->seam_n, v.s, v.n); /* short parts add up */
    p->seam_n += v.n;
    if (p->seam_n > SECRET_OVERLAP) {
        memmove(p->seam, p->seam + p->seam_n - SECRET_OVERLAP, SECRET_OVERLAP);
        p->seam_n = SECRET_OVERLAP;
    }
}

void scan_add(struct scan_found *s, struct sv v)
{
    if (!v.n)
        return;
    look_at(s, v);
    if (s->part->hashes)
        hash_sha256_add(&s->part->hash, v);
    if (s->has_nul || s->is_invalid)
        return;
    add_runs(s, v);
    if (s->part->secrets)
        add_secrets(s, v);
    if (s->part->counts)
        tokens_stream_add(&s->part->stream, v);
}

bool scan_wants_more(const struct scan_found *s)
{
    return s->part->hashes || !(s->has_nul || s->is_invalid);
}

void scan_end(struct scan_found *s)
{
    if (s->part->hashes)
        s->sha256 = hash_sha256_end(&s->part->hash);
    if (s->part->counts)
        s->tokens = tokens_stream_end(&s->part->stream);
    free(s->part);
    s->part = NULL;
}
