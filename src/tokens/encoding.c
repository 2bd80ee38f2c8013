/* Which encoding has which name, and which one is used for which model. */
#include "tokens/tokens.h"

#include "base/utf8.h"

const char *const tokens_encoding_names[] = {
    [TOKENS_O200K] = "o200k_base", [TOKENS_CL100K] = "cl100k_base", NULL
};

const char *tokens_encoding_name(enum tokens_encoding enc)
{
    return tokens_encoding_names[enc];
}

bool tokens_encoding_find(struct sv name, enum tokens_encoding *out)
{
    for (size_t i = 0; tokens_encoding_names[i]; i++)
        if (sv_is(name, tokens_encoding_names[i])) {
            *out = (enum tokens_encoding)i;
            return true;
        }
    return false;
}

/* clang-format off */
/* By prefix; the first row that fits decides, so longer prefixes stand before shorter ones. */
static const struct {
    const char          *prefix;
    enum tokens_encoding encoding;
    bool                 exact;
} models[] = {
    { "gpt-4o",               TOKENS_O200K,  true  },
    { "gpt-4.1",              TOKENS_O200K,  true  },
    { "gpt-4.5",              TOKENS_O200K,  true  },
    { "gpt-5",                TOKENS_O200K,  true  },
    { "gpt-oss",              TOKENS_O200K,  true  },
    { "chatgpt-4o",           TOKENS_O200K,  true  },
    { "ft:gpt-4o",            TOKENS_O200K,  true  },
    { "ft:gpt-4.1",           TOKENS_O200K,  true  },
    { "o1",                   TOKENS_O200K,  true  },
    { "o3",                   TOKENS_O200K,  true  },
    { "o4",                   TOKENS_O200K,  true  },
    { "gpt-4",                TOKENS_CL100K, true  },
    { "gpt-3.5",              TOKENS_CL100K, true  },
    { "gpt-35",               TOKENS_CL100K, true  },
    { "ft:gpt-4",             TOKENS_CL100K, true  },
    { "ft:gpt-3.5",           TOKENS_CL100K, true  },
    { "text-embedding-3",     TOKENS_CL100K, true  },
    { "text-embedding-ada",   TOKENS_CL100K, true  },
    { "",                     TOKENS_O200K,  false }, /* no published vocabulary */
};
/* clang-format on */

struct tokens_model tokens_model(struct sv model)
{
    struct sv_cut provider = sv_cut(model, ':');

    if (provider.found && !sv_is(provider.head, "ft"))
        model = provider.tail;
    size_t i = 0;
    while (!sv_starts(model, sv_of(models[i].prefix)))
        i++;
    return (struct tokens_model){ models[i].encoding, models[i].exact };
}

size_t tokens_scale(size_t count, int64_t thousandths)
{
    size_t factor = (size_t)thousandths;

    return count / 1000 * factor + (count % 1000 * factor + 999) / 1000;
}

size_t tokens_estimate(struct sv text)
{
    return (utf8_count(text) + 3) / 4;
}
