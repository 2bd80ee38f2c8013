/* One part of a message's content, whichever vendor's shape it was logged in. */
#ifndef HEDDLE_PART_H
#define HEDDLE_PART_H

#include "assemble/report.h"
#include "base/json.h"

enum part_kind {
    PART_TEXT,       /* text */
    PART_THINKING,   /* text, signature when it was there */
    PART_REDACTED,   /* data: thinking that only the provider can read */
    PART_IMAGE_URL,  /* url */
    PART_IMAGE_DATA, /* data (base64), media_type */
    PART_FILE_URL,   /* url */
    PART_FILE_DATA,  /* data (base64), media_type, filename when it was there */
    PART_FILE_ID,    /* file_id, media_type and filename when they were there */
    PART_OTHER,      /* only raw */
    PART_CALL,       /* call: where a tool call stood among the parts */
};

struct part {
    enum part_kind kind;
    struct sv      text, signature;
    struct sv      url, data, file_id;
    struct sv      media_type, filename;
    size_t         call; /* which of the turn's calls */
    struct json    raw;  /* as logged */
};

/* Understood shapes: a bare string; text, input_text, output_text; thinking;
 * redacted_thinking; image_url with a string, an object or url (data: URLs become data);
 * image with data or source; file, file_id and document with their fields at the top, under
 * "file" or under "source". Anything else is PART_OTHER. Borrows from `v`; decoding of a
 * data: URL is cutting, so nothing is allocated. */
struct part part_of(const struct json *v);

/* Nothing but white space: providers refuse such a text as they refuse an empty one. */
bool part_is_blank(const struct part *p);

/* A part that holds nothing but this text. */
struct part part_of_text(struct sv text);

/* Name each member of the part that none of its fields holds. */
void part_report_rest(const struct part *p, struct repair_place place, struct render_report *r);

/* "image", "file", "thinking": for messages to people. */
const char *part_word(const struct part *p);

#endif
