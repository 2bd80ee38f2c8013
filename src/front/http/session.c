/* Links, cookies and secrets of the server. */
#include "front/http/session.h"

#include "base/clock.h"
#include "base/rand.h"

#include <string.h>

static void write_secret(const void *raw, char out[SESSION_SECRET + 1])
{
    struct sb b = sb_on(out, SESSION_SECRET + 1, NULL);

    sb_add_base64url(&b, (struct sv){ raw, HASH_SIZE });
    out[SESSION_SECRET] = 0;
}

void session_draw(char out[SESSION_SECRET + 1])
{
    unsigned char raw[HASH_SIZE];

    rand_secret(raw, sizeof raw);
    write_secret(raw, out);
    explicit_bzero(raw, sizeof raw);
}

static struct hash hash_of(struct sv secret)
{
    return hash_blake2b(&secret, 1);
}

void session_init(struct serve_sessions *s, const char *shell)
{
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->shell = hash_of(sv_of(shell));
    session_draw(s->seed);
}

void session_release(struct serve_sessions *s)
{
    pthread_mutex_destroy(&s->lock);
    explicit_bzero(s, sizeof *s);
}

void session_link(struct serve_sessions *s, char key[SESSION_SECRET + 1])
{
    size_t oldest = 0;

    session_draw(key);
    pthread_mutex_lock(&s->lock);
    for (size_t i = 1; i < SESSION_LINKS; i++)
        if (s->links[i].until_us < s->links[oldest].until_us)
            oldest = i;
    s->links[oldest].key = hash_of(sv_of(key));
    s->links[oldest].until_us = clock_steady_us() + (int64_t)SESSION_LINK_MS * 1000;
    pthread_mutex_unlock(&s->lock);
}

static bool use_link(struct serve_sessions *s, struct sv key)
{
    struct hash h = hash_of(key);
    int64_t     now = clock_steady_us();
    bool        good = false;

    for (size_t i = 0; i < SESSION_LINKS; i++)
        if (hash_eq(&h, &s->links[i].key) && s->links[i].until_us) {
            good = s->links[i].until_us > now;
            s->links[i].until_us = 0;
        }
    return good;
}

/* The cookie of a link and a secret: the same each time, and known to nobody without the seed. */
static void make_cookie(const struct serve_sessions *s, struct sv key, struct sv secret,
                        char cookie[SESSION_SECRET + 1])
{
    struct hash k = hash_of(key), p = hash_of(secret);
    struct sv   parts[] = { sv_of(s->seed),
                            { (const char *)k.b, sizeof k.b },
                            { (const char *)p.b, sizeof p.b } };
    struct hash made = hash_blake2b(parts, COUNT(parts));

    write_secret(made.b, cookie);
    explicit_bzero(&made, sizeof made);
}

/* With the lock held: whether this link has made this session, not long ago. */
static bool has_entered(const struct serve_sessions *s, const struct hash *cookie)
{
    int64_t from = clock_steady_us() - (int64_t)SESSION_LINK_MS * 1000;
    bool    good = false;

    for (size_t i = 0; i < SESSION_PAGES && s->pages[i].since_us; i++)
        good |= hash_eq(cookie, &s->pages[i].cookie) && s->pages[i].since_us > from;
    return good;
}

bool session_enter(struct serve_sessions *s, struct sv key, struct sv given,
                   char cookie[SESSION_SECRET + 1], char secret[SESSION_SECRET + 1])
{
    size_t oldest = 0;

    session_draw(secret);
    if (given.n == SESSION_SECRET)
        memcpy(secret, given.s, SESSION_SECRET);
    make_cookie(s, key, sv_of(secret), cookie);
    struct hash c = hash_of(sv_of(cookie));

    pthread_mutex_lock(&s->lock);
    bool good = use_link(s, key);
    for (size_t i = 1; i < SESSION_PAGES; i++)
        if (s->pages[i].since_us < s->pages[oldest].since_us)
            oldest = i;
    if (good) {
        s->pages[oldest].cookie = c;
        s->pages[oldest].secret = hash_of(sv_of(secret));
        s->pages[oldest].since_us = clock_steady_us();
    } else {
        good = has_entered(s, &c);
    }
    pthread_mutex_unlock(&s->lock);
    return good;
}

bool session_has_page(struct serve_sessions *s, struct sv cookie, struct sv secret)
{
    struct hash c = hash_of(cookie), p = hash_of(secret);
    bool        good = false;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < SESSION_PAGES && s->pages[i].since_us; i++) {
        /* Both are compared in any case, so that the time does not tell which of them was wrong. */
        bool has_cookie = hash_eq(&c, &s->pages[i].cookie);
        bool has_secret = hash_eq(&p, &s->pages[i].secret);
        good |= has_cookie && has_secret;
    }
    pthread_mutex_unlock(&s->lock);
    return good;
}

bool session_is_shell(const struct serve_sessions *s, struct sv secret)
{
    struct hash h = hash_of(secret);

    return hash_eq(&h, &s->shell);
}

bool session_may_err(struct serve_sessions *s)
{
    int64_t now = clock_steady_us();

    pthread_mutex_lock(&s->lock);
    if (now - s->wrong_us > 1000 * 1000) {
        s->wrong_us = now;
        s->wrong = 0;
    }
    bool may = s->wrong < SESSION_WRONG;
    s->wrong += may;
    pthread_mutex_unlock(&s->lock);
    return may;
}
