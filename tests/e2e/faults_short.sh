#!/usr/bin/env bash
# asan: no (strace and the leak checker cannot both trace a program)
# A short run of tests/torture/syscalls.sh: a few commands, the calls that matter most, some N.
# postgres: no, it makes calls of the file system fail
: "${HEDDLE:?the path of the program}"
export SYSCALLS_ONLY="append spawn config" SYSCALLS_CALLS="openat2 pwrite64 fdatasync fsync renameat"
export SYSCALLS_ERRORS=EIO SYSCALLS_MOST=2
exec "$(dirname "$0")/../torture/syscalls.sh"
