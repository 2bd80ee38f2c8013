# The checks of the code's plan (tools/check-*), on a small tree with one slip of each kind.
# asan: no
. "$(dirname "$0")/lib.sh"

mkdir -p tree/docs tree/src/base tree/src/upper tree/src/front/one tree/src/front/two
cp -r "$HEDDLE_SOURCE/tools" tree/
cd tree || exit 1

# build: an object for every source, where CMake would put it
build() {
    rm -rf out
    find src -name '*.c' | while read -r source; do
        mkdir -p "out/CMakeFiles/x.dir/$(dirname "$source")"
        cc -std=c17 -fPIE -Isrc -c "$source" -o "out/CMakeFiles/x.dir/$source.o" || exit 1
    done
}

cat >docs/layers.txt <<'END'
base:
upper: base
front/one: upper base
front/two: base
main.c: front/one
END
echo 'int base_value(void);' >src/base/base.h
printf '#include "base/base.h"\nint base_value(void) { return 1; }\n' >src/base/base.c
echo 'int upper_value(void);' >src/upper/upper.h
printf '#include "upper/upper.h"\n#include "base/base.h"\nint upper_value(void) { return base_value(); }\n' >src/upper/upper.c
echo 'int one_run(void);' >src/front/one/one.h
printf '#include "front/one/one.h"\n#include "base/base.h"\n#include "upper/upper.h"\nint one_run(void) { return upper_value() + base_value(); }\n' >src/front/one/one.c
printf '#include "base/base.h"\nint two_run(void);\nint two_run(void) { return base_value(); }\n' >src/front/two/two.c
printf '#include "front/one/one.h"\nint main(void) { return one_run(); }\n' >src/main.c
: >docs/manners.txt
build

run tools/check-layers out
exits "a tree that keeps to its plan passes" 0
same "and nothing is said" "$out" ""

run tools/check-layers --print out
same "what is used is printed in the form of docs/layers.txt" "$out" "$(cat docs/layers.txt)"

printf '#include "base/base.h"\nint upper_value(void);\nint base_value(void) { return 0 && upper_value(); }\nint base_up(void);\nint base_up(void) { return upper_value(); }\n' >src/base/base.c
build
run tools/check-layers out
exits "a symbol of a room above is a slip though nothing is included" 1
has "it is named" "$out" "src/base/base.c: base may not use upper_value() of src/upper/upper.c"
printf '#include "base/base.h"\nint base_value(void) { return 1; }\n' >src/base/base.c

printf '#include "base/base.h"\n#include "front/one/one.h"\nint two_run(void);\nint two_run(void) { return base_value(); }\n' >src/front/two/two.c
build
run tools/check-layers out
exits "a door that includes another one is a slip" 1
has "it is named with its line" "$out" "src/front/two/two.c:2: front/two may not use front/one/one.h"
printf '#include "base/base.h"\nint two_run(void);\nint two_run(void) { return base_value(); }\n' >src/front/two/two.c

sed -i 's/^front\/two: base/front\/two: upper base/' docs/layers.txt
build
run tools/check-layers out
exits "a permission that nothing uses is a slip" 1
same "it is named" "$out" "docs/layers.txt:4: front/two does not use upper: take the permission away"
sed -i 's/^front\/two: upper base/front\/two: base/' docs/layers.txt

sed -i 's/^upper: base/upper: front\/one/; s/^front\/one: upper base/front\/one: */' docs/layers.txt
run tools/check-layers out
exits "a star allows the lines above, and only those" 1
lacks "what uses a room above it in the list" "$out" "front/one may not use"
has "what uses one that is not allowed" "$out" "upper may not use base/base.h"
sed -i 's/^upper: front\/one/upper: base/; s/^front\/one: \*/front\/one: upper base/' docs/layers.txt

mkdir src/other
printf 'int other_value(void);\nint other_value(void) { return 1; }\n' >src/other/other.c
printf '#include "other/other.h"\n' >src/other/other.h
build
run tools/check-layers out
exits "a room without a line is a slip" 1
has "it is named" "$out" "docs/layers.txt has no line for other"
rm -r src/other

run tools/check-layers out
exits "objects whose source is gone do not count" 0

cat >docs/manners.txt <<'END'
forbidden getenv abort: not below the doors
END
printf '#include "base/base.h"\n#include <stdlib.h>\nstatic int calls;\nint base_value(void) { static const char *const names[] = { "A" }; return ++calls + !getenv(names[0]); }\n' >src/base/base.c
printf '#include "front/one/one.h"\n#include <stdlib.h>\nint one_calls;\nint one_run(void) { return ++one_calls + !getenv("A"); }\n' >src/front/one/one.c
build
run tools/check-manners out
exits "a forbidden function and data that changes are slips below the doors" 1
has "the function is named with the reason" "$out" "src/base/base.c: uses getenv: not below the doors"
has "the data is named" "$out" "src/base/base.c: calls is data that can change (.bss)"
same "constant tables and doors are not" "$(echo "$out" | wc -l)" 2

cat >>docs/manners.txt <<'END'
src/base/base.c getenv: for this test
src/base/base.c calls: for this test
END
run tools/check-manners out
exits "an exception with a reason allows both" 0
echo 'src/base/base.c abort: left over' >>docs/manners.txt
run tools/check-manners out
exits "an exception that nothing uses is a slip" 1
same "it is named" "$out" "docs/manners.txt:4: nobody uses this exception: src/base/base.c abort"
sed -i '$d' docs/manners.txt
echo 'src/base/base.c abort' >>docs/manners.txt
run tools/check-manners out
exits "so is one without a reason" 1

# ---- names ----------------------------------------------------------------------------

: >docs/names.txt
printf '#include "base/base.h"\nint base_value(void) { return 1; }\n' >src/base/base.c
build
run tools/check-names out
exits "names that say where they belong pass" 0
same "and nothing is said" "$out" ""

printf '#include "base/base.h"\nint base_value(void) { return 1; }\nint base_other(void);\nint base_other(void) { return 1; }\nint value(void);\nint value(void) { return 2; }\nint odd_value(void);\nint odd_value(void) { return 3; }\n' >src/base/base.c
printf 'int base_value(void);\nint value(void);\nint odd_value(void);\n' >src/base/base.h
build
run tools/check-names out
exits "other names are slips" 1
has "a function that no header declares" "$out" "src/base/base.c: base_other is not declared in a header"
has "a name of one word" "$out" "src/base/base.c: value does not begin with the name of its room, file or type"
has "a name of nothing that is there" "$out" "src/base/base.c: odd_value does not begin with"

printf 'struct odd { int n; };\nint base_value(void);\nint odd_value(void);\n' >src/base/base.h
sed -i 's/^struct odd { int n; };/struct odd {\n    int n;\n};/' src/base/base.h
printf '#include "base/base.h"\nint base_value(void) { return 1; }\nint odd_value(void) { return 3; }\n' >src/base/base.c
build
run tools/check-names out
exits "a type of the room is a prefix" 0
printf 'struct odd {\n    int m;\n};\nint upper_value(void);\n' >src/upper/upper.h
run tools/check-names out
exits "a type that two rooms define is a slip" 1
has "both places are named" "$out" "src/upper/upper.h:1: struct odd is also defined in src/base/base.h"
has "and the headers do not go together" "$err" "redefinition of"
echo 'int upper_value(void);' >src/upper/upper.h
echo 'base strange: nobody' >docs/names.txt
build
run tools/check-names out
exits "a prefix that nothing uses is a slip" 1
same "it is named" "$out" "docs/names.txt:1: nothing begins with strange"

# ---- plain words ----
run tools/check-words
exits "a tree in plain words passes" 0
printf '/* Makes a folder. */\nint base_value(void);\n' >src/base/base.h
run tools/check-words
exits "a word that comments do not use is a slip" 1
has "it is named with its line, and with a better one" "$out" "src/base/base.h:1: Makes a folder.     (write: directory)"
printf 'int base_value(void); /* There is no limit;\n * it is no longer a folder. */\n' >src/base/base.h
run tools/check-words
exits "also in the second line of a comment" 1
has "and only there" "$(printf '%s\n' "$out" | grep -c write)" 1
printf 'static const char folder[] = "/* a folder */"; /* There is no limit. */\n' >src/base/base.h
run tools/check-words
exits "names and messages may have it" 0
printf '/* A file that is no hash. */\n' >src/base/base.h
run tools/check-words
has "is no X is named" "$out" "(write: is not a …)"
echo 'We look wh''ence it came.' >docs/a.md
run tools/check-words
has "words that no text has are named in documents too" "$out" "docs/a.md:1:"
rm docs/a.md
echo 'int base_value(void);' >src/base/base.h

run tools/check-layers nowhere
exits "a build that is not there is an error" 2

done_testing
