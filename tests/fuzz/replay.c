/* Runs a fuzz target over the files named on the command line, without libFuzzer:
 * the corpus as a regression test. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        fseek(f, 0, SEEK_END);
        size_t n = (size_t)ftell(f);
        rewind(f);
        uint8_t *data = malloc(n ? n : 1); /* exact size, so that overreads are seen */
        if (!data || fread(data, 1, n, f) != n)
            return 1;
        fclose(f);
        LLVMFuzzerTestOneInput(data, n);
        free(data);
    }
    return 0;
}
