/* The functions of libpq that are used, found by name on first use: loading the library takes
 * milliseconds, which a command on an SQLite log should not pay for. */
#ifndef HEDDLE_PQ_H
#define HEDDLE_PQ_H

#include "base/status.h"

#include <postgresql/libpq-fe.h>

/* clang-format off */
#define PQ_TABLE(X)                                                                              \
    X(PQconninfoParse) X(PQconninfo) X(PQconninfoFree) X(PQfreemem)                              \
    X(PQconnectdbParams) X(PQfinish) X(PQstatus) X(PQsocket)                                     \
    X(PQerrorMessage) X(PQtransactionStatus) X(PQparameterStatus) X(PQserverVersion)             \
    X(PQhost) X(PQport) X(PQdb) X(PQuser) X(PQsslInUse) X(PQsslAttribute)                        \
    X(PQsetnonblocking) X(PQenterPipelineMode) X(PQexitPipelineMode) X(PQpipelineSync)           \
    X(PQsendQueryParams) X(PQsendPrepare) X(PQsendQueryPrepared)                                 \
    X(PQflush) X(PQconsumeInput) X(PQisBusy) X(PQgetResult)                                      \
    X(PQresultStatus) X(PQresultErrorField) X(PQresultErrorMessage) X(PQclear)                   \
    X(PQntuples) X(PQnfields) X(PQftype) X(PQfformat) X(PQgetvalue) X(PQgetlength)               \
    X(PQgetisnull) X(PQcmdTuples) X(PQputCopyData) X(PQputCopyEnd)                               \
    X(PQsetNoticeReceiver)
/* clang-format on */

struct pq {
#define X(name) __typeof__(name) *name;
    PQ_TABLE(X)
#undef X
};

/* The library, loaded once for the process. ST_IO: it is not installed, or too old. */
enum status pq_load(const struct pq **out, struct err *e) MUST_USE;

#endif
