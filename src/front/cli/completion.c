/* The completion scripts of the shells. */
#include "front/cli/help.h"

/* The second words of a family, or the options of a single command. */
static void words_after(struct sb *out, struct sv word)
{
    for (size_t i = 0; commands[i]; i++) {
        struct sv_cut c = sv_cut(sv_of(commands[i]->name), ' ');
        if (commands[i]->hidden || !sv_eq(c.head, word))
            continue;
        if (c.found)
            sb_addf(out, " " SV_FMT, SV_ARG(c.tail));
        for (const struct opt *o = commands[i]->opts; o && o->type; o++)
            sb_addf(out, " --%s", o->name);
    }
}

static bool is_thread(struct sv value)
{
    return sv_is(value, "T") || sv_starts(value, SV("T,")) || sv_starts(value, SV("T["));
}

static bool takes_thread_first(const struct command *c)
{
    return is_thread(help_argument(c, 0));
}

static bool word_takes_thread(struct sv word)
{
    bool takes = false;

    for (size_t i = 0; commands[i]; i++)
        takes = takes || (!commands[i]->hidden && sv_eq(help_first_word(commands[i]), word) &&
                          takes_thread_first(commands[i]));
    return takes;
}

static void all_words(struct sb *out)
{
    struct sv word;

    for (size_t i = 0; (word = help_word(i)).n; i++)
        sb_addf(out, "%s" SV_FMT, i ? " " : "", SV_ARG(word));
}

/* What follows a whole command: its options; where a thread stands (`at`), and after which options
 * (`takes`). */
static void bash_command(struct sb *out, const struct command *c)
{
    struct sv  first = help_argument(c, 0);
    const bool two = sv_has(sv_of(c->name), ' ');
    bool       any = false;

    sb_addf(out, "    '%s '*) words='", c->name);
    if (first.n && first.s[0] >= 'a' && first.s[0] <= 'z') /* bash|zsh|fish */
        for (size_t i = 0; i < first.n; i++)
            sb_addc(out, first.s[i] == '|' ? ' ' : first.s[i]);
    if (!two)
        words_after(out, sv_of(c->name));
    for (const struct opt *o = c->opts; two && o && o->type; o++)
        sb_addf(out, " --%s", o->name);
    sb_addf(out, "' at=%d takes='", !takes_thread_first(c) ? 0 : two ? 3 : 2);
    for (const struct opt *o = c->opts; o && o->type; o++)
        if (is_thread(sv_of(o->value))) {
            sb_addf(out, "%s--%s", any ? " " : "", o->name);
            any = true;
        }
    sb_adds(out, "' ;;\n");
}

static void bash_completion(struct sb *out)
{
    struct sv word;

    sb_adds(out, "_heddle() {\n"
                 "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local before=\"${COMP_WORDS[*]:1:COMP_CWORD-1} \" words='' at=0 takes=''\n"
                 "    case $before in\n    ' ') words='");
    all_words(out);
    sb_adds(out, "' ;;\n    'help ') words='");
    all_words(out);
    sb_adds(out, " --man --words' ;;\n");
    for (int two = 1; two >= 0; two--) /* `tree set` before `tree` */
        for (size_t i = 0; commands[i]; i++)
            if (!commands[i]->hidden && sv_has(sv_of(commands[i]->name), ' ') == (two == 1))
                bash_command(out, commands[i]);
    for (size_t i = 0; (word = help_word(i)).n; i++) {
        sb_addf(out, "    '" SV_FMT " '*) words='", SV_ARG(word));
        words_after(out, word);
        sb_adds(out, "' ;;\n");
    }
    sb_adds(
        out,
        "    esac\n"
        "    [ \"$COMP_CWORD\" -eq 1 ] || words=\"$words --json --root --as --help\"\n"
        "    case \" $takes \" in *\" $prev \"*) words='' at=$COMP_CWORD ;; esac\n"
        "    [ \"$COMP_CWORD\" -ne \"$at\" ] ||\n"
        "        words=\"$words $(\"${COMP_WORDS[0]}\" completion threads 2>/dev/null)\"\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
        "    [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}\n"
        "complete -F _heddle heddle\n");
}

static void zsh_completion(struct sb *out)
{
    struct arena scratch = { 0 };
    struct sv    word;

    sb_adds(out, "#compdef heddle\n_heddle() {\n    local -a names\n    names=(\n");
    for (size_t i = 0; (word = help_word(i)).n; i++) {
        struct sv about = help_about(word, &scratch);
        sb_addf(out, "        '" SV_FMT ":", SV_ARG(word));
        for (size_t k = 0; k < about.n; k++)
            sb_adds(out, about.s[k] == '\'' ? "'\\''" : (char[2]){ about.s[k], 0 });
        sb_adds(out, "'\n");
    }
    arena_free(&scratch);
    sb_adds(out, "    )\n    if (( CURRENT == 2 )); then _describe command names\n    else\n"
                 "        case $words[2] in\n");
    for (size_t i = 0; (word = help_word(i)).n; i++) {
        sb_addf(out, "        " SV_FMT ") compadd --", SV_ARG(word));
        words_after(out, word);
        sb_adds(out, " --json --root --as --help");
        if (word_takes_thread(word))
            sb_adds(out, "; compadd -- ${(f)\"$(heddle completion threads 2>/dev/null)\"}");
        sb_adds(out, " ;;\n");
    }
    sb_adds(out, "        esac\n        _files\n    fi\n}\n_heddle \"$@\"\n");
}

static void fish_completion(struct sb *out)
{
    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->hidden)
            continue;
        struct sv_cut c = sv_cut(sv_of(commands[i]->name), ' ');
        struct arena  scratch = { 0 };
        struct sb     text = sb_in(&scratch, 0);
        for (const char *p = commands[i]->summary; *p; p++)
            sb_adds(&text, *p == '\'' ? "\\'" : (char[2]){ *p, 0 });
        if (c.found)
            sb_addf(out,
                    "complete -c heddle -n '__fish_seen_subcommand_from " SV_FMT "' -a '" SV_FMT
                    "' -d '%s'\n",
                    SV_ARG(c.head), SV_ARG(c.tail), sb_sv(&text).s);
        else
            sb_addf(out, "complete -c heddle -n __fish_use_subcommand -a '" SV_FMT "' -d '%s'\n",
                    SV_ARG(c.head), sb_sv(&text).s);
        if (takes_thread_first(commands[i]))
            sb_addf(out,
                    "complete -c heddle -n '__fish_seen_subcommand_from " SV_FMT
                    "' -a '(heddle completion threads 2>/dev/null)'\n",
                    SV_ARG(c.head));
        for (const struct opt *o = commands[i]->opts; o && o->type; o++)
            sb_addf(out, "complete -c heddle -n '__fish_seen_subcommand_from " SV_FMT "' -l %s%s\n",
                    SV_ARG(c.head), o->name, o->value ? " -r" : "");
        arena_free(&scratch);
    }
}

bool completion(struct sb *out, struct sv shell)
{
    if (sv_is(shell, "bash"))
        bash_completion(out);
    else if (sv_is(shell, "zsh"))
        zsh_completion(out);
    else if (sv_is(shell, "fish"))
        fish_completion(out);
    else
        return false;
    return true;
}
