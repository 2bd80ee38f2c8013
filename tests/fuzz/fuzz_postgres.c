/* A server that answers a log on PostgreSQL with anything: whatever it sends, the client neither
 * crashes nor hangs. The first byte picks what the client does (tests/postgres_session.h) and
 * whether the greeting is honest; the rest is sent as it is, then the connection ends. The corpus
 * holds what a real server said: `torture_hostile URL FOLDER record DIR`. */
#include "postgres_session.h"

#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONNECTIONS = 3 }; /* that are answered; later ones are closed at once */

static char           folder[] = "/tmp/heddle-fuzz.XXXXXX", url[200];
static int            listener = -1;
static const uint8_t *answer;
static size_t         answer_size;
static bool           greets;
static atomic_int     connections;

/* AuthenticationOk, two parameters, a key to cancel with, ReadyForQuery. */
static const char greeting[] = "R\0\0\0\10\0\0\0\0"
                               "S\0\0\0\31client_encoding\0UTF8\0"
                               "S\0\0\0\30server_version\0"
                               "15.1\0"
                               "K\0\0\0\14\0\0\0\1\0\0\0\2"
                               "Z\0\0\0\5I";

static void put(int fd, const void *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0)
            return; /* more than the client takes in before it speaks */
        bytes = (const char *)bytes + sent;
        n -= (size_t)sent;
    }
}

/* Until the client has gone, or waits for something that does not come. */
static void wait_for_silence(int fd)
{
    char          room[4096];
    struct pollfd p = { fd, POLLIN, 0 };

    for (int ms = 50; poll(&p, 1, ms) > 0 && read(fd, room, sizeof room) > 0;)
        ms = 5;
}

static void serve(int fd)
{
    char startup[2048];

    if (connections++ < CONNECTIONS && read(fd, startup, sizeof startup) > 0) {
        if (greets)
            put(fd, greeting, sizeof greeting - 1);
        put(fd, answer, answer_size);
        wait_for_silence(fd);
    }
    close(fd);
}

static void *serve_all(void *ctx)
{
    int fd;

    (void)ctx;
    while ((fd = accept(listener, NULL, NULL)) >= 0)
        serve(fd);
    return NULL;
}

static void clean_up(void)
{
    char path[100];

    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", folder);
    unlink(path);
    rmdir(folder);
}

static void start(void)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    pthread_t          thread;

    if (!mkdtemp(folder))
        err(1, "%s", folder);
    snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.5432", folder);
    snprintf(url, sizeof url,
             "postgres://u@/d?host=%s&sslmode=disable&gssencmode=disable&statement_timeout=100",
             folder);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 16) ||
        pthread_create(&thread, NULL, serve_all, NULL))
        err(1, "%s", at.sun_path);
    pthread_detach(thread);
    atexit(clean_up);
    signal(SIGPIPE, SIG_IGN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (listener < 0)
        start();
    if (!size)
        return 0;
    greets = !(data[0] & 0x80);
    answer = data + 1;
    answer_size = size - 1;
    connections = 0;
    session_run(url, (data[0] & 0x7f) % (SESSIONS - 1)); /* COPY waits for the server in between */
    return 0;
}
