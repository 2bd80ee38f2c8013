/* Sessions and turns as directories below .teddy. */
#include "payload/session.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/map.h"
#include "base/path.h"
#include "payload/list.h"
#include "payload/report.h"
#include "payload/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LIMIT = 64 << 20, SLUG_MAX = 40 };

#define SESSIONS SV(".teddy/sessions")

/* ---- where ------------------------------------------------------------------------------ */

static bool is_number(struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.s[i] < '0' || v.s[i] > '9')
            return false;
    return v.n > 0 && v.n <= 9;
}

struct session_place session_place_of(struct sv path)
{
    struct session_place at = { 0 };
    struct sv            under = SV(".teddy/"), newer = SV("sessions/");

    if (!sv_starts(path, under))
        return at;
    size_t n = under.n;
    bool   flat = !sv_starts(sv_skip(path, n), newer);
    n += flat ? 0 : newer.n;
    struct sv_cut name = sv_cut(sv_skip(path, n), '/');
    struct sv_cut turn = sv_cut(name.tail, '/');
    bool          in_turn = name.found && is_number(turn.head);
    /* In the older layout a session differs from other directories only by containing a turn. */
    if (!name.head.n || (flat && !in_turn))
        return at;
    at.session = sv_first(path, n + name.head.n);
    if (in_turn)
        at.turn = sv_first(path, n + name.head.n + 1 + turn.head.n);
    return at;
}

/* ---- listing ------------------------------------------------------------------------------ */

typedef session_entries names;

/* Directories in a directory; none when it is not there. */
static enum status folders_in(int root, struct sv dir, struct arena *a, names *out, struct err *e)
{
    struct fs_item *items;
    size_t          n = 0;
    enum status     s = fs_list(root, dir, a, &items, &n, e);

    if (s && s != ST_NOT_FOUND)
        return s;
    for (size_t i = 0; i < n; i++)
        if (items[i].name.s[0] != '.' && items[i].kind == FS_DIR)
            *vec_push(out, a) = items[i].name;
    return ST_OK;
}

static enum status is_file(int root, struct sv path, bool *out, struct err *e)
{
    enum fs_kind kind;

    if (fs_kind(root, path, &kind, e))
        return err_code(e);
    *out = kind == FS_FILE;
    return ST_OK;
}

static struct sv turn_dir(struct sv session, int number, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, SV_FMT "/%02d", SV_ARG(session), number);
    return sb_sv(&b);
}

static enum status read_turns(int root, struct session_dir *s, struct arena *a, struct err *e)
{
    names all = { 0 };

    if (folders_in(root, s->dir, a, &all, e))
        return err_code(e);
    for (size_t i = 0; i < all.n; i++) {
        int64_t n;
        if (!is_number(all.v[i]) || !sv_to_int(all.v[i], &n))
            continue;
        s->turns++;
        s->turn = n > s->turn ? (int)n : s->turn;
    }
    struct sv dir = turn_dir(s->dir, s->turn, a);
    if (!s->turn)
        return ST_OK;
    if (is_file(root, path_join(dir, SV("plan.md"), a), &s->has_plan, e))
        return err_code(e);
    return is_file(root, path_join(dir, SV("report.md"), a), &s->has_report, e);
}

static enum status read_session(int root, struct sv dir, struct arena *a, struct session_dir *s,
                                struct err *e)
{
    struct sv   text;
    struct json doc;
    struct err  ignored;

    *s = (struct session_dir){ .name = sv_dup(path_base(dir), a), .dir = dir };
    enum status got =
        fs_read(root, path_join(dir, SV("session.json"), a), 1 << 20, a, &text, &ignored);
    s->damaged = got && got != ST_NOT_FOUND;
    if (!got && (json_parse(text, 0, a, &doc, &ignored) || doc.type != JSON_OBJECT)) {
        s->damaged = true;
    } else if (!got) {
        s->thread = json_text(&doc, "thread");
        s->parent = json_text(&doc, "parent");
        if (!json_int(json_find(&doc, "created_ms"), &s->created_ms))
            s->created_ms = 0;
    }
    return read_turns(root, s, a, e);
}

static int by_age(const void *left, const void *right)
{
    const struct session_dir *a = left, *b = right;

    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms ? -1 : 1;
    return sv_cmp(a->name, b->name);
}

enum status session_list(int root, struct arena *a, session_dirs *list, struct err *e)
{
    names        in_place = { 0 }, flat = { 0 };
    session_dirs out = { 0 };

    if (folders_in(root, SESSIONS, a, &in_place, e) || folders_in(root, SV(".teddy"), a, &flat, e))
        return err_code(e);
    for (size_t i = 0; i < in_place.n; i++)
        if (read_session(root, path_join(SESSIONS, in_place.v[i], a), a, vec_push(&out, a), e))
            return err_code(e);
    for (size_t i = 0; i < flat.n; i++) {
        struct session_dir s;
        if (sv_is(flat.v[i], "sessions"))
            continue;
        if (read_session(root, path_join(SV(".teddy"), flat.v[i], a), a, &s, e))
            return err_code(e);
        if (s.turns)
            *vec_push(&out, a) = s;
    }
    if (out.n)
        qsort(out.v, out.n, sizeof out.v[0], by_age);
    *list = out;
    return ST_OK;
}

enum status session_find(int root, struct sv name, struct arena *a, struct session_dir *out,
                         struct err *e)
{
    session_dirs all;

    if (session_list(root, a, &all, e))
        return err_code(e);
    for (size_t i = all.n; i-- > 0;)
        if (sv_eq(all.v[i].name, name)) {
            *out = all.v[i];
            return ST_OK;
        }
    err_set(e, ST_NOT_FOUND, "session '" SV_FMT "' not found", SV_ARG(name));
    return err_hint(e, "`heddle session list` shows the sessions there are");
}

/* ---- making --------------------------------------------------------------------------------- */

/* Code that changes .teddy holds the lock of its directory. */
static enum status lock(int root, int *fd, struct err *e)
{
    return fs_mkdirs(root, SESSIONS, e) ? err_code(e) : fs_lock_dir(root, SV(".teddy"), fd, e);
}

static bool is_stopword(struct sv word)
{
    static const char *const words[] = { "a",    "an",   "and",  "as",     "at",     "be",  "by",
                                         "for",  "i",    "in",   "is",     "it",     "my",  "of",
                                         "on",   "or",   "so",   "to",     "the",    "we",  "you",
                                         "with", "that", "this", "please", "should", "can", "me" };

    for (size_t i = 0; i < COUNT(words); i++)
        if (sv_is(word, words[i]))
            return true;
    return false;
}

static bool is_slug_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The significant words of the message, at most SLUG_MAX bytes of them. */
static struct sv slug_of(struct sv message, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    message = sv_lower(message, a);
    for (size_t i = 0; i < message.n;) {
        size_t from = i;
        while (i < message.n && is_slug_byte(message.s[i]))
            i++;
        struct sv word = { message.s + from, i - from };
        i += i < message.n;
        if (!word.n || is_stopword(word))
            continue;
        if (b.n + word.n + (b.n > 0) > SLUG_MAX)
            break;
        sb_addf(&b, "%s" SV_FMT, b.n ? "-" : "", SV_ARG(word));
    }
    return b.n ? sb_sv(&b) : SV("session");
}

/* 20261115_213600-fix-parser */
static struct sv dated_name(const struct session_request *q, struct arena *a)
{
    struct sb iso = sb_in(a, 0), b = sb_in(a, 0);

    sb_add_iso_ms(&iso, q->now_ms);
    struct sv t = sb_sv(&iso); /* 2026-11-15T21:36:00.000Z */
    sb_addf(&b, "%.4s%.2s%.2s_%.2s%.2s%.2s-" SV_FMT, t.s, t.s + 5, t.s + 8, t.s + 11, t.s + 14,
            t.s + 17, SV_ARG(slug_of(q->message, a)));
    return sb_sv(&b);
}

/* A list that is being built: a map keeps the order of its entries; a removed one has no value. */
static void add_entry(struct map *list, struct sv entry)
{
    if (entry.n)
        map_put(list, entry, list);
}

static void remove_entry(struct map *list, struct sv entry)
{
    if (map_has(list, entry))
        map_put(list, entry, NULL);
}

static names entries_of(const struct map *list, struct arena *a)
{
    names out = { 0 };

    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].value)
            *vec_push(&out, a) = list->items[i].key;
    return out;
}

/* The bytes of a file; absent when it is not there. */
static enum status read_if_there(int root, struct sv path, struct arena *a, struct sv *out,
                                 struct err *e)
{
    enum status s = fs_read(root, path, FILE_LIMIT, a, out, e);

    if (s != ST_NOT_FOUND)
        return s;
    *out = (struct sv){ 0 };
    return ST_OK;
}

static enum status add_lines(int root, struct map *list, struct sv path, struct arena *a,
                             struct err *e)
{
    struct sv text;

    if (read_if_there(root, path, a, &text, e))
        return err_code(e);
    list_lines lines = list_read(text, a);
    for (size_t i = 0; i < lines.n; i++)
        add_entry(list, lines.v[i]);
    return ST_OK;
}

static enum status write_list(int root, struct sv dir, const char *name, const names *list,
                              struct arena *a, struct err *e)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < list->n; i++)
        sb_addf(&b, SV_FMT "\n", SV_ARG(list->v[i]));
    return fs_write(root, path_join(dir, sv_of(name), a), sb_sv(&b), 0644, e);
}

static enum status write_session(int root, const struct session_dir *s, struct arena *a,
                                 struct err *e)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 2);

    jw_open(&w, '{');
    jw_kstr(&w, "name", s->name);
    jw_kint(&w, "created_ms", s->created_ms);
    if (s->thread.n)
        jw_kstr(&w, "thread", s->thread);
    if (s->parent.n)
        jw_kstr(&w, "parent", s->parent);
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return fs_write(root, path_join(s->dir, SV("session.json"), a), sb_sv(&b), 0644, e);
}

static enum status write_meta(int root, struct sv dir, const struct session_turn *t, int64_t now_ms,
                              struct arena *a, struct err *e)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "turn_id: \"%02d\"\nparent_turn_id: ", t->number);
    if (t->parent.n)
        sb_addf(&b, "\"" SV_FMT "\"\n", SV_ARG(path_base(t->parent)));
    else
        sb_adds(&b, "null\n");
    sb_adds(&b, "creation_timestamp: \"");
    sb_add_iso_ms(&b, now_ms);
    sb_adds(&b, "\"\n");
    return fs_write(root, path_join(dir, SV("meta.yaml"), a), sb_sv(&b), 0644, e);
}

/* .teddy holds private files of a person: its .gitignore excludes all of it, as in other builds. */
static enum status write_gitignore(int root, struct err *e)
{
    bool there;

    if (fs_exists(root, SV(".teddy/.gitignore"), &there, e))
        return err_code(e);
    return there ? ST_OK : fs_write(root, SV(".teddy/.gitignore"), SV("*\n"), 0644, e);
}

static enum status make_session(int root, struct session_dir *s, const names *list, struct arena *a,
                                struct err *e)
{
    bool there;

    if (fs_exists(root, s->dir, &there, e))
        return err_code(e);
    if (there) {
        err_set(e, ST_CONFLICT, "session '" SV_FMT "' is there already", SV_ARG(s->name));
        return err_hint(e, "choose another name, or go on with `heddle turn new`");
    }
    if (write_gitignore(root, e) || fs_mkdirs(root, s->dir, e) || write_session(root, s, a, e) ||
        write_list(root, s->dir, "session.context", list, a, e))
        return err_code(e);
    return ST_OK;
}

/* The directory gets its number when it is complete: an incomplete turn without its list would pass
 * an empty list on to all later turns. */
static enum status make_turn(int root, struct session_turn *t, int64_t now_ms, struct arena *a,
                             struct err *e)
{
    UNDO(fd_undo) int held = -1;
    struct sv         session = path_dir(t->dir), draft = path_join(session, SV(".turn"), a);

    if (fs_remove(root, draft, e) || fs_mkdirs(root, draft, e) ||
        write_meta(root, draft, t, now_ms, a, e) ||
        (t->parent.n && write_list(root, draft, "turn.context", &t->entries, a, e)) ||
        fs_open(root, session, O_RDONLY | O_DIRECTORY, &held, e))
        return err_code(e);
    if (renameat(held, ".turn", held, sv_cstr(path_base(t->dir), a)) != 0 || fsync(held) != 0)
        return err_errno(e, "make " SV_FMT, SV_ARG(t->dir));
    return ST_OK;
}

enum status session_new(int root, const struct session_request *q, struct arena *a,
                        struct session_dir *out, struct err *e)
{
    UNDO(fd_undo) int  held = -1;
    struct session_dir s = { .thread = q->thread, .created_ms = q->now_ms, .turn = 1, .turns = 1 };
    struct map         list = map_in(a);

    s.name = q->name.n ? q->name : dated_name(q, a);
    s.dir = path_join(SESSIONS, s.name, a);
    if (name_check(s.name, "session name", e) || lock(root, &held, e) ||
        add_lines(root, &list, SV(".teddy/init.context"), a, e))
        return err_code(e);
    for (size_t i = 0; i < q->context.n; i++)
        add_entry(&list, sv_trim(q->context.v[i]));
    names entries = entries_of(&list, a);
    if (make_session(root, &s, &entries, a, e))
        return err_code(e);
    struct session_turn t = { .dir = turn_dir(s.dir, 1, a), .number = 1 };
    if (q->message.n &&
        fs_write(root, path_join(s.dir, SV("initial_request.md"), a), q->message, 0644, e))
        return err_code(e);
    if (make_turn(root, &t, q->now_ms, a, e))
        return err_code(e);
    *out = s;
    return ST_OK;
}

/* ---- the next turn --------------------------------------------------------------------------- */

struct transition {
    struct map turn, session; /* the lists of the next turn and of the session */
    size_t     session_had;   /* of its entries; those behind them are new */
};

/* READ and CREATE add an entry when they succeeded, EDIT in any case, a skipped action never. PRUNE
 * removes one, unless it failed. */
static void apply_action(struct transition *x, const struct report_action *action, struct arena *a)
{
    struct sv  entry = action->target, normal;
    struct err ignored;
    bool       done = action->outcome == ACTION_DONE;

    if (!entry.n || action->outcome == ACTION_SKIPPED)
        return;
    if (!show_is_url(entry)) {
        if (path_normal(entry, a, &normal, &ignored) || !normal.n)
            return;
        entry = normal;
    }
    switch (action->kind) {
    case ACTION_READ:
        if (done && !action->is_range)
            add_entry(&x->turn, entry);
        break;
    case ACTION_CREATE:
        if (done)
            add_entry(&x->turn, entry);
        break;
    case ACTION_EDIT: add_entry(&x->turn, entry); break;
    case ACTION_PRUNE:
        if (action->outcome != ACTION_FAILED)
            remove_entry(&x->turn, entry);
        break;
    case ACTION_OTHER: break;
    }
}

static int by_bytes(const void *left, const void *right)
{
    return sv_cmp(*(const struct sv *)left, *(const struct sv *)right);
}

/* The lists after turn `from`. A turn with a message to or from the person is added to the
 * session's list, which PRUNE does not change. */
static enum status transition(int root, const struct session_dir *s, struct sv from,
                              struct arena *a, struct transition *x, struct err *e)
{
    struct sv             plan_path = path_join(from, SV("plan.md"), a), plan;
    struct sv             report_path = path_join(from, SV("report.md"), a), report_text;
    struct report_actions report;

    if (read_if_there(root, plan_path, a, &plan, e) ||
        read_if_there(root, report_path, a, &report_text, e) ||
        add_lines(root, &x->turn, path_join(from, SV("turn.context"), a), a, e) ||
        add_lines(root, &x->session, path_join(s->dir, SV("session.context"), a), a, e))
        return err_code(e);
    report_read(report_text, a, &report);
    for (size_t i = 0; i < report.actions.n; i++)
        apply_action(x, &report.actions.v[i], a);
    x->session_had = x->session.n;
    struct map *to =
        report.has_user_request || report_plan_has_message(plan) ? &x->session : &x->turn;
    if (plan.s)
        add_entry(to, plan_path);
    if (report_text.s)
        add_entry(to, report_path);
    return ST_OK;
}

/* New entries go to the end of the session's list; a person's comments and order stay. */
static enum status extend_session(int root, const struct session_dir *s, const struct transition *x,
                                  struct arena *a, struct err *e)
{
    struct sv path = path_join(s->dir, SV("session.context"), a), text;
    struct sb b = sb_in(a, 0);

    if (x->session.n == x->session_had)
        return ST_OK;
    if (read_if_there(root, path, a, &text, e))
        return err_code(e);
    sb_add(&b, text);
    if (text.n && text.s[text.n - 1] != '\n')
        sb_addc(&b, '\n');
    for (size_t i = x->session_had; i < x->session.n; i++)
        sb_addf(&b, SV_FMT "\n", SV_ARG(x->session.items[i].key));
    return fs_write(root, path, sb_sv(&b), 0644, e);
}

/* "name" → "name-2", "name-2" → "name-3". */
static struct sv next_name(struct sv name, struct arena *a)
{
    struct sv_cut c = sv_cut_last(name, '-');
    struct sb     b = sb_in(a, 0);
    int64_t       n = 1;
    bool          numbered = c.found && is_number(c.tail) && c.tail.n < 5 && sv_to_int(c.tail, &n);

    sb_addf(&b, SV_FMT "-%lld", SV_ARG(numbered ? c.head : name),
            (long long)(numbered ? n + 1 : 2));
    return sb_sv(&b);
}

/* After turn 99 the work continues in a new session with the same list. */
static enum status continue_session(int root, const struct session_dir *s, int64_t now_ms,
                                    const names *list, struct arena *a, struct session_dir *out,
                                    struct err *e)
{
    *out = (struct session_dir){
        .name = next_name(s->name, a), .thread = s->thread, .parent = s->name, .created_ms = now_ms
    };
    for (bool there = true; there;) {
        if (fs_exists(root, path_join(SESSIONS, out->name, a), &there, e))
            return err_code(e);
        if (there)
            out->name = next_name(out->name, a);
    }
    out->dir = path_join(SESSIONS, out->name, a);
    return make_session(root, out, list, a, e);
}

enum status session_turn_new(int root, const struct session_dir *s, struct sv from, int64_t now_ms,
                             struct arena *a, struct session_turn *out, struct err *e)
{
    UNDO(fd_undo) int  held = -1;
    struct session_dir now, target;
    struct transition  x = { .turn = map_in(a), .session = map_in(a) };

    if (lock(root, &held, e))
        return err_code(e);
    if (read_session(root, s->dir, a, &now, e)) /* another process may have made a turn meanwhile */
        return err_code(e);
    if (now.damaged) {
        err_set(e, ST_CORRUPT, SV_FMT "/session.json cannot be read", SV_ARG(now.dir));
        return err_hint(e, "it says which thread the session belongs to: mend it, or remove it");
    }
    if (!from.n)
        from = now.turn ? turn_dir(now.dir, now.turn, a) : SV("");
    if (from.n && transition(root, &now, from, a, &x, e))
        return err_code(e);
    if (extend_session(root, &now, &x, a, e))
        return err_code(e);
    target = now;
    names session = entries_of(&x.session, a), turn = entries_of(&x.turn, a);
    if (turn.n)
        qsort(turn.v, turn.n, sizeof turn.v[0], by_bytes);
    if (now.turn >= SESSION_TURN_MAX &&
        continue_session(root, &now, now_ms, &session, a, &target, e))
        return err_code(e);
    struct session_turn t = { .session = target.name, .thread = target.thread, .parent = from };
    t.number = target.turn + 1;
    t.dir = turn_dir(target.dir, t.number, a);
    t.entries = turn;
    if (make_turn(root, &t, now_ms, a, e))
        return err_code(e);
    *out = t;
    return ST_OK;
}
