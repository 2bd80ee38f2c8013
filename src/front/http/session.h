/* Identifies callers: the page in a browser, the shell, or a program with a token.
 *
 * The page logs in with a link that works once, for SESSION_LINK_MS. It gets a cookie, which
 * scripts cannot read but which a browser also sends to other ports of the machine, and a secret,
 * which stays with the origin but which a script could read: every call needs both. The page may
 * draw the secret itself and keep it before it asks: then an answer that is lost (the page was
 * loaded again while it was on its way) can be asked for again with the same link and secret, and
 * is the same. The shell has a secret that lies in a file of the user. Nothing of this outlives the
 * server. Secrets are kept as hashes and compared in constant time. */
#ifndef HEDDLE_FRONT_SESSION_H
#define HEDDLE_FRONT_SESSION_H

#include "base/hash.h"

#include <pthread.h>

enum {
    SESSION_LINK_MS = 60 * 1000,
    SESSION_LINKS = 16,  /* that wait to be used; a further one ends the oldest */
    SESSION_PAGES = 256, /* browsers; the same */
    SESSION_SECRET = 43, /* bytes of a secret as text: 256 bits */
    SESSION_WRONG = 10,  /* wrong secrets a second */
};

struct serve_sessions {
    pthread_mutex_t lock;
    struct {
        struct hash key;
        int64_t     until_us; /* 0: free */
    } links[SESSION_LINKS];
    struct {
        struct hash cookie, secret;
        int64_t     since_us; /* 0: free */
    } pages[SESSION_PAGES];
    struct hash shell;
    char        seed[SESSION_SECRET + 1]; /* of this server: cookies are made from it */
    int64_t     wrong_us;                 /* of the second in which ... */
    int         wrong;                    /* ... this many secrets were wrong */
};

/* Draws a secret as text; always random bytes of the kernel, also when a seed is set. */
void session_draw(char out[SESSION_SECRET + 1]);

void session_init(struct serve_sessions *s, const char *shell);
void session_release(struct serve_sessions *s);

/* A new key for a link. */
void session_link(struct serve_sessions *s, char key[SESSION_SECRET + 1]);

/* Use a link: true once, and then there is a session with these two secrets. `given` is the page's
 * own secret of SESSION_SECRET bytes, or empty: then one is drawn. With the same link and the same
 * secret of the page it is true again within SESSION_LINK_MS, and the cookie is the same. */
bool session_enter(struct serve_sessions *s, struct sv key, struct sv given,
                   char cookie[SESSION_SECRET + 1], char secret[SESSION_SECRET + 1]);

bool session_has_page(struct serve_sessions *s, struct sv cookie, struct sv secret);
bool session_is_shell(const struct serve_sessions *s, struct sv secret);

/* A secret was wrong: false when there were too many of them in this second. */
bool session_may_err(struct serve_sessions *s);

#endif
