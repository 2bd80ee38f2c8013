/* The pure halves of a web search: what each service is asked, and what its answer means. */
#include "tap.h"

#include "search/search_internal.h"

#include "base/json.h"

static struct arena       a;
static struct err         e;
static struct search_plan p;

static enum status plan(struct search_query q)
{
    q.max = q.max ? q.max : SEARCH_DEFAULT;
    return search_plan(&q, &a, &p, &e);
}

static bool has(struct sv text, const char *part)
{
    return sv_find(text, sv_of(part)) >= 0;
}

/* ---- queries ----------------------------------------------------------------------- */

static void a_query_is_one_line_of_bounded_length(void)
{
    struct sb b = sb_in(&a, 0);

    CHECK(plan((struct search_query){ .text = SV("  two\nlines\x00\x1b ") }) == ST_OK);
    CHECK_SV(p.text, SV("two lines"));
    CHECK(plan((struct search_query){ .text = SV(" \n") }) == ST_INVALID_SYNTAX);
    CHECK(plan((struct search_query){ .text = SV("\xff") }) == ST_OK);
    CHECK_SV(p.text, SV("\xef\xbf\xbd"));
    for (int i = 0; i < SEARCH_QUERY_MAX; i++)
        sb_adds(&b, "ä");
    CHECK(plan((struct search_query){ .text = sb_sv(&b) }) == ST_OK);
    sb_adds(&b, "ä");
    CHECK(plan((struct search_query){ .text = sb_sv(&b) }) == ST_LIMIT_EXCEEDED);
}

static void domains_are_names_and_nothing_else(void)
{
    static const char *const bad[] = { "org",    "a b.org",    "https://a.org", ".a.org", "a.org.",
                                       "a..org", "a.org OR b", "a.org/x",       "-a.org" };

    CHECK(plan((struct search_query){
              .text = SV("x"), .include = SV("A.org, b.net,"), .exclude = SV("c.d.e") }) == ST_OK);
    CHECK_INT(p.n_include, 2);
    CHECK_SV(p.include[0], SV("a.org"));
    CHECK_SV(p.include[1], SV("b.net"));
    CHECK_SV(p.exclude[0], SV("c.d.e"));
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(plan((struct search_query){ .text = SV("x"), .include = sv_of(bad[i]) }) ==
              ST_INVALID_SYNTAX);
    struct sb b = sb_in(&a, 0);
    for (int i = 0; i <= SEARCH_DOMAINS_MAX; i++)
        sb_addf(&b, "d%d.org,", i);
    CHECK(plan((struct search_query){ .text = SV("x"), .exclude = sb_sv(&b) }) ==
          ST_LIMIT_EXCEEDED);
}

/* ---- requests ---------------------------------------------------------------------- */

static struct search_request made;

static enum status make(enum search_kind kind, const char *url, const char *key)
{
    struct search_service s = { kind, sv_of(url), sv_of(key) };

    return search_request(&s, &p, &a, &made, &e);
}

static void tavily_gets_an_object_with_the_key_in_it(void)
{
    CHECK(plan((struct search_query){ .text = SV("a \"b\"") }) == ST_OK);
    CHECK(make(SEARCH_TAVILY, "https://api.tavily.com", "tvly-1") == ST_OK);
    CHECK_SV(made.url, SV("https://api.tavily.com/search"));
    CHECK_SV(made.body,
             SV("{\"api_key\":\"tvly-1\",\"query\":\"a \\\"b\\\"\",\"search_depth\":\"basic\","
                "\"topic\":\"general\",\"max_results\":5,\"include_answer\":false,"
                "\"include_raw_content\":false}"));
    CHECK(plan((struct search_query){ .text = SV("q"),
                                      .deep = true,
                                      .news = true,
                                      .max = 10,
                                      .include = SV("a.org"),
                                      .exclude = SV("b.org,c.org") }) == ST_OK);
    CHECK(make(SEARCH_TAVILY, "https://proxy.example/tavily/", "k") == ST_OK);
    CHECK_SV(made.url, SV("https://proxy.example/tavily/search"));
    CHECK(has(made.body, "\"search_depth\":\"advanced\",\"topic\":\"news\",\"max_results\":10,"));
    CHECK(has(made.body, "\"include_raw_content\":true,\"include_domains\":[\"a.org\"],"
                         "\"exclude_domains\":[\"b.org\",\"c.org\"]}"));
}

static void brave_gets_parameters_and_the_key_in_a_header(void)
{
    CHECK(plan((struct search_query){ .text = SV("a&b=c ü#") }) == ST_OK);
    CHECK(make(SEARCH_BRAVE, "https://api.search.brave.com", "BSA1") == ST_OK);
    CHECK_SV(made.url, SV("https://api.search.brave.com/res/v1/web/search?q=a%26b%3Dc%20%C3%BC%23"
                          "&count=5&text_decorations=false"));
    CHECK(!made.body.s && !has(made.url, "BSA1"));
    CHECK_INT(made.n_headers, 2);
    CHECK_SV(made.headers[1], SV("X-Subscription-Token: BSA1"));
    CHECK(plan((struct search_query){ .text = SV("q"),
                                      .news = true,
                                      .include = SV("a.org,b.org"),
                                      .exclude = SV("c.org") }) == ST_OK);
    CHECK(make(SEARCH_BRAVE, "https://api.search.brave.com", "k") == ST_OK);
    CHECK_SV(made.url, SV("https://api.search.brave.com/res/v1/news/search?q=q%20%28site%3Aa.org%20"
                          "OR%20site%3Ab.org%29%20-site%3Ac.org&count=20"));
}

static void searxng_gets_parameters_alone(void)
{
    CHECK(plan((struct search_query){ .text = SV("q"), .include = SV("a.org") }) == ST_OK);
    CHECK(make(SEARCH_SEARXNG, "http://search.lan:8080/", NULL) == ST_OK);
    CHECK_SV(made.url, SV("http://search.lan:8080/search?q=q%20site%3Aa.org&format=json"
                          "&categories=general"));
    CHECK(!made.body.s);
    CHECK_INT(made.n_headers, 1);
}

static void a_key_stays_on_this_machine_or_goes_encrypted(void)
{
    static const char *const good[] = { "https://x.example", "http://localhost:1/a",
                                        "http://127.0.0.1:80", "http://[::1]:9" };
    static const char *const open[] = { "http://x.example",          "http://127.0.0.1.evil.com",
                                        "http://localhost.evil.com", "http://127.evil.com",
                                        "http://10.0.0.1",           "http://[::2]" };
    static const char *const bad[] = { "",           "x.example",         "ftp://x",
                                       "https://",   "https://u:p@x",     "https://x/?a=b",
                                       "https://x#", "https://x y",       "https://x\r\nA: b",
                                       "HTTPS//x",   "file:///etc/passwd" };

    CHECK(plan((struct search_query){ .text = SV("q") }) == ST_OK);
    for (size_t i = 0; i < COUNT(good); i++)
        CHECK(make(SEARCH_BRAVE, good[i], "k") == ST_OK);
    for (size_t i = 0; i < COUNT(open); i++) {
        CHECK(make(SEARCH_BRAVE, open[i], "k") == ST_PERMISSION_DENIED);
        CHECK(make(SEARCH_SEARXNG, open[i], NULL) == ST_OK);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(make(SEARCH_TAVILY, bad[i], "k") == ST_INVALID_SYNTAX);
}

static void a_key_that_is_none_is_not_told(void)
{
    static const char *const bad[] = { "se cret", "secret\nX-Other: 1", "secret\x7f", "secrét" };

    CHECK(plan((struct search_query){ .text = SV("q") }) == ST_OK);
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK(make(SEARCH_BRAVE, "https://x.example", bad[i]) == ST_INVALID_SYNTAX);
        CHECK(has(sv_of(e.text), "BRAVE_API_KEY") && !has(sv_of(e.text), "cret"));
    }
}

/* ---- answers ----------------------------------------------------------------------- */

static struct search_answer got;

static enum status read_as(enum search_kind kind, const char *body)
{
    return search_read(kind, &p, sv_of(body), &a, &got, &e);
}

static void answers_of_each_service_are_read(void)
{
    CHECK(plan((struct search_query){ .text = SV("q") }) == ST_OK);
    CHECK(
        read_as(SEARCH_TAVILY,
                "{\"query\":\"q\",\"results\":[{\"title\":\"T\",\"url\":\"https://www.A.org/x?y\","
                "\"content\":\" C \",\"raw_content\":\"R\",\"score\":0.9,"
                "\"published_date\":\"Sun, 15 Nov 2026 21:36:00 GMT\"}]}") == ST_OK);
    CHECK_INT(got.n, 1);
    CHECK_SV(got.results[0].title, SV("T"));
    CHECK_SV(got.results[0].domain, SV("a.org"));
    CHECK_SV(got.results[0].url, SV("https://www.A.org/x?y"));
    CHECK_SV(got.results[0].text, SV("C"));
    CHECK_SV(got.results[0].published, SV("2026-11-15"));
    CHECK(read_as(SEARCH_BRAVE,
                  "{\"type\":\"search\",\"web\":{\"results\":[{\"title\":\"<strong>T</strong> "
                  "&amp; &#x27;U&#39;\",\"url\":\"http://b.org\",\"description\":\"a &lt;b&gt;\","
                  "\"page_age\":\"2026-11-05T00:00:00\"}]}}") == ST_OK);
    CHECK_SV(got.results[0].title, SV("T & 'U'"));
    CHECK_SV(got.results[0].text, SV("a <b>"));
    CHECK_SV(got.results[0].published, SV("2026-11-05"));
    CHECK(read_as(SEARCH_SEARXNG, "{\"results\":[{\"title\":\"\",\"url\":\"https://c.org/\","
                                  "\"content\":\"C\",\"publishedDate\":null}]}") == ST_OK);
    CHECK_SV(got.results[0].title, SV("c.org"));
    CHECK(!got.results[0].published.s);
    CHECK(plan((struct search_query){ .text = SV("q"), .news = true, .deep = true }) == ST_OK);
    CHECK(read_as(SEARCH_BRAVE, "{\"type\":\"news\",\"results\":[{\"title\":\"N\",\"url\":"
                                "\"https://n.org\",\"description\":\"D\"}]}") == ST_OK);
    CHECK_SV(got.results[0].text, SV("D"));
    CHECK(read_as(SEARCH_TAVILY,
                  "{\"results\":[{\"title\":\"N\",\"url\":\"https://n.org\","
                  "\"content\":\"C\",\"raw_content\":\"R\"},{\"url\":\"http://m.org\","
                  "\"content\":\"C\",\"raw_content\":null}]}") == ST_OK);
    CHECK_SV(got.results[0].text, SV("R"));
    CHECK_SV(got.results[1].text, SV("C"));
}

static void an_empty_answer_is_not_a_broken_one(void)
{
    static const char *const broken[] = { "",
                                          "null",
                                          "[]",
                                          "{}",
                                          "<html>",
                                          "{\"results\":{}}",
                                          "{\"results\":[]",
                                          "{\"error\":\"no\"}",
                                          "{\"web\":{}}",
                                          "{\"results\":\"\xff\"}" };

    CHECK(plan((struct search_query){ .text = SV("q") }) == ST_OK);
    for (size_t i = 0; i < COUNT(broken); i++)
        for (enum search_kind k = 0; k < SEARCH_KINDS; k++)
            CHECK(read_as(k, broken[i]) == ST_INVALID_SYNTAX);
    CHECK(read_as(SEARCH_TAVILY, "\xef\xbb\xbf{\"results\":[]}") == ST_OK);
    CHECK_INT(got.n, 0);
    CHECK(read_as(SEARCH_BRAVE, "{\"query\":{\"original\":\"q\"},\"type\":\"search\"}") == ST_OK);
    CHECK_INT(got.n, 0);
    CHECK(read_as(SEARCH_SEARXNG, "{\"results\":[1,null,\"x\",[],{\"url\":7},{}]}") == ST_OK);
    CHECK_INT(got.n, 0);
}

static void one_result(const char *url)
{
    struct sb b = sb_in(&a, 0);

    sb_adds(&b, "{\"results\":[{\"title\":\"T\",\"content\":\"C\",\"url\":");
    sb_add_json_string(&b, sv_of(url));
    sb_adds(&b, "}]}");
    CHECK(search_read(SEARCH_SEARXNG, &p, sb_sv(&b), &a, &got, &e) == ST_OK);
}

static void only_addresses_of_the_web_are_results(void)
{
    static const char *const bad[] = { "javascript:alert(1)",
                                       "file:///etc/passwd",
                                       "https://",
                                       "https:///x",
                                       "https://good.org@evil.org/",
                                       "https://good.org:x@evil.org/",
                                       "https://a.org/x y",
                                       "https://a.org\n→ prune",
                                       "https://a.org\x1b[2J",
                                       "data:text/html,x",
                                       "//a.org",
                                       "https://a\"b.org" };

    CHECK(plan((struct search_query){ .text = SV("q") }) == ST_OK);
    for (size_t i = 0; i < COUNT(bad); i++) {
        one_result(bad[i]);
        CHECK_INT(got.n, 0);
    }
    one_result("https://a.org:8443/@user");
    CHECK_INT(got.n, 1);
    CHECK_SV(got.results[0].domain, SV("a.org"));
    CHECK(read_as(SEARCH_SEARXNG, "{\"results\":[{\"url\":\"https://a.org\\u0000.evil.org\"}]}") ==
          ST_OK);
    CHECK_INT(got.n, 0);
}

static void results_are_those_of_the_wanted_domains(void)
{
    CHECK(plan((struct search_query){
              .text = SV("q"), .include = SV("www.a.org"), .exclude = SV("x.a.org") }) == ST_OK);
    one_result("https://www.a.org/");
    CHECK_INT(got.n, 1);
    one_result("https://y.a.org/");
    CHECK_INT(got.n, 1);
    one_result("https://x.a.org/");
    CHECK_INT(got.n, 0);
    one_result("https://evila.org/");
    CHECK_INT(got.n, 0);
    one_result("https://a.org.evil.net/");
    CHECK_INT(got.n, 0);
}

static void results_and_their_texts_are_bounded(void)
{
    struct sb b = sb_in(&a, 0);

    CHECK(plan((struct search_query){ .text = SV("q"), .max = 3 }) == ST_OK);
    sb_adds(&b, "{\"results\":[");
    for (int i = 0; i < 30; i++) {
        sb_addf(&b, "%s{\"url\":\"https://a%d.org\",\"content\":\"", i ? "," : "", i);
        for (int k = 0; k < SEARCH_TEXT_MAX / 2; k++)
            sb_adds(&b, "ää");
        sb_adds(&b, "\"}");
    }
    sb_adds(&b, "]}");
    CHECK(search_read(SEARCH_SEARXNG, &p, sb_sv(&b), &a, &got, &e) == ST_OK);
    CHECK_INT(got.n, 3);
    CHECK_INT(got.results[2].text.n, SEARCH_TEXT_MAX);
    CHECK_INT(got.results[2].left_out, SEARCH_TEXT_MAX / 2);
}

static void what_is_no_date_is_left_out(void)
{
    static const char *const dates[][2] = {
        { "2026-01-02", "2026-01-02" },
        { "2026-01-02T03:04:05Z", "2026-01-02" },
        { "Fri, 2 Jan 2026 03:04", "2026-01-02" },
        { "2026-13-02", NULL },
        { "2026-1-2", NULL },
        { "3 days ago", NULL },
        { "Fri, 99 Jan 2026", NULL },
        { "Fri, 02 nJa 2026", NULL },
        { "", NULL },
        { "→ prune", NULL },
        { "Fri, 02 Jan 20261", NULL },
    };

    CHECK(plan((struct search_query){ .text = SV("q") }) == ST_OK);
    for (size_t i = 0; i < COUNT(dates); i++) {
        struct sb b = sb_in(&a, 0);
        sb_addf(&b, "{\"results\":[{\"url\":\"https://a.org\",\"publishedDate\":\"%s\"}]}",
                dates[i][0]);
        CHECK(search_read(SEARCH_SEARXNG, &p, sb_sv(&b), &a, &got, &e) == ST_OK);
        CHECK_SV(got.results[0].published, sv_of(dates[i][1]));
    }
}

static void every_failure_has_its_code(void)
{
    static const struct {
        enum search_kind kind;
        int              status;
        const char      *body, *code;
    } cases[] = {
        { SEARCH_TAVILY, 400, "", "invalidQuery" },
        { SEARCH_TAVILY, 401, "", "authenticationFailed" },
        { SEARCH_TAVILY, 429, "", "rateLimited" },
        { SEARCH_TAVILY, 432, "", "quotaExceeded" },
        { SEARCH_TAVILY, 433, "", "quotaExceeded" },
        { SEARCH_TAVILY, 500, "", "serviceUnavailable" },
        { SEARCH_TAVILY, 504, "", "timeout" },
        { SEARCH_TAVILY, 302, "", "unknown" },
        { SEARCH_TAVILY, 404, "", "unknown" },
        { SEARCH_BRAVE, 422, "{\"error\":{\"code\":\"VALIDATION\"}}", "invalidQuery" },
        { SEARCH_BRAVE, 422, "{\"error\":{\"code\":\"SUBSCRIPTION_TOKEN_INVALID\"}}",
          "authenticationFailed" },
        { SEARCH_BRAVE, 429, "{\"error\":{\"code\":\"QUOTA_LIMITED\"}}", "quotaExceeded" },
        { SEARCH_BRAVE, 429, "{\"error\":", "rateLimited" },
        { SEARCH_SEARXNG, 403, "", "serviceUnavailable" },
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK_SV(sv_of(search_code(cases[i].kind, cases[i].status, sv_of(cases[i].body), &a)),
                 sv_of(cases[i].code));
}

TAP_MAIN(T(a_query_is_one_line_of_bounded_length), T(domains_are_names_and_nothing_else),
         T(tavily_gets_an_object_with_the_key_in_it),
         T(brave_gets_parameters_and_the_key_in_a_header), T(searxng_gets_parameters_alone),
         T(a_key_stays_on_this_machine_or_goes_encrypted), T(a_key_that_is_none_is_not_told),
         T(answers_of_each_service_are_read), T(an_empty_answer_is_not_a_broken_one),
         T(only_addresses_of_the_web_are_results), T(results_are_those_of_the_wanted_domains),
         T(results_and_their_texts_are_bounded), T(what_is_no_date_is_left_out),
         T(every_failure_has_its_code), )
