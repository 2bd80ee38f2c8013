/* OpenAPI 3.1 from the rows of operations: its schemas are those of api/schema.h. */
#include "api/openapi.h"

#include "api/door_token.h"
#include "api/schema.h"

static const char description[] =
    "Every operation of a heddle workspace. The answer is the operation's document; a failure is "
    "{\"error\":{…}} with the status of its code. `heddle help serve` says how the server is "
    "started, docs/HOWTO-serve.md how it is asked.";

static void open_key(struct jw *w, const char *key)
{
    jw_key(w, key);
    jw_open(w, '{');
}

static void put_ref(struct jw *w, const char *to)
{
    jw_open(w, '{');
    jw_kstr(w, "$ref", sv_of(to));
    jw_close(w, '}');
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static void put_parameter(struct jw *w, const struct param *p)
{
    jw_open(w, '{');
    jw_kstr(w, "name", sv_of(p->name));
    jw_kstr(w, "in", SV("query"));
    if (p->help)
        jw_kstr(w, "description", sv_of(p->help));
    jw_kbool(w, "required", p->required);
    if (p->type == PARAM_JSON) {
        open_key(w, "content");
        open_key(w, "application/json");
        jw_key(w, "schema");
        schema_param(w, p);
        jw_close(w, '}');
        jw_close(w, '}');
    } else {
        jw_key(w, "schema");
        schema_param(w, p);
    }
    jw_close(w, '}');
}

static void put_header(struct jw *w, const char *name, const char *help)
{
    jw_open(w, '{');
    jw_kstr(w, "name", sv_of(name));
    jw_kstr(w, "in", SV("header"));
    jw_kstr(w, "description", sv_of(help));
    jw_key(w, "schema");
    jw_raw(w, SV("{\"type\":\"string\"}"));
    jw_close(w, '}');
}

static void put_headers(struct jw *w, const struct operation *op)
{
    if (op->repeat == REPEAT_KEY)
        put_header(w, "Idempotency-Key",
                   "sending the same request again with the same key is harmless");
    if (param_find(op->params, SV("expect")))
        put_header(w, "If-Match", "the revision of the thread, as its ETag says it");
}

static void put_parameters(struct jw *w, const struct operation *op, bool in_query)
{
    jw_key(w, "parameters");
    jw_open(w, '[');
    for (const struct param *p = op->params; in_query && p && p->type; p++)
        put_parameter(w, p);
    put_headers(w, op);
    if (in_query)
        put_header(w, "If-None-Match", "the ETag of an answer that is at hand");
    jw_close(w, ']');
}

static void put_body(struct jw *w, const struct operation *op)
{
    static const struct schema_choice all;

    open_key(w, "requestBody");
    open_key(w, "content");
    open_key(w, "application/json");
    jw_key(w, "schema");
    schema_params_chosen(w, op, &all);
    jw_close(w, '}');
    if (op->streams & STREAM_IN) {
        open_key(w, "application/x-ndjson");
        jw_key(w, "schema");
        jw_raw(w, SV("{\"type\":\"string\",\"description\":\"lines, of any length in all; the "
                     "parameters are in the query\"}"));
        jw_close(w, '}');
    }
    jw_close(w, '}');
    jw_close(w, '}');
}

/* ---- answers ------------------------------------------------------------------------------------
 */

static void put_lines(struct jw *w, const struct operation *op)
{
    open_key(w, "application/x-ndjson");
    open_key(w, "schema");
    jw_kstr(w, "description", SV("one line: an event, and at the end the document or the error"));
    jw_key(w, "anyOf");
    jw_open(w, '[');
    if (op->event)
        schema_event_bare(w, op);
    if (op->streams & STREAM_OUT)
        jw_raw(w, SV("{\"type\":\"object\",\"properties\":{\"out\":{\"type\":\"string\"},"
                     "\"out_base64url\":{\"type\":\"string\"}}}"));
    schema_answer_bare(w, op);
    put_ref(w, "#/components/schemas/Error");
    jw_close(w, ']');
    jw_close(w, '}');
    jw_close(w, '}');
}

static void put_text(struct jw *w, const char *type, const char *help)
{
    open_key(w, type);
    open_key(w, "schema");
    jw_kstr(w, "type", SV("string"));
    jw_kstr(w, "description", sv_of(help));
    jw_close(w, '}');
    jw_close(w, '}');
}

static void put_answers(struct jw *w, const struct operation *op)
{
    open_key(w, "responses");
    open_key(w, "200");
    jw_kstr(w, "description", SV("the document of the operation"));
    open_key(w, "content");
    open_key(w, "application/json");
    jw_key(w, "schema");
    schema_answer_bare(w, op);
    jw_close(w, '}');
    if (op->streams & (STREAM_EVENTS | STREAM_OUT))
        put_lines(w, op);
    if (op->streams & STREAM_EVENTS)
        put_text(w, "text/event-stream", "events `event`, `warning`, `verdict`, `done`, `error`");
    if (op->streams & STREAM_OUT)
        put_text(w, "text/plain", "the bytes alone");
    jw_close(w, '}');
    jw_close(w, '}');
    jw_key(w, "default");
    put_ref(w, "#/components/responses/Error");
    jw_close(w, '}');
}

/* ---- paths --------------------------------------------------------------------------------------
 */

static const char *permission_of(const struct operation *op)
{
    unsigned bits = token_needed(op);

    for (size_t k = 0; token_permission_names[k]; k++)
        if (bits & (1u << k))
            return token_permission_names[k];
    return "shell";
}

static void put_method(struct jw *w, const struct operation *op, bool get)
{
    char      room[160];
    struct sb id = sb_on(room, sizeof room, NULL);

    open_key(w, get ? "get" : "post");
    sb_addf(&id, "%s%s", op->name, get ? ".get" : "");
    jw_kstr(w, "operationId", sb_sv(&id));
    jw_kstr(w, "summary", sv_of(op->summary));
    if (op->details)
        jw_kstr(w, "description", sv_of(op->details));
    jw_key(w, "tags");
    jw_open(w, '[');
    jw_str(w, sv_of(op_group_title(op->group)));
    jw_close(w, ']');
    jw_kstr(w, "x-permission", sv_of(permission_of(op)));
    put_parameters(w, op, get);
    if (!get)
        put_body(w, op);
    put_answers(w, op);
    jw_close(w, '}');
}

static void put_path(struct jw *w, const struct operation *op)
{
    char      room[160];
    struct sb path = sb_on(room, sizeof room, NULL);

    sb_addf(&path, "/api/%s", op->name);
    jw_key_sv(w, sb_sv(&path));
    jw_open(w, '{');
    if (op->repeat == REPEAT_READS)
        put_method(w, op, true);
    put_method(w, op, false);
    jw_close(w, '}');
}

/* Paths that are not operations. */
static const char other_paths[] =
    "\"/api/events\":{\"get\":{\"operationId\":\"events\",\"summary\":\"News of all threads, as "
    "server-sent events\",\"parameters\":[{\"name\":\"thread\",\"in\":\"query\",\"schema\":{"
    "\"type\":\"array\",\"items\":{\"type\":\"string\"}}},{\"name\":\"since\",\"in\":\"query\","
    "\"description\":\"T:REV,T2:REV\",\"schema\":{\"type\":\"string\"}},{\"name\":"
    "\"Last-Event-ID\",\"in\":\"header\",\"schema\":{\"type\":\"string\"}}],\"responses\":{\"200\":"
    "{\"description\":\"events hello, reset, change, bye\",\"content\":{\"text/event-stream\":{"
    "\"schema\":{\"type\":\"string\"}}}},\"default\":{\"$ref\":\"#/components/responses/Error\"}}}"
    "},"
    "\"/api/status\":{\"get\":{\"operationId\":\"status\",\"summary\":\"What the server is doing\","
    "\"responses\":{\"200\":{\"description\":\"numbers\",\"content\":{\"application/json\":{"
    "\"schema\":{\"type\":\"object\"}}}},\"default\":{\"$ref\":\"#/components/responses/Error\"}}}"
    "},"
    "\"/metrics\":{\"get\":{\"operationId\":\"metrics\",\"summary\":\"The same for Prometheus\","
    "\"responses\":{\"200\":{\"description\":\"its text format\",\"content\":{\"text/plain\":{"
    "\"schema\":{\"type\":\"string\"}}}}}}},"
    "\"/healthz\":{\"get\":{\"operationId\":\"healthz\",\"summary\":\"Does the server answer?\","
    "\"security\":[],\"responses\":{\"200\":{\"description\":\"it does\"}}}},"
    "\"/readyz\":{\"get\":{\"operationId\":\"readyz\",\"summary\":\"Can the log be read?\","
    "\"security\":[],\"responses\":{\"200\":{\"description\":\"it can\"},\"503\":{\"description\":"
    "\"it cannot\"}}}}";

static void put_paths(struct jw *w)
{
    open_key(w, "paths");
    for (size_t i = 0; operation_table[i]; i++)
        put_path(w, operation_table[i]);
    sb_addc(w->b, ',');
    sb_adds(w->b, other_paths);
    jw_close(w, '}');
}

static void put_tags(struct jw *w)
{
    jw_key(w, "tags");
    jw_open(w, '[');
    for (enum op_group g = 0; g < GROUP_COUNT; g++) {
        jw_open(w, '{');
        jw_kstr(w, "name", sv_of(op_group_title(g)));
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void put_components(struct jw *w)
{
    open_key(w, "components");
    open_key(w, "schemas");
    jw_key(w, "Error");
    schema_error(w);
    jw_close(w, '}');
    jw_key(w, "responses");
    jw_raw(w,
           SV("{\"Error\":{\"description\":\"a failure, with the status of its code\",\"content\":{"
              "\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Error\"}}}}}"));
    jw_key(w, "securitySchemes");
    jw_raw(w, SV("{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"of `heddle "
                 "token create`\"}}"));
    jw_close(w, '}');
}

void openapi_write(struct jw *w)
{
    jw_open(w, '{');
    jw_kstr(w, "openapi", SV("3.1.0"));
    open_key(w, "info");
    jw_kstr(w, "title", SV("heddle"));
    jw_kstr(w, "version", SV(HEDDLE_VERSION));
    jw_kstr(w, "description", sv_of(description));
    jw_close(w, '}');
    jw_key(w, "servers");
    jw_raw(w, SV("[{\"url\":\"/\"}]"));
    jw_key(w, "security");
    jw_raw(w, SV("[{\"token\":[]}]"));
    put_tags(w);
    put_paths(w);
    put_components(w);
    jw_close(w, '}');
}
