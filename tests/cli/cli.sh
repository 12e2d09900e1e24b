# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034 # the tests use what is set here
# What every test of the program shares: TAP, a home of its own, and running turncast with its
# status and output kept. Nothing of the user's configuration or state is seen or touched.
set -u

turncast=${TURNCAST_BUILDDIR:?}/turncast
fake_agent=$TURNCAST_BUILDDIR/tests/fake/agent
fixtures=${TURNCAST_SRCDIR:?}/tests/cli
results=0
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/turncast-cli.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
umask 022
HOME=$scratch/home
XDG_CONFIG_HOME=$scratch/config
XDG_STATE_HOME=$scratch/state
export HOME XDG_CONFIG_HOME XDG_STATE_HOME
unset TURNCAST_CONFIG
mkdir "$HOME" "$XDG_CONFIG_HOME" "$XDG_STATE_HOME"

# try [ARGUMENT...]: runs turncast; sets $status, and its output in $out and $err.
try() {
    "$turncast" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    out=$(cat "$scratch/out")
    err=$(cat "$scratch/err")
}

# result STATUS DESCRIPTION
result() {
    results=$((results + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $results - $2"
    else
        failures=$((failures + 1))
        echo "not ok $results - $2"
    fi
}

# is GOT WANTED DESCRIPTION
is() {
    if [ "$1" = "$2" ]; then
        result 0 "$3"
    else
        result 1 "$3"
        printf '%s\n--- wanted\n%s\n' "$1" "$2" | sed 's/^/# /'
    fi
}

# has TEXT PIECE DESCRIPTION
has() {
    case $1 in
    *"$2"*) result 0 "$3" ;;
    *)
        result 1 "$3"
        printf '%s\n--- has no\n%s\n' "$1" "$2" | sed 's/^/# /'
        ;;
    esac
}

# lacks TEXT PIECE DESCRIPTION
lacks() {
    case $1 in
    *"$2"*)
        result 1 "$3"
        printf '%s\n--- has\n%s\n' "$1" "$2" | sed 's/^/# /'
        ;;
    *) result 0 "$3" ;;
    esac
}

# kinds: prints the types of the canonical lines on stdin.
kinds() {
    sed -n 's/^{"type":"\([a-z_]*\)".*/\1/p' | tr '\n' ' ' | sed 's/ $//'
}

# wait_for COMMAND...: repeats it until it succeeds, for at most 20 seconds.
wait_for() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ "$tries" -ge 400 ]; then
            echo "# in vain: $*"
            return 1
        fi
        sleep 0.05
    done
}

# kept SQL: prints the result of a query of the state database without changing the database.
kept() {
    python3 - "$XDG_STATE_HOME/turncast/state.db" "$1" <<'PYTHON'
import sqlite3, sys
for row in sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute(sys.argv[2]):
    print(*row)
PYTHON
}

finish() {
    echo "1..$results"
    [ "$failures" -eq 0 ]
    exit
}
