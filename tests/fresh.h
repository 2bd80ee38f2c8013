/* A fresh folder for a test, below TMPDIR; fresh_done() removes it with all it holds.
 *
 *     struct fresh f = fresh_folder();
 *     ... f.fd, f.path ...
 *     fresh_done(&f); */
#ifndef HEDDLE_FRESH_H
#define HEDDLE_FRESH_H

#include "base/fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fresh {
    char path[256];
    int  fd;
};

static inline struct fresh fresh_folder(void)
{
    struct fresh f = { .fd = -1 };
    const char  *base = getenv("TMPDIR");

    snprintf(f.path, sizeof f.path, "%.200s/heddle-unit-XXXXXX", base ? base : "/tmp");
    if (mkdtemp(f.path))
        f.fd = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f.fd < 0) {
        perror(f.path);
        exit(1);
    }
    return f;
}

static inline void fresh_done(struct fresh *f)
{
    struct arena a = { 0 };
    struct err   e;
    struct sv    path = sv_of(f->path);
    int          parent = open(sv_cstr(sv_cut_last(path, '/').head, &a), O_RDONLY | O_DIRECTORY);

    if (fs_remove(parent, sv_cut_last(path, '/').tail, &e))
        fprintf(stderr, "%s\n", e.text);
    close(parent);
    close(f->fd);
    arena_free(&a);
}

#endif
