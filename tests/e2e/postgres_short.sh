#!/bin/sh
# A short run of what `./dev torture postgres` does for long: a private server whose backends, processes,
# connections and statements fail under writers, connections that are cut at single bytes, and a server that lies.
# postgres: no, it has a server of its own
: "${HEDDLE:?the path of the program}"
exec bash "$HEDDLE_SOURCE/tests/torture/postgres.sh" short 8 backends serial server cut hostile
