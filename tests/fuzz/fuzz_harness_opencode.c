/* Sessions of opencode: the session, a message and two of its parts as files, one behind the other
 * with a NUL between them. */
#include "harness_fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(int dir, const char *path, struct sv text)
{
    int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, text.s, text.n) != (ssize_t)text.n)
        abort();
    close(fd);
}

/* One directory for all inputs: only the files change. */
static int storage(void)
{
    static int               dir = -1;
    static char              path[] = "/tmp/heddle-fuzz-opencode.XXXXXX";
    static const char *const dirs[] = { "session",       "session/p", "message",
                                        "message/ses_f", "part",      "part/msg_1" };

    if (dir >= 0)
        return dir;
    if (!mkdtemp(path) || (dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        abort();
    for (size_t i = 0; i < COUNT(dirs); i++)
        if (mkdirat(dir, dirs[i], 0700))
            abort();
    return dir;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const files[] = { "session/p/ses_f.json", "message/ses_f/msg_1.json",
                                         "part/msg_1/prt_1.json", "part/msg_1/prt_2.json" };
    struct sv_cut            cut = { .tail = { (const char *)data, size }, .found = true };
    struct fuzz_log          f;
    int                      dir = storage();

    for (size_t i = 0; i < COUNT(files); i++) {
        cut = sv_cut(cut.tail, '\0');
        put(dir, files[i], cut.head);
    }
    put(dir, "message/ses_f/msg_2.json",
        SV("{\"id\":\"msg_2\",\"role\":\"user\",\"time\":{\"created\":5}}"));
    fuzz_open(&f);
    if (fuzz_import(&f, HARNESS_OPENCODE, -1, dir, SV("ses_f")))
        fuzz_check(&f, HARNESS_OPENCODE, -1, dir, SV("ses_f"));
    fuzz_close(&f);
    return 0;
}
