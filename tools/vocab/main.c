/* vocab: the vocabulary's workshop.
 *
 *   vocab pack  NAME RANKS OUT          published ranks -> packed merge list
 *   vocab ranks MERGES OUT              and back
 *   vocab table MERGES CLASSES OUT      packed merge list -> the table that heddle maps */
#include "vocab.h"

#include "base/fs.h"
#include "base/path.h"

#include <stdio.h>

static enum status read_file(const char *path, struct arena *a, struct sv *out, struct err *e)
{
    UNDO(fd_undo) int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(e, "open %s", path);
    return fs_read_fd(fd, 0, a, out, e) ? err_in(e, "%s", path) : ST_OK;
}

static enum status write_file(const char *path, struct sv bytes, struct arena *a, struct err *e)
{
    struct sv         dir = path_dir(sv_of(path));
    UNDO(fd_undo) int fd = open(dir.n ? sv_cstr(dir, a) : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(e, "open the folder of %s", path);
    return fs_write(fd, path_base(sv_of(path)), bytes, 0644, e);
}

static enum status pack(char **args, struct arena *a, struct err *e)
{
    enum tokens_encoding enc;
    struct merges        m;
    struct sv            ranks;

    if (!tokens_encoding_find(sv_of(args[0]), &enc))
        return err_set(e, ST_USAGE, "unknown encoding %s", args[0]);
    if (read_file(args[1], a, &ranks, e) || merges_from_ranks(enc, ranks, a, &m, e))
        return err_in(e, "%s", args[1]);
    return write_file(args[2], merges_pack(&m, a), a, e);
}

static enum status ranks(char **args, struct arena *a, struct err *e)
{
    struct merges m;
    struct sv     packed;

    if (read_file(args[0], a, &packed, e) || merges_unpack(packed, a, &m, e))
        return err_in(e, "%s", args[0]);
    return write_file(args[1], merges_to_ranks(&m, a), a, e);
}

static enum status table(char **args, struct arena *a, struct err *e)
{
    struct merges m;
    struct sv     packed, classes, image;

    if (read_file(args[0], a, &packed, e) || merges_unpack(packed, a, &m, e))
        return err_in(e, "%s", args[0]);
    if (read_file(args[1], a, &classes, e) || table_make(&m, classes, a, &image, e))
        return err_in(e, "%s", args[1]);
    return write_file(args[2], image, a, e);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int         args;
        enum status (*run)(char **args, struct arena *a, struct err *e);
    } verbs[] = { { "pack", 3, pack }, { "ranks", 2, ranks }, { "table", 3, table } };
    struct arena a = { 0 };
    struct err   e = { 0 };

    for (size_t i = 0; i < COUNT(verbs); i++)
        if (argc == verbs[i].args + 2 && sv_is(sv_of(argv[1]), verbs[i].name)) {
            if (verbs[i].run(argv + 2, &a, &e))
                fprintf(stderr, "vocab: %s\n", e.text);
            arena_free(&a);
            return status_exit(e.code);
        }
    fputs("usage: vocab pack NAME RANKS OUT | ranks MERGES OUT | table MERGES CLASSES OUT\n",
          stderr);
    return 2;
}
