/* Messages as runs of one role, each a list of texts and pictures, and the two APIs that take them.
 */
#include "assemble/body_flat.h"

#include "assemble/parsed.h"
#include "assemble/repair.h"

struct flat_part {
    struct sv          text;  /* absent: a picture */
    const struct part *image; /* NULL: a text */
};

struct flat_turn {
    bool assistant;
    VEC(const struct json *) thoughts; /* in the provider's own shape; they come first */
    struct sv phase;                   /* of Responses: "commentary", "final_answer"; or absent */
    VEC(struct flat_part) parts;
};

struct flat {
    struct arena         *a;
    struct render_report *r;
    struct sb             system;
    VEC(struct flat_turn) turns;
};

static void add_system(struct flat *f, struct sv text)
{
    sb_adds(&f->system, f->system.n && text.n ? "\n\n" : "");
    sb_add(&f->system, text);
}

/* Neighbours of one role are one turn: both APIs want roles to alternate. */
static struct flat_turn *turn_of(struct flat *f, bool assistant)
{
    if (!f->turns.n || f->turns.v[f->turns.n - 1].assistant != assistant)
        vec_push(&f->turns, f->a)->assistant = assistant;
    return &f->turns.v[f->turns.n - 1];
}

static void add_part(struct flat *f, bool assistant, struct flat_part part)
{
    *vec_push(&turn_of(f, assistant)->parts, f->a) = part;
}

static void add_text(struct flat *f, bool assistant, struct sv text)
{
    if (sv_trim(text).n) /* an empty text is refused */
        add_part(f, assistant, (struct flat_part){ .text = text });
}

static void add_call(struct flat *f, const struct tool_call *c, struct repair_place place)
{
    struct sb b = sb_in(f->a, 0);
    struct sv text = json_sv(&c->arguments);

    sb_addf(&b, "[call " SV_FMT ": " SV_FMT " ", SV_ARG(c->id), SV_ARG(c->name));
    sb_add(&b, text.s ? text : json_canonical(&c->arguments, f->a));
    sb_addc(&b, ']');
    add_text(f, true, sb_sv(&b));
    place.tool_call_id = c->id;
    report_add(f->r, REPAIR_CHANGED, place, "a call to text");
}

static void add_result(struct flat *f, const struct parsed_message *m, struct repair_place place)
{
    struct sb b = sb_in(f->a, 0);

    sb_addf(&b, "[result of " SV_FMT "]", SV_ARG(m->tool_call_id));
    add_text(f, false, sb_sv(&b));
    report_add(f->r, REPAIR_CHANGED, place, "a result to text");
}

static void add_content(struct flat *f, const struct part *p, bool assistant, bool system,
                        struct repair_place place)
{
    bool image = p->kind == PART_IMAGE_DATA || p->kind == PART_IMAGE_URL;

    if (p->kind == PART_TEXT && system)
        add_system(f, p->text);
    else if (p->kind == PART_TEXT)
        add_text(f, assistant, p->text);
    else if (image && !assistant && !system)
        add_part(f, false, (struct flat_part){ .image = p });
    else if (p->kind != PART_CALL)
        report_add(f->r, REPAIR_DROPPED, place, "%s, which this format cannot hold here",
                   part_word(p));
}

/* A list that thinking_settle() left is of this provider. */
static void add_thoughts(struct flat *f, const struct parsed_message *m, struct repair_place place)
{
    bool kept = parsed_is(m, "assistant") && m->details.type == JSON_ARRAY;

    if (m->thinking.n || (m->details.type != JSON_NULL && !kept))
        report_add(f->r, REPAIR_DROPPED, place, "thinking, which this format cannot hold");
    for (size_t i = 0; kept && i < m->details.n; i++) {
        const struct json *x = &m->details.items[i];
        if (sv_is(json_text(x, "type"), "message"))
            turn_of(f, true)->phase = json_text(x, "phase");
        else
            /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
            *vec_push(&turn_of(f, true)->thoughts, f->a) = x;
    }
}

static void add_message(struct flat *f, const struct parsed_message *m, size_t at)
{
    struct repair_place place = parsed_place(m, at);
    bool                assistant = parsed_is(m, "assistant"), system = parsed_is_system(m);

    add_thoughts(f, m, place);
    if (parsed_is(m, "tool"))
        add_result(f, m, place);
    for (size_t i = 0; i < m->n_parts; i++)
        add_content(f, &m->parts[i], assistant, system, place);
    for (size_t i = 0; i < m->n_calls; i++)
        add_call(f, &m->calls[i], place);
}

static enum status flatten(const struct context *c, struct flat *f, struct err *e)
{
    struct parsed_message *turns, *mended;
    size_t                 n;

    f->system = sb_in(f->a, 0);
    if (parsed_of(c, f->a, &turns, &n, f->r, e))
        return err_code(e);
    repair_all(turns, n, f->a, &mended, &n, f->r);
    add_system(f, c->system_prompt);
    for (size_t i = 0; i < n; i++)
        add_message(f, &mended[i], i);
    return ST_OK;
}

/* ---- Responses ----------------------------------------------------------------------------------
 */

static struct sv image_url(const struct part *p, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (p->kind == PART_IMAGE_URL)
        return p->url;
    sb_addf(&b, "data:" SV_FMT ";base64,", SV_ARG(p->media_type));
    sb_add(&b, p->data);
    return sb_sv(&b);
}

static void write_responses_part(struct jw *w, const struct flat_part *p, struct arena *a)
{
    jw_open(w, '{');
    if (p->image) {
        jw_kstr(w, "detail", SV("auto"));
        jw_kstr(w, "image_url", image_url(p->image, a));
    } else {
        jw_klossy(w, "text", p->text);
    }
    jw_kstr(w, "type", p->image ? SV("input_image") : SV("input_text"));
    jw_close(w, '}');
}

/* The assistant's content is sent as text: parts would need the ids that the provider gave them. */
static void write_responses_content(struct jw *w, const struct flat_turn *t, struct arena *a)
{
    struct sb said = sb_in(a, 0);

    if (t->assistant) {
        for (size_t k = 0; k < t->parts.n; k++) {
            sb_adds(&said, k ? "\n\n" : "");
            sb_add(&said, t->parts.v[k].text);
        }
        jw_klossy(w, "content", sb_sv(&said));
        return;
    }
    jw_key(w, "content");
    jw_open(w, '[');
    for (size_t k = 0; k < t->parts.n; k++)
        write_responses_part(w, &t->parts.v[k], a);
    jw_close(w, ']');
}

enum status body_flat_responses(const struct context *c, struct arena *a, struct sb *out,
                                struct render_report *r, struct err *e)
{
    struct flat f = { .a = a, .r = r };
    struct jw   w = jw_in(out, 0);

    if (flatten(c, &f, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_key(&w, "include"); /* so that thinking can be sent back, with store:false */
    jw_raw(&w, SV("[\"reasoning.encrypted_content\"]"));
    jw_key(&w, "input");
    jw_open(&w, '[');
    for (size_t i = 0; i < f.turns.n; i++) {
        const struct flat_turn *t = &f.turns.v[i];
        for (size_t k = 0; k < t->thoughts.n; k++)
            jw_json(&w, t->thoughts.v[k]);
        jw_open(&w, '{');
        write_responses_content(&w, t, a);
        if (t->phase.n)
            jw_kstr(&w, "phase", t->phase);
        jw_kstr(&w, "role", t->assistant ? SV("assistant") : SV("user"));
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    if (f.system.n)
        jw_klossy(&w, "instructions", sb_sv(&f.system));
    jw_kbool(&w, "store", false);
    jw_close(&w, '}');
    return ST_OK;
}

/* ---- Gemini -------------------------------------------------------------------------------------
 */

static void write_gemini_text(struct jw *w, struct sv text)
{
    jw_open(w, '{');
    jw_klossy(w, "text", text);
    jw_close(w, '}');
}

/* Thoughts are parts of their own; a signature without a thought belongs to the first text. */
static struct sv write_gemini_thoughts(struct jw *w, const struct flat_turn *t)
{
    struct sv signature = { 0 };

    for (size_t i = 0; i < t->thoughts.n; i++) {
        if (json_find(t->thoughts.v[i], "thought"))
            jw_json(w, t->thoughts.v[i]);
        else
            signature = json_text(t->thoughts.v[i], "thoughtSignature");
    }
    return signature;
}

static void write_gemini_signed(struct jw *w, struct sv text, struct sv signature)
{
    jw_open(w, '{');
    jw_klossy(w, "text", text);
    jw_kstr(w, "thoughtSignature", signature);
    jw_close(w, '}');
}

/* A picture by its URL would have to be uploaded first: its address is sent as text. */
static void write_gemini_part(struct jw *w, const struct flat_part *p, struct render_report *r)
{
    if (!p->image) {
        write_gemini_text(w, p->text);
        return;
    }
    if (p->image->kind == PART_IMAGE_URL) {
        report_add(r, REPAIR_CHANGED, REPAIR_OF_ALL, "a picture to its URL");
        write_gemini_text(w, p->image->url);
        return;
    }
    jw_open(w, '{');
    jw_key(w, "inlineData");
    jw_open(w, '{');
    jw_kstr(w, "data", p->image->data);
    jw_kstr(w, "mimeType", p->image->media_type);
    jw_close(w, '}');
    jw_close(w, '}');
}

enum status body_flat_gemini(const struct context *c, struct arena *a, struct sb *out,
                             struct render_report *r, struct err *e)
{
    struct flat f = { .a = a, .r = r };
    struct jw   w = jw_in(out, 0);

    if (flatten(c, &f, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_key(&w, "contents");
    jw_open(&w, '[');
    for (size_t i = 0; i < f.turns.n; i++) {
        const struct flat_turn *t = &f.turns.v[i];
        jw_open(&w, '{');
        jw_key(&w, "parts");
        jw_open(&w, '[');
        struct sv signature = write_gemini_thoughts(&w, t);
        for (size_t k = 0; k < t->parts.n; k++) {
            if (signature.n && !t->parts.v[k].image) {
                write_gemini_signed(&w, t->parts.v[k].text, signature);
                signature = (struct sv){ 0 };
                continue;
            }
            write_gemini_part(&w, &t->parts.v[k], r);
        }
        jw_close(&w, ']');
        jw_kstr(&w, "role", t->assistant ? SV("model") : SV("user"));
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    if (f.system.n) {
        jw_key(&w, "systemInstruction");
        jw_open(&w, '{');
        jw_key(&w, "parts");
        jw_open(&w, '[');
        write_gemini_text(&w, sb_sv(&f.system));
        jw_close(&w, ']');
        jw_close(&w, '}');
    }
    jw_close(&w, '}');
    return ST_OK;
}
