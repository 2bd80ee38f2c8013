/* Exact token counts: byte-pair encoding as OpenAI publishes it, for o200k_base and
 * cl100k_base. Text is encoded as ordinary text: "<|endoftext|>" is thirteen
 * characters, not a special token. Invalid UTF-8 counts as if every maximal invalid part
 * were U+FFFD, which is what a lossy decoder hands to the reference.
 *
 *     struct tokens *t;
 *     if (tokens_open(TOKENS_O200K, dir, &t, e)) return err_code(e);
 *     size_t n = tokens_count(t, SV("Hello world"));
 *     tokens_close(t);
 *
 * A counter belongs to one thread of execution: it holds a cache of pieces already
 * counted. The vocabulary behind it is mapped once per process and shared.
 *
 * Where the table is not installed, a quarter of the characters is used as an estimate, and never
 * silently: tokens_is_estimate() returns true, tokens_label() names it, and code that prints a
 * count must print the label too. */
#ifndef HEDDLE_TOKENS_H
#define HEDDLE_TOKENS_H

#include "base/sb.h"

enum tokens_encoding { TOKENS_O200K, TOKENS_CL100K };

struct tokens;

/* ---- opening ---- */

/* The variable of the environment whose value doors hand in as `dir`. */
#define TOKENS_VOCAB_DIR "HEDDLE_VOCAB_DIR"

/* The table is looked for in `dir`; when that is absent or empty, in share/heddle beside or above
 * the running program, then in the directory that was configured for installation. ST_NOT_FOUND: no
 * table there. ST_CORRUPT: it is damaged, or of another version; the message names the file. */
enum status tokens_open(enum tokens_encoding enc, struct sv dir, struct tokens **out,
                        struct err *e) MUST_USE;

/* A counter that estimates: a quarter of the characters, rounded up. Needs no table. */
struct tokens *tokens_open_estimate(void);

/* tokens_open(), or the estimating counter when no table is installed and `dir` asks for
 * none. A damaged table is still an error. */
enum status tokens_open_or_estimate(enum tokens_encoding enc, struct sv dir, struct tokens **out,
                                    struct err *e) MUST_USE;

void        tokens_close(struct tokens *t); /* NULL is fine */
bool        tokens_is_estimate(const struct tokens *t);
const char *tokens_label(const struct tokens *t); /* "o200k_base", "chars/4 (estimate)" */

/* ---- counting ---- */

size_t tokens_count(struct tokens *t, struct sv text);

/* Counts the tokens of `text` from its start and stops at the last border before
 * `limit` is exceeded. Returns the count up to there; *offset is the border: a token
 * ends there and no character is cut in two. All of the text fits: the whole count and
 * text.n. */
size_t tokens_count_until(struct tokens *t, struct sv text, size_t limit, size_t *offset);

/* ceil(characters / 4), whatever the encoding. */
size_t tokens_estimate(struct sv text);

/* ---- text that comes in parts ---- */

/* Text that arrives in parts. The total does not depend on how the text is divided.
 *
 *     struct tokens_stream s;
 *     tokens_stream_init(&s, t);
 *     while (more) tokens_stream_add(&s, chunk);
 *     total = tokens_stream_end(&s);              releases s
 *
 * Only the last incomplete piece is held back, usually a word. */
struct tokens_stream {
    struct tokens *t;
    char          *held; /* bytes not counted yet, valid UTF-8 */
    size_t         n, cap;
    size_t         due;     /* look for complete pieces when n reaches this */
    size_t         total;   /* of the complete pieces; characters when t estimates */
    char           part[8]; /* a character whose last bytes have not arrived yet */
    size_t         part_n;
    bool           lossy; /* invalid UTF-8 was met; still valid after the end */
};
void   tokens_stream_init(struct tokens_stream *s, struct tokens *t);
void   tokens_stream_add(struct tokens_stream *s, struct sv chunk);
size_t tokens_stream_end(struct tokens_stream *s);

/* Adds a part whose own count is known. Only its first and last lines are counted again, so that
 * concatenating counted texts costs only their borders. `count` must be tokens_count(s->t, text).
 */
void tokens_stream_add_counted(struct tokens_stream *s, struct sv text, size_t count);

/* ---- counts that add up ---- */

/* A text with running totals at line starts, so that the count of any part of it costs at most
 * counting near both ends. The text must outlive it. */
struct tokens_mark {
    size_t offset; /* a line start that is a token border whatever text is around it */
    size_t before; /* tokens of text[0, offset) */
};
struct tokens_lines {
    struct sv           text;
    struct tokens_mark *marks; /* ascending; the first is { 0, 0 } */
    size_t              n;
    size_t              total;
};
void tokens_lines_in(struct tokens *t, struct sv text, struct arena *a, struct tokens_lines *out);

/* tokens_count() of text[from, to). */
size_t tokens_lines_count(struct tokens *t, const struct tokens_lines *l, size_t from, size_t to);

/* ---- the tokens themselves ---- */

struct tokens_ids {
    uint32_t *v;
    size_t    n;
};

/* The ids of `text`, in order, in `a`. ST_NOT_FOUND when `t` only estimates. */
enum status tokens_encode(struct tokens *t, struct sv text, struct arena *a, struct tokens_ids *out,
                          struct err *e) MUST_USE;

/* The bytes of one token; they may be part of a character. Absent when there is no such
 * id. ST_CORRUPT when the table's text section is damaged. */
enum status tokens_text(struct tokens *t, uint32_t id, struct sv *out, struct err *e) MUST_USE;

/* ---- which encoding ---- */

extern const char *const tokens_encoding_names[];                        /* ends with NULL */
const char              *tokens_encoding_name(enum tokens_encoding enc); /* "o200k_base" */
bool                     tokens_encoding_find(struct sv name, enum tokens_encoding *out);

/* How a model's tokens are counted here. Models of other makers publish no vocabulary:
 * the count is then that of `encoding`, an estimate, and may be scaled by a factor in
 * thousandths. */
struct tokens_model {
    enum tokens_encoding encoding;
    bool                 exact;
};
struct tokens_model tokens_model(struct sv model); /* "gpt-4o", "openai:gpt-4o", "claude-…" */
size_t              tokens_scale(size_t count, int64_t thousandths); /* rounded up */

#endif
