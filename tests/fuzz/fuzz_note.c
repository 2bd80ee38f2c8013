/* Signed notes: any bytes are read without harm, as a note and as a key; nothing that was not
 * signed opens. */
#include "base/note.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sv key =
        SV_STATIC("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW");
    struct sv    bytes = { (const char *)data, size };
    struct arena a = { 0 };
    struct sv    text = { 0 }, open_key;
    struct err   e;

    if (note_open(bytes, key, &a, &text, &e) == ST_OK && !sv_starts(text, SV("If you think")))
        abort();
    if (note_open(SV("x\n\n\xe2\x80\x94 a AAAA\n"), bytes, &a, &text, &e) == ST_OK)
        abort();
    if (note_public_key(bytes, &a, &open_key, &e) == ST_OK && !sv_has(open_key, '+'))
        abort();
    arena_free(&a);
    return 0;
}
