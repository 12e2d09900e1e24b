#!/bin/sh
# SPDX-License-Identifier: MIT
# The public header compiles alone, in every language a plugin may be written in.
. "$(dirname "$0")/lint.sh"

header=include/turncast/plugin.h

# alone COMPILER STANDARD SUFFIX
alone() {
    printf '#include <turncast/plugin.h>\nint unused;\n' >"$scratch/alone.$3"
    "$1" "-std=$2" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I include "$scratch/alone.$3" 2>&1
}

# A plugin that uses every macro, so that what they expand to is clean as well.
uses() {
    cat >"$scratch/uses.c" <<'C'
#include <turncast/plugin.h>
struct conf { const char *s; int64_t i; bool b; double d; };
static const struct tc_option options[] = {
    TC_OPTION(struct conf, s, NULL, TC_REQUIRED | TC_SECRET, "text"),
    TC_OPTION(struct conf, i, "1", 0, "int"),
    TC_OPTION(struct conf, b, "true", 0, "bool"),
    TC_OPTION(struct conf, d, "0.5", 0, "real"),
    {0},
};
static const struct tc_rule rules[] = {{"i", TC_RULE_RANGE, NULL, 0, 9}, {0}};
static int on_final(struct tc_turn *t, const struct tc_final *f)
{
    char *copy = tc_sprint(t, "%s", f->text);
    tc_log(t->inst, TC_INFO, "%s", copy);
    return tc_alloc(t, 1) && tc_json(t, "{}") && tc_json_get(t, "{}", "") ? 0 : -1;
}
TURNCAST_PLUGIN(.name = "uses", .options = options, .conf_size = sizeof(struct conf),
                .rules = rules, .probe = TC_PROBE(.url = "https://example.org"),
                .sink = TC_SINK(.on_final = on_final));
C
    "$1" "-std=$2" -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -Werror -fsyntax-only \
        -I include "$scratch/uses.c" 2>&1
}

foreign_types() {
    grep -nE 'json_t|jansson\.h|CURL|curl/|event_base|evhttp|config_t|sqlite|redis' "$header"
}

gcc_c11() { alone gcc c11 c; }
gcc_c17() { alone gcc c17 c; }
gcc_cxx17() { alone g++ c++17 cc; }
clang_c11() { alone clang c11 c; }
clang_c17() { alone clang c17 c; }
clang_cxx17() { alone clang++ c++17 cc; }
gcc_uses() { uses gcc c11; }
clang_uses() { uses clang c11; }

# with COMPILER DESCRIPTION FUNCTION
with() {
    if command -v "$1" >/dev/null 2>&1; then holds "$2" "$3"; else skipped "$2" "no $1"; fi
}
with gcc "C11, gcc" gcc_c11
with gcc "C17, gcc" gcc_c17
with g++ "C++17, g++" gcc_cxx17
with clang "C11, clang" clang_c11
with clang "C17, clang" clang_c17
with clang++ "C++17, clang++" clang_cxx17
with gcc "a plugin with every macro, gcc" gcc_uses
with clang "a plugin with every macro, clang" clang_uses
holds "no type of a library shows" foreign_types

# The planted headers go through whichever compiler built the project.
cc=${TURNCAST_CC:-cc}
cc=${cc%% *}
any_c11() { alone "$cc" c11 c; }
catches "a header that needs another one first" any_c11 'size_t' $header <<'C'
size_t tc_length(void);
C
catches "a header with GNU C in it" any_c11 'error' $header <<'C'
static inline int f(int n) { return n ?: 1; }
C
catches "a foreign type" foreign_types 'json_t' $header <<'C'
struct json_t;
C
done_testing
