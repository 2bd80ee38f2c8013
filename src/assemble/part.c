/* Reading one part of a message's content in any vendor's shape. */
#include "assemble/part.h"

/* The type of a picture by its first base64 characters, when its type was not logged. */
static const struct {
    const char *start, *media_type;
} pictures[] = {
    { "iVBOR", "image/png" },
    { "/9j/", "image/jpeg" },
    { "R0lG", "image/gif" },
    { "UklGR", "image/webp" },
};

static struct sv picture_type(struct sv data)
{
    for (size_t i = 0; i < COUNT(pictures); i++)
        if (sv_starts(data, sv_of(pictures[i].start)))
            return sv_of(pictures[i].media_type);
    return SV("image/png");
}

static struct sv first_of(struct sv a, struct sv b)
{
    return a.s ? a : b;
}

/* data:TYPE;base64,DATA in its halves. */
static bool cut_data_url(struct sv url, struct sv *media_type, struct sv *data)
{
    struct sv_cut cut = sv_cut(sv_skip(url, 5), ',');

    if (!sv_starts(url, SV("data:")) || !cut.found || !sv_ends(cut.head, SV(";base64")))
        return false;
    *media_type = sv_cut(cut.head, ';').head;
    *data = cut.tail;
    return true;
}

static bool is_image_type(struct sv media_type)
{
    return sv_starts(media_type, SV("image/"));
}

/* Fields that may stand at the top of a part, or under "source" or "file". */
static void take_fields(struct part *p, const struct json *v)
{
    p->url = first_of(p->url, json_text(v, "url"));
    p->data = first_of(p->data, json_text(v, "data"));
    p->data = first_of(p->data, json_text(v, "file_data"));
    p->file_id = first_of(p->file_id, json_text(v, "file_id"));
    p->media_type = first_of(p->media_type, json_text(v, "media_type"));
    p->filename = first_of(p->filename, json_text(v, "filename"));
    p->filename = first_of(p->filename, json_text(v, "title"));
}

/* Data, url or id: whichever is there decides what the part is. */
static void settle_media(struct part *p, bool is_image)
{
    struct sv type, data;

    if (p->url.s && cut_data_url(p->url, &type, &data)) {
        p->media_type = type.n ? type : p->media_type;
        p->data = data;
        p->url = (struct sv){ 0 };
    }
    if (p->data.s && cut_data_url(p->data, &type, &data)) {
        p->media_type = type.n ? type : p->media_type;
        p->data = data;
    }
    is_image = is_image || is_image_type(p->media_type);
    if (p->data.s && is_image && !p->media_type.n)
        p->media_type = picture_type(p->data);
    if (p->data.s)
        p->kind = is_image ? PART_IMAGE_DATA : PART_FILE_DATA;
    else if (p->url.s)
        p->kind = is_image ? PART_IMAGE_URL : PART_FILE_URL;
    else if (p->file_id.s)
        p->kind = PART_FILE_ID;
    if (p->kind == PART_FILE_DATA && !p->media_type.n)
        p->media_type = SV("application/octet-stream");
}

static void read_media(struct part *p, const struct json *v, bool is_image)
{
    const struct json *image = json_find(v, "image_url"), *source = json_find(v, "source");

    /* A document whose source is text or blocks has no base64 in it: passed on as it is. */
    if (source && !sv_is(json_text(source, "type"), "base64") && !json_text(source, "url").s &&
        !json_text(source, "file_id").s && json_text(source, "type").s)
        return;
    if (json_is(image, JSON_STRING))
        p->url = json_sv(image);
    take_fields(p, image);
    take_fields(p, source);
    take_fields(p, json_find(v, "file"));
    take_fields(p, v);
    settle_media(p, is_image);
}

struct part part_of_text(struct sv text)
{
    return (struct part){ .kind = PART_TEXT, .text = text, .raw = json_of(text) };
}

struct part part_of(const struct json *v)
{
    struct part p = { .kind = PART_OTHER, .raw = *v };
    struct sv   type = json_text(v, "type"), text = json_text(v, "text");

    if (v->type == JSON_STRING)
        return part_of_text(json_sv(v));
    if ((sv_is(type, "text") || sv_is(type, "input_text") || sv_is(type, "output_text")) &&
        text.s) {
        p.kind = PART_TEXT;
        p.text = text;
    } else if (sv_is(type, "thinking") && first_of(json_text(v, "thinking"), text).s) {
        p.kind = PART_THINKING;
        p.text = first_of(json_text(v, "thinking"), text);
        p.signature = json_text(v, "signature");
    } else if (sv_is(type, "redacted_thinking") && json_text(v, "data").s) {
        p.kind = PART_REDACTED;
        p.data = json_text(v, "data");
    } else if (sv_is(type, "image_url") || sv_is(type, "image")) {
        read_media(&p, v, true);
    } else if (sv_is(type, "file") || sv_is(type, "file_id") || sv_is(type, "document")) {
        read_media(&p, v, false);
    }
    return p;
}

bool part_is_blank(const struct part *p)
{
    return p->kind == PART_TEXT && !sv_trim(p->text).n;
}

static bool is_understood(struct sv key)
{
    static const char *const keys[] = { "type",       "text",     "thinking",  "signature", "data",
                                        "media_type", "url",      "image_url", "source",    "file",
                                        "file_id",    "filename", "file_data", "title" };

    for (size_t i = 0; i < COUNT(keys); i++)
        if (sv_is(key, keys[i]))
            return true;
    return false;
}

static void report_members(const struct json *v, const struct part *p, struct repair_place place,
                           struct render_report *r)
{
    for (size_t i = 0; json_is(v, JSON_OBJECT) && i < v->n; i++)
        if (!is_understood(v->members[i].key) && v->members[i].value.type != JSON_NULL)
            report_add(r, REPAIR_DROPPED, place, "member '" SV_FMT "' of a part of type %s",
                       SV_ARG(v->members[i].key), part_word(p));
}

void part_report_rest(const struct part *p, struct repair_place place, struct render_report *r)
{
    static const char *const nested[] = { "image_url", "source", "file" };

    report_members(&p->raw, p, place, r);
    for (size_t i = 0; i < COUNT(nested); i++)
        report_members(json_find(&p->raw, nested[i]), p, place, r);
}

const char *part_word(const struct part *p)
{
    static const char *const words[] = { "text",     "thinking", "redacted thinking",
                                         "image",    "image",    "file",
                                         "file",     "file",     "unknown",
                                         "tool call" };

    return words[p->kind];
}
