#!/bin/sh
# merge: what is refused before anything is logged, removals, overwritten texts, rights to run,
# exit status.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
heddle init >/dev/null
heddle objective create O --id o >/dev/null
spawn() { heddle spawn --objective o --no-run --intent "work of $1" --id "$@" >/dev/null; }
entries() { heddle log show .global --json | wc -l; }
for t in a b c d e; do spawn $t; done

# ---- a file meets a folder ----
mkdir -p $T/a/design $T/c
echo x >$T/a/design/api.md
echo file >$T/b/design
n=$(entries)
run heddle merge --sources a --target b
exits "a folder that meets a file is refused" 1
has "and named" "$err" "design is a file in one thread and a folder in another"
run heddle merge --sources b --target a
exits "a file that meets a folder too" 1
run heddle merge --sources b --target a --strategy agent-first
exits "under every strategy" 1
run heddle merge --sources a,b --target c
exits "also when two sources meet in a third" 1
same "nothing of it is in the log" "$(entries)" "$n"
same "nor on disk" "$(ls $T/c)" "$(ls $T/d)"
run heddle merge --sources a --target b --dry-run
exits "a dry run says so" 1
has "with the place" "$out" "conflict  design"
json "under leslie's name it is T301" "$(ln -sf "$HEDDLE" leslie && ./leslie merge --sources a --target b)" '[.success, .error.code, .error.details.file]' '[false,"T301","design"]'
run spawn f
exits "and the workspace goes on" 0
ok "with a folder for the new thread" test -d $T/f/artifacts
ok "verify agrees" heddle verify

# ---- removals ----
mkdir -p $T/d
printf 'one\n' >$T/d/keep.md
printf 'two\n' >$T/d/drop.md
printf 'three\n' >$T/d/mine.md
heddle merge --sources d --target e >/dev/null
rm $T/d/drop.md $T/d/mine.md
echo "changed by e" >>$T/e/mine.md
run heddle merge --sources d --target e
exits "what the target changed and the source removed is a conflict" 1
has "and is said" "$out" "conflict  mine.md"
has "what the target left as it was is removed" "$out" "removed  drop.md"
not_ok "on disk too" test -e $T/e/drop.md
ok "the target's own change stays" grep -q "changed by e" $T/e/mine.md
ok "and what was not removed" test -f $T/e/keep.md
run heddle merge --sources d --target e --strategy agent-first
exits "agent-first settles it" 0
not_ok "the source's way" test -e $T/e/mine.md
kept=$(printf '%s\n' "$out" | sed -n 's/^kept  //p')
ok "the target's text is kept where the answer says" grep -q "changed by e" "$kept"
run heddle merge --sources d --target e
same "then there is nothing to merge" "$out" "nothing to merge"
spawn g
echo f >$T/d/frozen.md
heddle reference --from g --target d --binding frozen >/dev/null 2>&1
cp $T/d/frozen.md $T/g/frozen.md
rm $T/d/frozen.md
heddle merge --sources d --target g >/dev/null
not_ok "what was frozen and is gone at the source is removed" test -e $T/g/frozen.md
rm -r $T/d
run heddle merge --sources d --target e
exits "a source without its folder has removed nothing: it is an error" 1
ok "the target's files stay" test -f $T/e/keep.md

# ---- overwritten texts, repeated merges ----
spawn s
spawn t
printf 'a\nb\nc\n' >$T/s/plan.md
heddle merge --sources s --target t >/dev/null
printf 'a\nB of s\nc\n' >$T/s/plan.md
run heddle merge --sources s --target t
exits "a second merge has the first as its base" 0
same "and takes the change" "$(cat $T/t/plan.md)" "a
B of s
c"
printf 'a\nB of t\nc\n' >$T/t/plan.md
printf 'a\nB again of s\nc\n' >$T/s/plan.md
run heddle merge --sources s --target t --strategy agent-first
exits "agent-first leaves nothing to settle" 0
same "the source's line is taken" "$(sed -n 2p $T/t/plan.md)" "B again of s"
kept=$(printf '%s\n' "$out" | sed -n 's/^kept  //p')
same "the overwritten text is reachable" "$(sed -n 2p "$kept")" "B of t"
json "and in the JSON" "$(printf 'a\nX\nc\n' >$T/t/plan.md; printf 'a\nY\nc\n' >$T/s/plan.md; heddle merge --sources s --target t --strategy agent-first --json)" \
    '[.merged_files, (.kept_files | length)]' '[[".leslie/threads/t/plan.md"],1]'
lacks "it is not shared on" "$(spawn u; heddle reference --from u --target t --binding frozen 2>&1; find $T/u/context/inherited)" replaced
printf 'a\nX2\nc\n' >$T/t/plan.md
printf 'a\nY2\nc\n' >$T/s/plan.md
run heddle merge --sources s --target t --json
exits "a conflict with markers exits 1" 1
json "the answer is printed all the same" "$out" .conflicts '["plan.md"]'
has "and stderr says what to do" "$err" "between <<<<<<<"
has "both texts are there" "$(cat $T/t/plan.md)" "X2"
printf 'a\nsettled\nc\n' >$T/t/plan.md
run heddle merge --sources s --target t
exits "what was settled is not a conflict again" 0
same "and stays" "$(sed -n 2p $T/t/plan.md)" settled
run ./leslie merge --sources s --target t
exits "leslie keeps upstream's exit status" 0

# ---- rights to run ----
printf '#!/bin/sh\n' >$T/s/run.sh
chmod +x $T/s/run.sh
heddle merge --sources s --target t >/dev/null
ok "a program stays a program" test -x $T/t/run.sh
chmod -x $T/t/run.sh
heddle merge --sources s --target t >/dev/null
ok "also when only the right is missing" test -x $T/t/run.sh
ok "plain files stay plain" test ! -x $T/t/plan.md
ok "verify agrees at the end" heddle verify
done_testing
