/* Which addresses a URL may lead to. Decided on the address really connected to, so
 * that neither a name nor a redirect can lead inside. The rows follow IANA's registries of
 * special-purpose addresses. Pure. */
#ifndef HEDDLE_URL_POLICY_H
#define HEDDLE_URL_POLICY_H

#include "base/sv.h"

#include <sys/socket.h>

enum address_kind {
    ADDRESS_PUBLIC,
    ADDRESS_PRIVATE,  /* a setting may allow it */
    ADDRESS_METADATA, /* a cloud's metadata service, which hands out keys: never allowed */
};

/* Private: loopback, private, link-local, shared, multicast, reserved, for documentation, and
 * IPv6 forms that carry such an IPv4 address. An unknown family counts as private. */
enum address_kind address_kind_of(const struct sockaddr *address);

bool http_address_is_private(const struct sockaddr *address); /* anything but ADDRESS_PUBLIC */

bool http_address_is_loopback(const struct sockaddr *address); /* this machine: 127.0.0.0/8, ::1 */

/* What is known from the host of a URL alone, for requests that a proxy resolves: an address in any
 * notation that resolvers take, or localhost. A name is ADDRESS_PUBLIC. */
enum address_kind address_kind_of_host(struct sv url);

/* Does the URL say that it is on this machine: localhost, an address in 127.0.0.0/8, or ::1? */
bool http_url_is_loopback(struct sv url);

#endif
