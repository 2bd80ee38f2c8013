/* The table of commands: a command is an operation, unless it belongs to the shell alone. */
#include "front/cli/command.h"
#include "tap.h"

static struct arena a;

/* What only a shell can do, or what is about the doors themselves. */
static const char *const shell_only[] = {
    "help", "completion", "_complete", "demo", "api schema", "api openapi", "api call",
    "loom", "mcp",        "hook",      "open", "serve",      "top",         NULL,
};

/* Commands that choose between operations. */
static const struct {
    const char *name;
    const char *ops[4];
} choosing[] = {
    { "context", { "context.make", "context.parse", "context.acknowledge" } },
    { "export", { "harness.export", "tree.export" } },
    { "import", { "harness.import", "tree.import" } },
    { "stats", { "thread.stats", "workspace.stats" } },
};

static bool is_in(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static bool chooses(const char *name)
{
    for (size_t i = 0; i < COUNT(choosing); i++)
        if (strcmp(choosing[i].name, name) == 0)
            return true;
    return false;
}

static void every_command_is_an_operation(void)
{
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = commands[i];
        bool                  shells = is_in(shell_only, c->name);
        if ((c->op != NULL) == !shells || chooses(c->name))
            continue;
        printf("# %s %s\n", c->name,
               shells ? "is an operation: take it off the list"
                      : "has no operation: see docs/HOWTO-command.md");
        FAIL("a command is an operation");
    }
    for (size_t i = 0; shell_only[i]; i++)
        CHECK(find(shell_only[i]) != NULL);
    for (size_t i = 0; i < COUNT(choosing); i++) {
        CHECK(find(choosing[i].name) && !find(choosing[i].name)->op);
        for (size_t k = 0; choosing[i].ops[k]; k++)
            CHECK(operation_find(sv_of(choosing[i].ops[k])) != NULL);
    }
}

static bool is_operation(const struct operation *op)
{
    return op && operation_find(sv_of(op->name)) == op;
}

/* So that help, the schema and the other doors know it. */
static void the_operation_of_a_command_is_in_the_table(void)
{
    for (size_t i = 0; commands[i]; i++)
        CHECK(!commands[i]->op || is_operation(commands[i]->op));
}

static void every_word_is_a_parameter(void)
{
    for (size_t i = 0; commands[i]; i++)
        for (const struct cli_word *w = commands[i]->words; w && w->param; w++)
            CHECK(param_find(commands[i]->op->params, sv_of(w->param)) != NULL);
}

static void names_are_unique_and_described(void)
{
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = command_complete(commands[i], &a);
        CHECK(find(c->name) == commands[i]);
        CHECK(c->summary && c->summary[0] && !sv_ends(sv_of(c->summary), SV(".")));
        for (const struct opt *o = c->opts; o && o->type; o++) {
            CHECK(o->help && o->help[0]);
            CHECK((o->type == OPT_FLAG) == (o->value == NULL));
            for (const struct opt *other = c->opts; other < o; other++)
                CHECK(strcmp(o->name, other->name) != 0 &&
                      (!o->letter || o->letter != other->letter));
        }
    }
}

/* The overview reads these without completing every row. */
static void a_completed_row_has_the_summary_and_group_of_the_table(void)
{
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = command_complete(commands[i], &a);
        CHECK(strcmp(command_summary(commands[i]), c->summary) == 0);
        CHECK_INT(command_group(commands[i]), c->group);
        CHECK((c == commands[i]) == !c->op);
    }
}

TAP_MAIN(T(every_command_is_an_operation), T(the_operation_of_a_command_is_in_the_table),
         T(every_word_is_a_parameter), T(names_are_unique_and_described),
         T(a_completed_row_has_the_summary_and_group_of_the_table), )
