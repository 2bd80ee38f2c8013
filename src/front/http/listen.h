/* The sockets on which the server listens: addresses, files, and those that systemd hands over. */
#ifndef HEDDLE_FRONT_LISTEN_H
#define HEDDLE_FRONT_LISTEN_H

#include "front/http/server.h"

/* Takes the sockets that systemd hands over (LISTEN_FDS of sd_listen_fds(3)); opens a
 * socket for each address of the options, or on the loopback when neither names an address; and one
 * for the shell, which is a file that only the user can reach. ST_PERMISSION_DENIED: an address
 * that other machines reach, without TLS and without --insecure. */
enum status listen_open(struct serve *s, struct err *e) MUST_USE;
void        listen_close(struct serve *s);

/* Tells systemd what the server is doing ("READY=1", see sd_notify(3)), where it asks for that. */
void listen_notify(const char *state);

/* The path of the shell's socket. */
struct sv listen_path_of_shell(const struct serve *s);

#endif
