/* Transcripts of other programs: whatever a file holds, an import ends with a log that is sound,
 * and a second one adds nothing. Where sessions can be written, writing one, importing that and
 * writing it again gives the same bytes. */
#ifndef HEDDLE_HARNESS_FUZZ_H
#define HEDDLE_HARNESS_FUZZ_H

#include "harness/export.h"
#include "harness/harness_internal.h"
#include "loom/node.h"
#include "store/store.h"
#include "thread/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct view *const fuzz_views[] = { &thread_view, &loom_view, &harness_view, NULL };

struct fuzz_log {
    struct arena          a;
    struct store         *s;
    struct log            l;
    struct err            e;
    struct harness_report report;
};

static inline void fuzz_open(struct fuzz_log *f)
{
    memset(f, 0, sizeof *f);
    if (store_open(SV("mem:"), &(struct store_options){ .create = true }, &f->s, &f->e))
        abort();
    f->l = log_of(f->s, fuzz_views);
    f->l.wanted = &loom_view;
}

static inline void fuzz_close(struct fuzz_log *f)
{
    store_close(f->s);
    arena_free(&f->a);
}

static inline void fuzz_tell(void *ctx, struct sv finding)
{
    (void)ctx;
    printf(SV_FMT "\n", SV_ARG(finding));
    abort();
}

static inline int fuzz_file(struct sv bytes)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0 || write(fd, bytes.s, bytes.n) != (ssize_t)bytes.n)
        abort();
    return fd;
}

/* False: it is not a transcript. */
static inline bool fuzz_import(struct fuzz_log *f, enum harness which, int fd, int dir,
                               struct sv session)
{
    struct harness_source src = { .harness = which,
                                  .fd = fd,
                                  .dir = dir,
                                  .path = SV("/t"),
                                  .session = session,
                                  .actor = SV("ada"),
                                  .now = 1 };
    struct harness_limits limits = { 0 };

    harness_report_init(&f->report, &f->a);
    enum status s = harness_import(&f->l, &src, &limits, &f->report, &f->e);
    if (s && s != ST_INVALID_SYNTAX && s != ST_NOT_FOUND) {
        printf("%s\n", f->e.text);
        abort();
    }
    return s == ST_OK;
}

static inline void fuzz_check(struct fuzz_log *f, enum harness which, int fd, int dir,
                              struct sv session)
{
    struct log_findings to = { .damage = fuzz_tell, .ignored = fuzz_tell };
    struct sv           thread = f->report.thread;
    int64_t             entries, again;

    if (log_examine(&f->l, thread, &to, &entries, &f->e) ||
        !fuzz_import(f, which, fd, dir, session) ||
        log_examine(&f->l, thread, &to, &again, &f->e) || again != entries)
        abort();
}

/* The session as it is written. */
static inline struct sv fuzz_export(struct fuzz_log *f, enum harness which)
{
    struct harness_export   what = { .to = which,
                                     .thread = f->report.thread,
                                     .session = f->report.session };
    struct harness_exported done;
    struct sb               out = sb_in(&f->a, 0);

    if (log_begin(&f->l, what.thread, STORE_READ, &f->e) ||
        harness_export(&f->l, &what, &f->a, &out, &done, &f->e))
        abort();
    log_abort(&f->l);
    return sb_sv(&out);
}

static inline void fuzz_transcript(enum harness which, const uint8_t *data, size_t size)
{
    struct fuzz_log f, g;
    int             fd = fuzz_file((struct sv){ (const char *)data, size });

    fuzz_open(&f);
    if (fuzz_import(&f, which, fd, -1, (struct sv){ 0 })) {
        fuzz_check(&f, which, fd, -1, (struct sv){ 0 });
        if (harness_can_export(which) && !f.report.notes.n) {
            struct sv text = fuzz_export(&f, which);
            int       again = fuzz_file(text);
            fuzz_open(&g);
            if (text.n && fuzz_import(&g, which, again, -1, (struct sv){ 0 }) &&
                !sv_eq(fuzz_export(&g, which), text))
                abort();
            fuzz_close(&g);
            close(again);
        }
    }
    fuzz_close(&f);
    close(fd);
}

#endif
