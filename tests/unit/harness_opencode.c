/* Sessions of opencode, from its database and from the directories that it had before: both are
 * made here as opencode 1.18 and 1.0 make them, and random sessions must show what was said. */
#include "fresh.h"
#include "harness_test.h"
#include "store/store_internal.h" /* fault_arm() */

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { SEEDS = 60 };

static struct fresh folder;
static sqlite3     *db;      /* NULL: files */
static int          created; /* counts up: times and ids */

/* ---- a store
 * ------------------------------------------------------------------------------------- */

static const char *text_of(const char *fmt, ...) PRINTF(1, 2);
static const char *text_of(const char *fmt, ...)
{
    struct sb b = sb_in(&h.a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    return sb_sv(&b).s;
}

static void sql(const char *statement)
{
    char *why = NULL;

    if (sqlite3_exec(db, statement, NULL, NULL, &why) != SQLITE_OK) {
        FAIL("sql");
        printf("# %s: %s\n", statement, why);
    }
    sqlite3_free(why);
}

static void write_file(const char *path, const char *text)
{
    char dir[1000], whole[1000];

    snprintf(whole, sizeof whole, "%s/%s", folder.path, path);
    for (char *slash = strchr(whole + strlen(folder.path) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        snprintf(dir, sizeof dir, "%.*s", (int)(slash - whole), whole);
        mkdir(dir, 0700);
    }
    int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void begin(bool with_db)
{
    folder = fresh_folder();
    created = 1000;
    db = NULL;
    if (!with_db)
        return;
    CHECK(sqlite3_open(text_of("%s/opencode.db", folder.path), &db) == SQLITE_OK);
    sql("PRAGMA journal_mode=WAL");
    sql("PRAGMA synchronous=OFF");
    sql("CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT,"
        "title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER, revert TEXT)");
    sql("CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data "
        "TEXT)");
    sql("CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)");
}

static void end(void)
{
    sqlite3_close(db);
    db = NULL;
    fresh_done(&folder);
}

static void session(const char *id, const char *parent)
{
    if (db)
        sql(text_of("INSERT INTO session VALUES('%s','p',%s,'/w','T %s','1.18',%d,%d,NULL)", id,
                    parent ? text_of("'%s'", parent) : "NULL", id, created, created));
    else
        write_file(
            text_of("session/p/%s.json", id),
            text_of("{\"id\":\"%s\",\"version\":\"1.0\",\"projectID\":\"p\",\"directory\":\"/w\","
                    "\"title\":\"T %s\",\"time\":{\"created\":%d,\"updated\":%d}%s}",
                    id, id, created, created,
                    parent ? text_of(",\"parentID\":\"%s\"", parent) : ""));
    created++;
}

static void put_message(const char *session_id, const char *id, const char *data)
{
    if (db)
        sql(text_of("INSERT OR REPLACE INTO message VALUES('%s','%s',%d,'{%s}')", id, session_id,
                    created, data));
    else
        write_file(text_of("message/%s/%s.json", session_id, id),
                   text_of("{\"id\":\"%s\",\"sessionID\":\"%s\",%s}", id, session_id, data));
}

static void put_part(const char *session_id, const char *message, const char *id, const char *data)
{
    if (db)
        sql(text_of("INSERT OR REPLACE INTO part VALUES('%s','%s','%s','{%s}')", id, message,
                    session_id, data));
    else
        write_file(text_of("part/%s/%s.json", message, id),
                   text_of("{\"id\":\"%s\",\"messageID\":\"%s\",%s}", id, message, data));
}

static const char *new_id(const char *prefix)
{
    return text_of("%s_%08d", prefix, created++);
}

/* A message of the user; its id. `at` is when it was said: of a copy, when the original was. */
static const char *user_at(const char *session_id, const char *text, int at)
{
    const char *id = new_id("msg");

    put_message(session_id, id, text_of("\"role\":\"user\",\"time\":{\"created\":%d}", at));
    put_part(session_id, id, new_id("prt"), text_of("\"type\":\"text\",\"text\":\"%s\"", text));
    return id;
}
#define user(session_id, text) user_at(session_id, text, created)

static const char *answer_at(const char *session_id, const char *text, const char *more, int at)
{
    const char *id = new_id("msg");

    put_message(
        session_id, id,
        text_of("\"role\":\"assistant\",\"modelID\":\"m\",\"cost\":0.25,\"tokens\":{\"input\":7,"
                "\"output\":2,\"reasoning\":1,\"cache\":{\"read\":3,\"write\":0}},\"time\":{"
                "\"created\":%d,\"completed\":%d}%s",
                at, at + 1, more));
    put_part(session_id, id, new_id("prt"), "\"type\":\"step-start\"");
    if (text)
        put_part(session_id, id, new_id("prt"), text_of("\"type\":\"text\",\"text\":\"%s\"", text));
    return id;
}
#define answer(session_id, text) answer_at(session_id, text, "", created)

static void tool(const char *session_id, const char *message, const char *call, const char *state)
{
    put_part(session_id, message, new_id("prt"),
             text_of("\"type\":\"tool\",\"tool\":\"read\",\"callID\":\"%s\",\"state\":{%s}", call,
                     state));
}

static void drop(const char *session_id, const char *message)
{
    if (db) {
        sql(text_of("DELETE FROM message WHERE id='%s'", message));
        sql(text_of("DELETE FROM part WHERE message_id='%s'", message));
        return;
    }
    unlink(text_of("%s/message/%s/%s.json", folder.path, session_id, message));
}

/* ---- importing it
 * --------------------------------------------------------------------------------- */

static enum status take_session(const char *id)
{
    enum status s;

    close(h.fd);
    h.fd = open(db ? text_of("%s/opencode.db", folder.path) : "/dev/null", O_RDONLY | O_CLOEXEC);
    h.dir = db ? -1 : open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    h.session = sv_of(id);
    s = take_status(HARNESS_OPENCODE);
    if (h.dir >= 0)
        close(h.dir);
    h.dir = -1;
    return s;
}

/* A log that is empty, in place of the one so far. */
static void another_log(const char *url)
{
    store_close(h.s);
    OK(store_open(sv_of(url), &(struct store_options){ .create = true }, &h.s, &h.e));
    h.l = log_of(h.s, harness_test_views);
}

/* Each test for the database and for the files. */
static void both(void (*test)(void))
{
    for (int i = 0; i < 2; i++) {
        harness_end();
        harness_begin();
        begin(i == 0);
        test();
        end();
    }
}

/* ---- tests
 * ------------------------------------------------------------------------------------------- */

static void said(void)
{
    session("ses_one1", NULL);
    user("ses_one1", "Q");
    const char *a = answer("ses_one1", "A");
    tool("ses_one1", a, "c1", "\"status\":\"completed\",\"input\":{\"p\":1},\"output\":\"R\"");
    tool("ses_one1", a, "c2", "\"status\":\"error\",\"input\":{},\"error\":\"no\"");
    answer("ses_one1", "B");
    OK(take_session("ses_one1"));
    CHECK_SV(h.report.thread, SV("opencode-ses_one1"));
    CHECK_SV(h.report.title, SV("T ses_one1"));
    CHECK_SV(shown("default"), SV("u:Q a:A→c1→c2 t:R=c1 t:no=c2 a:B"));
    const struct harness_state *s = state_of(HARNESS_OPENCODE, "");
    CHECK_INT(s->total.input, 14);
    CHECK_INT(s->total.output, 6);
    CHECK_INT(s->total.cost, 500000000);
    CHECK_SV(s->cwd, SV("/w"));
    int64_t rev = rev_of("opencode-ses_one1");
    OK(take_session("ses_one1"));
    CHECK_INT(rev_of("opencode-ses_one1"), rev);
    check_log(h.report.thread);
}
static void messages_calls_and_results_are_imported_once(void)
{
    both(said);
}

static void unfinished(void)
{
    session("ses_one1", NULL);
    user("ses_one1", "Q");
    const char *id = new_id("msg");
    put_message("ses_one1", id,
                text_of("\"role\":\"assistant\",\"time\":{\"created\":%d}", created));
    OK(take_session("ses_one1"));
    CHECK_SV(shown("default"), SV("u:Q"));
    CHECK(has_note("still being written"));
    int64_t rev = rev_of("opencode-ses_one1");
    OK(take_session("ses_one1"));
    CHECK_INT(rev_of("opencode-ses_one1"), rev);
    put_message("ses_one1", id,
                text_of("\"role\":\"assistant\",\"time\":{\"created\":%d,\"completed\":%d}",
                        created, created));
    put_part("ses_one1", id, new_id("prt"), "\"type\":\"text\",\"text\":\"A\"");
    OK(take_session("ses_one1"));
    CHECK_SV(shown("default"), SV("u:Q a:A"));
}
static void an_answer_that_is_being_written_waits(void)
{
    both(unfinished);
}

static void reverted(void)
{
    session("ses_one1", NULL);
    user("ses_one1", "Q1");
    answer("ses_one1", "A1");
    const char *q2 = user("ses_one1", "Q2"), *a2 = answer("ses_one1", "A2");
    OK(take_session("ses_one1"));
    drop("ses_one1", q2);
    drop("ses_one1", a2);
    user("ses_one1", "Q3");
    OK(take_session("ses_one1"));
    CHECK_SV(shown("default"), SV("u:Q1 a:A1 u:Q2 a:A2"));
    const char *lane = sv_cstr(active_in("opencode-ses_one1", "default"), &h.a);
    CHECK_SV(shown(lane), SV("u:Q1 a:A1 u:Q3"));
    answer("ses_one1", "A3");
    OK(take_session("ses_one1"));
    CHECK_SV(shown(lane), SV("u:Q1 a:A1 u:Q3 a:A3"));
    check_log(h.report.thread);
}
static void what_was_reverted_stays_as_a_branch(void)
{
    both(reverted);
}

static void forked(void)
{
    session("ses_one1", NULL);
    int at = created;
    user_at("ses_one1", "Q1", at);
    const char *a1 = answer_at("ses_one1", "A1", "", at + 1);
    tool("ses_one1", a1, "c1", "\"status\":\"completed\",\"input\":{},\"output\":\"R\"");
    user_at("ses_one1", "Q2", at + 2);
    OK(take_session("ses_one1"));
    session("ses_two2", NULL); /* copies under new ids, older than the session */
    user_at("ses_two2", "Q1", at);
    const char *b1 = answer_at("ses_two2", "A1", "", at + 1);
    tool("ses_two2", b1, "c1", "\"status\":\"completed\",\"input\":{},\"output\":\"R\"");
    user("ses_two2", "Q9");
    OK(take_session("ses_two2"));
    CHECK_SV(h.report.thread, SV("opencode-ses_one1"));
    CHECK_SV(shown("opencode-ses_two2"), SV("u:Q1 a:A1→c1 t:R=c1 u:Q9"));
    CHECK_SV(shown("default"), SV("u:Q1 a:A1→c1 t:R=c1 u:Q2"));
    session("ses_three3", NULL); /* a fork of the fork */
    user_at("ses_three3", "Q1", at);
    const char *c1 = answer_at("ses_three3", "A1", "", at + 1);
    tool("ses_three3", c1, "c1", "\"status\":\"completed\",\"input\":{},\"output\":\"R\"");
    user("ses_three3", "Q10");
    OK(take_session("ses_three3"));
    CHECK_SV(h.report.thread, SV("opencode-ses_one1"));
    CHECK_SV(shown(sv_cstr(h.report.lane, &h.a)), SV("u:Q1 a:A1→c1 t:R=c1 u:Q10"));
    check_log(h.report.thread);
}
static void a_fork_is_known_by_the_times_of_its_messages(void)
{
    both(forked);
}

static void agents(void)
{
    session("ses_one1", NULL);
    user("ses_one1", "Q");
    const char *a = answer("ses_one1", "A");
    tool("ses_one1", a, "c1",
         "\"status\":\"completed\",\"input\":{},\"output\":\"R\",\"metadata\":{\"sessionId\":\"ses_"
         "sub2\"}");
    session("ses_sub2", "ses_one1");
    user("ses_sub2", "look");
    answer("ses_sub2", "seen");
    OK(take_session("ses_one1"));
    OK(take_session("ses_sub2"));
    CHECK_SV(h.report.thread, SV("opencode-ses_one1"));
    CHECK_SV(shown("agent-ses_sub2"), SV("u:look a:seen"));
    struct loom  l = { .log = &h.l, .thread = h.report.thread, .a = &h.a };
    struct node  call, first;
    struct node *roots;
    size_t       n;
    h.l.wanted = &loom_view;
    OK(log_begin(&h.l, l.thread, STORE_READ, &h.e));
    OK(node_find(&l, sv_of(a), &call, &h.e));
    OK(loom_roots(&l, 5, &roots, &n, &h.e));
    OK(loom_lane_tip(&l, SV("agent-ses_sub2"), &first, &(bool){ false }, &h.e));
    OK(node_ancestor(&l, &first, call.depth, &first, &h.e));
    log_abort(&h.l);
    CHECK_INT((int64_t)n, 1);
    CHECK_INT(first.seq, call.seq);
}
static void a_sub_agent_hangs_on_the_call_that_started_it(void)
{
    both(agents);
}

static void compacted(void)
{
    session("ses_one1", NULL);
    user("ses_one1", "Q1");
    answer("ses_one1", "A1");
    const char *ask = new_id("msg");
    put_message("ses_one1", ask, text_of("\"role\":\"user\",\"time\":{\"created\":%d}", created));
    put_part("ses_one1", ask, new_id("prt"), "\"type\":\"compaction\",\"auto\":true");
    answer_at("ses_one1", "SUM", ",\"summary\":true,\"mode\":\"compaction\"", created);
    user("ses_one1", "Q2");
    OK(take_session("ses_one1"));
    CHECK_SV(shown("default"), SV("u:What did we do so far? a:SUM u:Q2"));
    CHECK_INT(h.report.compactions, 1);
}
static void a_compaction_begins_with_its_question_and_its_summary(void)
{
    both(compacted);
}

static void data_that_cannot_be_read_is_kept_and_the_rest_is_imported(void)
{
    begin(true);
    session("ses_one1", NULL);
    user("ses_one1", "Q");
    sql("INSERT INTO message VALUES('msg_0000x','ses_one1',5000,'not json')");
    sql("INSERT INTO message VALUES('msg_0000y','ses_one1',5001,NULL)");
    created = 6000;
    answer("ses_one1", "A");
    OK(take_session("ses_one1"));
    CHECK_SV(shown("default"), SV("u:Q a:A"));
    CHECK(h.report.notes.n > 0);
    CHECK_INT(take_session("ses_none"), ST_NOT_FOUND);
    end();
}

static void a_file_that_is_not_a_database_is_refused(void)
{
    begin(false);
    write_file("opencode.db", "hello, this is not a database at all");
    h.session = SV("ses_one1");
    close(h.fd);
    h.fd = open(text_of("%s/opencode.db", folder.path), O_RDONLY | O_CLOEXEC);
    CHECK_INT(take_status(HARNESS_OPENCODE), ST_INVALID_SYNTAX);
    end();
}

/* The k-th call of the store fails while a fork is read whose origin is there already. */
static bool fork_fails_at(int64_t k)
{
    bool fails;

    another_log("fault:0:mem:");
    OK(take_session("ses_one1"));
    fault_arm(h.s, k);
    fails = take_session("ses_two2") != ST_OK;
    CHECK(fails == (fault_calls(h.s) >= k));
    CHECK(!fails || sv_is(sv_of(h.e.reason), "fault"));
    fault_arm(h.s, 0);
    OK(take_session("ses_two2"));
    CHECK_SV(shown(sv_cstr(h.report.lane, &h.a)), SV("u:Q a:A u:F"));
    CHECK_SV(shown("default"), SV("u:Q a:A u:O"));
    check_log(h.report.thread);
    return fails;
}

static void failing(void)
{
    int     q_at, a_at;
    int64_t k = 1;

    session("ses_one1", NULL);
    q_at = created;
    user_at("ses_one1", "Q", q_at);
    a_at = created;
    answer_at("ses_one1", "A", "", a_at);
    user("ses_one1", "O");
    session("ses_two2", NULL);
    user_at("ses_two2", "Q", q_at);
    answer_at("ses_two2", "A", "", a_at);
    user("ses_two2", "F");
    while (!tap_failures && fork_fails_at(k))
        k++;
    CHECK(k > 10);
    if (tap_failures)
        printf("# call %lld\n", (long long)k);
}
static void a_store_that_fails_loses_nothing_and_doubles_nothing(void)
{
    both(failing);
}

/* ---- chance
 * -------------------------------------------------------------------------------------------- */

static uint64_t chance;

static unsigned pick(unsigned n)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33) % n;
}

struct told {
    const char *id, *shown;
};

static struct told random_message(int i)
{
    bool is_user = pick(3) == 0;
    if (is_user)
        return (struct told){ user("ses_one1", text_of("w%d", i)), text_of("u:w%d", i) };
    const char *id = answer("ses_one1", text_of("w%d", i));
    struct sb   shown = sb_in(&h.a, 0), results = sb_in(&h.a, 0);
    int         calls = (int)pick(3);
    sb_addf(&shown, "a:w%d", i);
    for (int k = 0; k < calls; k++) {
        tool("ses_one1", id, text_of("c%d.%d", i, k),
             "\"status\":\"completed\",\"input\":{},\"output\":\"R\"");
        sb_addf(&shown, "→c%d.%d", i, k);
        sb_addf(&results, " t:R=c%d.%d", i, k);
    }
    sb_add(&shown, sb_sv(&results));
    return (struct told){ id, sb_sv(&shown).s };
}

static void random_session(void)
{
    struct told list[60];
    int         n = 0;

    session("ses_one1", NULL);
    for (int i = 0; i < 40; i++) {
        if (n && pick(6) == 0) /* go back, and say something else */
            for (int back = 1 + (int)pick(4); back > 0 && n; back--)
                drop("ses_one1", list[--n].id);
        list[n++] = random_message(i);
        if (pick(3) && i < 39)
            continue;
        OK(take_session("ses_one1"));
        struct sb want = sb_in(&h.a, 0);
        for (int k = 0; k < n; k++)
            sb_addf(&want, "%s%s", k ? " " : "", list[k].shown);
        const char *thread = sv_cstr(h.report.thread, &h.a);
        CHECK_SV(shown(sv_cstr(active_in(thread, "default"), &h.a)), sb_sv(&want));
    }
    check_log(h.report.thread);
}

static void random_sessions_show_what_was_said(void)
{
    for (uint64_t seed = 1; seed <= SEEDS && !tap_failures; seed++) {
        harness_end();
        harness_begin();
        chance = seed * 977;
        begin(seed % 4 != 0);
        random_session();
        end();
        if (tap_failures)
            printf("# seed %llu\n", (unsigned long long)seed);
    }
}

HARNESS_MAIN(T(messages_calls_and_results_are_imported_once),
             T(an_answer_that_is_being_written_waits), T(what_was_reverted_stays_as_a_branch),
             T(a_fork_is_known_by_the_times_of_its_messages),
             T(a_sub_agent_hangs_on_the_call_that_started_it),
             T(a_compaction_begins_with_its_question_and_its_summary),
             T(data_that_cannot_be_read_is_kept_and_the_rest_is_imported),
             T(a_file_that_is_not_a_database_is_refused),
             T(a_store_that_fails_loses_nothing_and_doubles_nothing),
             T(random_sessions_show_what_was_said), )
