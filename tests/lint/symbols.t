#!/bin/sh
# SPDX-License-Identifier: MIT
# A plugin exports turncast_plugin and nothing else; the program exports nothing.
. "$(dirname "$0")/lint.sh"
needs nm
needs_build

# Names of the C library that the linker copied carry a version; those of the linker itself show
# where a library of old (libconfig) has them, too.
exports() {
    nm -D --defined-only "$1" |
        awk '$NF !~ /@/ && $NF !~ /^(__bss_start|_edata|_end)$/ { print $NF }'
}

wrong_exports() {
    for module in plugins/.libs/*.so; do
        [ -f "$module" ] || continue
        names=$(exports "$module" | paste -s -d ' ')
        [ "$names" = turncast_plugin ] || echo "$module exports: $names"
    done
    [ ! -f turncast ] || exports turncast | sed 's/^/turncast exports: /'
}

holds "modules and program export what they should" wrong_exports "$build"

# shared FILE: the C on stdin as a module of a small tree.
shared() {
    mkdir -p "$scratch/tree/plugins/.libs"
    # TURNCAST_CC may carry options.
    # shellcheck disable=SC2086
    ${TURNCAST_CC:-cc} -fPIC -shared -x c - -o "$scratch/tree/$1"
}
shared plugins/.libs/bad.so <<'C'
int turncast_plugin, helper;
C
(cd "$scratch/tree" && wrong_exports) | grep -q 'bad.so exports: helper turncast_plugin'
result $? "catches a helper that was left visible"
rm "$scratch/tree/plugins/.libs/bad.so"
shared turncast <<'C'
int leaked;
C
(cd "$scratch/tree" && wrong_exports) | grep -q 'turncast exports: leaked'
result $? "catches a program that exports"
done_testing
