/* The table of commands, in the order of `heddle help`. A command lives in its cmd_ file. */
#include "front/cli/command.h"

/* clang-format off */
#define COMMAND_TABLE(X) \
    X(cmd_init) \
    X(cmd_demo) \
    X(cmd_help) \
    X(cmd_log_append) \
    X(cmd_log_show) \
    X(cmd_log_export) \
    X(cmd_log_import) \
    X(cmd_log_rechain) \
    X(cmd_project) \
    X(cmd_op_replace) \
    X(cmd_op_switch) \
    X(cmd_op_fork) \
    X(cmd_run_start) \
    X(cmd_run_event) \
    X(cmd_run_steer) \
    X(cmd_run_inject) \
    X(cmd_run_drain) \
    X(cmd_run_cancel) \
    X(cmd_run_recover) \
    X(cmd_run_status) \
    X(cmd_checkpoint) \
    X(cmd_restore) \
    X(cmd_objective_create) \
    X(cmd_objective_delete) \
    X(cmd_objective_list) \
    X(cmd_objective_status) \
    X(cmd_spawn) \
    X(cmd_list) \
    X(cmd_status) \
    X(cmd_artifacts) \
    X(cmd_reference) \
    X(cmd_refresh) \
    X(cmd_unreference) \
    X(cmd_rebind) \
    X(cmd_read) \
    X(cmd_context) \
    X(cmd_lifecycle) \
    X(cmd_transfer) \
    X(cmd_inject) \
    X(cmd_merge) \
    X(cmd_transcript) \
    X(cmd_graph) \
    X(cmd_ps) \
    X(cmd_wait) \
    X(cmd_stop) \
    X(cmd_worker) \
    X(cmd_say) \
    X(cmd_do) \
    X(cmd_loom) \
    X(cmd_tree) \
    X(cmd_tree_set) \
    X(cmd_tree_attest) \
    X(cmd_summarize) \
    X(cmd_search) \
    X(cmd_import) \
    X(cmd_export) \
    X(cmd_agent_add) \
    X(cmd_agent_list) \
    X(cmd_agent_set) \
    X(cmd_agent_remove) \
    X(cmd_payload) \
    X(cmd_tokens) \
    X(cmd_memo_add) \
    X(cmd_memo_remove) \
    X(cmd_memo_list) \
    X(cmd_session_new) \
    X(cmd_session_list) \
    X(cmd_turn_new) \
    X(cmd_verify) \
    X(cmd_head) \
    X(cmd_erase) \
    X(cmd_doctor) \
    X(cmd_stats) \
    X(cmd_api_schema) \
    X(cmd_api_call) \
    X(cmd_completion) \
    X(cmd_version) \
    X(cmd_config_list) \
    X(cmd_config_get) \
    X(cmd_config_set) \
    X(cmd_config_unset) \
    X(cmd_config_schema) \
    X(cmd_trust)
/* clang-format on */

#define X(name) extern const struct command name;
COMMAND_TABLE(X)
#undef X

static const struct command *const rows[] = {
#define X(name) &name,
    COMMAND_TABLE(X)
#undef X
        NULL,
};

static const struct command *const none[] = { NULL };
const struct command *const       *commands = none;

void commands_load(struct arena *a)
{
    const struct command **table = ARENA_NEW(a, const struct command *, COUNT(rows));

    for (size_t i = 0; rows[i]; i++)
        table[i] = rows[i]->op ? command_of_operation(rows[i], a) : rows[i];
    commands = table;
}
