# shellcheck shell=sh
# A program at a terminal, for end-to-end tests: its keys come from this script, its screen is the file `screen`.
# Sourced after tests/e2e/lib.sh.

# start TERM COMMAND: COMMAND, for a shell, at a terminal of the type TERM, in the background, for five minutes at most.
start() {
    rm -f keys ended
    mkfifo keys
    : >screen
    {
        TERM=$1 timeout -k 5 300 script -qefc "$2" screen <keys >/dev/null 2>&1
        echo $? >ended
    } &
    terminal=$!
    exec 9>keys
}

# press KEYS [TEXT]: keys as printf takes them; then wait until TEXT is on the screen.
press() {
    # shellcheck disable=SC2059
    printf "$1" >&9
    [ $# -gt 1 ] || return 0
    await is_shown "$2" || { echo "# not on the screen: $2"; show_screen; return 1; }
}

is_shown() { tr -d '\b\r' <screen | grep -qF -e "$1"; }
show_screen() { tail -c 600 screen | cat -v | sed 's/^/# /'; }

# leave: Ctrl-D until the program has ended. One Ctrl-D may be lost: the terminal drops an end of file that is typed
# after an answer was printed and before the program reads the next line.
leave() {
    await has_left || echo '# the program goes on after Ctrl-D'
    stop
}
has_left() {
    [ ! -s ended ] || return 0
    (printf '\004' >&9) 2>/dev/null # the program may be gone by now
    sleep 0.2
    [ -s ended ]
}

# stop: wait until the program has ended. The screen of one that was killed is shown.
stop() {
    exec 9>&-
    wait $terminal
    [ "$(cat ended)" -lt 124 ] || { echo '# the program did not end'; show_screen; }
}
