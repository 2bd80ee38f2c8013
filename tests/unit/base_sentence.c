/* Where sentences end, in scripts with and without blanks. */
#include "base/sentence.h"
#include "base/utf8.h"
#include "tap.h"

static void the_first_sentence_ends_at_its_mark(void)
{
    static const struct {
        const char *text, *first;
    } table[] = {
        { "One two. Three.", "One two." },
        { "  Version 1.2 is out! Yes", "Version 1.2 is out!" },
        { "no mark at all", "no mark at all" },
        { "", "" },
        { "これはペンです。あれは本です。", "これはペンです。" },
        { "彼女は「行こう。」と言った。次", "彼女は「行こう。」" },
        { "真的吗？！是的。", "真的吗？！" },
        { "यह पहला है। दूसरा", "यह पहला है।" },
        { "Սա առաջինն է։ Երկրորդ", "Սա առաջինն է։" },
        { "هل هذا؟ نعم", "هل هذا؟" },
        { "ይህ ነው። ሁለተኛ", "ይህ ነው።" },
        { "ဒါပထမပါ။ဒုတိယ", "ဒါပထမပါ။" },
        { "នេះជាទីមួយ។ទីពីរ", "នេះជាទីមួយ។" },
        { "འདི་དང་པོ་རེད། གཉིས་པ", "འདི་དང་པོ་རེད།" },
        { "He said \"Go.\" Then he left.", "He said \"Go.\"" },
        { "Really?! (Yes.) No.", "Really?!" },
        { "See v1.2.3 and e.g.this one. End", "See v1.2.3 and e.g.this one." },
        { "Wait... what?", "Wait..." },
        { "first\n\nsecond", "first" },
        { "a b c d e f", "a b c" },
        { "天地玄黄宇宙洪荒", "天地玄黄宇宙" },
        { "ab 天地玄黄宇宙", "ab 天地玄黄" },
    };

    for (size_t i = 0; i < COUNT(table); i++) {
        bool cut = i >= COUNT(table) - 3;
        CHECK_SV(sentence_first(sv_of(table[i].text), cut ? 3 : 30), sv_of(table[i].first));
    }
}

static void what_is_left_unfinished_is_cut_off(void)
{
    CHECK_SV(sentence_whole(SV("One. Two. Thr")), SV("One. Two."));
    CHECK_SV(sentence_whole(SV("これ。それ。あ")), SV("これ。それ。"));
    CHECK_SV(sentence_whole(SV("none here")), SV("none here"));
}

static void words_are_counted_in_every_script(void)
{
    static const struct {
        const char *text;
        size_t      words;
    } table[] = {
        { "", 0 },
        { "  \n ", 0 },
        { "one", 1 },
        { " one  two\nthree. ", 3 },
        { "天地玄黄宇宙", 3 },
        { "ab 天地", 2 },
        { "ab天地", 2 },
    };

    for (size_t i = 0; i < COUNT(table); i++) {
        CHECK(sentence_within(sv_of(table[i].text), table[i].words));
        CHECK(!table[i].words || !sentence_within(sv_of(table[i].text), table[i].words - 1));
    }
}

static void no_cut_is_inside_a_character(void)
{
    static const char text[] = "日本語のとても長い文章がここにあり\xff続く abc дальше ещё";

    for (size_t words = 1; words < 20; words++) {
        struct sv whole = sv_of(text), v = sentence_first(whole, words);
        CHECK(v.n == whole.n || ((unsigned char)v.s[v.n] & 0xc0) != 0x80);
    }
}

TAP_MAIN(T(the_first_sentence_ends_at_its_mark), T(what_is_left_unfinished_is_cut_off),
         T(words_are_counted_in_every_script), T(no_cut_is_inside_a_character), )
