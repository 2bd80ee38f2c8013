/* What needs no disk: states, slugs, the guide, three-way merge, the block and its reader. */
#include "base/path.h"
#include "base/utf8.h"
#include "share/block.h"
#include "share/guide.h"
#include "share/operation.h"
#include "share/share_internal.h"
#include "tap.h"

static struct arena a;

/* Every state and every action of the published table; - is refused. */
static void the_table_of_states_is_the_published_one(void)
{
    static const char *const actions[] = { "suspend", "resume", "done", "cancel", "archive" };
    static const struct {
        const char *from, *to[5];
    } rows[] = {
        { "active", { "suspended", "-", "completed", "cancelled", "-" } },
        { "suspended", { "-", "active", "completed", "cancelled", "-" } },
        { "waiting_human", { "-", "active", "-", "cancelled", "-" } },
        { "completed", { "-", "-", "-", "-", "archived" } },
        { "cancelled", { "-", "-", "-", "-", "archived" } },
        { "frozen", { "-", "-", "-", "-", "archived" } },
        { "archived", { "-", "-", "-", "-", "-" } },
    };
    int pairs = 0;

    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k < COUNT(actions); k++) {
            enum thread_status from, to;
            CHECK(thread_status_of(sv_of(rows[i].from), &from));
            bool can = lifecycle_next(from, sv_of(actions[k]), &to);
            CHECK_SV(can ? sv_of(thread_status_name(to)) : SV("-"), sv_of(rows[i].to[k]));
            pairs++;
        }
    CHECK_INT(pairs, 35);
}

static void a_transfer_revives_nothing_that_has_ended(void)
{
    static const char *const directions[] = { "request_approval", "delegate", "handoff" };

    for (int from = 0; from < THREAD_STATUS_COUNT; from++)
        for (size_t k = 0; k < COUNT(directions); k++) {
            enum thread_status to;
            bool can = lifecycle_next((enum thread_status)from, sv_of(directions[k]), &to);
            bool over = share_thread_has_ended((enum thread_status)from) || from == THREAD_FROZEN;
            CHECK_INT(can, !over);
        }
    CHECK(!lifecycle_is_direction(SV("sideways")));
    CHECK(!lifecycle_is_action(SV("handoff")));
}

static void pending_is_read_as_active(void)
{
    enum thread_status s = THREAD_ARCHIVED;

    CHECK(thread_status_of(SV("pending"), &s));
    CHECK_INT(s, THREAD_ACTIVE);
    CHECK(!thread_status_of(SV("Active"), &s));
}

static void slugs_and_cuts_are_upstreams(void)
{
    CHECK_SV(
        transcript_slug(SV("fix bug: TypeError: Cannot read property 'name' of undefined!!!"), &a),
        SV("fix-bug-TypeError-Cannot-read-property-name-of-und"));
    CHECK_SV(transcript_slug(SV("!!!"), &a), SV("task"));
    CHECK_SV(transcript_slug(SV("--a--b--"), &a), SV("a-b"));
    CHECK_SV(transcript_slug(SV("\xe4\xbf\xae\xe5\xa4\x8d bug"), &a),
             SV("\xe4\xbf\xae\xe5\xa4\x8d-bug"));
    CHECK_SV(transcript_cut(SV("123456"), 4, &a), SV("1..."));
    CHECK_SV(transcript_cut(SV("1234"), 4, &a), SV("1234"));
}

static void actors_are_of_three_kinds(void)
{
    CHECK_SV(sv_of(share_operator(SV("user"))), SV("user"));
    CHECK_SV(sv_of(share_operator(SV("human:ada"))), SV("user"));
    CHECK_SV(sv_of(share_operator(SV("system"))), SV("system"));
    CHECK_SV(sv_of(share_operator(SV("program:ci"))), SV("system"));
    CHECK_SV(sv_of(share_operator(SV("agent:claude"))), SV("agent"));
    CHECK_SV(sv_of(share_operator(SV("planner"))), SV("agent"));
}

/* ---- the guide ---------------------------------------------------------------------------- */

static void the_guide_is_made_appended_and_idempotent(void)
{
    struct guide g, again;
    struct err   e;

    CHECK(guide_apply((struct sv){ 0 }, &a, &g, &e) == ST_OK);
    CHECK_SV(sv_of(g.status), SV("created"));
    CHECK(guide_apply(g.text, &a, &again, &e) == ST_OK);
    CHECK_SV(sv_of(again.status), SV("unchanged"));
    CHECK_SV(again.text, g.text);
    CHECK(guide_apply(SV("# Mine\n"), &a, &g, &e) == ST_OK);
    CHECK_SV(sv_of(g.status), SV("appended"));
    CHECK(sv_starts(g.text, SV("# Mine\n\n<leslie_system_guide")));
    CHECK(guide_apply(g.text, &a, &again, &e) == ST_OK);
    CHECK_SV(again.text, g.text);
}

static void the_guide_is_replaced_between_its_tags_only(void)
{
    struct guide g;
    struct err   e;

    CHECK(guide_apply(SV("before\n<leslie_system_guide version=\"2.0.0-rc.1\" x=\"y\">\nOLD TEXT\n"
                         "</leslie_system_guide>\nafter, no line break"),
                      &a, &g, &e) == ST_OK);
    CHECK_SV(sv_of(g.status), SV("updated"));
    CHECK(!g.major);
    CHECK(sv_starts(g.text, SV("before\n<leslie_system_guide")));
    CHECK(sv_ends(g.text, SV("</leslie_system_guide>\nafter, no line break")));
    CHECK(sv_find(g.text, SV("OLD TEXT")) < 0);
    CHECK_SV(g.previous, SV("2.0.0-rc.1"));
}

static void another_major_version_asks_first(void)
{
    struct guide g;
    struct err   e;

    CHECK(guide_apply(SV("<leslie_system_guide version=\"1.0.0\"></leslie_system_guide>"), &a, &g,
                      &e) == ST_OK);
    CHECK(g.major);
    CHECK(guide_apply(SV("<leslie_system_guide></leslie_system_guide>"), &a, &g, &e) == ST_OK);
    CHECK(g.major);
    CHECK_SV(g.previous, SV("0.0.0"));
    CHECK(guide_apply(SV("<leslie_system_guide version=\"x\"></leslie_system_guide>"), &a, &g,
                      &e) == ST_INVALID_SYNTAX);
    CHECK(guide_apply(SV("<leslie_system_guide version=\"2.0.0\">"), &a, &g, &e) ==
          ST_INVALID_SYNTAX);
}

/* ---- merging lines ------------------------------------------------------------------------- */

static struct sv merged(const char *base, const char *ours, const char *theirs,
                        enum merge_side side, bool *clean)
{
    struct sv  out = { 0 };
    struct err e;

    CHECK(merge_text(sv_of(base), sv_of(ours), sv_of(theirs), SV("ours"), SV("theirs"), side, &a,
                     &out, clean, &e) == ST_OK);
    return out;
}

static void changes_in_different_places_merge_cleanly(void)
{
    bool clean;

    CHECK_SV(merged("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", MERGE_MARKERS, &clean),
             SV("A\nb\nc\nd\nE\n"));
    CHECK(clean);
    CHECK_SV(merged("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", MERGE_MARKERS, &clean), SV("a\nc\nd\n"));
    CHECK(clean);
    CHECK_SV(merged("", "x\n", "x\n", MERGE_MARKERS, &clean), SV("x\n"));
    CHECK(clean);
    CHECK_SV(merged("a\n", "a\n", "", MERGE_MARKERS, &clean), SV(""));
    CHECK(clean);
}

static void an_id_from_a_title_is_words_and_dashes(void)
{
    static const struct {
        const char *title, *id;
    } cases[] = {
        { "Ship the lexer", "ship-the-lexer" },
        { "  --Ship--  it!  ", "ship-it" },
        { "Don\xe2\x80\x99t & can't", "dont-cant" },
        { "first line\nsecond", "first-line" },
        { "", "" },
        { "!!! \xf0\x9f\x9a\x80 \xe2\x80\x94", "" },
        { "\xff\xfe", "" },
        { "a\xe2\x80\x8b"
          "b",
          "a-b" },
        { "../../etc/passwd", "etc-passwd" },
        { "Caf\xc3\xa9 \xc2\xab"
          "noir\xc2\xbb",
          "caf\xc3\xa9-noir" },
        { "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
          "abcdefghijklmnopqrstuvwxyzabcdefghijklmn" },
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK_SV(id_of_title(sv_of(cases[i].title), &a), sv_of(cases[i].id));
}

/* Whatever the title, the id is one that may be given. */
static void every_id_from_a_title_is_allowed(void)
{
    for (int32_t c = 1; c < 0x110000; c += c == 0xd7ff ? 0x801 : c < 0x3100 ? 1 : 97) {
        struct arena_mark m = arena_mark(&a);
        struct sb         b = sb_in(&a, 0);
        struct err        e;
        sb_addf(&b, "%040d", 7);
        for (int i = 0; i < 60; i++)
            sb_add_utf8(&b, (uint32_t)c);
        struct sv id = id_of_title(sb_sv(&b), &a);
        CHECK(name_check_new(id, "id", &e) == ST_OK);
        b = sb_in(&a, 0);
        for (int i = 0; i < 60; i++)
            sb_add_utf8(&b, (uint32_t)c);
        id = id_of_title(sb_sv(&b), &a);
        CHECK(!id.n || name_check_new(id, "id", &e) == ST_OK);
        arena_reset(&a, m);
    }
}

static void the_same_line_changed_twice_is_a_conflict(void)
{
    bool clean;

    CHECK_SV(merged("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", MERGE_MARKERS, &clean),
             SV("a\n<<<<<<< ours\nX\n=======\nY\n>>>>>>> theirs\nc\n"));
    CHECK(!clean);
    CHECK_SV(merged("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", MERGE_THEIRS, &clean), SV("a\nY\nc\n"));
    CHECK(!clean);
    CHECK_SV(merged("b", "X", "Y", MERGE_MARKERS, &clean),
             SV("<<<<<<< ours\nX\n=======\nY\n>>>>>>> theirs\n"));
}

/* A side that did not change gives way, whatever the texts are. */
static void merging_with_an_unchanged_side_gives_the_other(void)
{
    uint32_t seed = 7;

    for (int round = 0; round < 300; round++) {
        char base[64] = "", other[64] = "";
        bool clean;
        for (int i = 0; i < 10; i++) {
            seed = seed * 1664525u + 1013904223u;
            strcat(base, (seed >> 24) % 2 ? "x\n" : "y\n");
            if ((seed >> 20) % 3)
                strcat(other, (seed >> 16) % 2 ? "x\n" : "z\n");
        }
        CHECK_SV(merged(base, base, other, MERGE_MARKERS, &clean), sv_of(other));
        CHECK(clean);
        CHECK_SV(merged(base, other, base, MERGE_MARKERS, &clean), sv_of(other));
        CHECK(clean);
    }
}

/* ---- the block ------------------------------------------------------------------------------- */

static void what_is_written_as_an_attribute_is_read_back(void)
{
    static const char nasty[] = "a&b<c>d\"e'f\tg\nh\ri \xf0\x9f\x98\x80 \xe2\x82\xac]]>";
    struct sb         b = sb_in(&a, 0);
    struct err        e;
    struct block_doc  doc;

    sb_adds(&b, "<thread_context thread=\"");
    CHECK(sb_add_xml(&b, sv_of(nasty), &e) == ST_OK);
    sb_adds(&b, "\" objective=\"o\"></thread_context>");
    CHECK(block_parse(sb_sv(&b), &a, &doc, &e) == ST_OK);
    CHECK_SV(doc.thread, sv_of(nasty));
    CHECK(sb_add_xml(&b, SV("\x01"), &e) == ST_INVALID_SYNTAX);
    CHECK(sb_add_xml(&b, SV("\xff"), &e) == ST_INVALID_SYNTAX);
    CHECK(sb_add_xml(&b, SV("\xef\xbf\xbe"), &e) == ST_INVALID_SYNTAX);
}

static void a_block_is_found_inside_a_message(void)
{
    struct block_doc doc;
    struct err       e;

    CHECK(block_parse(SV("Hello <thread_contexts> & co\n<thread_context thread=\"t\" "
                         "objective='o'>\n<!-- c -->\n<asset type=\"plan\" path=\"p\"/>"
                         "<ref thread=\"r\"><asset type=\"design\" path=\"d/\" /></ref>"
                         "</thread_context>\n\nDo <it> & more"),
                      &a, &doc, &e) == ST_OK);
    CHECK_SV(doc.thread, SV("t"));
    CHECK(!doc.relations_file.s);
    CHECK_INT(doc.assets.n, 1);
    CHECK_INT(doc.refs.n, 1);
    CHECK_SV(doc.refs.v[0].assets.v[0].path, SV("d/"));
    CHECK_SV(doc.rest, SV("\n\nDo <it> & more"));
}

static void tricks_with_entities_are_refused(void)
{
    struct block_doc doc;
    struct err       e;

    CHECK(block_parse(SV("<!DOCTYPE x [<!ENTITY a \"aaaa\">]><thread_context thread=\"&a;\" "
                         "objective=\"o\"/>"),
                      &a, &doc, &e) == ST_INVALID_SYNTAX);
    CHECK(block_parse(SV("<thread_context thread=\"&a;\" objective=\"o\"/>"), &a, &doc, &e) ==
          ST_INVALID_SYNTAX);
    CHECK(block_parse(SV("<thread_context thread=\"t\" objective=\"o\">"), &a, &doc, &e) ==
          ST_INVALID_SYNTAX);
    CHECK(block_parse(SV("<thread_context thread=\"t\"/>"), &a, &doc, &e) == ST_INVALID_SYNTAX);
    CHECK(block_parse(SV("no block here"), &a, &doc, &e) == ST_NOT_FOUND);
    CHECK(block_parse(SV("<thread_context thread=\"t\" objective=\"o\"><ref thread=\"r\"><ref "
                         "thread=\"q\"/></ref></thread_context>"),
                      &a, &doc, &e) == ST_INVALID_SYNTAX);
}

/* ---- records ------------------------------------------------------------------------------- */

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define REF "\"from\":\"a\",\"target\":\"b\",\"ref_id\":\"r\""

static bool passes(const char *payload)
{
    struct err  e;
    struct json v;

    if (json_parse(sv_of(payload), 0, &a, &v, &e))
        return false;
    return operation_check(&v, &a, &e) == ST_OK;
}

static void records_of_ours_pass_the_check(void)
{
    CHECK(passes("{\"operation\":\"spawn\",\"thread_id\":\"t\",\"objective\":\"o\","
                 "\"intent\":\"i\",\"parent_id\":null,\"tags\":\"[]\"}"));
    CHECK(passes("{\"operation\":\"reference\"," REF ",\"binding\":\"frozen\",\"scope\":[\"a/b\"],"
                 "\"gone\":[\"x\"],\"gone_hashes\":[\"" HEX "\"],\"files\":[{\"name\":\"p\","
                 "\"source\":\"p\",\"place\":\"p\",\"hash\":\"" HEX "\",\"size\":1}]}"));
    CHECK(passes("{\"operation\":\"reference\"," REF ",\"binding\":\"live\",\"files\":["
                 "{\"name\":\"/\",\"source\":\"\",\"place\":\"b/\",\"size\":0}]}"));
    CHECK(passes("{\"operation\":\"transfer\",\"thread_id\":\"t\",\"scope\":[\"../any word\"]}"));
    CHECK(passes("{\"operation\":\"merge\",\"target\":\"t\",\"files\":[{\"path\":\"a\\\\b\","
                 "\"before\":null,\"after\":\"" HEX "\"}]}"));
    CHECK(passes("{\"operation\":\"import\",\"what\":\"operation\",\"record\":\"5\"}"));
}

/* A record with `value` where it has @. */
static const char *with(const char *record, const char *value)
{
    struct sv_cut c = sv_cut(sv_of(record), '@');
    struct sb     b = sb_in(&a, 0);

    sb_addf(&b, SV_FMT "%s" SV_FMT, SV_ARG(c.head), value, SV_ARG(c.tail));
    return sb_sv(&b).s;
}

/* Each is a record of ours with one field changed. */
static void a_record_with_one_bad_field_fails_the_check(void)
{
    static const char *const bad_hashes[] = { "",
                                              "../../src",
                                              "../checkpoint.key",
                                              "ab",
                                              HEX "0",
                                              "0" HEX,
                                              "/etc",
                                              "0123456789ABCDEF0123456789abcdef0123456789abcdef0123"
                                              "456789abcdef" };
    static const char *const bad_paths[] = {
        "..", "../x", "/etc", "a/../../b", "a//b", "./a", "a/"
    };
    static const char *const hashes[] = {
        "{\"operation\":\"reference\"," REF ",\"gone_hashes\":[\"@\"]}",
        "{\"operation\":\"transcript\",\"thread_id\":\"t\",\"name\":\"n.txt\",\"hash\":\"@\"}",
        "{\"operation\":\"merge\",\"target\":\"t\",\"files\":[{\"path\":\"p\",\"after\":\"@\"}]}",
        "{\"operation\":\"reference\"," REF ",\"binding\":\"frozen\",\"files\":[{\"name\":\"p\","
        "\"source\":\"p\",\"place\":\"p\",\"hash\":\"@\"}]}",
    };
    static const char *const paths[] = {
        "{\"operation\":\"reference\"," REF ",\"gone\":[\"@\"]}",
        "{\"operation\":\"reference\"," REF ",\"binding\":\"live\",\"scope\":[\"@\"]}",
        "{\"operation\":\"merge\",\"target\":\"t\",\"files\":[{\"path\":\"@\",\"after\":\"" HEX
        "\"}]}",
        "{\"operation\":\"reference\"," REF ",\"binding\":\"frozen\",\"files\":[{\"name\":\"p\","
        "\"source\":\"p\",\"place\":\"@\",\"hash\":\"" HEX "\"}]}",
        "{\"operation\":\"spawn\",\"thread_id\":\"t\",\"objective\":\"o\",\"intent\":\"i\","
        "\"inherited\":{" REF ",\"binding\":\"frozen\",\"files\":[{\"name\":\"p\",\"source\":\"@\","
        "\"place\":\"p\",\"hash\":\"" HEX "\"}]}}",
    };
    static const char *const others[] = {
        "{\"operation\":\"spawn\",\"thread_id\":\"../x\",\"objective\":\"o\",\"intent\":\"i\"}",
        "{\"operation\":\"spawn\",\"thread_id\":7,\"objective\":\"o\",\"intent\":\"i\"}",
        "{\"operation\":\"spawn\",\"objective\":\"o\",\"intent\":\"i\"}",
        "{\"operation\":\"merge\",\"target\":\"t\",\"files\":[{\"path\":\"context/"
        "x\",\"after\":\"" HEX "\"}]}",
        "{\"operation\":\"merge\",\"target\":\"t\",\"files\":{}}",
        "{\"operation\":\"reference\",\"from\":\"a\",\"target\":\"../b\"}",
        "{\"operation\":\"reference\"," REF ",\"binding\":\"both\"}",
        "{\"operation\":\"import\",\"what\":\"bad\",\"section\":\"thread/a\",\"key\":\"k\"}",
        "[]",
    };
    for (size_t i = 0; i < COUNT(hashes); i++)
        for (size_t k = 0; k < COUNT(bad_hashes); k++)
            CHECK(!passes(with(hashes[i], bad_hashes[k])));
    for (size_t i = 0; i < COUNT(paths); i++)
        for (size_t k = 0; k < COUNT(bad_paths); k++)
            CHECK(!passes(with(paths[i], bad_paths[k])));
    for (size_t i = 0; i < COUNT(others); i++)
        CHECK(!passes(others[i]));
}

TAP_MAIN(T(the_table_of_states_is_the_published_one), T(a_transfer_revives_nothing_that_has_ended),
         T(an_id_from_a_title_is_words_and_dashes), T(every_id_from_a_title_is_allowed),
         T(pending_is_read_as_active), T(slugs_and_cuts_are_upstreams),
         T(actors_are_of_three_kinds), T(the_guide_is_made_appended_and_idempotent),
         T(the_guide_is_replaced_between_its_tags_only), T(another_major_version_asks_first),
         T(changes_in_different_places_merge_cleanly), T(the_same_line_changed_twice_is_a_conflict),
         T(merging_with_an_unchanged_side_gives_the_other),
         T(what_is_written_as_an_attribute_is_read_back), T(a_block_is_found_inside_a_message),
         T(tricks_with_entities_are_refused), T(records_of_ours_pass_the_check),
         T(a_record_with_one_bad_field_fails_the_check), )
