#!/bin/sh
# SPDX-License-Identifier: MIT
# A name means one thing: no two functions of one program share theirs, no struct tag is defined
# twice, and function names are long enough to say what they do.
. "$(dirname "$0")/lint.sh"
needs ctags
ctags --version | grep -q 'Universal Ctags' || skip_all "ctags is not Universal Ctags"

# definitions KINDS: "name file" of what is defined in sources of the program.
definitions() {
    # shellcheck disable=SC2046
    ctags -x --_xformat='%N %F' --kinds-C="$1" --languages=C --langmap=C:.c.h \
        $(sources '*.[ch]' | grep -E '^(src|plugins)/')
}

# Everything in src/ counts as one program: the helper programs are made of the same files. A plugin
# is one of its own. Each program has a main.
shared_functions() {
    definitions f | awk '
        { program = $2; if (!sub(/^plugins\//, "", program)) program = "src"; sub(/\/.*/, "", program) }
        $1 == "main" { next }
        (program, $1) in seen && seen[program, $1] != $2 { print $2 ": " $1 " is in " seen[program, $1] ", too" }
        { seen[program, $1] = $2 }'
}

shared_tags() {
    definitions sgu | awk '
        $1 ~ /^__anon/ { next }
        $1 in seen && seen[$1] != $2 { print $2 ": " $1 " is defined in " seen[$1] ", too" }
        { seen[$1] = $2 }'
}

short_names() {
    definitions f | awk '
        { n++; letters += length($1) }
        END { if (n && letters / n < 14) printf "function names have %.1f characters on average, 14 are wanted\n", letters / n }'
}

holds "no two functions of a program share a name" shared_functions
holds "a struct tag has one meaning" shared_tags
holds "function names say what they do" short_names

# What is there already when the second file is planted.
beside() {
    mkdir -p src/base
    printf 'struct pair {\n    int a;\n};\nstatic int begin(void)\n{\n    return 0;\n}\n' >src/base/first.c
    "$1"
}
functions_beside() { beside shared_functions; }
tags_beside() { beside shared_tags; }

catches "a function of the same name" functions_beside 'begin is in src/base/first.c' src/io/second.c <<'C'
static int begin(void)
{
    return 1;
}
C
catches "a struct tag of the same name" tags_beside 'pair is defined in src/base/first.c' src/io/second.h <<'C'
struct pair {
    long b;
};
C
catches "names that say nothing" short_names '5.0 characters' src/io/short.c <<'C'
static void begin(void)
{
}
C
done_testing
