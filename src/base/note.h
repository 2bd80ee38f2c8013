/* Signed notes: text that a person can read, with a signature that a program can check.
 *
 *     any lines of text
 *                                         an empty line, then one line for each who signed:
 *     — name base64(4 bytes of key id, 64 bytes of signature)
 *
 * The form is that of C2SP signed-note and of Go's checksum database, with Ed25519: a witness adds
 * its line below, and every line can be checked on its own. Keys are texts too:
 *
 *     PRIVATE+KEY+name+1a2b3c4d+base64(1, 32 bytes of seed)
 *     name+1a2b3c4d+base64(1, 32 bytes of public key)
 *
 * A name holds no space and no plus. */
#ifndef HEDDLE_NOTE_H
#define HEDDLE_NOTE_H

#include "base/hash.h"

/* A new pair of keys. Randomness is from the system. ST_INVALID_SYNTAX: not a name. */
enum status note_new_key(struct sv name, struct arena *a, struct sv *secret, struct sv *open,
                         struct err *e) MUST_USE;

/* The public key of a private one. ST_INVALID_SYNTAX: it is not a private key; the message does not
 * repeat its text. */
enum status note_public_key(struct sv secret, struct arena *a, struct sv *open,
                            struct err *e) MUST_USE;

/* The note that says `text`, which is lines of UTF-8 and ends with one. ST_INVALID_SYNTAX: the key
 * or the text is not as it should be. */
enum status note_sign(struct sv text, struct sv secret, struct arena *a, struct sv *note,
                      struct err *e) MUST_USE;

/* The text of a note that the holder of the public key `open` signed; lines of others are passed
 * over. It points into the note. ST_INVALID_SYNTAX: not a note, or not a public key.
 * ST_PERMISSION_DENIED: that key did not sign it, or something was changed since. */
enum status note_open(struct sv note, struct sv open, struct arena *a, struct sv *text,
                      struct err *e) MUST_USE;

#endif
