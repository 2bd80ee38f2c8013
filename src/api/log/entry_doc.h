/* Entries as documents: what log.show and log.follow send, and how a person reads them. */
#ifndef HEDDLE_ENTRY_DOC_H
#define HEDDLE_ENTRY_DOC_H

#include "api/request.h"
#include "api/term.h"

extern const struct field entry_fields[];

/* Send one entry as an event of the operation. `intact` is false when its bytes may be anything;
 * then `scratch` is used. `thread` may be absent. */
enum status entry_send(struct request *r, struct sv thread, const struct entry *n, bool intact,
                       struct arena *scratch, struct err *e) MUST_USE;

/* "#12 assistant  text": one line, cut where the terminal ends. */
void entry_print(const struct json *entry, struct term *t);

/* What an entry says, on one line of at most `max` characters: for a message its text and calls,
 * for an operation its type and reason, for others a short description. `payload` is that of the
 * entry. */
struct sv entry_line(const struct entry *n, const struct json *payload, size_t max,
                     struct arena *a);

/* All that a message of a context says: its text and its calls. */
struct message;
struct sv entry_message_text(const struct message *m, struct arena *a);

/* Everything that is stored for an entry: a line with time, kind, lane, actor and id, then the
 * payload. */
void entry_print_raw(const struct json *entry, struct term *t);

#endif
