/* A test program is a list of functions; each CHECK that fails says where and the
 * program goes on. Output is TAP. An argument runs only the tests whose name holds it.
 *
 *     static void empty_text_is_not_a_name(void) { CHECK(name_check(...) == ST_...); }
 *     TAP_MAIN(T(empty_text_is_not_a_name), ) */
#ifndef HEDDLE_TAP_H
#define HEDDLE_TAP_H

#include "base/sv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct tap_test {
    const char *name;
    void (*run)(void);
};
static int tap_failures;

static inline void tap_check(int ok, const char *file, int line, const char *what)
{
    if (!ok) {
        tap_failures++;
        printf("# %s:%d: failed: %s\n", file, line, what);
    }
}

static inline void tap_check_int(int64_t got, int64_t want, const char *file, int line)
{
    if (got != want) {
        tap_failures++;
        printf("# %s:%d: got %" PRId64 ", want %" PRId64 "\n", file, line, got, want);
    }
}

static inline void tap_check_sv(struct sv got, struct sv want, const char *file, int line)
{
    if (!sv_eq(got, want)) {
        tap_failures++;
        printf("# %s:%d:\n#  got  " SV_FMT "\n#  want " SV_FMT "\n", file, line, SV_ARG(got),
               SV_ARG(want));
    }
}

#define FAIL(what) tap_check(0, __FILE__, __LINE__, what)
#define CHECK(c) tap_check(!!(c), __FILE__, __LINE__, #c)
#define CHECK_INT(got, want) tap_check_int((int64_t)(got), (int64_t)(want), __FILE__, __LINE__)
#define CHECK_SV(got, want) tap_check_sv((got), (want), __FILE__, __LINE__)
#define T(f)                                                                                       \
    {                                                                                              \
#f, f                                                                                      \
    }

/* Set by a test that does not apply, or that shows a known defect: why it was not judged. */
static const char *tap_skipped;

static inline void tap_result(int number, const char *name)
{
    printf("%sok %d - %s%s%s\n", tap_failures ? "not " : "", number, name,
           tap_skipped ? " # SKIP " : "", tap_skipped ? tap_skipped : "");
    fflush(stdout);
    tap_skipped = NULL;
}

static inline int tap_run(const struct tap_test *tests, int n, int argc, char **argv)
{
    int failed = 0, ran = 0;

    for (int i = 0; i < n; i++) {
        if (argc > 1 && !strstr(tests[i].name, argv[1]))
            continue;
        tap_failures = 0;
        tests[i].run();
        tap_result(++ran, tests[i].name);
        failed += tap_failures > 0;
    }
    printf("1..%d\n", ran);
    return failed > 0;
}

#define TAP_MAIN(...)                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static const struct tap_test tests[] = { __VA_ARGS__ };                                    \
        return tap_run(tests, (int)(sizeof tests / sizeof tests[0]), argc, argv);                  \
    }

#endif
