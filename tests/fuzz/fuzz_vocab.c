/* Vocabulary tables: whatever the bytes, reading them ends with a status, and a table that is
 * accepted answers for every id. The sum of the head is put right, so that what lies behind it is
 * reached. */
#include "tokens/vocab.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t       room = (size + LINE_BYTES) / LINE_BYTES * LINE_BYTES;
    uint8_t     *map = aligned_alloc(LINE_BYTES, room);
    struct vocab v;
    struct err   e;
    struct sv    text;

    if (!map)
        return 0;
    memcpy(map, data, size);
    if (size >= sizeof(struct table_head)) {
        struct table_head *head = (void *)map;
        head->sum = table_sum(head, offsetof(struct table_head, sum));
    }
    enum tokens_encoding enc = size && data[size - 1] & 1 ? TOKENS_CL100K : TOKENS_O200K;
    if (vocab_read(&v, enc, map, size, "fuzz", &e) == ST_OK)
        for (uint32_t id = 0; id < v.n_tokens + 2; id++)
            (void)!vocab_text(&v, id, &text, &e);
    free(map);
    return 0;
}
