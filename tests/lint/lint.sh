# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What every lint test shares: TAP, the list of sources, and the proof that the test can fail.
#
# A lint is a function that runs inside a tree and prints one line per violation. `holds` wants
# none in the project's tree; `catches` wants one in a small tree where it was planted.
set -u

top=${TURNCAST_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${TURNCAST_BUILDDIR:-}
results=0
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/turncast-lint.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

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

# skipped DESCRIPTION REASON
skipped() {
    results=$((results + 1))
    echo "ok $results - $1 # SKIP $2"
}

# skip_all REASON: the whole test does not apply here.
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# needs COMMAND...: skips the whole test when one is missing.
needs() {
    for command; do
        command -v "$command" >/dev/null 2>&1 || skip_all "$command is not installed"
    done
}

# needs_build: skips the whole test outside a build tree or in a sanitized build.
needs_build() {
    [ -f "$build/config.status" ] || skip_all "no build tree"
    if grep -q 'S\["TC_SANITIZE_FLAGS"\]="..*"\|S\["TC_FUZZ_LINK"\]="..*"' "$build/config.status"
    then
        skip_all "a sanitizer adds symbols of its own"
    fi
}

# holds DESCRIPTION FUNCTION [TREE]
holds() {
    found=$(cd "${3:-$top}" && "$2")
    [ -z "$found" ]
    result $? "$1"
    [ -z "$found" ] || printf '%s\n' "$found" | sed 's/^/# /'
}

# catches DESCRIPTION FUNCTION PATTERN FILE <<TEXT: FUNCTION reports PATTERN when FILE holds TEXT.
catches() {
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree/$(dirname "$4")"
    cat >"$scratch/tree/$4"
    found=$(cd "$scratch/tree" && "$2" 2>&1)
    printf '%s\n' "$found" | grep -q -- "$3"
    status=$?
    result $status "catches $1"
    [ $status -eq 0 ] || printf 'wanted %s, found %s\n' "$3" "$found" | sed 's/^/# /'
}

# sources NAME-PATTERN...: files of the project below the current folder, sorted.
sources() {
    for pattern; do
        for folder in src include plugins tests bench examples tools etc man m4 .ci; do
            [ -d "$folder" ] && find "$folder" -type f -name "$pattern"
        done
    done | grep -Ev '^m4/(libtool|lt.*|pkg)\.m4$' | LC_ALL=C sort -u
}

done_testing() {
    echo "1..$results"
    exit $((failures > 0))
}
