/* The envelope as a table or as YAML, for --format. */
#include "front/leslie/format.h"

#include <string.h>

/* One `key : value` line per top-level key, nested values as compact JSON. */
static void as_table(struct sb *out, const struct json *v)
{
    size_t width = 8;

    for (size_t i = 0; i < v->n; i++)
        width = v->members[i].key.n > width ? v->members[i].key.n : width;
    for (size_t i = 0; i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        struct jw                 w = jw_in(out, 0);
        sb_add(out, m->key);
        sb_pad(out, ' ', width - m->key.n);
        sb_adds(out, " : ");
        if (m->value.type == JSON_STRING)
            sb_add_plain(out, json_sv(&m->value));
        else
            jw_json(&w, &m->value);
        sb_addc(out, '\n');
    }
}

/* Would YAML read this word as something else than text, or not at all? */
static bool needs_quotes(struct sv v)
{
    static const char *const words[] = { "true", "false", "null", "yes", "no", "on", "off", "~" };

    if (!v.n || v.s[0] == ' ' || v.s[v.n - 1] == ' ' || strchr("-?:,[]{}#&*!|>'\"%@`+.=", v.s[0]) ||
        (v.s[0] >= '0' && v.s[0] <= '9'))
        return true;
    for (size_t i = 0; i < v.n; i++)
        if ((unsigned char)v.s[i] < 0x20 || v.s[i] == 0x7f ||
            (v.s[i] == ':' && (i + 1 == v.n || v.s[i + 1] == ' ')) ||
            (v.s[i] == '#' && i && v.s[i - 1] == ' '))
            return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (v.n == strlen(words[i]) && strncasecmp(v.s, words[i], v.n) == 0)
            return true;
    return false;
}

static void scalar(struct sb *out, const struct json *v)
{
    struct jw w = jw_in(out, 0);

    if (v->type == JSON_STRING && !needs_quotes(json_sv(v)))
        sb_add(out, json_sv(v));
    else
        jw_json(&w, v); /* a JSON string is a YAML string in double quotes */
}

static bool is_block(const struct json *v)
{
    return (v->type == JSON_ARRAY || v->type == JSON_OBJECT) && v->n > 0;
}

/* Block YAML; the first line of a block continues the line it is on when `inline_first`. */
static void as_yaml(struct sb *out, const struct json *v, size_t depth, bool inline_first)
{
    for (size_t i = 0; i < v->n; i++) {
        const struct json *item = v->type == JSON_ARRAY ? &v->items[i] : &v->members[i].value;
        if (i || !inline_first)
            sb_pad(out, ' ', depth * 2);
        if (v->type == JSON_ARRAY) {
            sb_adds(out, "- ");
            if (is_block(item)) {
                as_yaml(out, item, depth + 1, true);
                continue;
            }
        } else {
            struct json key = json_of(v->members[i].key);
            scalar(out, &key);
            sb_addc(out, ':');
            if (is_block(item)) {
                sb_addc(out, '\n');
                as_yaml(out, item, depth + 1, false);
                continue;
            }
            sb_addc(out, ' ');
        }
        scalar(out, item);
        sb_addc(out, '\n');
    }
}

enum status format_print(struct sb *out, struct sv text, struct sv format, struct arena *a,
                         struct err *e)
{
    struct json v;

    if (!sv_is(format, "table") && !sv_is(format, "yaml")) {
        sb_add(out, text);
        return ST_OK;
    }
    if (json_parse(text, JSON_KEEP_ORDER, a, &v, e))
        return err_code(e);
    if (sv_is(format, "table")) {
        out->show = SB_PLAIN;
        as_table(out, &v);
        return ST_OK;
    }
    as_yaml(out, &v, 0, false);
    sb_addc(out, '\n');
    return ST_OK;
}
