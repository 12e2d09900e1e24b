#!/bin/sh
# SPDX-License-Identifier: MIT
# Assertions stay enabled in release builds: ASSERT of base/invariant.h, never <assert.h>, which
# NDEBUG disables. Their conditions change nothing, and there are enough of them.
. "$(dirname "$0")/lint.sh"

WANTED=200

code() {
    find src plugins -name '*.[ch]' 2>/dev/null | LC_ALL=C sort
}

disabled_by_ndebug() {
    # shellcheck disable=SC2046
    grep -nE '#include <assert\.h>|(^|[^_[:alnum:]])assert\(' $(code) /dev/null
}

# ++, -- and = (but not ==, !=, <=, >=) in the condition.
with_effects() {
    # shellcheck disable=SC2046
    grep -nE '(^|[^_[:alnum:]])ASSERT\(.*(\+\+|--|[^=!<>]=[^=])' $(code) /dev/null |
        grep -v 'base/invariant\.h'
}

too_few() {
    # shellcheck disable=SC2046
    found=$(cat $(code) /dev/null | grep -cE '(^|[^_[:alnum:]])ASSERT\(')
    [ "$found" -ge "$WANTED" ] || echo "$found assertions, $WANTED are wanted"
}

holds "no assertion can be disabled" disabled_by_ndebug
holds "no condition has an effect" with_effects
holds "there are at least $WANTED assertions" too_few

catches "assert.h" disabled_by_ndebug 'src/a.c:1' src/a.c <<'C'
#include <assert.h>
C
catches "assert()" disabled_by_ndebug 'src/a.c:1' src/a.c <<'C'
void f(int n) { assert(n > 0); }
C
catches "a condition that counts" with_effects 'src/a.c:1' src/a.c <<'C'
void f(int n) { ASSERT(n++ > 0); }
C
catches "a condition that assigns" with_effects 'src/a.c:1' src/a.c <<'C'
void f(int n) { ASSERT(n = 1); }
C
catches "too few assertions" too_few '1 assertions' src/a.c <<'C'
void f(int n) { ASSERT(n == 1); }
C
done_testing
