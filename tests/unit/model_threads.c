/* Several requests at once: answers stay in their order, whoever waits is called, and what one of
 * them learns the next ones know. The provider is a server in this program. */
#include "model/model.h"

#include "base/json.h"
#include "tap.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CROWD = 6 };

static int             listener = -1;
static char            address[64];
static atomic_int      asked, together, most;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  all = PTHREAD_COND_INITIALIZER;
static int             here; /* requests that wait for the others */

/* ---- the server ------------------------------------------------------------------------------ */

static size_t read_request(int fd, char *room, size_t cap)
{
    size_t n = 0;

    while (n < cap - 1) {
        ssize_t got = read(fd, room + n, cap - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
        room[n] = 0;
        char *body = strstr(room, "\r\n\r\n"), *length = strstr(room, "Content-Length: ");
        if (body && length && room + n - (body + 4) >= atoi(length + 16))
            break;
    }
    return n;
}

static void wait_for_the_others(void)
{
    pthread_mutex_lock(&lock);
    if (++here == CROWD)
        pthread_cond_broadcast(&all);
    while (here < CROWD)
        pthread_cond_wait(&all, &lock);
    pthread_mutex_unlock(&lock);
}

static void answer(int fd, const char *request)
{
    const char *seed = strstr(request, "\"seed\":");
    char        text[600];
    int         n = seed ? atoi(seed + 7) : 0;

    if (strstr(request, "\"top_p\"")) {
        static const char refusal[] =
            "HTTP/1.1 400 Bad\r\nContent-Length: 63\r\n\r\n{\"error\":{"
            "\"param\":\"top_p\",\"message\":\"no top_p with this one\"}} ";
        CHECK(write(fd, refusal, sizeof refusal - 1) > 0);
        return;
    }
    if (strstr(request, "\"crowd\""))
        wait_for_the_others();
    snprintf(
        text, sizeof text,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\"seed %d\"},\"finish_reason\":\"stop\"}]}"
        "\n\ndata: [DONE]\n\n",
        n);
    usleep((useconds_t)(CROWD - n) * 3000);
    CHECK(write(fd, text, strlen(text)) > 0);
}

static void *serve_one(void *ctx)
{
    int  fd = (int)(intptr_t)ctx;
    char room[8192];

    atomic_fetch_add(&asked, 1);
    int now = atomic_fetch_add(&together, 1) + 1, so_far = atomic_load(&most);
    while (now > so_far && !atomic_compare_exchange_weak(&most, &so_far, now))
        ; /* another thread has stored its number meanwhile */
    if (read_request(fd, room, sizeof room))
        answer(fd, room);
    atomic_fetch_sub(&together, 1);
    close(fd);
    return NULL;
}

static void *serve(void *ctx)
{
    (void)ctx;
    for (;;) {
        int       fd = accept(listener, NULL, NULL);
        pthread_t thread;
        if (fd < 0)
            return NULL;
        if (pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd) == 0)
            pthread_detach(thread);
    }
}

static void start_server(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t          n = sizeof a;
    pthread_t          thread;

    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&a, n) == 0 && listen(listener, 64) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&a, &n) == 0);
    snprintf(address, sizeof address, "VLLM_BASE_URL=http://127.0.0.1:%d/v1", ntohs(a.sin_port));
    CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
    pthread_detach(thread);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static struct arena a;
static int          waits;

static void note_wait(void *ctx)
{
    (void)ctx;
    waits++;
}

static void ask(struct model_client *c, struct model_asking *list, const char *model,
                const char *setting)
{
    for (int i = 0; i < CROWD; i++) {
        struct sb b = sb_in(&a, 0);
        sb_addf(&b, "{\"model\":\"%s\",\"seed\":%d,\"stream\":true%s}", model, i + 1, setting);
        list[i] = (struct model_asking){ .q = { .model = SV("vllm:x"), .body = sb_sv(&b) } };
    }
    waits = 0;
    model_complete_all(c, list, CROWD, note_wait, NULL, &a);
}

static void check_order(const struct model_asking *list)
{
    for (int i = 0; i < CROWD; i++) {
        struct sb want = sb_in(&a, 0);
        sb_addf(&want, "seed %d", i + 1);
        CHECK(list[i].status == ST_OK);
        CHECK_SV(list[i].out.text, sb_sv(&want));
        CHECK_SV(list[i].out.finish, SV("stop"));
    }
}

static char *variables[] = { address, NULL };

static void all_are_asked_at_once_and_answer_in_order(void)
{
    struct model_client c = { .variables = variables, .a = &a };
    struct model_asking list[CROWD];

    start_server();
    ask(&c, list, "crowd", ""); /* the server answers nobody before all have asked */
    check_order(list);
    CHECK_INT(atomic_load(&asked), CROWD);
    CHECK_INT(atomic_load(&most), CROWD);
}

static void what_one_learns_the_next_ones_know(void)
{
    struct model_client c = { .variables = variables, .a = &a };
    struct model_asking list[CROWD];

    atomic_store(&asked, 0);
    ask(&c, list, "plain", ",\"top_p\":1");
    check_order(list);
    CHECK_INT(atomic_load(&asked), 2 * CROWD);
    CHECK_INT(c.refusals.n, 1);
    CHECK(c.refusals.n == 1 && sv_is(sv_of(c.refusals.v[0].setting), "top_p"));
    ask(&c, list, "plain", ",\"top_p\":1");
    check_order(list);
    CHECK_INT(atomic_load(&asked), 3 * CROWD);
    CHECK_SV(list[0].out.warnings, SV("left out the setting top_p, which the provider refused"));
}

static void one_that_cannot_be_asked_does_not_keep_the_others(void)
{
    struct model_client c = { .variables = variables, .a = &a };
    struct model_asking list[2] = {
        { .q = { .model = SV("openrouter:x"), .body = SV("{}") } }, /* there is no key */
        { .q = { .model = SV("vllm:x"), .body = SV("{\"seed\":4}") } },
    };

    model_complete_all(&c, list, 2, NULL, NULL, &a);
    CHECK(list[0].status == ST_MODEL_ERROR);
    CHECK_SV(sv_of(list[0].error.reason), SV("authenticationFailed"));
    CHECK(list[1].status == ST_OK);
    CHECK_SV(list[1].out.text, SV("seed 4"));
}

static atomic_bool cancel;

static void set_cancel(void *ctx)
{
    (void)ctx;
    atomic_store(&cancel, true);
}

static void cancelling_ends_all_of_them(void)
{
    struct model_client c = { .variables = variables, .a = &a };
    struct model_asking list[2];

    here = -100; /* nobody is answered */
    for (int i = 0; i < 2; i++)
        list[i] = (struct model_asking){
            .q = { .model = SV("vllm:x"), .body = SV("{\"model\":\"crowd\"}"), .cancel = &cancel }
        };
    model_complete_all(&c, list, 2, set_cancel, NULL, &a);
    for (int i = 0; i < 2; i++) {
        CHECK(list[i].status == ST_CONFLICT);
        CHECK_SV(sv_of(list[i].error.reason), SV("cancelled"));
    }
    arena_free(&a);
}

TAP_MAIN(T(all_are_asked_at_once_and_answer_in_order), T(what_one_learns_the_next_ones_know),
         T(one_that_cannot_be_asked_does_not_keep_the_others), T(cancelling_ends_all_of_them), )
