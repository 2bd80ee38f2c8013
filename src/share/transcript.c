/* A conversation as a text file below .meta/transcripts, of which the newest fifty are kept. */
#include "share/operation.h"

#include "base/utf8.h"
#include "share/operation_internal.h"

#include <stdio.h>
#include <time.h>

enum { SLUG_UNITS = 50, FILE_CHARACTERS = 20480 };

static bool in_slug(int32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '-' || (c >= 0x4e00 && c <= 0x9fff);
}

struct sv transcript_slug(struct sv text, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    size_t    units = 0;

    while (text.n) {
        size_t  len;
        int32_t c = utf8_decode(text, &len);
        bool    dash = !in_slug(c) || c == '-';
        if (!dash)
            sb_add(&b, sv_first(text, len));
        else if (!b.n || b.s[b.n - 1] != '-')
            sb_addc(&b, '-');
        text = sv_skip(text, len);
    }
    struct sv slug = sb_sv(&b);
    if (slug.n && slug.s[0] == '-')
        slug = sv_skip(slug, 1);
    if (slug.n && slug.s[slug.n - 1] == '-')
        slug.n--;
    struct sv rest = slug;
    while (rest.n && units < SLUG_UNITS) { /* the remaining characters are one UTF-16 unit each */
        size_t len;
        utf8_decode(rest, &len);
        rest = sv_skip(rest, len);
        units++;
    }
    slug.n -= rest.n;
    return slug.n ? sv_dup(slug, a) : SV("task");
}

struct sv transcript_cut(struct sv text, size_t max, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct sv rest = text;

    if (utf8_count(text) <= max)
        return text;
    for (size_t i = 3; i < max && rest.n; i++) {
        size_t len;
        utf8_decode(rest, &len);
        rest = sv_skip(rest, len);
    }
    sb_add(&b, sv_first(text, text.n - rest.n));
    sb_adds(&b, "...");
    return sb_sv(&b);
}

static void header(struct sb *b, const char *name, struct sv value)
{
    sb_addf(b, "%s: ", name);
    sb_add(b, sv_cut(value, '\n').head);
    sb_addc(b, '\n');
}

/* Names have the minute. Of several in one minute the later ones get a number. */
static enum status file_name(struct share *s, const struct transcript_request *r, int64_t start,
                             struct sv *out, struct err *e)
{
    struct arena *a = s->a;
    bool          taken = true;
    time_t        t = (time_t)(start / 1000);
    struct tm     tm;
    char          day[32] = "";

    if (gmtime_r(&t, &tm))
        strftime(day, sizeof day, "%Y%m%d-%H%M", &tm);
    for (int n = 1; taken; n++) {
        struct sb b = sb_in(a, 0);
        sb_addf(&b, "%s-" SV_FMT, day, SV_ARG(transcript_slug(r->query, a)));
        if (n > 1)
            sb_addf(&b, "-%d", n);
        sb_adds(&b, ".txt");
        *out = sb_sv(&b);
        if (fs_exists(s->root, share_path(r->thread, ".meta/transcripts", *out, a), &taken, e))
            return err_code(e);
    }
    return ST_OK;
}

static struct sv file_text(const struct transcript_request *r, int64_t start, int64_t end,
                           struct arena *a)
{
    struct sb b = sb_in(a, 0);

    header(&b, "Thread ID", r->thread);
    header(&b, "Chat ID", r->chat);
    sb_adds(&b, "Time Range: ");
    sb_add_iso_ms(&b, start);
    sb_adds(&b, " ~ ");
    sb_add_iso_ms(&b, end);
    sb_addc(&b, '\n');
    header(&b, "Agent Mode", r->mode.n ? r->mode : SV("agent"));
    header(&b, "Stop Reason", r->stop_reason.n ? r->stop_reason : SV("end_turn"));
    header(&b, "Tool Calls", SV("0"));
    sb_adds(&b, "---\nuser:\n<user_query>\n");
    sb_add_lossy(&b, r->query);
    sb_adds(&b, "\n</user_query>\n\nassistant:\n");
    sb_add_lossy(&b, r->assistant);
    sb_addc(&b, '\n');
    return transcript_cut(sb_sv(&b), FILE_CHARACTERS, a);
}

enum status share_transcript(struct share *s, const struct transcript_request *r, struct sv *path,
                             struct err *e)
{
    struct share_thread t;
    struct sb           b;
    struct sv           hash, name;
    int64_t             start = r->start ? r->start : clock_now_ms();
    int64_t             end = r->end ? r->end : start;

    if (share_thread(s, r->thread, &t, e))
        return err_code(e);
    if (file_name(s, r, start, &name, e) || object_put(s, file_text(r, start, end, s->a), &hash, e))
        return err_code(e);
    struct jw w = share_op_start(s, &b, "transcript");
    jw_kstr(&w, "thread_id", r->thread);
    jw_kstr(&w, "name", name);
    jw_kstr(&w, "hash", hash);
    *path = share_path(r->thread, ".meta/transcripts", name, s->a);
    return share_op_finish(s, &w, &b, e);
}
