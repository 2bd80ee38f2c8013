/* Transcripts of Gemini CLI, as lines and as one document. */
#include "harness_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_transcript(HARNESS_GEMINI, data, size);
    return 0;
}
