/* Signed notes: a note of Go's own documentation is read, and ours hold until a byte changes. */
#include "base/note.h"
#include "base/sb.h"
#include "tap.h"

static struct arena a;
static struct err   e;

/* The example of golang.org/x/mod/sumdb/note: key and note were made by another program. */
#define GO_KEY "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
#define GO_TEXT                                                                                    \
    "If you think cryptography is the answer to your problem,\n"                                   \
    "then you don't know what your problem is.\n"
#define GO_NOTE                                                                                    \
    GO_TEXT "\n\xe2\x80\x94 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1F"   \
            "FYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"

static void a_note_of_another_program_is_read(void)
{
    struct sv text = { 0 };

    CHECK(note_open(SV(GO_NOTE), SV(GO_KEY), &a, &text, &e) == ST_OK);
    CHECK_SV(text, SV(GO_TEXT));
}

static void what_we_sign_holds_until_a_byte_changes(void)
{
    struct sv secret, open_key, again, note, text;

    CHECK(note_new_key(SV("me"), &a, &secret, &open_key, &e) == ST_OK);
    CHECK(note_public_key(secret, &a, &again, &e) == ST_OK);
    CHECK_SV(again, open_key);
    CHECK(note_sign(SV("one\n\ntwo\n"), secret, &a, &note, &e) == ST_OK);
    CHECK(note_open(note, open_key, &a, &text, &e) == ST_OK);
    CHECK_SV(text, SV("one\n\ntwo\n"));
    for (size_t i = 0; i + 1 < note.n; i++) { /* the last line feed may be missing */
        char *bytes = (char *)(uintptr_t)sv_dup(note, &a).s;
        bytes[i] ^= 1;
        CHECK(note_open((struct sv){ bytes, note.n }, open_key, &a, &text, &e) != ST_OK);
        CHECK(note_open(sv_first(note, i), open_key, &a, &text, &e) != ST_OK);
    }
}

static void what_is_no_key_or_no_text_is_refused(void)
{
    struct sv secret, open_key, note, text;

    CHECK(note_new_key(SV("a+b"), &a, &secret, &open_key, &e) == ST_INVALID_SYNTAX);
    CHECK(note_new_key(SV(""), &a, &secret, &open_key, &e) == ST_INVALID_SYNTAX);
    CHECK(note_new_key(SV("me"), &a, &secret, &open_key, &e) == ST_OK);
    CHECK(note_sign(SV("no end"), secret, &a, &note, &e) == ST_INVALID_SYNTAX);
    CHECK(note_sign(SV("\xff\n"), secret, &a, &note, &e) == ST_INVALID_SYNTAX);
    CHECK(note_sign(SV("x\n"), open_key, &a, &note, &e) == ST_INVALID_SYNTAX);
    CHECK(!strstr(e.text, "+")); /* no key in an error */
    CHECK(note_sign(SV("x\n"), secret, &a, &note, &e) == ST_OK);
    CHECK(note_open(note, secret, &a, &text, &e) == ST_INVALID_SYNTAX);
    CHECK(note_open(SV(""), open_key, &a, &text, &e) == ST_INVALID_SYNTAX);
    CHECK(note_open(note, SV(GO_KEY), &a, &text, &e) == ST_PERMISSION_DENIED);
}

TAP_MAIN(T(a_note_of_another_program_is_read), T(what_we_sign_holds_until_a_byte_changes),
         T(what_is_no_key_or_no_text_is_refused), )
