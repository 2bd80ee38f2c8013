/* The completion scripts of the shells: each asks the program (complete.c) what to offer. */
#include "front/cli/help.h"

/* bash cuts words at = and :, and replaces only what is behind them. */
static const char bash_script[] =
    "_heddle() {\n"
    "    local word line full='' i=1 program=${COMP_WORDS[0]/#\\~/$HOME}\n"
    "    local -a words=() lines=()\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        case $word:$full in\n"
    "        =:--* | ::?* | *:*= | *:*:) full+=$word ;;\n"
    "        *)\n"
    "            [ $i -eq 1 ] || words+=(\"$full\")\n"
    "            full=$word\n"
    "            ;;\n"
    "        esac\n"
    "    done\n"
    "    word=${COMP_WORDS[COMP_CWORD]}\n"
    "    case $word in = | :) word='' ;; esac\n"
    "    COMPREPLY=()\n"
    "    mapfile -t lines < <(\"$program\" _complete -- \"${words[@]}\" \"$full\" 2>/dev/null)\n"
    "    for line in \"${lines[@]}\"; do\n"
    "        case $line in\n"
    "        :files | :dirs)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            if [ \"$line\" = :files ]; then i=-f; else i=-d; fi\n"
    "            mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen $i -- \"$word\")\n"
    "            ;;\n"
    "        *)\n"
    "            line=${line%%$'\\t'*}\n"
    "            COMPREPLY+=(\"${line:${#full}-${#word}}\")\n"
    "            ;;\n"
    "        esac\n"
    "    done\n"
    "}\n"
    "complete -F _heddle heddle\n";

static const char zsh_script[] =
    "#compdef heddle\n"
    "_heddle() {\n"
    "    local line\n"
    "    local -a values\n"
    "    for line in \"${(@f)$(${~words[1]} _complete -- \"${(@)words[2,CURRENT-1]}\" \"$PREFIX\" "
    "2>/dev/null)}\"; do\n"
    "        case $line in\n"
    "        :files) _files ;;\n"
    "        :dirs) _files -/ ;;\n"
    "        ?*) values+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( ! $#values )) || _describe heddle values\n"
    "}\n"
    "# Called by the completion system, or sourced.\n"
    "if [ \"$funcstack[1]\" = _heddle ]; then\n"
    "    _heddle \"$@\"\n"
    "elif (( $+functions[compdef] )); then\n"
    "    compdef _heddle heddle\n"
    "fi\n";

static const char fish_script[] =
    "function __heddle_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    set -l program $words[1]\n"
    "    set -e words[1]\n"
    "    for line in (eval (string escape -- $program) _complete -- (string escape -- $words "
    "\"$current\") 2>/dev/null)\n"
    "        switch $line\n"
    "            case :files\n"
    "                __fish_complete_path \"$current\"\n"
    "            case :dirs\n"
    "                __fish_complete_directories \"$current\"\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c heddle -f -a '(__heddle_complete)'\n";

bool completion(struct sb *out, struct sv shell)
{
    if (sv_is(shell, "bash"))
        sb_adds(out, bash_script);
    else if (sv_is(shell, "zsh"))
        sb_adds(out, zsh_script);
    else if (sv_is(shell, "fish"))
        sb_adds(out, fish_script);
    else
        return false;
    return true;
}
