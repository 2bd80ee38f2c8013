#include "base/json.h"
#include "tap.h"
#include "thread/kind.h"
#include "thread/kind_check.h"
#include "thread/skeleton.h"

static struct arena a;

/* A payload of each kind with every sort of member, and what of it stays. */
static const struct {
    const char *kind, *payload, *skeleton;
} cases[] = {
    { "ai_message",
      "{\"content\":\"hi\",\"context_ref\":\"default\",\"extra\":{\"a\":[1,\"secret\"]},"
      "\"node\":{\"id\":\"n1\",\"local_id\":\"a7x2\",\"mood\":\"x\"},\"role\":\"assistant\","
      "\"thinking\":\"hm\",\"tool_calls\":[{\"arguments\":{\"q\":\"me\"},\"id\":\"c1\",\"name\":"
      "\"find\"}]}",
      "{\"content\":null,\"context_ref\":\"default\",\"extra\":null,"
      "\"node\":{\"id\":\"n1\",\"local_id\":\"a7x2\",\"mood\":null},\"role\":\"assistant\","
      "\"thinking\":null,\"tool_calls\":[{\"arguments\":null,\"id\":\"c1\",\"name\":\"find\"}]}" },
    { "ai_context_operation",
      "{\"context_ref\":\"default\",\"op_id\":\"o1\",\"operation\":{\"base_seq\":4,\"meta\":{"
      "\"by\":\"me\","
      "\"rebase\":true},\"reason\":\"compaction\",\"result_context\":{\"messages\":[]},\"type\":"
      "\"replace\"}}",
      "{\"context_ref\":\"default\",\"op_id\":\"o1\",\"operation\":{\"base_seq\":4,\"meta\":{"
      "\"by\":null,"
      "\"rebase\":true},\"reason\":\"compaction\",\"result_context\":null,\"type\":\"replace\"}}" },
    { "summary", "{\"target\":{\"node\":\"a7x2\",\"type\":\"node\"},\"text\":\"short\"}",
      "{\"target\":{\"node\":\"a7x2\",\"type\":\"node\"},\"text\":null}" },
    { "model_response",
      "{\"body\":\"raw\",\"hash\":"
      "\"0000000000000000000000000000000000000000000000000000000000000000\","
      "\"model\":\"m\"}",
      "{\"body\":null,\"hash\":null,\"model\":\"m\"}" },
    { "some_other_kind", "{\"a\":1,\"b\":{\"c\":2}}", "{\"a\":null,\"b\":null}" },
    { "note", "{}", "{}" },
};

static struct entry entry_with(const char *kind, struct sv payload)
{
    struct entry n = { .kind = sv_of(kind), .payload = payload, .refs = SV("{}"), .salted = true };

    memset(n.salt, 7, sizeof n.salt);
    skeleton_fill(&n, 1, &a);
    return n;
}

static void content_is_replaced_by_null_and_the_shape_stays(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sv once = skeleton_of(sv_of(cases[i].kind), sv_of(cases[i].payload), &a);
        CHECK_SV(once, sv_of(cases[i].skeleton));
        CHECK_SV(skeleton_of(sv_of(cases[i].kind), once, &a), once);
    }
}

static void a_skeleton_is_canonical_json(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json v;
        struct err  e;
        struct sv   once = skeleton_of(sv_of(cases[i].kind), sv_of(cases[i].payload), &a);
        CHECK(json_parse(once, 0, &a, &v, &e) == ST_OK);
        CHECK_SV(json_canonical(&v, &a), once);
    }
}

static void the_skeleton_of_a_sound_record_is_sound_once_it_is_erased(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct entry n = entry_with(cases[i].kind, sv_of(cases[i].payload));
        struct err   e;
        CHECK(kind_check(&n, &e) == ST_OK);
        n.payload = n.skeleton;
        n.erased = true;
        n.salted = false;
        CHECK(kind_check(&n, &e) == ST_OK);
    }
}

static void erasing_keeps_the_chain_value(void)
{
    struct hash before = { { 1 } };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct entry n = entry_with(cases[i].kind, sv_of(cases[i].payload));
        struct hash  whole = entry_chain(&n, &before);
        struct entry erased = { .kind = n.kind,
                                .payload = n.skeleton,
                                .refs = SV("{}"),
                                .erased = true,
                                .content = n.content };
        skeleton_fill(&erased, 1, &a);
        struct hash after = entry_chain(&erased, &before);
        CHECK(hash_eq(&whole, &after));
    }
}

static void any_change_of_content_salt_or_skeleton_changes_the_chain(void)
{
    struct hash  before = { { 1 } };
    struct entry n = entry_with("ai_message", SV("{\"content\":\"hi\",\"role\":\"user\"}"));
    struct hash  whole = entry_chain(&n, &before);
    struct entry others[] = {
        entry_with("ai_message", SV("{\"content\":\"ho\",\"role\":\"user\"}")),
        entry_with("ai_message", SV("{\"content\":\"hi\",\"role\":\"assistant\"}")),
        entry_with("ai_message", SV("{\"content\":\"hi\",\"more\":1,\"role\":\"user\"}")),
        n,
        n,
    };

    others[3].salt[0] = 8;
    others[4].refs = SV("{\"x\":1}");
    skeleton_fill(&others[3], 1, &a);
    skeleton_fill(&others[4], 1, &a);
    for (size_t i = 0; i < COUNT(others); i++) {
        struct hash other = entry_chain(&others[i], &before);
        CHECK(!hash_eq(&whole, &other));
    }
}

/* The kept members of a table, by name, with those below them in brackets. */
/* Also one between two values: damage and tampering do not choose their places. */
static void any_changed_byte_of_a_payload_changes_the_chain(void)
{
    static const char others[] = { 0, ' ', ',', '}', ']', '[', '"', 'x' };
    struct hash       before = { { 1 } };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct entry n = entry_with(cases[i].kind, sv_of(cases[i].payload));
        struct hash  whole = entry_chain(&n, &before);
        for (size_t at = 0; at < n.payload.n; at++)
            for (size_t k = 0; k < COUNT(others); k++) {
                char *bytes = ARENA_NEW(&a, char, n.payload.n);
                memcpy(bytes, n.payload.s, n.payload.n);
                bytes[at] = others[k];
                struct entry m = entry_with(cases[i].kind, (struct sv){ bytes, n.payload.n });
                struct hash  other = entry_chain(&m, &before);
                CHECK(hash_eq(&whole, &other) == (n.payload.s[at] == others[k]));
            }
    }
}

static void put_kept(struct sb *b, const struct member *fields)
{
    for (; fields && fields->name.s; fields++) {
        if (!fields->kept)
            continue;
        sb_addf(b, " " SV_FMT, SV_ARG(fields->name));
        const struct member *below =
            fields->type == MEMBER_LIST && fields->of ? fields->of->of : fields->of;
        if (below) {
            sb_addc(b, '(');
            put_kept(b, below);
            sb_adds(b, " )");
        }
    }
}

/* What chain version 2 keeps. A difference here breaks the chain of logs that exist: do not change
 * the text, change the table back. Only a kind that no log can have yet may be added. */
static const char kept_by_version_2[] =
    "ai_message: role agent context_ref name node( as asked_by author edited_from id"
    " local_id parent version via ) request_id run_id tool_call_id tool_calls("
    " id name function( name ) ) usage\n"
    "ai_context_operation: op_id context_ref operation( type base_seq from( lane seq )"
    " meta( rebase ) reason switch ) agent\n"
    "ai_context_operation_deferred: op_id context_ref operation( type base_seq from("
    " lane seq ) meta( rebase ) reason switch ) agent\n"
    "run_started: agent allowed_tools config( max_iterations ) request_id run_id\n"
    "run_input: agent input_id kind request_id run_id source\n"
    "run_tool_held: role agent context_ref name node( as asked_by author edited_from id"
    " local_id parent version via ) request_id run_id tool_call_id tool_calls("
    " id name function( name ) ) usage\n"
    "run_checkpoint: agent run_id\n"
    "run_finished: agent dropped_input dropped_op( op_id reason seq ) outcome request_id"
    " run_id usage usage_total\n"
    "loom_annotation: agent kind node\n"
    "loom_link: agent incoming node target( doc node section tree type )\n"
    "loom_mark: agent annotation link mark mode node target( doc node section tree type"
    " ) until\n"
    "memory_operation: agent estimate label op target( doc node section tree type )"
    " tokens\n"
    "tool_action: agent code doc( path ) kind outcome passes referenced results shows("
    " doc node section tree type ) undo( annotation at back do doc inserted link node"
    " nodes path target( doc node section tree type ) ) undoes verb\n"
    "summary: covers model provisional target( doc node section tree type )\n"
    "model_request:\n"
    "model_response: answered_at asked_at completion_tokens finish model prompt_tokens"
    " provider request_id\n"
    "document_write: agent at doc inserted path\n"
    "thread_operation: operation action binding created executor files( name path place"
    " size source ) from gone id inherited( files( name path place size source ) )"
    " injections kind max_tokens mode model name objective operator parent_id"
    " permissions ref_id session_id status target thread_id to type updated\n"
    "erasure: files left( seq thread ) reason seqs\n"
    "erasure_done: erasure\n"
    "rechain: chain rev\n"
    "anchor: heads( chain rev thread ) root\n";

static void what_chain_version_2_keeps_does_not_change(void)
{
    struct sb b = sb_in(&a, 0);

    for (int k = 1; k <= KIND_ANCHOR; k++) {
        sb_addf(&b, "%s:", kind_name((enum kind)k));
        put_kept(&b, kind_fields((enum kind)k));
        sb_addc(&b, '\n');
    }
    CHECK_SV(sb_sv(&b), sv_of(kept_by_version_2));
}

TAP_MAIN(T(what_chain_version_2_keeps_does_not_change),
         T(content_is_replaced_by_null_and_the_shape_stays), T(a_skeleton_is_canonical_json),
         T(the_skeleton_of_a_sound_record_is_sound_once_it_is_erased),
         T(erasing_keeps_the_chain_value),
         T(any_change_of_content_salt_or_skeleton_changes_the_chain),
         T(any_changed_byte_of_a_payload_changes_the_chain), )
