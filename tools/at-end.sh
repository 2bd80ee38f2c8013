# shellcheck shell=sh
# at_end COMMAND: the shell runs COMMAND when it ends. Sourced.
#
# With `trap COMMAND EXIT` alone bash would also run it in a child that was started in the background and is killed before
# it has dropped the traps of its parent; the child would remove what its parent still works with. dash, which has no
# BASHPID, ends such a child without it. A test with [ would not do: in a child that is being killed it can fail.
at_end() {
    # shellcheck disable=SC2064 # the command is meant as it is now
    trap "case \${BASHPID:-\$\$} in \$\$) $1 ;; esac" EXIT
}
