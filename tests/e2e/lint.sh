# ./dev lint keeps what a slow tool found clean and nothing else; .ci/run fails when a check or a test failed.
# asan: no
# postgres: no, nothing here reads a log
. "$(dirname "$0")/lib.sh"

# ---- what CI runs: a program `dev` that ends as the test says ----

mkdir -p ci/.ci
cp "$HEDDLE_SOURCE/.ci/run" ci/.ci/
cat >ci/dev <<'END'
#!/bin/sh
. "./$1.plan"
END
chmod +x ci/dev
last() { printf '%s\n' "$out" | tail -n 1; }

echo 'echo "11 passed, 0 failed"' >ci/lint.plan
echo 'echo "200 passed, 0 failed"' >ci/test.plan
run ci/.ci/run
exits "CI passes when lint and tests do" 0
same "the last line has the sums" "$(last)" "211 passed, 0 failed"

echo 'echo "10 passed, 1 failed"; exit 1' >ci/lint.plan
echo 'echo "200 passed, 0 failed, 3 skipped"' >ci/test.plan
run ci/.ci/run
exits "a failed check fails CI" 1
same "the tests run all the same, and the last line counts both" "$(last)" "210 passed, 1 failed, 3 skipped"

echo 'echo "a package is missing" >&2; exit 1' >ci/lint.plan
run ci/.ci/run
exits "so does a lint that did not start" 1
same "which is one failure" "$(last)" "200 passed, 1 failed, 3 skipped"

echo 'echo "11 passed, 0 failed"' >ci/lint.plan
echo 'exit 0' >ci/test.plan
run ci/.ci/run
exits "and tests that counted nothing" 1
same "which are one failure" "$(last)" "11 passed, 1 failed"

# ---- what a script does at its end is not done by a child that is killed ----

cat >end.sh <<'END'
. "$HEDDLE_SOURCE/tools/at-end.sh"
at_end 'echo "the end of $BASHPID" >>ends; [ "$BASHPID" = $$ ] || echo not the script >>ends'
for i in $(seq 200); do
    sleep 60 &
    kill $!
done
wait
END
run bash end.sh
same "a script does it once, however many children are killed as they start" "$(wc -l <ends)" 1
lacks "and none of them does it" "$(cat ends)" "not the script"

# ---- what is kept: a tree with one source, and tools that write down what they read ----

mkdir -p tree/src/one bin
cp -r "$HEDDLE_SOURCE/tools" "$HEDDLE_SOURCE/.clang-format" tree/
cat >bin/clang-tidy <<'END'
#!/bin/sh
[ "$1" != --version ] || { echo "${TIDY_VERSION:-1}" && exit; }
for file; do :; done
echo "$file" >>"$READ"
! grep -n 'goto' "$file"
END
printf '#!/bin/sh\nexit 0\n' >bin/cppcheck
chmod +x bin/*
PATH=$PWD/bin:$PATH
READ=$PWD/read
export PATH READ
cd tree || exit 1
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(one C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include_directories(src)
add_library(one src/one/one.c)
END
cat >CMakePresets.json <<'END'
{ "version": 6, "configurePresets": [
    { "name": "clang", "generator": "Ninja", "binaryDir": "${sourceDir}/build/clang" },
    { "name": "analyze", "generator": "Ninja", "binaryDir": "${sourceDir}/build/analyze",
      "cacheVariables": { "CMAKE_C_FLAGS": "-fanalyzer -Werror" } } ] }
END
echo 'Checks: none' >.clang-tidy
echo 'int one(int n);' >src/one/one.h
source='/* One function. */
#include "one/one.h"
int one(int n)
{
    return n;
}'
printf '%s\n' "$source" >src/one/one.c

# lint: $out, and $times, how often clang-tidy has read the file by now
lint() {
    run tools/lint.sh src/one/one.c
    times=$(wc -l <"$READ")
}

lint
exits "a clean file passes" 0
same "clang-tidy has read it" "$times" 1
same "each check is counted" "$(last)" "6 passed, 0 failed"
lint
exits "it passes again" 0
same "without being read again" "$times" 1
has "which is said" "$out" "1 files, 1 of them as before"

echo '/* NOLINT */' >>src/one/one.c
lint
same "it is read again when only a comment changed" "$times" 2
echo 'int one_more(int n);' >>src/one/one.h
lint
same "when a header changed" "$times" 3
echo 'Checks: more' >.clang-tidy
lint
same "when the settings changed" "$times" 4
TIDY_VERSION=2
export TIDY_VERSION
lint
same "when the tool changed" "$times" 5
sed -i 's/^add_library/add_compile_definitions(MORE)\nadd_library/' CMakeLists.txt
lint
same "when the command changed that compiles it" "$times" 6
lint
same "and not when nothing did" "$times" 6

printf '%s\n' "$source" | sed 's/return n;/goto out;\nout:\n    return n;/' >src/one/one.c
lint
exits "a finding fails" 1
has "it is named" "$out" "5:    goto out;"
same "and counted" "$(last)" "5 passed, 1 failed"
lint
exits "it is not kept: it fails again" 1
same "since the file is read each time" "$times" 8

printf '%s\n' "$source" | sed 's/return n;/int *p = 0;\n\n    return n + *p;/' >src/one/one.c
lint
exits "a finding of gcc's analyzer fails, too" 1
has "it is named" "$out" "analyzer-null-dereference"
lint
exits "and again" 1

echo 'int one(' >src/one/one.c
lint
exits "a file that does not compile fails" 1

cp -r . ../moved
cd ../moved || exit 1
printf '%s\n' "$source" >src/one/one.c
lint
exits "it is clean in another checkout" 0
before=$times
cd ../tree || exit 1
printf '%s\n' "$source" >src/one/one.c
lint
exits "what was clean in another checkout" 0
same "is not read again in this one" "$times" "$before"

done_testing
