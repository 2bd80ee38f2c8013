/* Two texts line by line. */
#include "base/diff.h"
#include "base/sb.h"
#include "tap.h"

static struct arena a;

static void put(void *ctx, char mark, struct sv line)
{
    sb_addf(ctx, "%c" SV_FMT "|", mark, SV_ARG(line));
}

static struct sv diff_of(struct sv x, struct sv y)
{
    struct sb b = sb_in(&a, 0);

    CHECK(diff_lines(x, y, put, &b));
    return sb_sv(&b);
}

static void lines_that_came_or_went_are_marked(void)
{
    CHECK_SV(diff_of(SV("a\nb\nc\n"), SV("a\nc\nd\n")), SV(" a|-b| c|+d| |"));
    CHECK_SV(diff_of(SV("a\n"), SV("a\n")), SV(" a| |"));
    CHECK_SV(diff_of(SV(""), SV("a\nb")), SV("+a|+b|"));
    CHECK_SV(diff_of(SV("a"), SV("")), SV("-a|"));
    CHECK_SV(diff_of(SV("x\na\ny"), SV("1\na\n2\ny")), SV("-x|+1| a|+2| y|"));
}

/* What is not '+' is the one text, what is not '-' the other. */
static void both_texts_can_be_read_off(void)
{
    char x[41], y[41];

    for (unsigned seed = 1; seed < 300; seed++) {
        unsigned s = seed * 2654435761u;
        for (int i = 0; i < 40; i++) {
            s = s * 1664525u + 1013904223u;
            x[i] = "ab\n\n"[s >> 30];
            y[i] = "ab\n\n"[(s >> 28) & 3];
        }
        x[40] = y[40] = '\0';
        struct sv text = diff_of(sv_of(x), sv_of(y));
        struct sb old = sb_in(&a, 0), new = sb_in(&a, 0);
        while (text.n) {
            struct sv_cut line = sv_cut(text, '|');
            if (line.head.s[0] != '+')
                sb_addf(&old, SV_FMT "\n", SV_ARG(sv_skip(line.head, 1)));
            if (line.head.s[0] != '-')
                sb_addf(&new, SV_FMT "\n", SV_ARG(sv_skip(line.head, 1)));
            text = line.tail;
        }
        CHECK_SV(sv_first(sb_sv(&old), 40), sv_of(x));
        CHECK_SV(sv_first(sb_sv(&new), 40), sv_of(y));
    }
}

static void a_text_with_too_many_lines_is_not_compared(void)
{
    struct sb b = sb_in(&a, 0), none = sb_in(&a, 0);

    sb_pad(&b, '\n', DIFF_LINES_MAX);
    CHECK(!diff_lines(sb_sv(&b), SV("x"), put, &none));
    CHECK_INT(none.n, 0);
    arena_free(&a);
}

TAP_MAIN(T(lines_that_came_or_went_are_marked), T(both_texts_can_be_read_off),
         T(a_text_with_too_many_lines_is_not_compared), )
