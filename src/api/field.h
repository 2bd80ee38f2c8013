/* The shape of an answer: one table from which JSON Schema, OpenAPI and types of other languages
 * are made, and against which the tests check every document that an operation returns.
 *
 *     static const struct field thread_fields[] = {
 *         { "id",         FIELD_TEXT, .help = "the thread" },
 *         { "status",     FIELD_ENUM, .values = thread_status_names },
 *         { "created_at", FIELD_TIME },
 *         { "parent_id",  FIELD_TEXT, .nullable = true },
 *         { 0 },
 *     };
 *     static const struct field answer[] = {
 *         { "items", FIELD_LIST, .of = thread_fields, .help = "the threads, by id" },
 *         { 0 },
 *     };                                                                              */
#ifndef HEDDLE_FIELD_H
#define HEDDLE_FIELD_H

#include "base/json.h"

enum field_type {
    FIELD_END,
    FIELD_TEXT,
    FIELD_NUMBER, /* an integer */
    FIELD_REAL,   /* any number */
    FIELD_FLAG,
    FIELD_TIME,   /* RFC 3339, UTC, with milliseconds */
    FIELD_ENUM,   /* one of `values` */
    FIELD_OBJECT, /* with the members of `of`; NULL: any members */
    FIELD_LIST,   /* of objects with the members of `of`; NULL: of `item` */
    FIELD_ANY,    /* any JSON, such as a payload that is passed on as it is */
};

struct field {
    const char         *name;
    enum field_type     type;
    const struct field *of;
    enum field_type     item;     /* FIELD_LIST without `of`: FIELD_TEXT unless it is set */
    const char *const  *values;   /* FIELD_ENUM, ends with NULL */
    bool                optional; /* the member may be missing */
    bool                nullable; /* its value may be null */
    bool                open;     /* FIELD_OBJECT, FIELD_LIST: unknown members are allowed */
    const char         *help;
};

/* The document with its members in the order of the table, as operations write them. */
void fields_write(const struct field *table, const struct json *doc, struct jw *w);

/* Does a document have this shape? ST_CORRUPT with the path of the first member that does not:
 * a program that prints such a document has a defect. */
enum status fields_check(const struct field *table, const struct json *doc, struct err *e) MUST_USE;

#endif
