/* The files that heddle writes into directories of other programs. The code in them, opencode.js
 * and pi.ts, is small on purpose: it passes events to `heddle hook` and acts on the answers. The
 * build includes it here. */
#include "api/install/guide_text.h"
#include "api/install/install.h"

static const char opencode_text[] = {
#include <heddle_opencode.inc>
};
static const char pi_text[] = {
#include <heddle_pi.inc>
};

struct sv install_skill(struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b,
            "---\n"
            "name: heddle\n"
            "description: What a <thread_context> block means, where your assets go and what you "
            "must not touch. Use it whenever such a block is in the conversation.\n"
            "---\n"
            "<!-- Written by `heddle install claude-code`; `heddle uninstall claude-code` removes "
            "it. -->\n\n");
    sb_adds(&b, guide_brief);
    return sb_sv(&b);
}

/* ["heddle",["hook","pi","--thread","T"]] */
static void put_call(struct sb *b, const struct install_wish *w)
{
    struct jw j = jw_in(b, 0);

    jw_open(&j, '[');
    jw_str(&j, w->program);
    jw_open(&j, '[');
    jw_str(&j, SV("hook"));
    jw_str(&j, sv_of(harness_name(w->harness)));
    if (w->thread.n) {
        jw_str(&j, SV("--thread"));
        jw_str(&j, w->thread);
    }
    jw_close(&j, ']');
    jw_close(&j, ']');
}

struct sv install_code(const struct install_wish *w, struct arena *a)
{
    bool      pi = w->harness == HARNESS_PI;
    struct sv text = pi ? (struct sv){ pi_text, sizeof pi_text }
                        : (struct sv){ opencode_text, sizeof opencode_text };
    struct sv mark = SV("__HEDDLE__");
    size_t    at = (size_t)sv_find(text, mark);
    struct sb b = sb_in(a, 0);

    sb_add(&b, sv_first(text, at));
    put_call(&b, w);
    sb_add(&b, sv_skip(text, at + mark.n));
    return sb_sv(&b);
}
