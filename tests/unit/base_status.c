#include "base/status.h"

#include "front/warn.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void every_code_has_a_word_a_sentence_an_exit_and_an_http_status(void)
{
    for (enum status s = ST_OK; s <= STATUS_LAST; s++) {
        CHECK(status_word(s)[0] && status_meaning(s)[0]);
        for (enum status other = ST_OK; other < s; other++)
            CHECK(strcmp(status_meaning(s), status_meaning(other)) != 0);
        CHECK(s == ST_OK ? status_exit(s) == 0 : status_exit(s) >= 1);
        CHECK(status_http(s) >= 200 && status_http(s) < 600);
        CHECK(s == ST_OK || status_leslie(s)[0] == 'T');
    }
    CHECK_INT(status_exit(ST_USAGE), 2);
    CHECK_INT(status_exit(ST_CONFLICT), 1);
    CHECK_INT(status_http(ST_NOT_FOUND), 404);
}

static void setting_forgets_the_error_before(void)
{
    struct err e = { 0 };

    err_set(&e, ST_IO, "old");
    err_hint(&e, "old hint");
    err_reason(&e, "old_reason");
    CHECK_INT(err_set(&e, ST_NOT_FOUND, "thread '%s'", "x"), ST_NOT_FOUND);
    CHECK_INT(e.code, ST_NOT_FOUND);
    CHECK_SV(sv_of(e.text), SV("thread 'x'"));
    CHECK(!e.hint[0] && !e.reason[0]);
}

static void context_goes_in_front_and_keeps_code_hint_and_reason(void)
{
    struct err e = { 0 };

    err_set(&e, ST_CONFLICT, "head moved");
    err_hint(&e, "read again");
    err_reason(&e, "stale");
    CHECK_INT(err_in(&e, "append to %s", "main"), ST_CONFLICT);
    CHECK_SV(sv_of(e.text), SV("append to main: head moved"));
    CHECK_SV(sv_of(e.hint), SV("read again"));
    CHECK_SV(sv_of(e.reason), SV("stale"));
}

static void long_texts_are_cut_and_never_overrun(void)
{
    struct err e = { 0 };
    char       big[4096];

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    err_set(&e, ST_IO, "%s", big);
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
    err_hint(&e, "%s", big);
    CHECK_INT(strlen(e.hint), sizeof e.hint - 1);
    err_reason(&e, big);
    CHECK_INT(strlen(e.reason), sizeof e.reason - 1);
    err_in(&e, "context");
    CHECK(sv_starts(sv_of(e.text), SV("context: xxx")));
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
    err_in(&e, "%s", big);
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
    errno = ENOSPC;
    err_errno(&e, "%s", big);
    CHECK_INT(strlen(e.text), sizeof e.text - 1);
}

static void system_errors_become_codes_with_hints(void)
{
    static const struct {
        int         number;
        enum status code;
        bool        hint;
    } cases[] = {
        { ENOENT, ST_NOT_FOUND, false }, { ENOTDIR, ST_NOT_FOUND, false },
        { EACCES, ST_IO, true },         { EPERM, ST_IO, true },
        { EROFS, ST_IO, true },          { ENOSPC, ST_IO, true },
        { EDQUOT, ST_IO, true },         { EIO, ST_IO, false },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err e = { 0 };
        errno = cases[i].number;
        CHECK_INT(err_errno(&e, "open %s", "file"), cases[i].code);
        CHECK(sv_starts(sv_of(e.text), SV("open file: ")));
        CHECK(strstr(e.text, strerror(cases[i].number)) != NULL);
        CHECK((e.hint[0] != 0) == cases[i].hint);
    }
}

static void a_handed_on_error_is_never_ok(void)
{
    struct err e = { 0 };

    CHECK_INT(err_code(&e), ST_IO);
    err_set(&e, ST_CORRUPT, "x");
    CHECK_INT(err_code(&e), ST_CORRUPT);
}

/* Pipes that keep the borders of writes tell how many there were. */
static void a_warning_is_one_write(void)
{
    char text[2000], got[4000];
    int  ends[2], kept = dup(2);

    memset(text, 'w', sizeof text - 1);
    text[sizeof text - 1] = 0;
    CHECK(pipe2(ends, O_DIRECT) == 0 && dup2(ends[1], 2) == 2);
    warn("%d of %s", 1, "two");
    warn("%s", text);
    dup2(kept, 2);
    CHECK_SV(((struct sv){ got, (size_t)read(ends[0], got, sizeof got) }),
             SV("warning: 1 of two\n"));
    CHECK_INT(read(ends[0], got, sizeof got), sizeof "warning: " - 1 + sizeof text);
    close(ends[0]);
    close(ends[1]);
    close(kept);
}

static void commands_in_hints_can_be_pasted(void)
{
    struct err e = { 0 };
    char       big[2000];

    err_set(&e, ST_NOT_FOUND, "x");
    err_hint(&e, "`heddle status " SH_FMT "` shows it, " SH_FMT, SV_ARG(SV("plain")),
             SV_ARG(SV("it's $(x)")));
    CHECK_SV(sv_of(e.hint), SV("`heddle status plain` shows it, 'it'\\''s $(x)'"));
    err_hint(&e, "ls " SH_FMT, SV_ARG(SV("")));
    CHECK_SV(sv_of(e.hint), SV("ls ''"));
    memset(big, '\'', sizeof big);
    err_hint(&e, "ls " SH_FMT, (int)sizeof big, big); /* cut, and within its bounds */
    CHECK_INT(strlen(e.hint), sizeof e.hint - 1);
}

TAP_MAIN(T(commands_in_hints_can_be_pasted),
         T(every_code_has_a_word_a_sentence_an_exit_and_an_http_status),
         T(setting_forgets_the_error_before),
         T(context_goes_in_front_and_keeps_code_hint_and_reason),
         T(long_texts_are_cut_and_never_overrun), T(system_errors_become_codes_with_hints),
         T(a_handed_on_error_is_never_ok), T(a_warning_is_one_write), )
