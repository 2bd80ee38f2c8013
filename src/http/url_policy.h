/* Which addresses a URL may lead to. Decided on the address really connected to, so
 * that neither a name nor a redirect can lead inside. */
#ifndef HEDDLE_URL_POLICY_H
#define HEDDLE_URL_POLICY_H

#include "base/base.h"

#include <sys/socket.h>

/* Loopback, private, link-local, shared, multicast, reserved, and IPv6 forms that carry
 * such an IPv4 address. An unknown family counts as private. */
bool address_is_private(const struct sockaddr *address);

#endif
