/* The table of commands, in the order of `heddle help`. A command lives in its cmd_ file. */
#include "front/cli/command.h"

/* clang-format off */
#define START_COMMANDS(X) \
    X(cmd_init) \
    X(cmd_demo) \
    X(cmd_help)

#define LOG_COMMANDS(X) \
    X(cmd_log_append) \
    X(cmd_log_show) \
    X(cmd_log_list) \
    X(cmd_log_marks) \
    X(cmd_log_follow) \
    X(cmd_log_export) \
    X(cmd_log_import) \
    X(cmd_log_rechain) \
    X(cmd_project) \
    X(cmd_compare) \
    X(cmd_op_replace) \
    X(cmd_op_switch) \
    X(cmd_op_fork)

#define RUN_COMMANDS(X) \
    X(cmd_run_start) \
    X(cmd_run_event) \
    X(cmd_run_steer) \
    X(cmd_run_inject) \
    X(cmd_run_drain) \
    X(cmd_run_cancel) \
    X(cmd_run_recover) \
    X(cmd_run_status) \
    X(cmd_checkpoint) \
    X(cmd_restore)

#define SHARE_COMMANDS(X) \
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
    X(cmd_diff) \
    X(cmd_history) \
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
    X(cmd_worker)

#define LOOM_COMMANDS(X) \
    X(cmd_say) \
    X(cmd_do) \
    X(cmd_talk) \
    X(cmd_assemble) \
    X(cmd_compact) \
    X(cmd_loom) \
    X(cmd_tree) \
    X(cmd_tree_set) \
    X(cmd_tree_close) \
    X(cmd_tree_attest) \
    X(cmd_tree_nodes) \
    X(cmd_tree_skeleton) \
    X(cmd_summarize) \
    X(cmd_search) \
    X(cmd_import) \
    X(cmd_export) \
    X(cmd_sessions) \
    X(cmd_transcripts) \
    X(cmd_lanes) \
    X(cmd_agent_add) \
    X(cmd_agent_list) \
    X(cmd_agent_set) \
    X(cmd_agent_remove)

#define PAYLOAD_COMMANDS(X) \
    X(cmd_payload) \
    X(cmd_tokens) \
    X(cmd_memo_add) \
    X(cmd_memo_remove) \
    X(cmd_memo_list) \
    X(cmd_session_new) \
    X(cmd_session_list) \
    X(cmd_turn_new)

#define CARE_COMMANDS(X) \
    X(cmd_verify) \
    X(cmd_head) \
    X(cmd_backup) \
    X(cmd_restore_backup) \
    X(cmd_erase) \
    X(cmd_retain) \
    X(cmd_thread_delete) \
    X(cmd_thread_archive) \
    X(cmd_thread_rename) \
    X(cmd_doctor) \
    X(cmd_compact_store) \
    X(cmd_store_info) \
    X(cmd_store_copy) \
    X(cmd_store_switch) \
    X(cmd_stats) \
    X(cmd_attention)

#define DOORS_COMMANDS(X) \
    X(cmd_install) \
    X(cmd_uninstall) \
    X(cmd_hook) \
    X(cmd_mcp) \
    X(cmd_serve) \
    X(cmd_open) \
    X(cmd_top) \
    X(cmd_token_create) \
    X(cmd_token_list) \
    X(cmd_token_revoke) \
    X(cmd_api_schema) \
    X(cmd_api_openapi) \
    X(cmd_api_call) \
    X(cmd_completion) \
    X(cmd_complete) \
    X(cmd_version) \
    X(cmd_config_list) \
    X(cmd_config_get) \
    X(cmd_config_set) \
    X(cmd_config_unset) \
    X(cmd_config_schema) \
    X(cmd_trust)

#define COMMAND_TABLE(X) \
    START_COMMANDS(X) LOG_COMMANDS(X) RUN_COMMANDS(X) SHARE_COMMANDS(X) LOOM_COMMANDS(X) \
    PAYLOAD_COMMANDS(X) CARE_COMMANDS(X) DOORS_COMMANDS(X)
/* clang-format on */

#define X(name) extern const struct command name;
COMMAND_TABLE(X)
#undef X

const struct command *const commands[] = {
#define X(name) &name,
    COMMAND_TABLE(X)
#undef X
        NULL,
};
