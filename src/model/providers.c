/* The table of providers: who is asked under which name, where, in which dialect, with which key.
 *
 * A host that speaks like OpenAI has two rows: one for conversations, and one with -completions
 * behind its name for base models, which go on with a text. */
#include "model/model_internal.h"

/* clang-format off */
/*      name          variables     where                            a key is needed */
#define COMPATIBLE_TABLE(X)                                                                 \
    X("openrouter",   "OPENROUTER", "https://openrouter.ai/api/v1",     true)               \
    X("hyperbolic",   "HYPERBOLIC", "https://api.hyperbolic.xyz/v1",    true)               \
    X("lmstudio",     "LMSTUDIO",   "http://localhost:1234/v1",         false)              \
    X("llamacpp",     "LLAMACPP",   "http://localhost:8080/v1",         false)              \
    X("vllm",         "VLLM",       "http://localhost:8000/v1",         false)              \
    X("ollama",       "OLLAMA",     "http://localhost:11434/v1",        false)              \
    X("compatible",   "COMPATIBLE", NULL,                               false)

#define ROW(name, dialect, host, url, variables, read, path, auth, needed)                  \
    { { name, dialect, host, url, variables "_BASE_URL", variables "_API_KEY" },            \
      model_find_network, model_ask_network, read, path, auth, needed }

static const struct model_provider providers[] = {
    ROW("anthropic",        "anthropic", "anthropic", "https://api.anthropic.com", "ANTHROPIC",
        stream_anthropic, "/v1/messages", AUTH_ANTHROPIC, true),
    ROW("openai",           "openai",    "openai", "https://api.openai.com/v1", "OPENAI",
        stream_chat, "/chat/completions", AUTH_BEARER, true),
    ROW("openai-responses", "responses", "openai", "https://api.openai.com/v1", "OPENAI",
        stream_responses, "/responses", AUTH_BEARER, true),
    { { "google", "gemini", "google", "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY" },
      model_find_network, model_ask_network, stream_gemini, "/v1beta/models/{model}:streamGenerateContent?alt=sse",
      AUTH_GOOGLE, true },
#define X(name, variables, url, needed)                                                     \
    ROW(name, "compatible", name, url, variables, stream_chat, "/chat/completions", AUTH_BEARER, needed),
    COMPATIBLE_TABLE(X)
#undef X
#define X(name, variables, url, needed)                                                     \
    ROW(name "-completions", "completions", name, url, variables, stream_chat, "/completions", AUTH_BEARER, needed),
    COMPATIBLE_TABLE(X)
#undef X
};
/* clang-format on */

enum { N_ROWS = COUNT(providers) + 1 };

static const struct model_provider *row_at(size_t i)
{
    return i == 0 ? &model_offline : i < N_ROWS ? &providers[i - 1] : NULL;
}

const struct model_provider *model_provider_find(struct sv name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (sv_is(name, row_at(i)->facts.name))
            return row_at(i);
    return NULL;
}

struct sv model_provider_names(struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < N_ROWS; i++)
        sb_addf(&b, "%s%s", i ? ", " : "", row_at(i)->facts.name);
    return sb_sv(&b);
}
