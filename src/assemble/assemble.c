/* From a request to the messages a model is sent, and a list of what they are made of. */
#include "assemble/assemble.h"

#include "assemble/draft.h"
#include "base/hash.h"
#include "loom/shown.h"
#include "thread/kind.h"

static const struct {
    const char *name;
    int         priority;
} kinds[] = {
#define X(kind, name, priority) [kind] = { name, priority },
    SECTION_TABLE(X)
#undef X
};

const char *const assembly_strategies[] = {
#define X(strategy, name) name,
    ASSEMBLY_STRATEGY_TABLE(X)
#undef X
        NULL,
};

const char *assembly_kind_name(enum assembly_kind k)
{
    return kinds[k].name;
}

int assembly_priority(enum assembly_kind k)
{
    return kinds[k].priority;
}

const char *assembly_form_name(enum assembly_form f)
{
    static const char *const names[] = { "full", "summary", "reference" };

    return names[f];
}

bool assembly_strategy_of(struct sv name, enum assembly_strategy *out)
{
    for (size_t i = 0; assembly_strategies[i]; i++)
        if (sv_is(name, assembly_strategies[i])) {
            *out = (enum assembly_strategy)i;
            return true;
        }
    return false;
}

/* ---- the notice -------------------------------------------------------------------------- */

static void add_count(struct sb *b, int64_t n, const char *one, const char *many, const char *what)
{
    if (!n)
        return;
    sb_adds(b, b->n ? ", " : "");
    sb_add_count_of(b, n, one, many);
    sb_addf(b, " %s", what);
}

void assembly_notice(struct sb *b, const struct assembly_pruned *p)
{
    struct sb text = sb_in(b->a, 0);

    add_count(&text, p->summarized, "older node", "older nodes", "summarized");
    add_count(&text, p->left_out, "older node", "older nodes", "left out");
    add_count(&text, p->actions, "action", "actions", "counted");
    add_count(&text, p->results, "result", "results", "dropped");
    add_count(&text, p->stashes, "recalled stash", "recalled stashes", "reduced to the name");
    add_count(&text, p->resources, "resource", "resources", "left out");
    sb_add(b, sb_sv(&text));
}

/* ---- sections ------------------------------------------------------------------------------ */

enum { SECTION_HASH = 16 };

static struct sv hash_of(struct sv text, struct arena *a)
{
    struct sb   b = sb_in(a, 0);
    struct hash h = hash_blake2b(&text, 1);

    sb_add_hex(&b, h.b, SECTION_HASH);
    return sb_sv(&b);
}

static struct assembly_section *add_section(struct assembly *x, enum assembly_kind kind,
                                            struct sv text, size_t message)
{
    struct assembly_section *s = vec_push(&x->sections, x->a);

    *s = (struct assembly_section){ .kind = kind,
                                    .source = { .from = -1, .to = -1, .hash = hash_of(text, x->a) },
                                    .tokens = counts_of(x->counts, text),
                                    .message = message,
                                    .text = text };
    return s;
}

static void add_part(struct assembly *x, enum assembly_kind kind, struct sv text, size_t message)
{
    if (text.n)
        add_section(x, kind, text, message);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* A text, and pictures behind it. */
static struct message message_of(const char *role, struct sv text, struct sv media, struct arena *a)
{
    struct message m = message_of_text(role, text, a);
    struct sb      b = sb_in(a, 0);

    if (!media.s)
        return m;
    sb_addc(&b, '[');
    if (text.n)
        sb_addf(&b, "{\"text\":" SV_FMT ",\"type\":\"text\"},", SV_ARG(m.content));
    sb_add(&b, media);
    sb_addc(&b, ']');
    m.content = sb_sv(&b);
    return m;
}

/* It is not one entry of the log: it may be made of several, and is more than their text. */
static void push_message(struct assembly *x, struct message m)
{
    m.seq = REPAIR_NO_ENTRY;
    *vec_push(&x->messages, x->a) = m;
}

/* The block is sent once: before the input, or with the message that showed it last. */
static struct sv with_block(const struct assembly_draft *d, const struct talk_item *item)
{
    struct sb b = sb_in(d->a, 0);

    if (!item->block.n || d->wants_block)
        return item->text;
    sb_addf(&b, SV_FMT "\n\n", SV_ARG(item->block));
    sb_add(&b, item->text);
    return sb_sv(&b);
}

/* Items of one role are one message for an agent that sees no nodes. */
struct role_run {
    const char *role;
    struct sb   text, media;
    struct sv   details; /* of the only item */
    size_t      items;
};

static void end_run(struct assembly *x, struct role_run *r)
{
    if (r->role) {
        struct message m = message_of(r->role, sb_sv(&r->text),
                                      r->media.n ? sb_sv(&r->media) : (struct sv){ 0 }, x->a);
        if (r->items == 1)
            m.reasoning_details = r->details;
        push_message(x, m);
    }
    r->role = NULL;
}

static void add_to_run(struct assembly *x, struct role_run *r, const char *role, struct sv text,
                       struct sv media)
{
    if (!r->role || !sv_is(sv_of(role), r->role) || x->aware) {
        end_run(x, r);
        *r = (struct role_run){ .role = role, .text = sb_in(x->a, 0), .media = sb_in(x->a, 0) };
    }
    r->items++;
    sb_adds(&r->text, r->text.n && text.n ? "\n\n" : "");
    sb_add(&r->text, text);
    sb_adds(&r->media, r->media.n && media.n ? "," : "");
    sb_add(&r->media, media);
}

/* An instruction; for an agent that sees no nodes it is part of the prompt. */
static void add_instruction(struct assembly_draft *d, const struct talk_item *item)
{
    struct sb                b = sb_in(d->a, 0);
    struct assembly_section *s = add_section(d->x, SECTION_NODE, item->text, SECTION_IN_SYSTEM);

    s->source.from = s->source.to = item->node.seq;
    s->source.node = item->node.local;
    s->source.count = 1;
    sb_add(&b, d->instructions);
    sb_adds(&b, b.n ? "\n\n" : "");
    sb_add(&b, item->text);
    d->instructions = sb_sv(&b);
}

/* `marked`: what came before it is missing. */
static void add_item(struct assembly_draft *d, struct role_run *r, const struct talk_item *item,
                     bool marked)
{
    struct assembly *x = d->x;
    struct sv        text = with_block(d, item);
    struct sb        b = sb_in(d->a, 0);

    if (item->instruction)
        add_instruction(d, item);
    if (!item->role)
        return;
    if (marked) {
        sb_adds(&b, DRAFT_TRUNCATED);
        sb_add(&b, text);
        text = sb_sv(&b);
    }
    add_to_run(x, r, item->role, text, item->media);
    r->details = item->details;
    struct assembly_section *s =
        add_section(x, item->of_snapshot ? SECTION_SNAPSHOT : SECTION_NODE, text, x->messages.n);
    s->tokens += item->media_tokens;
    if (item->details.n)
        s->tokens += counts_of(x->counts, item->details);
    s->source.from = s->source.to = item->of_snapshot ? d->talk.p.anchor : item->node.seq;
    s->source.node = item->node.local;
    s->source.count = 1;
}

static void add_earlier(struct assembly_draft *d, struct role_run *r)
{
    struct assembly              *x = d->x;
    const struct assembly_choice *c = &d->choice;

    if (!c->earlier.n)
        return;
    add_to_run(x, r, "user", c->earlier, (struct sv){ 0 });
    struct assembly_section *s = add_section(x, SECTION_EARLIER, c->earlier, x->messages.n);
    s->form = c->summed ? SECTION_SUMMARY : SECTION_REFERENCE;
    s->source.count = x->pruned.left_out + x->pruned.summarized;
}

/* Input that is not a node yet is part of the text that a base model continues. */
static void write_buffer(struct assembly_draft *d, struct role_run *r)
{
    struct assembly *x = d->x;
    struct sv        text = draft_prose(d, d->choice.full);
    struct sb        all = sb_in(d->a, 0);

    add_earlier(d, r);
    sb_add(&all, text);
    if (!x->aware && d->input.s)
        sb_add(&all, d->input);
    if (!all.n)
        return;
    add_to_run(x, r, "user", sb_sv(&all), (struct sv){ 0 });
    if (!text.n)
        return;
    struct assembly_section *s = add_section(x, SECTION_NODE, text, x->messages.n);
    s->source.from = draft_item(d, d->choice.full - 1)->node.seq;
    s->source.to = x->here.seq;
    s->source.node = draft_item(d, d->choice.full - 1)->node.local;
    s->source.last = x->here.local;
    s->source.count = (int64_t)d->choice.full;
}

static void write_talk(struct assembly_draft *d, struct role_run *r)
{
    const struct assembly_choice *c = &d->choice;

    if (d->talk.buffer) {
        write_buffer(d, r);
        return;
    }
    for (size_t i = 0; i < c->heads.n; i++)
        add_item(d, r, &c->heads.v[i], false);
    add_earlier(d, r);
    for (size_t i = 0; i < c->kept.n; i++)
        add_item(d, r, &c->kept.v[i], false);
    for (size_t i = c->full; i-- > 0;)
        add_item(d, r, draft_item(d, i), c->truncated && i + 1 == c->full);
}

/* A section for each resource, then one for the text around them. */
static void write_resources(struct assembly_draft *d)
{
    struct assembly *x = d->x;
    size_t           sum = 0;

    if (!d->resources.n)
        return;
    for (size_t i = 0; i < d->resource_parts.n; i++) {
        struct assembly_section *s = vec_push(&x->sections, x->a);
        *s = d->resource_parts.v[i];
        s->message = x->messages.n;
        sum += s->tokens;
    }
    struct assembly_section *frame = add_section(x, SECTION_RESOURCES, d->resources, x->messages.n);
    frame->tokens -= sum < frame->tokens ? sum : frame->tokens;
    frame->source.path = SV("(headings and list)");
}

static void write_tail(struct assembly_draft *d, struct role_run *r)
{
    struct assembly *x = d->x;
    struct sv        text = draft_tail_text(d);

    if (!text.n)
        return;
    add_to_run(x, r, "user", text, (struct sv){ 0 });
    for (size_t i = 0; i < d->n_results; i++)
        if (!d->result_dropped[i]) {
            struct assembly_section *s =
                add_section(x, SECTION_RESULT, d->result_texts[i], x->messages.n);
            s->source.from = s->source.to = d->results[i].entry;
            s->source.path = d->results[i].line;
        }
    add_part(x, SECTION_LOOM, d->loom_block, x->messages.n);
    write_resources(d);
}

static void write_last(struct assembly_draft *d, struct role_run *r)
{
    struct assembly *x = d->x;
    struct sv        text = draft_last_text(d), media = draft_input_media(d);
    bool             in_prose = d->talk.buffer && !x->aware;

    if ((!text.n && !media.n) || in_prose)
        return;
    add_to_run(x, r, "user", text, media);
    if (d->wants_block)
        add_part(x, SECTION_THREAD, d->block, x->messages.n);
    add_part(x, SECTION_THREAD, d->injected, x->messages.n);
    if (d->input.n || media.n) {
        struct assembly_section *s = add_section(x, SECTION_INPUT, d->input, x->messages.n);
        if (media.n)
            s->tokens += d->talk.items.v[0].media_tokens;
        if (d->input_items) {
            s->source.from = s->source.to = x->here.seq;
            s->source.node = x->here.local;
        }
    }
    if (d->recorded)
        return;
    x->injected = d->injected;
    if (d->wants_block)
        x->block = d->block;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static void finish(struct assembly_draft *d)
{
    struct assembly *x = d->x;
    struct sv        instructions = d->instructions;

    d->instructions = SV(""); /* their tokens are counted with the conversation */
    x->tokens = draft_fixed(d) + d->choice.tokens;
    d->instructions = instructions;
    x->context = (struct context){ .system_prompt = draft_system_text(d),
                                   .messages = x->messages.v,
                                   .n = x->messages.n };
    if (!x->context.system_prompt.n)
        x->context.system_prompt = (struct sv){ 0 };
    x->base = x->messages.n;
    x->reads = (int64_t)d->talk.items.n;
}

/* Requests of one agent in one thread begin alike. */
static struct sv cache_key(const struct assembly_draft *d)
{
    struct sb   b = sb_in(d->a, 0);
    struct sv   parts[] = { d->loom.thread, SV("\n"), d->q->agent.name };
    struct hash h = hash_blake2b(parts, COUNT(parts));

    sb_adds(&b, "heddle-");
    sb_add_hex(&b, h.b, SECTION_HASH);
    return sb_sv(&b);
}

static void write_out(struct assembly_draft *d)
{
    struct assembly *x = d->x;
    struct role_run  r = { 0 };

    add_part(x, SECTION_SYSTEM, d->system, SECTION_IN_SYSTEM);
    add_part(x, SECTION_ADDENDUM, d->addendum, SECTION_IN_SYSTEM);
    add_part(x, SECTION_MEMORY, d->memory, SECTION_IN_SYSTEM);
    write_talk(d, &r);
    if (x->aware)
        end_run(x, &r); /* otherwise the next item may become part of the same message */
    x->cache.on = true;
    x->cache.key = cache_key(d);
    x->cache.messages = x->messages.n;
    write_tail(d, &r);
    write_last(d, &r);
    end_run(x, &r);
    finish(d);
}

enum status assembly_make(const struct assembly_request *q, struct arena *a, struct assembly *out,
                          struct err *e)
{
    struct assembly_draft d = { .q = q, .x = out, .a = a, .loom = q->loom };

    d.loom.a = a;
    d.strategy = q->strategy;
    if (d.strategy == ASSEMBLY_AUTO)
        d.strategy =
            q->agent.permissions & PERM_loom_aware ? ASSEMBLY_SUMMARIZE : ASSEMBLY_TRUNCATE_MIDDLE;
    d.memory_how = (struct memory_show){ .doc_words = q->doc_words, .ctx = q->doc_ctx };
    *out = (struct assembly){ .a = a,
                              .counts = q->counts,
                              .budget = q->budget > 0 ? (size_t)q->budget : 0,
                              .reserve = q->reserve > 0 ? (size_t)q->reserve : 0,
                              .aware = q->agent.permissions & PERM_loom_aware };
    if (draft_collect(&d, e) || draft_fit(&d, e))
        return err_code(e);
    write_out(&d);
    return draft_cuts(&d, e);
}

/* ---- later in the turn ------------------------------------------------------------------------
 */

enum status assembly_add(struct assembly *x, const struct message *m, struct err *e)
{
    struct context         one = { .messages = (struct message *)(uintptr_t)m, .n = 1 };
    struct render_report   unused = report_in(x->a);
    struct parsed_message *turns;
    struct sb              text = sb_in(x->a, 0);
    size_t                 n;

    if (parsed_of(&one, x->a, &turns, &n, &unused, e))
        return err_code(e);
    size_t pictures = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < turns[i].n_parts; k++) {
            const struct part *p = &turns[i].parts[k];
            sb_add(&text, p->text);
            pictures += p->kind == PART_IMAGE_DATA || p->kind == PART_IMAGE_URL;
        }
    size_t tokens = counts_of(x->counts, sb_sv(&text)) + ASSEMBLY_MESSAGE_TOKENS +
                    pictures * ASSEMBLY_PICTURE_TOKENS;
    if (m->reasoning_details.n)
        tokens += counts_of(x->counts, m->reasoning_details);
    if (x->tokens + tokens > x->budget) {
        err_set(e, ST_LIMIT_EXCEEDED,
                "the budget is %zu tokens, %zu are used, and %zu more do not fit", x->budget,
                x->tokens, tokens);
        return err_hint(e, "raise the budget, or end the turn");
    }
    push_message(x, *m);
    x->context.messages = x->messages.v;
    x->context.n = x->messages.n;
    x->tokens += tokens;
    x->added += tokens;
    add_section(x, SECTION_TURN, sb_sv(&text), x->messages.n - 1);
    return ST_OK;
}

enum status assembly_record(struct loom *l, struct sv agent, const struct node *node,
                            const struct assembly *x, struct err *e)
{
    struct sb b = sb_in(l->a, 0);
    struct jw w = jw_in(&b, 0);

    if (!x->block.n && !x->injected.n)
        return ST_OK;
    jw_open(&w, '{');
    jw_kstr(&w, "agent", agent);
    if (x->block.n)
        jw_kstr(&w, "block", x->block);
    jw_kstr(&w, "op", SV("preamble"));
    jw_key(&w, "target");
    jw_open(&w, '{');
    jw_kstr(&w, "node", node->local);
    jw_close(&w, '}');
    if (x->injected.n)
        jw_kstr(&w, "text", x->injected);
    jw_close(&w, '}');
    return loom_append(l, agent, kind_name(KIND_MEMORY_OPERATION), sb_sv(&b), NULL, e);
}
