/* `spawn`: a new thread. */
#include "api/share/share_call.h"
#include "front/cli/command.h"

#include <stdio.h>

extern const struct operation op_thread_spawn;

/* How it sees the threads it was given, for a person; standard output has the id alone. */
static enum status print_and_say(struct app *app, struct request *r, const void *params,
                                 struct err *e)
{
    struct sb          b = sb_in(app->a, 0), plain = sb_in(app->a, 0);
    struct json        doc;
    const struct json *refs;

    (void)params;
    if (json_parse(request_document(r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_code(e);
    refs = app->json ? NULL : json_find(&doc, "references");
    for (size_t i = 0; refs && i < refs->n; i++) {
        share_print_made_ref(&b, &refs->items[i]);
        sb_addc(&b, '\n');
    }
    sb_add_plain(&plain, sb_sv(&b));
    if (plain.n)
        fputs(sb_sv(&plain).s, stderr);
    return command_print_answer(app, r->op, r, e);
}

static const struct cli_word words[] = {
    { "intent", WORD_OPTION | WORD_STDIN },
    { "id_from", WORD_HIDDEN },
    { 0 },
};

const struct command cmd_spawn = {
    .name = "spawn",
    .synopsis = "--intent TEXT --objective ID [--id ID] [--parent T] [--ref T[:PATH],…] [--binding "
                "live|frozen] [--inherit full|partial|none] [--scope A,B] [--executor human|agent] "
                "[--tags A,B] [--mode dialogue|buffer] [--no-run]",
    .op = &op_thread_spawn,
    .words = words,
    .finish = print_and_say,
};
