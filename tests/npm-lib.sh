# shellcheck shell=sh
# Programs from npm for tests, in POSIX shell. They are installed once per machine, into a directory
# that all tests share, and never into the repository. Sourced after tests/e2e/lib.sh:
#
#     . "$(dirname "$0")/../npm-lib.sh"
#     npm_have mcp @modelcontextprotocol/sdk@1.32.2 || skip_all "a client that is not ours" "$npm_why"
#     node "$npm_dir/…"
#
# Where npm cannot be had, npm_have fails and says why in $npm_why.
# shellcheck disable=SC2034 # the scripts that source this use npm_dir and npm_why

npm_dir='' npm_why=''
npm_shared=/var/tmp/heddle-test-npm-$(id -u)

# skip_all NAME REASON: the whole file is one skipped test.
skip_all() {
    skip "$1" "$2"
    done_testing
}

# npm_put DIRECTORY PACKAGES...: installs them there, unless they are; others wait meanwhile. Scripts
# of packages do not run.
npm_put() {
    npm_at=$1
    shift
    [ -e "$npm_at/complete" ] && return 0
    mkdir -p "$npm_shared" && chmod 700 "$npm_shared" || return 1
    (
        flock 9
        [ -e "$npm_at/complete" ] && exit 0
        rm -rf "$npm_at" && mkdir -p "$npm_at" && cd "$npm_at" || exit 1
        echo '{"private":true}' >package.json
        timeout 240 npm install --no-audit --no-fund --ignore-scripts --cache "$npm_shared/cache" "$@" >install.log 2>&1 &&
            touch complete
    ) 9>"$npm_shared/lock"
}

# npm_node: a Node that is new enough, first in PATH.
npm_node() {
    npm_major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
    [ "${npm_major:-0}" -lt 22 ] || return 0
    case $(uname -m) in
    x86_64) npm_arch=x64 ;;
    aarch64) npm_arch=arm64 ;;
    *) npm_arch=none ;;
    esac
    npm_put "$npm_shared/node-24" "node-linux-$npm_arch@24" || return 1
    PATH=$npm_shared/node-24/node_modules/node-linux-$npm_arch/bin:$PATH
    export PATH
}

# npm_have NAME PACKAGES...: packages in $npm_dir, with their programs in PATH.
npm_have() {
    npm_name=$1
    shift
    if ! command -v npm >/dev/null; then
        npm_why="npm is not installed"
        return 1
    fi
    if ! npm_node; then
        npm_why="npm cannot install a newer node"
        return 1
    fi
    npm_dir=$npm_shared/$npm_name-$(printf '%s\n' "$@" | cksum | tr ' ' -)
    if ! npm_put "$npm_dir" "$@"; then
        npm_why="npm cannot install $*"
        return 1
    fi
    PATH=$npm_dir/node_modules/.bin:$PATH
    export PATH
}
