/* The functions of libmicrohttpd that are used. The library is loaded when a server starts, so that
 * other commands do not pay for it (and for the TLS library that comes with it). */
#ifndef HEDDLE_FRONT_MHD_H
#define HEDDLE_FRONT_MHD_H

#include "base/status.h"

#include <microhttpd.h>

/* clang-format off */
#define MHD_TABLE(X) \
    X(get_version) \
    X(start_daemon) \
    X(stop_daemon) \
    X(quiesce_daemon) \
    X(get_connection_info) \
    X(get_connection_values_n) \
    X(suspend_connection) \
    X(resume_connection) \
    X(queue_response) \
    X(create_response_from_buffer) \
    X(create_response_from_callback) \
    X(destroy_response) \
    X(add_response_header) \
    X(add_response_footer) \
    X(set_response_options)
/* clang-format on */

struct mhd {
    void *handle;
    bool  parses_in_place; /* see head_line() */
#define X(name) __typeof__(MHD_##name) *name;
    MHD_TABLE(X)
#undef X
};

/* ST_IO, reason "library": it is not installed. Called once, before threads start. */
enum status mhd_load(struct mhd *lib, struct err *e) MUST_USE;

#endif
