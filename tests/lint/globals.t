#!/bin/sh
# SPDX-License-Identifier: MIT
# No mutable globals: what changes belongs to a turn, an instance or the host, not to a file.
. "$(dirname "$0")/lint.sh"
needs objdump
needs_build

# Process-wide by nature: who may keep state, and which. The last stands for a function of the C library.
allowed='^src/(base/sys/(log|log_redact|clock|crash_point|err)|text/sentence/texts|cli/testing/fake/fixed_random)\.'

# One line per object in a writable section; constants that hold pointers are in .data.rel.ro.
mutable_globals() {
    find src plugins -name '*.o' 2>/dev/null | LC_ALL=C sort | while read -r object; do
        objdump -t "$object" | awk -v object="$object" '
            { section = ""; for (i = 2; i < NF; i++) if ($i ~ /^(\.|\*COM)/) { section = $i; break } }
            section ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && section !~ /^\.data\.rel\.ro/ && $NF !~ /^\./ {
                sub(/\.libs\//, "", object)
                print object ": " $NF " in " section
            }'
    done | grep -Ev "${allowed}" || :
}

holds "no mutable globals" mutable_globals "$build"

# compiled NAME: the C on stdin as an object of a small tree.
compiled() {
    mkdir -p "$scratch/objects/src/core"
    rm -f "$scratch"/objects/src/core/*
    # TURNCAST_CC may carry options.
    # shellcheck disable=SC2086
    ${TURNCAST_CC:-cc} -fPIC -O2 -x c -c - -o "$scratch/objects/src/core/$1.o"
}

# planted DESCRIPTION PATTERN: the object made last is reported.
planted() {
    (cd "$scratch/objects" && mutable_globals) | grep -q "$2"
    result $? "catches $1"
}

compiled a <<'C'
static int counter;
int next(void);
int next(void) { return ++counter; }
C
planted "a static counter" 'src/core/a.o: counter'
compiled b <<'C'
int shared = 1;
C
planted "an exported variable" 'src/core/b.o: shared'
compiled c <<'C'
_Thread_local int mine;
C
planted "a thread's own variable" 'src/core/c.o: mine'
compiled d <<'C'
static const char *const names[] = {"a", "b"};
const char *name(int i);
const char *name(int i) { return names[i]; }
C
holds "a constant table of pointers is fine" mutable_globals "$scratch/objects"
done_testing
