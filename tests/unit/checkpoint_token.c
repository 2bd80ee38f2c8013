/* Checkpoint tokens without a log: signing, sealing, and every refusal in its order. */
#include "tap.h"
#include "thread/checkpoint.h"

static struct arena arena;

static const struct token_key   one[] = { { SV_STATIC("k1"), SV_STATIC("first secret") } };
static const struct token_key   both[] = { { SV_STATIC("k2"), SV_STATIC("second secret") },
                                           { SV_STATIC("k1"), SV_STATIC("first secret") } };
static const struct token_key   posing[] = { { SV_STATIC("kX"), SV_STATIC("first secret") } };
static const unsigned char      salt[SEAL_NONCE] = { 1, 2, 3 };
static struct checkpoint_keys   keys = { one, 1 };
static struct checkpoint_config config = { .model = SV_STATIC("p:m"), .max_iterations = 10 };

enum { NOW = 1000000 };

static struct sv print(void)
{
    return checkpoint_fingerprint(&config, &arena);
}

static struct checkpoint sample(void)
{
    static struct message said = {
        .seq = -1, .at = 5, .role = SV_STATIC("user"), .content = SV_STATIC("\"hello\"")
    };
    struct checkpoint c = { .fingerprint = print(),
                            .thread = SV("t"),
                            .lane = SV("default"),
                            .rev = 1,
                            .chain = SV("00") };

    c.state.run_id = SV("run-1");
    c.state.request_id = SV("req-1");
    c.state.context.messages = &said;
    c.state.context.n = 1;
    c.state.context.system_prompt = SV("P");
    checkpoint_set_times(&c, NOW, 0);
    return c;
}

static struct sv signed_by(const struct checkpoint *c, const unsigned char *with)
{
    struct sv  token = { 0 };
    struct err e = { 0 };

    CHECK(checkpoint_sign(c, &keys, with, &arena, &token, &e) == ST_OK);
    return token;
}

/* Why a token is refused at a time, or "" when it is good. */
static struct sv verdict_at(struct sv token, int64_t now)
{
    struct checkpoint c;
    struct err        e = { 0 };

    if (checkpoint_verify(token, &keys, print(), now, &arena, &c, &e) == ST_OK)
        return SV("");
    CHECK(e.code != ST_OK && e.text[0]);
    return sv_dup(sv_of(e.reason), &arena);
}

static struct sv verdict(struct sv token)
{
    return verdict_at(token, NOW);
}

/* A token around any payload (with ' for "), signed rightly. FP stands for the fingerprint. */
static struct sv token_of_text(struct sv text)
{
    struct sv  token = { 0 };
    struct err e = { 0 };

    CHECK(token_sign(text, &keys.keys[0], &arena, &token, &e) == ST_OK);
    return token;
}

/* Around a payload with ' for ", in canonical form when it is JSON. */
static struct sv token_around(const char *quoted)
{
    struct sb   b = sb_in(&arena, 0);
    struct json v;
    struct err  e = { 0 };

    for (const char *p = quoted; *p; p++) {
        if (strncmp(p, "FP", 2) == 0) {
            sb_add(&b, print());
            p++;
        } else {
            sb_addc(&b, *p == '\'' ? '"' : *p);
        }
    }
    bool is_json = json_parse(sb_sv(&b), 0, &arena, &v, &e) == ST_OK;
    return token_of_text(is_json ? json_canonical(&v, &arena) : sb_sv(&b));
}

static struct sv cat(struct sv a, const char *more)
{
    struct sb b = sb_in(&arena, 0);

    sb_add(&b, a);
    sb_adds(&b, more);
    return sb_sv(&b);
}

/* ---- round trips ------------------------------------------------------------------------- */

static void a_token_gives_back_what_was_signed(void)
{
    struct checkpoint c = sample(), back;
    struct sv         token = signed_by(&c, NULL);
    struct err        e;
    struct json       payload;

    CHECK(sv_starts(token, SV("rt2.")));
    CHECK(checkpoint_verify(token, &keys, print(), NOW, &arena, &back, &e) == ST_OK);
    CHECK_SV(back.state.run_id, SV("run-1"));
    CHECK_SV(back.state.request_id, SV("req-1"));
    CHECK_SV(back.thread, SV("t"));
    CHECK_SV(back.kid, SV("k1"));
    CHECK_INT(back.iat_ms, NOW);
    CHECK(!back.expires && !back.sealed);
    CHECK_SV(context_stored(&back.state.context, SV(""), &arena),
             context_stored(&c.state.context, context_id(SV("default"), &arena), &arena));
    CHECK(json_parse(back.payload, 0, &arena, &payload, &e) == ST_OK);
    CHECK_SV(json_text(&payload, "iss"), SV("jido_ai/react"));
    CHECK_SV(json_canonical(json_find(&payload, "v"), &arena), SV("2"));
    CHECK_SV(json_canonical(&payload, &arena), back.payload);
    CHECK_SV(signed_by(&c, NULL), token);
}

static void a_sealed_token_shows_nothing_and_gives_everything_back(void)
{
    struct checkpoint c = sample(), back;
    struct sv         token = signed_by(&c, salt), payload;
    struct err        e;

    CHECK(base64url_read(sv_cut(sv_skip(token, 4), '.').head, &arena, &payload));
    CHECK(sv_find(payload, SV("hello")) < 0 && sv_find(payload, SV("run-1")) < 0);
    CHECK(sv_starts(payload, SV("{\"kid\":\"k1\",\"sealed\":\"")));
    CHECK(checkpoint_verify(token, &keys, print(), NOW, &arena, &back, &e) == ST_OK);
    CHECK(back.sealed);
    CHECK_SV(back.state.run_id, SV("run-1"));
    CHECK_INT(back.state.context.n, 1);
}

static void one_salt_never_gives_two_payloads_one_nonce(void)
{
    struct sv a = token_seal(SV("one"), &one[0], salt, &arena);
    struct sv b = token_seal(SV("two"), &one[0], salt, &arena);

    CHECK(!sv_eq(sv_first(sv_skip(a, 23), 32), sv_first(sv_skip(b, 23), 32)));
}

static void a_seal_that_does_not_open_is_refused(void)
{
    CHECK_SV(verdict(token_around("{'kid':'k1','sealed':'AAAA','v':2}")),
             SV("invalid_token_payload"));
    CHECK_SV(verdict(token_around("{'kid':'k1','sealed':'AAAA','v':3}")),
             SV("token_version_mismatch"));
    struct sv   moved = token_seal(SV("{}"), &both[0], salt, &arena), token = { 0 };
    struct err  e;
    struct json v;
    CHECK(json_parse(moved, 0, &arena, &v, &e) == ST_OK);
    struct sb b = sb_in(&arena, 0);
    sb_adds(&b, "{\"kid\":\"k1\",\"sealed\":");
    sb_add_json_string(&b, json_text(&v, "sealed"));
    sb_adds(&b, ",\"v\":2}");
    CHECK(token_sign(sb_sv(&b), &one[0], &arena, &token, &e) == ST_OK);
    CHECK_SV(verdict(token), SV("invalid_token_payload"));
}

static void older_keys_still_verify_and_unknown_ones_do_not(void)
{
    struct checkpoint c = sample();
    struct sv         old = signed_by(&c, NULL);

    keys = (struct checkpoint_keys){ both, 2 };
    CHECK_SV(verdict(old), SV(""));
    struct sv fresh = signed_by(&c, salt);
    CHECK_SV(verdict(fresh), SV(""));
    keys = (struct checkpoint_keys){ one, 1 };
    CHECK_SV(verdict(fresh), SV("invalid_token_signature"));
    keys = (struct checkpoint_keys){ posing, 1 }; /* the right secret under another name */
    CHECK_SV(verdict(old), SV("invalid_token_signature"));
    keys = (struct checkpoint_keys){ 0 };
    CHECK_SV(verdict(old), SV("invalid_token_signature"));
    keys = (struct checkpoint_keys){ one, 1 };
}

/* ---- refusals, in order ------------------------------------------------------------------ */

static void the_envelope_is_checked_first(void)
{
    struct checkpoint c = sample();
    struct sv         token = signed_by(&c, NULL);

    CHECK_SV(verdict(SV("")), SV("invalid_token_prefix"));
    CHECK_SV(verdict(SV("rt1.a.b")), SV("invalid_token_prefix"));
    CHECK_SV(verdict(cat(SV(" "), token.s)), SV("invalid_token_prefix"));
    CHECK_SV(verdict(SV("rt2.")), SV("invalid_token_format"));
    CHECK_SV(verdict(SV("rt2.abcd")), SV("invalid_token_format"));
    CHECK_SV(verdict(SV("rt2.a.b.c")), SV("invalid_token_format"));
    CHECK_SV(verdict(SV("rt2.a=.b")), SV("invalid_base64"));
    CHECK_SV(verdict(SV("rt2.!!!!.AAAA")), SV("invalid_base64"));
    CHECK_SV(verdict(SV("rt2.AAAA.AAAA")), SV("invalid_token_signature"));
    CHECK_SV(verdict(cat(token, "x")), SV("invalid_token_signature"));
}

static void every_changed_byte_is_noticed(void)
{
    struct checkpoint c = sample();
    struct sv         token = sv_dup(signed_by(&c, NULL), &arena);

    for (size_t i = 0; i < token.n; i++) {
        char *at = (char *)(uintptr_t)&token.s[i], was = *at;
        *at = was == 'A' ? 'B' : 'A';
        CHECK(verdict(token).n > 0);
        *at = was;
    }
    CHECK_SV(verdict(token), SV(""));
}

static void the_payload_is_checked_next(void)
{
    CHECK_SV(verdict(token_around("not json")), SV("invalid_token_payload"));
    CHECK_SV(verdict(token_around("[1]")), SV("invalid_token_payload"));
    CHECK_SV(verdict(token_around("{}")), SV("invalid_token_signature")); /* no kid */
    CHECK_SV(verdict(token_around("{'kid':'k1'}")), SV("token_version_mismatch"));
    CHECK_SV(verdict(token_around("{'kid':'k1','v':1}")), SV("token_version_mismatch"));
    CHECK_SV(verdict(token_around("{'kid':'k1','v':2,'iss':'x'}")), SV("invalid_token_issuer"));
#define HEAD "{'kid':'k1','v':2,'iss':'jido_ai/react',"
    CHECK_SV(verdict(token_around(HEAD "'exp_ms':1}")), SV("token_expired"));
    CHECK_SV(verdict(token_around(HEAD "'exp_ms':'soon'}")), SV("token_expired"));
    CHECK_SV(verdict(token_around(HEAD "'exp_ms':null}")), SV("token_config_mismatch"));
    CHECK_SV(verdict(token_around(HEAD "'config_fingerprint':'FP'}")), SV("invalid_token_state"));
    CHECK_SV(verdict(token_around(HEAD "'config_fingerprint':'FP','state':[]}")),
             SV("invalid_token_state"));
    CHECK_SV(verdict(token_around(HEAD "'config_fingerprint':'FP','state':{}}")),
             SV("invalid_token_state"));
    CHECK_SV(
        verdict(token_around(HEAD "'config_fingerprint':'FP','state':{'context':{},'thread':{}}}")),
        SV("legacy_token_state"));
    CHECK_SV(
        verdict(token_around(HEAD "'config_fingerprint':'FP','state':{'context':{}},'thread':{}}")),
        SV("legacy_token_state"));
    CHECK_SV(verdict(token_around(HEAD "'config_fingerprint':'FP','state':{'context':{}}}")),
             SV("missing_field"));
}

static void a_payload_has_one_spelling(void)
{
    CHECK_SV(verdict(token_of_text(SV("{\"kid\":\"k1\",\"v\":2}"))), SV("invalid_token_issuer"));
    CHECK_SV(verdict(token_of_text(SV("{\"v\":2,\"kid\":\"k1\"}"))), SV("invalid_token_payload"));
    CHECK_SV(verdict(token_of_text(SV("{\"kid\":\"k1\", \"v\":2}"))), SV("invalid_token_payload"));
    CHECK_SV(verdict(token_of_text(SV("{\"kid\":\"\\u006b1\",\"v\":2}"))),
             SV("invalid_token_payload"));
}

static struct sv state_verdict(const char *quoted)
{
    struct sb               b = sb_in(&arena, 0);
    struct json             v;
    struct checkpoint_state s;
    struct err              e = { 0 };

    for (const char *p = quoted; *p; p++)
        sb_addc(&b, *p == '\'' ? '"' : *p);
    CHECK(json_parse(sb_sv(&b), 0, &arena, &v, &e) == ST_OK);
    if (checkpoint_state_read(&v, &arena, &s, &e) == ST_OK)
        return SV("");
    return sv_dup(sv_of(e.reason), &arena);
}

static void the_state_is_checked_last(void)
{
#define IDS "{'run_id':'r','request_id':'q',"
#define CTX "'context':{'id':'c','system_prompt':null,'entries':[]}"
    CHECK_SV(state_verdict("{'thread':{'id':'t','entries':[]}}"), SV("legacy_thread_checkpoint"));
    CHECK_SV(state_verdict("{'request_id':'q'}"), SV("missing_field"));
    CHECK_SV(state_verdict("{'run_id':'r'}"), SV("missing_field"));
    CHECK_SV(state_verdict(IDS "'status':'dreaming'}"), SV("invalid_status"));
    CHECK_SV(state_verdict(IDS "'status':'running'}"), SV("invalid_context"));
    CHECK_SV(state_verdict(IDS "'status':'running','context':{'entries':[]}}"),
             SV("invalid_context"));
    CHECK_SV(state_verdict(IDS "'status':'running'," CTX "}"), SV("invalid_checkpoint_state"));
    CHECK_SV(state_verdict(IDS "'status':'running','version':2," CTX "}"),
             SV("invalid_checkpoint_state"));
    CHECK_SV(state_verdict(IDS "'status':'running','version':3,'iteration':-1," CTX "}"),
             SV("invalid_checkpoint_state"));
    CHECK_SV(state_verdict(IDS "'status':'running','version':3,'usage':[]," CTX "}"),
             SV("invalid_checkpoint_state"));
    CHECK_SV(state_verdict(IDS "'status':'awaiting_tools','version':3," CTX "}"),
             SV("invalid_checkpoint_state"));
    CHECK_SV(state_verdict(IDS "'status':'running','version':3,'pending_tool_calls':[{'id':'t',"
                               "'name':'f'}]," CTX "}"),
             SV("invalid_checkpoint_state"));
    CHECK_SV(state_verdict(IDS "'status':'running','version':3," CTX "}"), SV(""));
}

static void a_core_thread_is_not_a_context(void)
{
    CHECK_SV(state_verdict(IDS "'status':'running','version':3,'context':{'id':'thread_1','rev':1,"
                               "'entries':[{'id':'e','seq':0,'kind':'ai_message','payload':{}}]}}"),
             SV("invalid_context"));
}

/* ---- time, configuration, size -------------------------------------------------------------- */

static void a_token_is_good_until_its_last_millisecond(void)
{
    struct checkpoint c = sample();

    checkpoint_set_times(&c, NOW, 1);
    struct sv token = signed_by(&c, NULL);
    CHECK_SV(verdict_at(token, NOW + 1), SV(""));
    CHECK_SV(verdict_at(token, NOW + 2), SV("token_expired"));
    CHECK_SV(verdict_at(token, NOW - 500), SV("")); /* a clock that went back */
    checkpoint_set_times(&c, NOW, -7);
    CHECK_SV(verdict_at(signed_by(&c, NULL), INT64_MAX), SV(""));
    checkpoint_set_times(&c, NOW, INT64_MAX);
    CHECK(c.expires && c.exp_ms == INT64_MAX);
}

static void another_configuration_is_refused(void)
{
    static const struct sv   ab[] = { SV_STATIC("a"), SV_STATIC("b") };
    static const struct sv   ba[] = { SV_STATIC("b"), SV_STATIC("a") };
    struct checkpoint_config x = { .tools = ab, .n_tools = 2 }, y = { .tools = ba, .n_tools = 2 };
    struct checkpoint        c = sample();
    struct sv                token = signed_by(&c, NULL);

    config.model = SV("p:other");
    CHECK_SV(verdict(token), SV("token_config_mismatch"));
    config.model = SV("p:m");
    CHECK_SV(verdict(token), SV(""));
    CHECK_SV(checkpoint_fingerprint(&x, &arena), checkpoint_fingerprint(&y, &arena));
    y.n_tools = 1;
    CHECK(!sv_eq(checkpoint_fingerprint(&x, &arena), checkpoint_fingerprint(&y, &arena)));
    x = y;
    x.system_prompt = SV("");
    CHECK(!sv_eq(checkpoint_fingerprint(&x, &arena), checkpoint_fingerprint(&y, &arena)));
}

static void what_is_too_large_for_a_token_is_told(void)
{
    struct checkpoint c = sample();
    struct arena      big = { 0 };
    struct sv         token;
    struct err        e = { 0 };
    char             *text = ARENA_NEW(&big, char, TOKEN_PAYLOAD_MAX + 1);

    memset(text, 'x', TOKEN_PAYLOAD_MAX);
    c.state.context.system_prompt = (struct sv){ text, TOKEN_PAYLOAD_MAX };
    CHECK(checkpoint_sign(&c, &keys, NULL, &big, &token, &e) == ST_LIMIT_EXCEEDED);
    CHECK(e.hint[0]);
    c.state.context.system_prompt = (struct sv){ text, TOKEN_PAYLOAD_MAX - 4096 };
    CHECK(checkpoint_sign(&c, &keys, salt, &big, &token, &e) == ST_OK); /* the largest, sealed */
    CHECK(token.n <= TOKEN_MAX);
    CHECK(checkpoint_verify(token, &keys, print(), NOW, &big, &c, &e) == ST_OK);
    arena_free(&big);
}

static void what_is_nested_too_deeply_for_a_token_is_told(void)
{
    struct checkpoint c = sample();
    struct message    said = c.state.context.messages[0];
    struct sb         b = sb_in(&arena, 0);
    struct sv         token;
    struct err        e = { 0 };

    sb_pad(&b, '[', JSON_DEPTH_MAX - 2);
    sb_pad(&b, ']', JSON_DEPTH_MAX - 2);
    said.content = sb_sv(&b);
    c.state.context.messages = &said;
    CHECK(checkpoint_sign(&c, &keys, NULL, &arena, &token, &e) == ST_LIMIT_EXCEEDED);
}

static void a_cancelled_run_has_nothing_left_to_do(void)
{
    struct checkpoint c = sample(), back;
    struct err        e;

    c.state.status = CHECKPOINT_AWAITING_TOOLS;
    c.state.pending_tool_calls = SV("[{\"id\":\"t1\",\"name\":\"f\"}]");
    struct sv         first = signed_by(&c, NULL);
    struct checkpoint ended = checkpoint_cancelled(&c, SV("enough"), &arena);
    CHECK(checkpoint_verify(signed_by(&ended, NULL), &keys, print(), NOW, &arena, &back, &e) ==
          ST_OK);
    CHECK(back.state.status == CHECKPOINT_CANCELLED);
    CHECK(checkpoint_next(&back.state) == CHECKPOINT_STOP);
    CHECK_SV(back.state.error, SV("{\"cancelled\":\"enough\"}"));
    CHECK(checkpoint_verify(first, &keys, print(), NOW, &arena, &back, &e) == ST_OK);
    CHECK(checkpoint_next(&back.state) == CHECKPOINT_RUN_TOOLS);
}

TAP_MAIN(T(a_token_gives_back_what_was_signed),
         T(a_sealed_token_shows_nothing_and_gives_everything_back),
         T(one_salt_never_gives_two_payloads_one_nonce), T(a_seal_that_does_not_open_is_refused),
         T(older_keys_still_verify_and_unknown_ones_do_not), T(the_envelope_is_checked_first),
         T(every_changed_byte_is_noticed), T(the_payload_is_checked_next),
         T(a_payload_has_one_spelling), T(the_state_is_checked_last),
         T(a_core_thread_is_not_a_context), T(a_token_is_good_until_its_last_millisecond),
         T(another_configuration_is_refused), T(what_is_too_large_for_a_token_is_told),
         T(what_is_nested_too_deeply_for_a_token_is_told),
         T(a_cancelled_run_has_nothing_left_to_do), )
