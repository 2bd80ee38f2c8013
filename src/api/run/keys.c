/* Keys of checkpoint tokens: from the environment that the door hands in, or from a file. */
#include "api/run/keys.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/process.h"
#include "base/rand.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECRET_SIZE = 32 };

/* ---- the environment -------------------------------------------------------------------- */

static enum status bad_keys(struct err *e, const char *what)
{
    err_set(e, ST_INVALID_SYNTAX, KEYS_ENV ": %s", what);
    return err_hint(e, "it is kid:secret, or several with commas between them");
}

/* Never name the secret; the kid is not a secret, yet a mistyped one may be. */
static enum status check_pair(const struct token_key *k, const struct token_key *before, size_t n,
                              struct err *e)
{
    struct err ignored;

    if (name_check(k->kid, "key id", &ignored))
        return bad_keys(e, "a key id is not a name");
    if (sv_is(k->secret, "jido_ai_react_default_secret_change_me")) {
        bad_keys(e, "the old default secret is known to everybody");
        return err_hint(e, "make one of your own: head -c 32 /dev/urandom | base64");
    }
    if (sv_trim(k->secret).n < TOKEN_SECRET_MIN) {
        err_set(e, ST_INVALID_SYNTAX, KEYS_ENV ": a secret is shorter than %d bytes",
                TOKEN_SECRET_MIN);
        return err_hint(e, "make one that cannot be guessed: head -c 32 /dev/urandom | base64");
    }
    for (size_t i = 0; i < n; i++)
        if (sv_eq(before[i].kid, k->kid))
            return bad_keys(e, "two keys have the same id");
    return ST_OK;
}

enum status keys_parse(struct sv text, struct arena *a, struct checkpoint_keys *out, struct err *e)
{
    struct token_key *keys = ARENA_NEW(a, struct token_key, TOKEN_KEYS_MAX);
    struct sv_cut     item = { .tail = text, .found = true };
    size_t            n = 0;

    while (item.found) {
        item = sv_cut(item.tail, ',');
        struct sv_cut pair = sv_cut(sv_trim(item.head), ':');
        if (!pair.found)
            return bad_keys(e, "a key has no colon between its id and its secret");
        if (n == TOKEN_KEYS_MAX)
            return err_set(e, ST_LIMIT_EXCEEDED, KEYS_ENV ": more than %d keys", TOKEN_KEYS_MAX);
        keys[n] = (struct token_key){ pair.head, pair.tail };
        if (check_pair(&keys[n], keys, n, e))
            return err_code(e);
        n++;
    }
    *out = (struct checkpoint_keys){ keys, n };
    return ST_OK;
}

/* ---- the file ----------------------------------------------------------------------------- */

static struct sv kid_of(struct sv secret, struct arena *a)
{
    struct sv   parts[] = { SV("heddle checkpoint: key id"), secret };
    struct hash h = hash_blake2b(parts, COUNT(parts));
    struct sb   b = sb_in(a, 0);

    sb_addc(&b, 'k');
    sb_add_hex(&b, h.b, 8);
    return sb_sv(&b);
}

static enum status read_file(struct request *r, struct checkpoint_keys *out, bool *found,
                             struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    struct sv         secret;
    enum status       s = fs_open(r->ws->root_fd, SV(KEYS_FILE), O_RDONLY | O_NOFOLLOW, &fd, e);

    *found = s == ST_OK;
    if (s == ST_NOT_FOUND)
        return ST_OK;
    if (s || fs_read_fd(fd, SECRET_SIZE, r->a, &secret, e))
        return err_in(e, KEYS_FILE);
    if (secret.n != SECRET_SIZE) {
        err_set(e, ST_CORRUPT, KEYS_FILE " does not hold %d bytes", SECRET_SIZE);
        return err_hint(e, "move it away: a new key is made, and tokens of the old one are void");
    }
    if (fstat(fd, &st) == 0 && (st.st_mode & 077))
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                     KEYS_FILE " can be read by others: chmod 600 " KEYS_FILE);
    struct token_key *key = ARENA_NEW(r->a, struct token_key, 1);
    *key = (struct token_key){ kid_of(secret, r->a), secret };
    *out = (struct checkpoint_keys){ key, 1 };
    return ST_OK;
}

/* Written whole under another name, then linked: of two processes that make the key at once one
 * succeeds, and the other uses that key. */
static enum status make_file(struct request *r, struct err *e)
{
    UNDO(fd_undo) int dir = -1;
    unsigned char     secret[SECRET_SIZE];
    struct sv         name = rand_id("checkpoint.key.", 12, r->a);
    struct sv         path = path_join(SV(".heddle"), name, r->a);

    /* Never from HEDDLE_SEED: a key that can be drawn again is not a key. */
    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        return err_errno(e, "random bytes");
    if (fs_mkdirs(r->ws->root_fd, SV(".heddle"), e) ||
        fs_write(r->ws->root_fd, path, (struct sv){ (char *)secret, sizeof secret }, 0600, e) ||
        fs_open(r->ws->root_fd, SV(".heddle"), O_RDONLY | O_DIRECTORY, &dir, e)) {
        err_in(e, KEYS_FILE);
        return err_hint(e, "or set " KEYS_ENV " to kid:secret");
    }
    int rc = linkat(dir, sv_cstr(name, r->a), dir, "checkpoint.key", 0);
    int saved = errno;
    unlinkat(dir, sv_cstr(name, r->a), 0);
    errno = saved;
    if (rc != 0 && saved != EEXIST && saved != ENOENT) /* ENOENT: two of the same HEDDLE_SEED */
        return err_errno(e, KEYS_FILE);
    return fsync(dir) == 0 ? ST_OK : err_errno(e, KEYS_FILE);
}

/* ---- both ------------------------------------------------------------------------------------ */

static enum status load(struct request *r, struct checkpoint_keys *out, bool *found, struct err *e)
{
    struct sv given = workspace_variable(r->ws, KEYS_ENV);

    *out = (struct checkpoint_keys){ 0 };
    process_hide(); /* from here on a secret is in memory */
    *found = sv_trim(given).n > 0;
    return *found ? keys_parse(given, r->a, out, e) : read_file(r, out, found, e);
}

enum status keys_for_verifying(struct request *r, struct checkpoint_keys *out, struct err *e)
{
    bool found;

    return load(r, out, &found, e);
}

enum status keys_for_signing(struct request *r, struct checkpoint_keys *out, struct err *e)
{
    bool found;

    if (load(r, out, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    if (make_file(r, e) || load(r, out, &found, e))
        return err_code(e);
    return found ? ST_OK : err_set(e, ST_IO, KEYS_FILE " vanished while it was made");
}
