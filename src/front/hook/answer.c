/* The answer of a hook in the form that each program expects, without further members: Codex
 * rejects an answer with a member that it does not know. */
#include "front/hook/event.h"

#include "base/utf8.h"

enum style { STYLE_CLAUDE, STYLE_CODEX, STYLE_GEMINI, STYLE_OWN };

static const struct {
    const char *harness;
    enum style  style;
} styles[] = {
    { "claude-code", STYLE_CLAUDE },
    { "codex", STYLE_CODEX },
    { "gemini", STYLE_GEMINI },
};

static enum style style_of(const char *harness)
{
    for (size_t i = 0; i < COUNT(styles); i++)
        if (sv_is(sv_of(harness), styles[i].harness))
            return styles[i].style;
    return STYLE_OWN; /* the plugins for opencode and pi */
}

static void put_context(struct jw *w, const struct hook_seen *x, struct sv context)
{
    jw_key(w, "hookSpecificOutput");
    jw_open(w, '{');
    jw_kstr(w, "hookEventName", x->name);
    jw_kstr(w, "additionalContext", context);
    jw_close(w, '}');
}

static void put_denial(struct jw *w, const struct hook_seen *x, enum style style, struct sv why)
{
    if (style == STYLE_GEMINI) {
        jw_kstr(w, "decision", SV("deny"));
        jw_kstr(w, "reason", why);
        return;
    }
    jw_key(w, "hookSpecificOutput");
    jw_open(w, '{');
    jw_kstr(w, "hookEventName", x->name);
    jw_kstr(w, "permissionDecision", SV("deny"));
    jw_kstr(w, "permissionDecisionReason", why);
    jw_close(w, '}');
}

/* The report goes to the agent (additional context, before what it is told anyway) and to the
 * person (a message on the screen). */
static void put_report(struct jw *w, const struct hook_seen *x, struct sv report, struct sv context,
                       struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, report);
    sb_adds(&b, context.n ? "\n\n" : "");
    sb_add(&b, context);
    jw_kstr(w, "systemMessage", report);
    put_context(w, x, sb_sv(&b));
}

static void put_own(struct jw *w, struct sv context, struct sv deny, struct sv report)
{
    if (context.n)
        jw_kstr(w, "context", context);
    if (deny.n)
        jw_kstr(w, "deny", deny);
    if (report.n)
        jw_kstr(w, "report", report);
}

struct sv hook_answer(const struct hook_seen *x, const struct json *answer, struct arena *a)
{
    struct sv  context = json_text(answer, "context"), deny = json_text(answer, "deny");
    struct sv  report = json_text(answer, "report");
    enum style style = style_of(x->harness);
    struct sb  b = sb_in(a, 0);
    struct jw  w = jw_in(&b, 0);

    if (!context.n && !deny.n && !report.n)
        return (struct sv){ 0 };
    jw_open(&w, '{');
    if (style == STYLE_OWN)
        put_own(&w, context, deny, report);
    else if (deny.n)
        put_denial(&w, x, style, deny);
    else if (report.n)
        put_report(&w, x, report, context, a);
    else
        put_context(&w, x, context);
    jw_close(&w, '}');
    return sb_sv(&b);
}
