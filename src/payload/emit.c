/* The table of formats, and what they share: opening a resource, numbering its lines. */
#include "payload/emit.h"

#include <fcntl.h>

enum { FLUSH_AT = 64 << 10, SEND_AT = 8 << 20 };

static const struct emit_format *const formats[] = {
    [PAYLOAD_MARKDOWN] = &emit_markdown,
    [PAYLOAD_XML] = &emit_xml,
    [PAYLOAD_JSON] = &emit_json,
};

const struct emit_format *emit_format_of(enum payload_format f)
{
    return formats[f];
}

bool emit_format_find(struct sv name, enum payload_format *out)
{
    for (size_t i = 0; i < COUNT(formats); i++)
        if (sv_is(name, formats[i]->name)) {
            *out = (enum payload_format)i;
            return true;
        }
    return false;
}

void emit_open(struct emit *e, const struct emit_format *f, const struct resource *r)
{
    sb_adds(&e->b, e->done ? f->next : f->first);
    f->open(e, r);
}

/* Starts writing to the disk while the rest is read and counted, so that the sync at the end is
 * short. This works only for files; on others it fails, without harm. */
static void send_on(struct emit_sink *s)
{
    sync_file_range(s->out->fd, (off_t)s->sent, (off_t)(s->bytes - s->sent), SYNC_FILE_RANGE_WRITE);
    s->sent = s->bytes;
}

static void sink_add(struct emit_sink *s, struct sv v)
{
    s->bytes += v.n;
    if (s->out)
        sb_add(s->out, v);
    if (s->out && s->out->fd >= 0 && s->bytes - s->sent > SEND_AT)
        send_on(s);
    if (s->hashes)
        hash_sha256_add(&s->hash, v);
    if (s->counts)
        tokens_stream_add(&s->stream, v);
}

void emit_flush(struct emit *e)
{
    sink_add(e->sink, sb_sv(&e->b));
    e->b.n = 0;
}

struct sv emit_numbered(struct emit *e, struct sv part)
{
    struct sb text = sb_in(&e->scratch, 0);

    if (!e->p->q->line_numbers)
        return part;
    number_add(&e->number, &text, part);
    return sb_sv(&text);
}

struct sv emit_form(struct emit *e, const struct resource *r)
{
    struct sb b = sb_in(&e->scratch, 0);

    resource_add_form(&b, (e->p->q->line_numbers ? FORM_NUMBERED : 0u) |
                              (r->converted ? FORM_CONVERTED : 0u));
    return sv_trim(sb_sv(&b));
}

void emit_direct(struct emit *e, struct sv v)
{
    if (v.n < FLUSH_AT && e->b.n + v.n < FLUSH_AT) { /* small: collect several for one write */
        sb_add(&e->b, v);
        return;
    }
    emit_flush(e);
    sink_add(e->sink, v);
}
