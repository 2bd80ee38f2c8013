/* Marks of a log: which entries have them, and that every part of a log gives one of each. */
#include "thread_test.h"

#include "thread/marks.h"

/* Every second one is a write, which is more than are read in one go. */
enum { ENTRIES = 9000 };

static void write_entries(void)
{
    struct entry *list = ARENA_NEW(&t.a, struct entry, ENTRIES);

    for (int i = 0; i < ENTRIES; i++)
        list[i] = (struct entry){
            .at = t.now++,
            .actor = SV("tester"),
            .lane = SV("default"),
            .kind = i % 2 ? SV("document_write") : SV("ai_message"),
            .payload = i % 2 ? SV("{\"agent\":\"a\",\"doc\":\"d\",\"path\":\"p\"}")
                             : SV("{\"content\":\"x\",\"role\":\"user\"}"),
        };
    OK(append_entries(THREAD, LOG_ANY_REV, list, ENTRIES));
}

static size_t marks(enum log_mark m, int64_t from, int64_t to, int64_t parts, bool last,
                    int64_t **out)
{
    struct log_mark_query q = {
        .thread = THREAD, .from = from, .to = to, .parts = parts, .last = last
    };
    size_t n = 0;

    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(log_marks(&t.l, &q, m, &t.a, out, &n, &t.e));
    log_abort(&t.l);
    return n;
}

/* The first or the last of each part, and nothing else: as a plain count has it. */
static void check_parts(int64_t from, int64_t to, int64_t parts, bool last)
{
    int64_t *seqs, width = (to - from + parts) / parts;
    size_t   n = marks(LOG_MARK_DOCUMENT, from, to, parts, last, &seqs), k = 0;

    for (int64_t at = from; at <= to; at += width) {
        int64_t end = at + width - 1 < to ? at + width - 1 : to;
        int64_t want = last ? end - (end % 2 == 0) : at + (at % 2 == 0);
        if (want < at || want > end)
            continue;
        CHECK(k < n && seqs[k] == want);
        k++;
    }
    CHECK(k == n);
}

static void every_part_gives_one(void)
{
    static const int64_t ranges[][3] = {
        { 0, ENTRIES - 1, 1000 }, { 0, ENTRIES - 1, 7 },  { 0, ENTRIES - 1, 1 },
        { 10, 8990, 1000 },       { 4000, 4100, 1000 },   { 4001, 4001, 1 },
        { 4000, 4000, 1 },        { 1, ENTRIES - 1, 13 },
    };

    write_entries();
    for (size_t i = 0; i < COUNT(ranges); i++) {
        check_parts(ranges[i][0], ranges[i][1], ranges[i][2], false);
        check_parts(ranges[i][0], ranges[i][1], ranges[i][2], true);
    }
}

static void an_empty_range_gives_none(void)
{
    int64_t *seqs;

    write_entries();
    CHECK(marks(LOG_MARK_DOCUMENT, 5, 4, 10, false, &seqs) == 0);
    CHECK(marks(LOG_MARK_FORK, 0, ENTRIES - 1, 1000, true, &seqs) == 0);
}

static size_t back(int64_t before, size_t max, int64_t **out)
{
    size_t n = 0;

    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(log_marks_back(&t.l, THREAD, LOG_MARK_DOCUMENT, before, max, &t.a, out, &n, &t.e));
    log_abort(&t.l);
    return n;
}

static void the_last_ones_come_newest_first(void)
{
    int64_t *seqs;

    write_entries();
    CHECK(back(100, 3, &seqs) == 3 && seqs[0] == 99 && seqs[1] == 97 && seqs[2] == 95);
    CHECK(back(99, 1, &seqs) == 1 && seqs[0] == 97);
    CHECK(back(1, 9, &seqs) == 0);
}

static void operations_and_runs_have_marks_of_their_own(void)
{
    static const enum log_mark want[] = { LOG_MARK_COMPACTION, LOG_MARK_REPLACE, LOG_MARK_SWITCH };
    int64_t                   *seqs;

    line("{\"kind\":\"ai_context_operation\",\"payload\":{\"op_id\":\"o1\",\"context_ref\":"
         "\"default\","
         "\"operation\":{\"type\":\"replace\",\"reason\":\"compaction\",\"result_context\":{\"id\":"
         "\"x\","
         "\"system_prompt\":null,\"entries\":[]}}}}");
    line("{\"kind\":\"ai_context_operation\",\"payload\":{\"op_id\":\"o2\",\"context_ref\":"
         "\"default\","
         "\"operation\":{\"type\":\"replace\",\"reason\":\"restore\",\"result_context\":{\"id\":"
         "\"x\","
         "\"system_prompt\":null,\"entries\":[]}}}}");
    line("{\"kind\":\"ai_context_operation\",\"payload\":{\"op_id\":\"o3\",\"context_ref\":"
         "\"default\","
         "\"operation\":{\"type\":\"switch\",\"reason\":\"manual\"}}}");
    for (size_t i = 0; i < COUNT(want); i++)
        CHECK(marks(want[i], 0, 9, 1, false, &seqs) == 1 && seqs[0] == (int64_t)i);
    CHECK(marks(LOG_MARK_RUN_STARTED, 0, 9, 1, false, &seqs) == 0);
}

THREAD_MAIN(T(every_part_gives_one), T(an_empty_range_gives_none),
            T(the_last_ones_come_newest_first), T(operations_and_runs_have_marks_of_their_own), )
