/* The checksum of a vocabulary table. */
#include "tokens/table.h"

uint64_t table_sum(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint64_t       lane[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, tail[8] = { 0 }, sum = n;

    for (; n >= 64; p += 64, n -= 64)
        for (int i = 0; i < 8; i++)
            lane[i] = (lane[i] ^ load64(p + i * 8)) * 0x9e3779b97f4a7c15u;
    memcpy(tail, p, n);
    for (int i = 0; i < 8; i++) {
        lane[i] = (lane[i] ^ tail[i]) * 0x9e3779b97f4a7c15u;
        sum = (sum ^ lane[i] ^ lane[i] >> 29) * 0xd6e8feb86659fd93u;
    }
    return sum ^ sum >> 32;
}
