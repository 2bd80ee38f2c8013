/* Removes leftovers: files that a killed heddle process was writing, and content that no copy
 * needs. Both are removed only under the lock of share_begin(STORE_WRITE), when the effects of all
 * entries are on the disk, and only when they are older than an hour: what is younger may belong to
 * a process that is still at work. Content counts as needed while a frozen copy, or a reference
 * that can be taken up again, has its hash (the rows blob/). */
#include "share/share_internal.h"

#include "base/clock.h"
#include "base/path.h"
#include "share/asset.h"

#include <sys/stat.h>
#include <unistd.h>

enum { LEFTOVER_SECONDS = 3600 };

static bool is_old_file(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           clock_system_ms() / 1000 - st.st_mtim.tv_sec > LEFTOVER_SECONDS;
}

void collect_temporary(struct share *s, struct sv folder, struct sv name)
{
    UNDO(fd_undo) int dir = -1;
    struct err        ignored;

    if (!s->writing || !share_is_temporary(name) ||
        fs_open(s->root, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, &dir, &ignored))
        return;
    const char *file = sv_cstr(name, s->a);
    if (is_old_file(dir, file))
        unlinkat(dir, file, 0);
}

/* One directory of objects: `first` is the part of the hash that names it. */
static enum status collect_in(struct share *s, struct sv first, struct arena *a, struct err *e)
{
    UNDO(fd_undo) int dir = -1;
    struct sv         path = path_join(SV(".heddle/objects"), first, a), row;
    struct fs_item   *items;
    size_t            n;
    bool              found;

    if (fs_open(s->root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, &dir, e) ||
        fs_list(s->root, path, a, &items, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct sb   hash = sb_in(a, 0);
        const char *file = sv_cstr(items[i].name, a);
        sb_addf(&hash, SV_FMT SV_FMT, SV_ARG(first), SV_ARG(items[i].name));
        if (!share_is_temporary(items[i].name) && !share_hash_is_hex(sb_sv(&hash)))
            continue; /* not an object of heddle */
        if (share_row(s, key_of_name("blob", sb_sv(&hash), a), &row, &found, e))
            return err_code(e);
        if (!found && is_old_file(dir, file))
            unlinkat(dir, file, 0);
    }
    return ST_OK;
}

enum status collect_objects(struct share *s, struct err *e)
{
    UNDO(fd_undo) int dir = -1;
    struct arena      scratch = { 0 };
    struct fs_item   *items;
    size_t            n = 0;
    enum status       r =
        fs_open(s->root, SV(".heddle/objects"), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, &dir, e);

    if (r == ST_NOT_FOUND)
        return ST_OK;
    if (!r)
        r = fs_list(s->root, SV(".heddle/objects"), &scratch, &items, &n, e);
    for (size_t i = 0; i < n && !r; i++) {
        const char *name = sv_cstr(items[i].name, &scratch);
        if (items[i].kind == FS_DIR && items[i].name.n == 2)
            r = collect_in(s, items[i].name, &scratch, e);
        else if ((share_is_temporary(items[i].name) || sv_starts(items[i].name, SV("new-"))) &&
                 is_old_file(dir, name))
            unlinkat(dir, name, 0);
    }
    arena_free(&scratch);
    return r;
}
