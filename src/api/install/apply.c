/* The text of a settings file without heddle's parts, and with them. */
#include "api/install/install.h"
#include "base/jsonc.h"
#include "base/path.h"

#define BEGIN "heddle: begin"
#define END "heddle: end"
#define MARK "Written by `heddle install"

/* ---- which parts are heddle's -------------------------------------------------------------- */

/* Is one of the words of a command line `hook`, and the next one the name of the program? */
static bool runs_hook(struct sv line, const char *name)
{
    struct sv before = { 0 };

    for (struct sv_cut c = { .tail = line, .found = true }; c.found; before = c.head) {
        c = sv_cut(c.tail, ' ');
        if (sv_is(before, "hook") && sv_is(c.head, name))
            return true;
    }
    return false;
}

static bool has_words(const struct json *args, const char *name)
{
    return json_is(args, JSON_ARRAY) && args->n >= 2 && sv_is(json_sv(&args->items[0]), "hook") &&
           sv_is(json_sv(&args->items[1]), name);
}

/* A handler that runs `heddle hook NAME`. */
static bool is_our_handler(void *ctx, const struct json *handler)
{
    const char *name = ctx;

    return runs_hook(json_text(handler, "command"), name) ||
           has_words(json_find(handler, "args"), name);
}

/* A rule that heddle wrote: one of install_denied, or one for the whole directory of a thread.
 * Other rules about these directories belong to the user. */
static bool is_our_rule(struct sv rule)
{
    struct sv front = SV("Edit("), threads = SV(".leslie/threads/");

    if (!sv_starts(rule, front) || !sv_ends(rule, SV(")")))
        return false;
    rule = sv_first(sv_skip(rule, front.n), rule.n - front.n - 1);
    for (size_t i = 0; install_denied[i]; i++)
        if (sv_is(rule, install_denied[i]))
            return true;
    if (!sv_starts(rule, threads))
        return false;
    struct sv_cut c = sv_cut(sv_skip(rule, threads.n), '/');
    return c.head.n && sv_is(c.tail, "**");
}

/* How many handlers an item of a list of hooks has, and how many of them are heddle's. */
static size_t count_handlers(const struct json *item, const char *name, size_t *ours)
{
    const struct json *hooks = json_find(item, "hooks");

    *ours = 0;
    if (!json_is(hooks, JSON_ARRAY))
        return 0;
    for (size_t i = 0; i < hooks->n; i++)
        *ours += is_our_handler((void *)(uintptr_t)name, &hooks->items[i]);
    return hooks->n;
}

/* An item that consists of heddle's parts alone. */
static bool is_ours(void *ctx, const struct json *item)
{
    size_t ours;

    if (item->type == JSON_STRING)
        return is_our_rule(json_sv(item));
    return count_handlers(item, ctx, &ours) == ours && ours;
}

/* "heddle", a path to it, or the program that this plan names. */
static bool is_our_program(struct sv program, struct sv named)
{
    return program.n && (sv_eq(program, named) || sv_starts(path_base(program), SV("heddle")));
}

/* ["mcp"], and behind it only options that heddle writes. `from`: where the words begin. */
static bool are_our_words(const struct json *list, size_t from)
{
    if (!json_is(list, JSON_ARRAY) || list->n <= from || !sv_is(json_sv(&list->items[from]), "mcp"))
        return false;
    for (size_t i = from + 1; i < list->n; i += 2) {
        struct sv word = json_sv(&list->items[i]);
        if (i + 1 == list->n || (!sv_is(word, "--thread") && !sv_is(word, "--agent")))
            return false;
    }
    return true;
}

/* Is a server in a file like the one that heddle writes, for any thread, agent and place of the
 * program? {"command","args"}, for opencode {"type","command","enabled"}. With another program,
 * with other members (an environment, a time limit) or without one of these it is the user's,
 * whatever its name is. */
static bool is_our_member(const struct json *v, const struct json *ours)
{
    const struct json *command = json_find(v, "command"), *named = json_find(ours, "command");

    if (!json_is(v, JSON_OBJECT) || v->n != ours->n)
        return false;
    for (size_t i = 0; i < ours->n; i++) {
        const struct json *same = json_find_sv(v, ours->members[i].key);
        if (!same || same->type != ours->members[i].value.type)
            return false;
    }
    if (json_is(named, JSON_STRING))
        return is_our_program(json_sv(command), json_sv(named)) &&
               are_our_words(json_find(v, "args"), 0);
    return command->n && is_our_program(json_sv(&command->items[0]), json_sv(&named->items[0])) &&
           are_our_words(command, 1) && sv_is(json_text(v, "type"), "local");
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static size_t split(struct sv dotted, struct sv *path)
{
    size_t n = 0;

    for (struct sv_cut c = { .tail = dotted, .found = true }; c.found && n < INSTALL_DEPTH;) {
        c = sv_cut(c.tail, '.');
        path[n++] = c.head;
    }
    return n;
}

static size_t path_length(const struct install_part *p)
{
    size_t n = 0;

    while (n < INSTALL_DEPTH && p->path[n].s)
        n++;
    return n;
}

/* What stands where a part puts its member. */
enum member_whose { MEMBER_NONE, MEMBER_OURS, MEMBER_THEIRS };

static enum status find_member(const struct install_part *p, struct sv text, struct arena *a,
                               enum member_whose *out, struct err *e)
{
    struct sv   value = { 0 };
    struct json v, ours;
    struct err  ignored;

    *out = MEMBER_NONE;
    if (jsonc_find(text, p->path, path_length(p), a, &value, e))
        return err_code(e);
    if (value.s)
        *out = json_parse(jsonc_plain(value, a), 0, a, &v, &ignored) == ST_OK &&
                       json_parse(p->value, 0, a, &ours, &ignored) == ST_OK &&
                       is_our_member(&v, &ours)
                   ? MEMBER_OURS
                   : MEMBER_THEIRS;
    return ST_OK;
}

/* Remove lists and objects on the path that are empty now, innermost first. */
static enum status prune(struct sv *text, const struct sv *path, size_t n, struct arena *a,
                         struct err *e)
{
    for (; n > 0; n--) {
        struct sv   value;
        struct json v;
        if (jsonc_find(*text, path, n, a, &value, e))
            return err_code(e);
        if (!value.s || json_parse(value, 0, a, &v, e) ||
            (v.type != JSON_ARRAY && v.type != JSON_OBJECT) || v.n)
            return ST_OK;
        if (jsonc_remove(*text, path, n, a, text, e))
            return err_code(e);
    }
    return ST_OK;
}

/* Removes heddle's handlers from items that also hold handlers of others, which stay. */
static enum status drop_handlers(const char *name, struct sv *path, size_t n, struct sv *text,
                                 struct arena *a, struct err *e)
{
    struct sv   list;
    struct json items;

    if (jsonc_find(*text, path, n, a, &list, e))
        return err_code(e);
    if (!list.s || json_parse(jsonc_plain(list, a), 0, a, &items, e) || items.type != JSON_ARRAY)
        return ST_OK;
    for (size_t i = 0; i < items.n; i++) {
        struct sb number = sb_in(a, 0);
        size_t    ours;
        if (count_handlers(&items.items[i], name, &ours) == ours || !ours)
            continue;
        sb_addf(&number, "%zu", i);
        path[n] = sb_sv(&number);
        path[n + 1] = SV("hooks");
        if (jsonc_drop(*text, path, n + 2, is_our_handler, (void *)(uintptr_t)name, a, text, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status json_without(const struct install_file *f, const char *name, struct sv *text,
                                struct arena *a, struct err *e)
{
    struct sv path[INSTALL_DEPTH + 2];

    for (size_t i = 0; i < f->parts.n; i++) {
        const struct install_part *p = &f->parts.v[i];
        size_t                     n = path_length(p);
        enum member_whose          there = MEMBER_NONE;
        if (p->kind == INSTALL_MEMBER && find_member(p, *text, a, &there, e))
            return err_code(e);
        if (there == MEMBER_OURS &&
            (jsonc_remove(*text, p->path, n, a, text, e) || prune(text, p->path, n - 1, a, e)))
            return err_code(e);
    }
    for (size_t i = 0; i < f->lists.n; i++) {
        struct sv before = *text;
        size_t    n = split(f->lists.v[i], path);
        if (jsonc_drop(*text, path, n, is_ours, (void *)(uintptr_t)name, a, text, e) ||
            (!sv_eq(before, *text) && prune(text, path, n, a, e)) ||
            drop_handlers(name, path, n, text, a, e))
            return err_code(e);
    }
    return ST_OK;
}

/* ---- blocks of lines ----------------------------------------------------------------------- */

/* "# heddle: begin", or "<!-- heddle: begin -->". */
static struct sv mark_line(const char *comment, const char *what, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "%s %s%s\n", comment, what, sv_is(sv_of(comment), "<!--") ? " -->" : "");
    return sb_sv(&b);
}

/* The block is removed together with the empty line in front of it, which was added with it. */
static enum status block_without(const struct install_file *f, struct sv *text, struct arena *a,
                                 struct err *e)
{
    struct sv begin = mark_line(f->comment, BEGIN, a), end = mark_line(f->comment, END, a);
    ptrdiff_t from = sv_find(*text, begin);
    struct sb b = sb_in(a, 0);

    if (from < 0)
        return ST_OK;
    struct sv front = sv_first(*text, (size_t)from), rest = sv_skip(*text, (size_t)from);
    ptrdiff_t to = sv_find(rest, end);
    if (to < 0) {
        err_set(e, ST_INVALID_SYNTAX, "the line '%s " BEGIN "' has no '%s " END "' behind it",
                f->comment, f->comment);
        return err_hint(e, "put the line back where heddle's lines end");
    }
    if (sv_ends(front, SV("\n\n")))
        front.n--;
    sb_add(&b, front);
    sb_add(&b, sv_skip(rest, (size_t)to + end.n));
    *text = sb_sv(&b);
    return ST_OK;
}

/* A key of TOML without spaces and quotes: mcp_servers.heddle of [ mcp_servers . "heddle" ]. */
static struct sv plain_key(struct sv key, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < key.n; i++)
        if (!sv_has(SV(" \t\r\"'"), key.s[i]))
            sb_addc(&b, key.s[i]);
    return sb_sv(&b);
}

/* Does a line of TOML define heddle's table or a part of it? *table is the table that the line is
 * in. `mcp_servers = {…}` counts, too: such a table cannot be extended. */
static bool defines_server(struct sv line, struct sv *table, struct arena *a)
{
    struct sv name = SV("mcp_servers.heddle"), key;
    bool      head = sv_starts(line, SV("["));
    struct sb b = sb_in(a, 0);

    if (!line.n || line.s[0] == '#')
        return false;
    key = plain_key(head ? sv_cut(sv_skip(line, 1), ']').head : sv_cut(line, '=').head, a);
    if (head)
        *table = key;
    else if (table->n)
        sb_addf(&b, SV_FMT ".", SV_ARG(*table));
    sb_add(&b, key);
    key = sb_sv(&b);
    return (!head && sv_is(key, "mcp_servers")) || sv_eq(key, name) ||
           (sv_starts(key, name) && key.s[name.n] == '.');
}

/* A file of TOML in which somebody else has put this table: a second one makes the file invalid. */
static enum status check_toml(const struct install_file *f, struct sv bare, struct arena *a,
                              struct err *e)
{
    struct sv table = { 0 };

    for (struct sv_cut c = { .tail = bare, .found = sv_is(sv_of(f->comment), "#") }; c.found;) {
        c = sv_cut(c.tail, '\n');
        if (defines_server(sv_trim(c.head), &table, a)) {
            err_set(e, ST_CONFLICT, "it has a line '" SV_FMT "' already", SV_ARG(sv_trim(c.head)));
            return err_hint(e, "take it out, or put `heddle mcp` in there yourself");
        }
    }
    return ST_OK;
}

static enum status block_with(const struct install_file *f, const struct install_part *p,
                              struct sv *text, struct arena *a, struct err *e)
{
    struct sb b = sb_in(a, 0);

    if (check_toml(f, *text, a, e))
        return err_code(e);
    if (sv_find(*text, SV("<leslie_system_guide")) >= 0)
        return ST_OK; /* the file has the long form of this guide already */
    if (text->n) {
        sb_add(&b, *text);
        sb_adds(&b, sv_ends(*text, SV("\n")) ? "\n" : "\n\n");
    }
    sb_add(&b, mark_line(f->comment, BEGIN, a));
    sb_add(&b, p->value);
    sb_add(&b, mark_line(f->comment, END, a));
    *text = sb_sv(&b);
    return ST_OK;
}

/* ---- whole files --------------------------------------------------------------------------- */

/* Did heddle write this file? Its text has the mark; the manifest of the plugin is JSON, and is
 * like the one that heddle writes but for the version. */
static bool is_own_file(const struct install_part *p, struct sv text, struct arena *a)
{
    static const char *const keys[] = { "name", "description" };
    struct json              v, ours;
    struct err               ignored;

    if (sv_find(p->value, SV(MARK)) >= 0)
        return sv_find(text, SV(MARK)) >= 0;
    if (json_parse(text, 0, a, &v, &ignored) || json_parse(p->value, 0, a, &ours, &ignored) ||
        v.type != JSON_OBJECT || v.n != ours.n)
        return false;
    for (size_t i = 0; i < COUNT(keys); i++)
        if (!sv_eq(json_text(&v, keys[i]), json_text(&ours, keys[i])))
            return false;
    return true;
}

static enum status file_with(const struct install_part *p, struct sv *text, struct err *e)
{
    if (text->n) {
        err_set(e, ST_CONFLICT, "it is there, and is not heddle's");
        return err_hint(e, "move it away");
    }
    *text = p->value;
    return ST_OK;
}

/* ---- both ---------------------------------------------------------------------------------- */

static bool is_json(const struct install_file *f)
{
    return f->parts.n && f->parts.v[0].kind <= INSTALL_ITEM;
}

/* Is nothing left in a JSON file? Then it is removed: heddle created it, or it had no effect. */
static bool says_nothing(struct sv text, struct arena *a)
{
    struct json v;
    struct err  ignored;

    return !sv_trim(text).n ||
           (json_parse(text, 0, a, &v, &ignored) == ST_OK && v.type == JSON_OBJECT && !v.n);
}

bool install_is_taken(const struct install_file *f, struct sv text, struct arena *a)
{
    for (size_t i = 0; text.s && i < f->parts.n; i++) {
        const struct install_part *p = &f->parts.v[i];
        enum member_whose          there = MEMBER_NONE;
        struct err                 ignored;
        if (p->kind == INSTALL_FILE
                ? !is_own_file(p, text, a)
                : p->kind == INSTALL_MEMBER && find_member(p, text, a, &there, &ignored) == ST_OK &&
                      there == MEMBER_THEIRS)
            return true;
    }
    return false;
}

enum status install_put_back(const struct install_file *f, struct sv kept, struct sv now,
                             struct arena *a, struct sv *bare, struct err *e)
{
    for (size_t i = 0; i < f->parts.n; i++) {
        const struct install_part *p = &f->parts.v[i];
        enum member_whose          was, is;
        struct sv                  value;
        if (p->kind != INSTALL_MEMBER)
            continue;
        if (find_member(p, kept, a, &was, e) || find_member(p, now, a, &is, e))
            return err_code(e);
        if (was == MEMBER_THEIRS && is == MEMBER_OURS &&
            (jsonc_find(kept, p->path, path_length(p), a, &value, e) ||
             jsonc_set(bare->s ? *bare : SV(""), p->path, path_length(p), value, a, bare, e)))
            return err_code(e);
    }
    return ST_OK;
}

enum status install_without(const struct install_file *f, enum harness h, struct sv text,
                            struct arena *a, struct sv *out, struct err *e)
{
    *out = text;
    if (!text.s)
        return ST_OK;
    if (f->parts.v[0].kind == INSTALL_FILE) {
        if (is_own_file(&f->parts.v[0], text, a))
            *out = (struct sv){ 0 };
        return ST_OK;
    }
    enum status s =
        is_json(f) ? json_without(f, harness_name(h), out, a, e) : block_without(f, out, a, e);
    if (!s && out->s && !sv_eq(*out, text) &&
        (is_json(f) ? says_nothing(*out, a) : !sv_trim(*out).n))
        *out = (struct sv){ 0 };
    return s;
}

enum status install_with(const struct install_file *f, struct sv bare, struct arena *a,
                         struct sv *out, struct err *e)
{
    *out = bare.s ? bare : SV("");
    for (size_t i = 0; i < f->parts.n; i++) {
        const struct install_part *p = &f->parts.v[i];
        enum status                s = ST_OK;
        size_t                     n = path_length(p);
        switch (p->kind) {
        case INSTALL_MEMBER: s = jsonc_set(*out, p->path, n, p->value, a, out, e); break;
        case INSTALL_ITEM: s = jsonc_add(*out, p->path, n, p->value, a, out, e); break;
        case INSTALL_BLOCK: s = block_with(f, p, out, a, e); break;
        case INSTALL_FILE: s = file_with(p, out, e); break;
        }
        if (s)
            return s;
    }
    return ST_OK;
}
