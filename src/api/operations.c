/* The table of all operations. */
#include "api/operation.h"

/* clang-format off */
static const char *const group_titles[] = {
    [GROUP_START]   = "Start",
    [GROUP_LOG]     = "Log and projection",
    [GROUP_RUN]     = "Runs and checkpoints",
    [GROUP_SHARE]   = "Threads that share work",
    [GROUP_LOOM]    = "Trees of people and models (loom)",
    [GROUP_PAYLOAD] = "Payload",
    [GROUP_DOORS]   = "Other programs and the server",
    [GROUP_CARE]    = "Maintenance and settings",
};

/* One list per group, each in src/api/GROUP/; the operation thread.list is op_thread_list in
 * thread_list.c. */
#define START_OPERATIONS(X) \
    X(workspace_init) \
    X(name_list)

#define LOG_OPERATIONS(X) \
    X(erase) \
    X(head) \
    X(log_append) \
    X(log_export) \
    X(log_follow) \
    X(log_import) \
    X(log_list) \
    X(log_marks) \
    X(log_rechain) \
    X(log_retain) \
    X(log_show) \
    X(op_fork) \
    X(op_replace) \
    X(op_switch) \
    X(project) \
    X(project_compare)

#define RUN_OPERATIONS(X) \
    X(checkpoint_make) \
    X(checkpoint_restore) \
    X(run_cancel) \
    X(run_drain) \
    X(run_event) \
    X(run_inject) \
    X(run_recover) \
    X(run_start) \
    X(run_status) \
    X(run_steer)

#define SHARE_OPERATIONS(X) \
    X(asset_compare) \
    X(asset_history) \
    X(asset_list) \
    X(asset_read) \
    X(context_acknowledge) \
    X(context_make) \
    X(context_parse) \
    X(guide_write) \
    X(objective_create) \
    X(objective_delete) \
    X(objective_list) \
    X(objective_status) \
    X(reference_add) \
    X(reference_drop) \
    X(reference_rebind) \
    X(reference_refresh) \
    X(thread_graph) \
    X(thread_inject) \
    X(thread_lifecycle) \
    X(thread_list) \
    X(thread_merge) \
    X(thread_spawn) \
    X(thread_status) \
    X(thread_transfer) \
    X(transcript_keep) \
    X(worker_list) \
    X(worker_run) \
    X(worker_stop) \
    X(worker_wait)

#define LOOM_OPERATIONS(X) \
    X(agent_add) \
    X(agent_list) \
    X(agent_remove) \
    X(agent_set) \
    X(assemble) \
    X(compact) \
    X(harness_export) \
    X(harness_found) \
    X(harness_import) \
    X(harness_list) \
    X(lane_list) \
    X(loom_block) \
    X(loom_do) \
    X(talk) \
    X(loom_ids) \
    X(loom_line) \
    X(loom_position) \
    X(loom_say) \
    X(loom_search) \
    X(loom_tools) \
    X(tree_attest) \
    X(tree_export) \
    X(tree_import) \
    X(tree_nodes) \
    X(tree_set) \
    X(tree_close) \
    X(tree_show) \
    X(tree_skeleton) \
    X(tree_summarize)

#define PAYLOAD_OPERATIONS(X) \
    X(memo_add) X(memo_list) X(memo_remove) X(payload_check) X(payload_compare) \
    X(payload_explain) X(payload_make) X(payload_parse) X(payload_verify) X(payload_weigh) \
    X(session_list) X(session_new) X(tokens_count) \
    X(turn_new)

#define CARE_OPERATIONS(X) \
    X(config_get) \
    X(config_list) \
    X(config_schema) \
    X(config_set) \
    X(config_unset) \
    X(program_version) \
    X(store_compact) \
    X(store_copy) \
    X(store_info) \
    X(store_switch) \
    X(thread_archive) \
    X(thread_delete) \
    X(thread_rename) \
    X(thread_stats) \
    X(workspace_backup) \
    X(workspace_doctor) \
    X(workspace_restore) \
    X(workspace_attention) \
    X(workspace_stats) \
    X(workspace_trust) \
    X(workspace_verify)

#define DOORS_OPERATIONS(X) \
    X(harness_install) \
    X(hook_event) \
    X(hook_record) \
    X(token_create) \
    X(token_list) \
    X(token_revoke)

#define OPERATION_TABLE(X) \
    START_OPERATIONS(X) LOG_OPERATIONS(X) RUN_OPERATIONS(X) SHARE_OPERATIONS(X) \
    LOOM_OPERATIONS(X) PAYLOAD_OPERATIONS(X) CARE_OPERATIONS(X) DOORS_OPERATIONS(X)

#define X(name) extern const struct operation op_##name;
OPERATION_TABLE(X)
#undef X

const struct operation *const operation_table[] = {
#define X(name) &op_##name,
    OPERATION_TABLE(X)
#undef X
    NULL,
};
/* clang-format on */

const char *op_group_title(enum op_group g)
{
    return g < COUNT(group_titles) ? group_titles[g] : "";
}

const struct operation *operation_find(struct sv name)
{
    for (size_t i = 0; operation_table[i]; i++)
        if (sv_is(name, operation_table[i]->name))
            return operation_table[i];
    return NULL;
}

enum status operation_named(struct sv name, const struct operation **out, struct err *e)
{
    const char *nearest = NULL;
    size_t      best = 4;

    *out = operation_find(name);
    if (*out)
        return ST_OK;
    for (size_t i = 0; operation_table[i]; i++) {
        size_t d = sv_distance(name, sv_of(operation_table[i]->name));
        if (d < best) {
            best = d;
            nearest = operation_table[i]->name;
        }
    }
    err_set(e, ST_NOT_FOUND, "there is no operation '" SV_FMT "'", SV_ARG(name));
    return nearest ? err_hint(e, "did you mean %s?", nearest)
                   : err_hint(e, "`heddle api schema` lists the operations");
}
