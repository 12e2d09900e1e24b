#!/bin/sh
# SPDX-License-Identifier: MIT
# An assertion of base/invariant.h in a release build: compiled with -O2 -DNDEBUG it still aborts,
# and prints the place and the condition.
set -u
scratch=$(mktemp -d "${TMPDIR:-/tmp}/turncast-invariant.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/broken.c" <<'C'
#include "base/invariant.h"
int main(int argc, char **argv)
{
    (void)argv;
    ASSERT(argc == 2);
    return 0;
}
C
echo 1..4
# TURNCAST_CC may carry options.
# shellcheck disable=SC2086
if ${TURNCAST_CC:-cc} -std=gnu17 -O2 -DNDEBUG -I"$TURNCAST_SRCDIR/src" -o "$scratch/broken" \
    "$scratch/broken.c" "$TURNCAST_SRCDIR/src/base/invariant.c" >"$scratch/log" 2>&1; then
    echo "ok 1 - compiles with -O2 -DNDEBUG"
else
    sed 's/^/# /' "$scratch/log"
    echo "not ok 1 - compiles with -O2 -DNDEBUG"
fi

"$scratch/broken" one || printf 'not '
echo "ok 2 - a true condition does not abort"

# In a subshell, whose message about the signal is ignored.
status=$(sh -c '"$1" 2>"$2"; echo $?' sh "$scratch/broken" "$scratch/said" 2>/dev/null)
[ "$status" -eq 134 ] || printf 'not '
echo "ok 3 - a false condition aborts"

grep -q '^turncast: invariant violated at .*broken\.c:5: argc == 2 (process [0-9]*)$' \
    "$scratch/said" || { sed 's/^/# /' "$scratch/said"; printf 'not '; }
echo "ok 4 - the message has the place and the condition"
