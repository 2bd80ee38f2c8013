/* The operations on payloads, for a command that chooses between them. */
#ifndef HEDDLE_PAYLOAD_OPS_H
#define HEDDLE_PAYLOAD_OPS_H

#include "api/operation.h"

/* These have struct payload_params (payload_call.h) ... */
extern const struct operation op_payload_make, op_payload_explain, op_payload_weigh;
extern const struct operation op_payload_check, op_payload_compare;

/* ... and these their own. */
struct payload_verify_params {
    struct sv file, manifest;
    bool      line_numbers;
};
extern const struct operation op_payload_verify;

struct payload_parse_params {
    struct sv file, text, into;
    bool      force, list;
};
extern const struct operation op_payload_parse;

#endif
