/* The answer of a provider as it comes: bytes of its stream in, events of model.h out.
 *
 *     struct stream s = stream_in(stream_anthropic, emit, ctx, a);
 *     if (stream_feed(&s, piece, e)) ...                     for each piece that comes
 *     if (stream_end(&s, e)) ...                             when no more will come
 *     stream_free(&s);
 *
 * A dialect is one function that reads one event. Unknown events, fields and kinds of content are
 * ignored, since providers add them at any time. An answer is complete (`complete`) only when its
 * stream said why it ended; stream_end() then passes on MODEL_USAGE and MODEL_FINISH. Pure. */
#ifndef HEDDLE_STREAM_H
#define HEDDLE_STREAM_H

#include "base/json.h"
#include "base/vec.h"
#include "model/model.h"
#include "model/sse.h"

enum { STREAM_EVENT_MAX = 16 << 20 };

typedef enum status stream_emit(void *ctx, const struct model_event *ev, struct err *e);

struct stream;
typedef enum status stream_read(struct stream *s, const struct json *doc, struct err *e);

/* The dialects. */
stream_read stream_anthropic; /* Messages */
stream_read stream_chat;      /* Chat Completions, and /v1/completions */
stream_read stream_responses; /* OpenAI Responses */
stream_read stream_gemini;    /* streamGenerateContent?alt=sse */

/* A reasoning detail that comes in pieces: texts grow, other members stay. */
struct stream_detail {
    int64_t   index;
    struct sb text, summary, data, signature;
    struct sv type, format, id;
};

/* A block of an answer, to be sent back unchanged. */
struct stream_block {
    struct sv start; /* as its first event has it, JSON; absent: none is open */
    struct sb text, signature, input, citations; /* what later events add */
    bool      foreign;                           /* of an unknown kind: its deltas are ignored */
};

struct stream {
    stream_read  *read;
    stream_emit  *emit;
    void         *ctx;
    struct arena *a;       /* lives as long as the stream */
    struct arena  scratch; /* of one event */
    struct sse    sse;
    struct sv     secret; /* a key: if the provider repeats it, it becomes asterisks */
    size_t        parts;  /* how many have begun */
    int           kind;   /* of the part that is open: an event type; -1: none is */
    int64_t       key;    /* which one of its kind, as the provider numbers them */
    uint32_t      half;   /* first half of a character whose second is in the next event */
    struct sb     thought, signature;  /* of the thinking that is open, for stream_keep() */
    VEC(struct stream_detail) details; /* OpenRouter: reasoning in pieces, by their index */
    struct stream_block block;         /* Anthropic: the one that is open */
    struct sb           resend;        /* what a paused answer goes on from: MODEL_RESEND */
    struct model_usage  usage;         /* so far */
    enum model_finish   finish;
    bool                complete; /* finish is known */
    bool                filtered; /* a refusal, whatever the finish says */
    bool                strange;  /* the reason of its end is missing or unknown */
    bool                over;     /* the last event was read: the rest is ignored */
    bool                begun;    /* at least one event has been read */
    bool                retry;    /* of a failure: another attempt may help */
};

struct stream stream_in(stream_read *read, stream_emit *emit, void *ctx, struct arena *a);
void          stream_free(struct stream *s);

/* ST_MODEL_ERROR: the provider sent an error, or something that is not of its dialect; ST_CONFLICT,
 * reason "stream_over": the last event was read, and the rest is not wanted; otherwise what `emit`
 * returned. */
enum status stream_feed(struct stream *s, struct sv bytes, struct err *e) MUST_USE;
enum status stream_end(struct stream *s, struct err *e) MUST_USE;

/* ---- for the dialects --------------------------------------------------------------------------
 */

/* Text of MODEL_TEXT, MODEL_THINKING or MODEL_ARGUMENTS; begins a part when another kind or another
 * key was open. Empty and absent text is nothing. */
enum status stream_add(struct stream *s, enum model_event_type type, int64_t key, struct sv text,
                       struct err *e) MUST_USE;
enum status stream_call(struct stream *s, int64_t key, struct sv id, struct sv name,
                        struct err *e) MUST_USE;
/* MODEL_KEEP: thinking of this key, which may have no text, in the provider's own shape; key -1: of
 * the part that is open, whatever it is. */
enum status stream_keep(struct stream *s, int64_t key, struct sv object, struct err *e) MUST_USE;
enum status stream_logprobs(struct stream *s, const struct json *v, struct err *e) MUST_USE;
enum status stream_data(struct stream *s, struct sv media_type, struct sv base64,
                        struct err *e) MUST_USE;

/* A row of a dialect's table of finish reasons. */
struct stream_finish {
    const char       *word;
    enum model_finish finish;
};
/* The answer is complete. A word that has no row makes it an error. */
void stream_finish(struct stream *s, const struct stream_finish *rows, size_t n, struct sv word);

/* An integer member into *out when it is there; a missing or null one changes nothing. */
void stream_count(const struct json *usage, const char *key, int64_t *out);

#endif
