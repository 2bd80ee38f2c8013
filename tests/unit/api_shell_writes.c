/* What a line for a shell would write. */
#include "api/hook/shell_writes.h"
#include "base/sb.h"
#include "tap.h"

static struct arena a;

/* How much is written, behind the path: all that is below, what git tracks below or anywhere. */
static const char *const reaches[] = { "", "/**", "", "/git", "//git" };

/* With ~ behind a pattern. What is copied into a path is FROM/ONLY>PATH. */
static struct sv writes(const char *line)
{
    struct shell_paths paths;
    struct sb          b = sb_in(&a, 0);

    shell_writes(sv_of(line), SV("/w"), SV("/home"), &a, &paths);
    for (size_t i = 0; i < paths.list.n; i++) {
        const struct shell_path *p = &paths.list.v[i];
        sb_adds(&b, i ? " " : "");
        if (p->reach == SHELL_COPY)
            sb_addf(&b, SV_FMT "[" SV_FMT "]>", SV_ARG(p->from), SV_ARG(p->only));
        sb_addf(&b, SV_FMT "%s%s", SV_ARG(p->path), p->pattern ? "~" : "", reaches[p->reach]);
    }
    return sb_sv(&b);
}

static void redirections_are_writes(void)
{
    CHECK_SV(writes("echo x > a"), SV("/w/a"));
    CHECK_SV(writes("echo x >>a; cat < b >| 'c d' 2>/dev/null"), SV("/w/a /w/c d /dev/null"));
    CHECK_SV(writes("make &> log && echo \"> no\" '> no'"), SV("/w/log"));
    CHECK_SV(writes("cat <<EOF\nx\nEOF"), SV(""));
    CHECK_SV(writes("echo a>b"), SV("/w/b"));
    CHECK_SV(writes("echo x 1<>a"), SV("/w/a"));
    CHECK_SV(writes("cat <<<b >a"), SV("/w/a"));
    CHECK_SV(writes("2>/dev/null rm a; <b tee c"), SV("/dev/null /w/a /w/c"));
}

static void commands_that_change_files_are_writes(void)
{
    CHECK_SV(writes("rm -rf a/b c"), SV("/w/a/b/** /w/c/**"));
    CHECK_SV(writes("rm a; rm -R b; chmod 1 c; chmod -R 1 d"),
             SV("/w/a /w/b/** /w/1 /w/c /w/1/** /w/d/**"));
    CHECK_SV(writes("cp -r x y/z"), SV("/w/y/z /w/.[x]>/w/y/z /w/y/z/x"));
    CHECK_SV(writes("cp -t d x; cp --target-directory=e x; rsync -t a b"),
             SV("/w/d /w/.[x]>/w/d /w/d/x /w/e /w/.[x]>/w/e /w/e/x /w/b /w/.[a]>/w/b /w/b/a"));
    CHECK_SV(writes("mv x y"), SV("/w/y /w/x/** /w/.[x]>/w/y /w/y/x"));
    CHECK_SV(writes("sed s/a/b/ f"), SV(""));
    CHECK_SV(writes("sed -i s/a/b/ f"), SV("/w/s/a/b/ /w/f"));
    CHECK_SV(writes("FOO=1 sudo tee -a f < g"), SV("/w/f"));
    CHECK_SV(writes("dd if=/dev/zero of=x bs=1"), SV("/w/x"));
    CHECK_SV(writes("git checkout -- f; git log f"), SV("/w/f/git"));
    CHECK_SV(writes("/bin/rm f"), SV("/w/f"));
    CHECK_SV(writes("cat a b; grep x c; ls > /dev/null"), SV("/dev/null"));
    CHECK_SV(writes("ln a b; ln -s c d"), SV("/w/a /w/b /w/d /w/.[c]>/w/d /w/d/c"));
    CHECK_SV(writes("perl -MList::Util -ne print f; perl -pi -e s/a/b/ g"), SV("/w/s/a/b/ /w/g"));
    CHECK_SV(writes("curl -d @a -o b u; wget --output-document=c u; sort -od e; unzip z -d f"),
             SV("/w/b /w/c /w/d /w/f"));
    CHECK_SV(writes("tar xzf a -C b; tar -cf c d; tar -xf e; tar tf f"), SV("/w/b /w/c /w/."));
    CHECK_SV(writes("git -C d checkout -- f; git -c a.b=c log f"), SV("/w/d/f/git"));
}

static void options_may_stand_together(void)
{
    CHECK_SV(writes("curl -sSLo a u; wget -qO b u; wget -qO- u; sort -uo c d"),
             SV("/w/a /w/b /w/- /w/c"));
    CHECK_SV(writes("cp -rt a b; tar -xzC c -f d"), SV("/w/a /w/.[b]>/w/a /w/a/b /w/c"));
    CHECK_SV(writes("pandoc -so a b; zip -qr c d; scp e f"),
             SV("/w/a /w/c /w/f /w/.[e]>/w/f /w/f/e"));
    CHECK_SV(writes("prettier a; prettier --write b; npx prettier -w c; gofmt -w d; gofmt e"),
             SV("/w/b /w/c /w/d"));
    CHECK_SV(writes("awk 1 a; gawk -i inplace 1 b; yq .x c; yq -i .x d; clang-format -i e"),
             SV("/w/inplace /w/1 /w/b /w/.x /w/d /w/e"));
    CHECK_SV(writes("git clone u a; git clone u; git worktree add b; git diff --output=c"),
             SV("/w/a /w/b /w/c"));
}

static void xargs_gets_its_words_from_the_pipeline(void)
{
    CHECK_SV(writes("ls a b | xargs rm"), SV("/w/a /w/b"));
    CHECK_SV(writes("ls a; xargs rm"), SV(""));
    CHECK_SV(writes("ls a || xargs rm"), SV(""));
    CHECK_SV(writes("cat a | xargs rm"), SV(""));
    CHECK_SV(writes("grep -rl x a | grep y | sudo xargs -n 1 sed -i s"),
             SV("/w/s /w/x /w/a /w/s /w/y"));
    CHECK_SV(writes("find a -name b | xargs rm -f"), SV("/w/a/**"));
    CHECK_SV(writes("find a -name b -print0 |& xargs -0 -I{} cp {} c"),
             SV("/w/c /w/.[a]>/w/c /w/c/a"));
    CHECK_SV(writes("echo a | xargs -I{} cp c {}"), SV("/w/a /w/.[c]>/w/a /w/a/c"));
}

static void what_is_below_a_path_may_be_written_too(void)
{
    CHECK_SV(writes("cp -r x/. y; cp -rT x z"), SV("/w/y /w/x/.[]>/w/y /w/z /w/x[]>/w/z"));
    CHECK_SV(writes("cp /x/{a,b} y"), SV("/w/y /x/[a]>/w/y /x/[b]>/w/y"));
    CHECK_SV(writes("rsync -a --exclude b x/ y"), SV("/w/y /w/x/[]>/w/y"));
    CHECK_SV(writes("rsync --delete x y"), SV("/w/y /w/.[x]>/w/y /w/y/x /w/y/**"));
    CHECK_SV(writes("rsync --delete --exclude z x/ y"), SV("/w/y /w/x/[]>/w/y"));
    CHECK_SV(writes("git clean -fd; git clean -n; git clean -fd -e x; git -C d clean -f e"),
             SV("/w/./** /w/d/e/**"));
    CHECK_SV(writes("git reset --hard; git reset; git stash; git stash pop; git stash -u"),
             SV("/w/.//git /w/.//git /w/./**"));
    CHECK_SV(writes("git rm -r --cached a; git rm b; git restore --staged c; git restore d"),
             SV("/w/b/git /w/d/git"));
    CHECK_SV(writes("find -delete; find -L a -name b -exec rm {} +"), SV("/w/./** /w/a/**"));
}

static void a_command_may_stand_behind_other_words(void)
{
    CHECK_SV(writes("if rm a; then rm b; elif ! rm c; then :; fi"), SV("/w/a /w/b /w/c"));
    CHECK_SV(writes("while rm a; do { rm b; }; done"), SV("/w/a /w/b"));
    CHECK_SV(writes("timeout -k 1 5 rm a; sudo -u root -n rm b; env -i A=1 rm c"),
             SV("/w/a /w/b /w/c"));
    CHECK_SV(writes("ls | xargs -n 1 rm a; nice -n 5 nohup rm b"), SV("/w/a /w/b"));
    CHECK_SV(writes("timeout 5 grep rm a"), SV(""));
    CHECK_SV(writes("eval 'rm a' ; X=$(pwd) rm b"), SV("/w/a /w/b"));
    CHECK_SV(writes("find a b -name c -delete; find d -type f -exec sed -i x {} + ; find e"),
             SV("/w/a/** /w/b/** /w/x /w/d/**"));
    CHECK_SV(writes("timeout"), SV(""));
    CHECK_SV(writes("sudo -u"), SV(""));
}

static void a_here_document_is_text_unless_a_shell_reads_it(void)
{
    CHECK_SV(writes("cat > a <<E\nrm b\nE\nrm c"), SV("/w/a /w/c"));
    CHECK_SV(writes("cat > a <<'E'\nit's\nE\nrm c"), SV("/w/a /w/c"));
    CHECK_SV(writes("cat <<-E >a\n\trm b\n\tE\nrm c"), SV("/w/a /w/c"));
    CHECK_SV(writes("bash <<E\nrm b\nE\ncat <<E\nrm c\nE"), SV("/w/b"));
    CHECK_SV(writes("cat <<E | sh -s\nrm b\nE"), SV("/w/b"));
    CHECK_SV(writes("cat <<E\nrm b"), SV(""));
    CHECK_SV(writes("((x = 1 << 2))\nrm a"), SV("/w/a"));
}

static void a_variable_counts_when_the_line_sets_it(void)
{
    CHECK_SV(writes("D=d; rm $D/a ${D}/b \"$D/c\" '$D/e'"), SV("/w/d/a /w/d/b /w/d/c /w/$D/e"));
    CHECK_SV(writes("export D=d && rm $D; D=$X; rm $D"), SV("/w/d"));
    CHECK_SV(writes("rm $PWD/a; cd d; rm $PWD/b"), SV("/w/a /w/d/b"));
    CHECK_SV(writes("D='a b'; rm $D; rm \"$D\""), SV("/w/a b"));
    CHECK_SV(writes("(D=a; rm $D); bash -c 'D=b'; D=c bash -c 'rm $D'"), SV("/w/a"));
    CHECK_SV(writes("for f in a b; do rm $f/x; done; for f in c; do rm $f; done"),
             SV("/w/a/x~ /w/b/x~ /w/c"));
    CHECK_SV(writes("echo $'a' > $'b'"), SV("/w/b"));
    CHECK_SV(writes("rm $(pwd)/a `pwd`/b ${PWD:?}/c ${PWD%w}/d"), SV("/w/a /w/b /w/c"));
    CHECK_SV(writes("rm ${PWD:-x}/a ${PWD=x}/b ${X:-x}/c ${PWD:1}/d"), SV("/w/a /w/b"));
    CHECK_SV(writes("rm ~ ~/a '~/b' ~root/c $HOME/d; cd; rm e"),
             SV("/home /home/a /w/~/b /w/~root/c /home/d /home/e"));
}

static void patterns_are_told_from_names(void)
{
    CHECK_SV(writes("rm d/* '*' a\\?b [x]"), SV("/w/d/*~ /w/* /w/a?b /w/[x]~"));
    CHECK_SV(writes("rm {a,b}/{c,d} {e} {f,g"), SV("/w/a/c~ /w/a/d~ /w/b/c~ /w/b/d~ /w/{e}~ "
                                                   "/w/{f,g~"));
}

static void where_it_goes_counts(void)
{
    CHECK_SV(writes("cd d && echo x > a"), SV("/w/d/a"));
    CHECK_SV(writes("cd /e; rm a"), SV("/e/a"));
    CHECK_SV(writes("cd \"$X\"; rm a /b"), SV("/b"));
    CHECK_SV(writes("bash -c 'cd d; rm a'; rm b"), SV("/w/d/a /w/b"));
    CHECK_SV(writes("(cd d && rm a); rm b; (cd e; (cd f; rm c); rm c)"),
             SV("/w/d/a /w/b /w/e/f/c /w/e/c"));
    CHECK_SV(writes("cd d; rm a; cd -; rm b; pushd e; rm c; popd; rm d"), SV("/w/d/a /w/b /w/e/c"));
    CHECK_SV(writes("echo \"$(cd d; rm a)\" `rm b`; rm c"), SV("/w/d/a /w/b /w/c"));
    CHECK_SV(writes("x=$(rm a); for f in 1 2; do rm b; done"), SV("/w/a /w/b"));
}

static void what_is_not_in_the_text_is_left_out(void)
{
    CHECK_SV(writes("rm $X \"$Y/a\" b"), SV("/w/b"));
    CHECK_SV(writes("python3 -c 'open(\"a\",\"w\")'"), SV(""));
    CHECK_SV(writes("# rm a"), SV(""));
    CHECK_SV(writes(""), SV(""));
    CHECK_SV(writes("rm 'a"), SV("/w/a"));
    CHECK_SV(writes("echo > \""), SV(""));
    arena_free(&a);
}

TAP_MAIN(T(redirections_are_writes), T(commands_that_change_files_are_writes),
         T(options_may_stand_together), T(xargs_gets_its_words_from_the_pipeline),
         T(what_is_below_a_path_may_be_written_too), T(a_command_may_stand_behind_other_words),
         T(a_here_document_is_text_unless_a_shell_reads_it),
         T(a_variable_counts_when_the_line_sets_it), T(patterns_are_told_from_names),
         T(where_it_goes_counts), T(what_is_not_in_the_text_is_left_out), )
