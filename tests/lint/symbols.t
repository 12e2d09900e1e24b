#!/bin/sh
# SPDX-License-Identifier: MIT
# A plugin exports turncast_plugin and nothing else; the program exports nothing. Both find what
# they need from others as they are loaded, never later.
. "$(dirname "$0")/lint.sh"
needs nm
needs readelf
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

bound_late() {
    for file in turncast plugins/.libs/*.so; do
        [ ! -f "$file" ] || readelf -d "$file" | grep -q BIND_NOW || echo "$file is bound late"
    done
}

holds "modules and program export what they should" wrong_exports "$build"
holds "modules and program are bound at once" bound_late "$build"

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
(cd "$scratch/tree" && bound_late) | grep -q 'turncast is bound late'
result $? "catches a program that is bound late"
done_testing
