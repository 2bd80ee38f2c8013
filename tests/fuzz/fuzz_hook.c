/* Events of other programs, and lines for a shell: whatever comes in, nothing crashes. What is read
 * as an event has a name and a session; what it is answered is JSON; paths that a line would write
 * are absolute where the directory is. */
#include "api/hook/shell_writes.h"
#include "front/hook/event.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(struct sv line, struct arena *a)
{
    struct shell_paths paths;

    shell_writes(line, SV("/w"), SV("/home"), a, &paths);
    for (size_t i = 0; i < paths.list.n; i++)
        if (!paths.list.v[i].path.n || paths.list.v[i].path.s[0] != '/')
            abort();
}

static void check_answer(const struct hook_seen *x, const char *text, struct arena *a)
{
    struct json answer, said;
    struct err  e;

    if (json_parse(sv_of(text), 0, a, &answer, &e))
        abort();
    struct sv out = hook_answer(x, &answer, a);
    if (out.n && (json_parse(out, 0, a, &said, &e) || said.type != JSON_OBJECT))
        abort();
}

static void check_event(const char *harness, const struct json *doc, struct arena *a)
{
    struct hook_seen x;
    struct err       e;

    if (hook_event_read(harness, doc, a, &x, &e))
        return;
    if (!x.name.n || !x.session.n)
        abort();
    check_line(x.command, a);
    check_answer(&x, "{}", a);
    check_answer(&x, "{\"context\":\"<a>\\n\"}", a);
    check_answer(&x, "{\"deny\":\"no\"}", a);
    check_answer(&x, "{\"report\":\"x\"}", a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const harnesses[] = { "claude-code", "codex", "gemini", "opencode", "pi" };
    struct arena             a = { 0 };
    struct sv                text = { (const char *)data, size };
    struct json              doc;
    struct err               e;

    check_line(text, &a);
    if (json_parse(text, 0, &a, &doc, &e) == ST_OK)
        for (size_t i = 0; i < COUNT(harnesses); i++)
            check_event(harnesses[i], &doc, &a);
    arena_free(&a);
    return 0;
}
