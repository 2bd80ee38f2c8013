# shellcheck shell=bash
# What ./dev and its tools share: speaking, Debian packages, builds. Sourced with the
# repository root as the current folder.

# shellcheck source=tools/at-end.sh
. tools/at-end.sh

say() { printf '== %s\n' "$*" >&2; }

# fail MESSAGE [STATUS]
fail() {
    printf 'dev: %s\n' "$1" >&2
    exit "${2:-1}"
}

names_in() { # names_in FOLDER SUFFIX: the names of its files, without the suffix
    local f names=''
    for f in "$1"/*"$2"; do
        [ ! -f "$f" ] || names="$names $(basename "$f" "$2")"
    done
    echo "${names# }"
}

sources() { # every C file of ours, each name followed by a NUL
    local folders=() folder
    for folder in src tests bench tools; do
        [ ! -d "$folder" ] || folders+=("$folder")
    done
    find "${folders[@]}" -name '*.[ch]' -print0 | sort -z
}

# ---- packages -----------------------------------------------------------------------

# One table for each purpose: a Debian package, and what shows that it is there: a command,
# a pkg-config module, a shared library that is loaded at run time, or a file. need() reads
# packages_PURPOSE by that name.
# shellcheck disable=SC2034
{
packages_build="
gcc                  cmd:gcc
libc6-dev            file:/usr/include/stdio.h
cmake                cmd:cmake
ninja-build          cmd:ninja
pkg-config           cmd:pkg-config
libsqlite3-dev       pc:sqlite3
libsodium-dev        pc:libsodium
libexpat1-dev        pc:expat
libcurl4-openssl-dev pc:libcurl
libpq-dev            pc:libpq
libmicrohttpd-dev    pc:libmicrohttpd
libedit2             so:libedit.so.2
libcmark-gfm-extensions0.29.0.gfm.6 so:libcmark-gfm-extensions.so.0.29.0.gfm.6
"
packages_test="
clang           cmd:clang
jq              cmd:jq
curl            cmd:curl
nodejs          cmd:node
npm             cmd:npm
chromium        cmd:chromium
sqlite3         cmd:sqlite3
postgresql      file:/usr/lib/postgresql/*/bin/postgres
pgbouncer       file:/usr/sbin/pgbouncer
strace          cmd:strace
faketime        cmd:faketime
iproute2        cmd:ip
zsh             cmd:zsh
fish            cmd:fish
zstd            cmd:zstd
python3-jsonschema file:/usr/lib/python3/dist-packages/jsonschema
"
packages_fuzz="
clang              cmd:clang
libclang-rt-14-dev file:/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a
llvm               cmd:llvm-symbolizer
"
packages_format="
clang-format    cmd:clang-format
"
packages_check="$packages_format
universal-ctags cmd:ctags
pmccabe         cmd:pmccabe
mandoc          cmd:mandoc
man-db          cmd:man
groff           cmd:groff
shellcheck      cmd:shellcheck
node-typescript cmd:tsc
"
packages_lint="$packages_check
clang           cmd:clang
clang-tidy      cmd:clang-tidy
cppcheck        cmd:cppcheck
jq              cmd:jq
"
packages_bench="
jq              cmd:jq
time            cmd:/usr/bin/time
"
packages_bench_serve="
nginx-light     file:/usr/sbin/nginx
wrk             cmd:wrk
nodejs          cmd:node
curl            cmd:curl
"
}

# is_there cmd:NAME | pc:MODULE | so:LIBRARY | file:PATTERN
#
# grep reads to the end: with -q it ends at the first match, ldconfig gets SIGPIPE, and under pipefail the library
# would seem to be missing.
is_there() {
    case $1 in
    cmd:*) command -v "${1#*:}" >/dev/null ;;
    pc:*) pkg-config --exists "${1#*:}" 2>/dev/null ;;
    so:*) PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -F "${1#*:} " >/dev/null ;;
    file:*) compgen -G "${1#*:}" >/dev/null ;;
    esac
}

missing_packages() { # missing_packages PURPOSE...
    local purpose table package sign
    for purpose in "$@"; do
        table=packages_$purpose
        while read -r package sign; do
            [ -z "$package" ] || is_there "$sign" || echo "$package"
        done <<<"${!table}"
    done | sort -u
}

need() { # need PURPOSE...: install what is missing for it, and nothing else
    local missing as_root=()
    missing=$(missing_packages "$@" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null ||
        fail "missing, and this is not Debian: install what these packages hold: $missing"
    [ -z "${HEDDLE_NO_INSTALL:-}${HEDDLE_NO_APT:-}" ] || fail "missing: $missing"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "missing; as root: apt-get install $missing"
        as_root=(sudo)
    fi
    say "installing from Debian: $missing"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update >&2 ||
        say "apt-get update failed; going on with the lists there are"
    # shellcheck disable=SC2086
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q install -y --no-install-recommends $missing >&2 ||
        fail "apt-get could not install: $missing"
    hash -r
    missing=$(missing_packages "$@" | tr '\n' ' ')
    [ -z "$missing" ] || fail "still missing after apt-get: $missing"
}

# ---- builds -------------------------------------------------------------------------

is_watched() { [ -t 2 ] && [ -z "${DEV_QUIET:-}" ]; } # does a person look on?

# tell_progress LOG NAME [TEXT]: while it runs (it is killed when the work is done), a line every ten
# seconds with the last [n/m] of LOG, or TEXT as long as there is none, for whoever waits.
tell_progress() {
    local at
    while sleep "${DEV_PROGRESS_SECONDS:-10}" >/dev/null 2>&1; do
        at=$(grep -o '^\[[0-9]*/[0-9]*\]' "$1" 2>/dev/null | tail -n 1)
        say "$2 ${at:-${3:-is being configured}}"
    done
}

# quietly LOG COMMAND...: on a terminal the output is shown as it comes, else it is kept in
# LOG and shown, without the steps that went well, only when the command fails.
quietly() {
    local log=$1 rc=0 teller=''
    shift
    if is_watched; then
        "$@" >&2
        return
    fi
    : >"$log"
    if [ -z "${DEV_QUIET:-}" ]; then
        tell_progress "$log" "still at it:" &
        teller=$!
    fi
    "$@" >"$log" 2>&1 || rc=$?
    [ -z "$teller" ] || { kill "$teller" && wait "$teller"; } 2>/dev/null || true
    [ "$rc" -eq 0 ] || grep -v '^\[[0-9]*/[0-9]*\] ' "$log" >&2 || true
    return "$rc"
}

configure() { # configure PRESET
    local launcher='' fresh=() cache=build/$1/CMakeCache.txt
    launcher=$(command -v ccache || true)
    # A tree that was moved or copied keeps the old path in its cache.
    if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
        fresh=(--fresh)
    fi
    mkdir -p "build/$1"
    cmake --preset "$1" "${fresh[@]}" -DCMAKE_C_COMPILER_LAUNCHER="$launcher" \
        >"build/$1/configure.log" 2>&1 || {
        cat "build/$1/configure.log" >&2
        fail "cmake could not configure the preset $1"
    }
}

build() { # build PRESET [TARGET...]: configured afresh, since a new folder may be a new room
    local preset=$1
    shift
    [ -n "${DEV_QUIET:-}" ] || say "building $preset${*:+: $*}"
    configure "$preset"
    quietly "build/$preset/build.log" \
        env NINJA_STATUS='[%f/%t] ' ninja -C "build/$preset" -j"$(nproc)" "$@" ||
        fail "the build of $preset failed"
}
