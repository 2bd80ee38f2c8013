/* The head of an HTTP request: its first line and its header fields, as far as they are used here.
 *
 *     struct serve_head h;
 *     head_begin(&h, SV("POST"), SV("/api/head?thread=t"), SV("HTTP/1.1"));
 *     for each field: head_field(&h, name, value);
 *     if (head_fault(&h)) refuse;
 *
 * Everything here is a view of bytes that the caller keeps. Nothing is allocated. */
#ifndef HEDDLE_FRONT_HEAD_H
#define HEDDLE_FRONT_HEAD_H

#include "base/status.h"
#include "base/sv.h"

/* clang-format off */
/*    member           field */
#define HEAD_TABLE(X) \
    X(host,            "host") \
    X(origin,          "origin") \
    X(fetch_site,      "sec-fetch-site") \
    X(type,            "content-type") \
    X(length,          "content-length") \
    X(coding,          "transfer-encoding") \
    X(authorization,   "authorization") \
    X(cookie,          "cookie") \
    X(secret,          "x-heddle") \
    X(actor,           "x-heddle-actor") \
    X(accept,          "accept") \
    X(none_match,      "if-none-match") \
    X(match,           "if-match") \
    X(idempotency,     "idempotency-key") \
    X(last_event,      "last-event-id") \
    X(mcp_session,     "mcp-session-id") \
    X(mcp_version,     "mcp-protocol-version") \
    X(mcp_method,      "mcp-method") \
    X(mcp_name,        "mcp-name") \
    X(upgrade,         "upgrade")
/* clang-format on */

struct serve_head {
    struct sv method, target, version;
    struct sv path, query; /* of the target, still percent-encoded */
#define X(member, field) struct sv member;
    HEAD_TABLE(X)
#undef X
    unsigned    fields;
    const char *fault; /* the first thing that is wrong; NULL: nothing */
};

void head_begin(struct serve_head *h, struct sv method, struct sv target, struct sv version);

/* One header field. Sets h->fault for what libmicrohttpd lets pass and what two programs could read
 * in two ways: a name that is not a token (`Content-Length : 2`), a control character in a value,
 * one of the fields above twice. */
void head_field(struct serve_head *h, struct sv name, struct sv value);

/* The parts of one line of the head, where libmicrohttpd left them: `first` begins at or behind
 * `from`, and `last` ends the line. libmicrohttpd takes a NUL for the end of a value, joins folded
 * lines and accepts a line feed alone; none of this can be seen in the values, but in how far they
 * lie apart, since version 0.9.7x parses in the buffer it reads into. Sets h->fault unless the line
 * was NAME, colon, spaces, VALUE, CR, LF. *from is set to where the next line begins. */
void head_line(struct serve_head *h, const char **from, struct sv first, struct sv last);

/* The same of the method: one space stands between it and the target. */
void head_method(struct serve_head *h, struct sv method, const char *target);

/* Behind the last line: only the empty line stands between `from` and the end of the head. */
void head_end(struct serve_head *h, const char *from, const char *end);

/* After the last field: is the framing of the body unambiguous? Sets and returns h->fault:
 * both a length and a transfer coding, a coding other than chunked, a length that is not a number,
 * a body in HTTP/1.0 of unknown length. */
const char *head_fault(struct serve_head *h);

/* Will a body follow? */
bool head_has_body(const struct serve_head *h);

/* The media type without its parameters: is it `want`, in any case of letters? */
bool head_is_type(struct sv type, const char *want);

/* Does an Accept field name this media type (not by a wildcard, and not with q=0)? */
bool head_accepts(const struct serve_head *h, const char *want);

/* The value of a cookie; absent when there is none, or more than one of the name. */
struct sv head_cookie(const struct serve_head *h, struct sv name);

/* `query` as name and value, decoded: percent sequences, and + for a space. *rest is what is left;
 * false at the end. ST_INVALID_SYNTAX: an invalid percent sequence, a NUL, bytes that are not
 * UTF-8. */
enum status head_query_next(struct sv *rest, struct arena *a, struct sv *name, struct sv *value,
                            bool *more, struct err *e) MUST_USE;

/* One segment of a path, decoded. The same rules, except that + is itself. */
enum status head_decode(struct sv text, bool plus, struct arena *a, struct sv *out,
                        struct err *e) MUST_USE;

#endif
