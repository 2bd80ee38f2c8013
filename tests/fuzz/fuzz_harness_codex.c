/* Transcripts of Codex. */
#include "harness_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_transcript(HARNESS_CODEX, data, size);
    return 0;
}
