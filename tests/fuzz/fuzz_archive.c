/* An archive: reading any bytes ends, gives no more of a file than its header says, and what is
 * whole is written again to something that reads the same. */
#include "api/care/archive.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool yes)
{
    if (!yes)
        abort();
}

/* Every file of it, written to `to` (-1: nowhere). False when it is damaged. */
static bool pass(int fd, int to)
{
    struct archive        in, out;
    struct archive_member m;
    struct err            e;
    char                  piece[1000];
    bool                  more = true, ok = archive_open(&in, fd, &e) == ST_OK;

    must(to < 0 || archive_begin(&out, to, false, &e) == ST_OK);
    while (ok && (ok = archive_next(&in, &m, &more, &e) == ST_OK) && more) {
        int64_t left = m.size;
        size_t  got = 1;
        must(m.size >= 0 && strlen(m.name) <= ARCHIVE_NAME_MAX);
        must(to < 0 || archive_file(&out, sv_of(m.name), m.size, 0, &e) == ST_OK);
        while (ok && left) {
            ok = archive_read(&in, piece, sizeof piece, &got, &e) == ST_OK;
            must(!ok || ((int64_t)got <= left && got > 0));
            left -= ok ? (int64_t)got : 0;
            must(!ok || to < 0 || archive_write(&out, (struct sv){ piece, got }, &e) == ST_OK);
        }
    }
    if (to >= 0 && ok)
        must(archive_end(&out, &e) == ST_OK);
    archive_close(&in);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("archive", MFD_CLOEXEC), again = memfd_create("again", MFD_CLOEXEC);

    must(fd >= 0 && again >= 0 && write(fd, data, size) == (ssize_t)size &&
         lseek(fd, 0, SEEK_SET) == 0);
    if (pass(fd, -1)) {
        must(lseek(fd, 0, SEEK_SET) == 0 && pass(fd, again));
        must(lseek(again, 0, SEEK_SET) == 0 && pass(again, -1));
    }
    close(fd);
    close(again);
    return 0;
}
