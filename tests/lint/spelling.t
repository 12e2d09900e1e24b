#!/bin/sh
# SPDX-License-Identifier: MIT
# Spelling of code and documents; recordings and other fixtures are left as they came. Conversations in
# German are left out.
. "$(dirname "$0")/lint.sh"
needs codespell

misspelt() {
    # shellcheck disable=SC2046
    codespell -I "$top/tests/lint/spelling.words" $(sources '*.[ch]' '*.mk' '*.t' '*.sh' '*.py' '*.m4' '*.[1-8]' '*.conf' texts.def) \
        $(ls ./*.md NEWS configure.ac 2>/dev/null) </dev/null 2>&1 | grep -v 'lint/spelling.t:\|talk/t_language.py:'
}

holds "nothing is misspelt" misspelt
catches "a typing error" misspelt 'src/bad.c:1: recieve' src/bad.c <<'C'
/* We recieve it. */
C
done_testing
