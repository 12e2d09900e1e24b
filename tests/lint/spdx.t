#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source file starts with its licence and a sentence that says what it owns.
. "$(dirname "$0")/lint.sh"

# First comes the tag (after #! where there is one), then a line of three words or more.
bad_heads() {
    for file in $(sources '*.[ch]' '*.mk' '*.t' '*.sh' '*.py' '*.m4' '*.[1-8]') \
        $(find tools .ci -type f 2>/dev/null) $(ls bootstrap configure.ac Makefile.am 2>/dev/null)
    do
        awk -v file="$file" '
            NR == 1 && /^#!/ { next }
            NR == 1 && /^# shellcheck shell=/ { next }
            !tagged {
                if ($0 !~ /SPDX-License-Identifier: MIT/) { print file ": no licence tag on top"; exit }
                tagged = 1
                next
            }
            {
                gsub(/^(dnl|#|\/?\*|\.\\"|[ \t])+/, "")
                if (split($0, words, " ") < 3) print file ": no sentence below the licence tag"
                exit
            }
            END { if (!NR) print file ": empty" }' "$file"
    done
}

holds "every file has a licence tag and a sentence" bad_heads
catches "a file without a tag" bad_heads 'src/bad.c: no licence' src/bad.c <<'C'
/* Some file. */
C
catches "a file without a sentence" bad_heads 'src/bad.h: no sentence' src/bad.h <<'C'
/* SPDX-License-Identifier: MIT */
#ifndef BAD_H
C
catches "a script without a tag" bad_heads 'tools/bad: no licence' tools/bad <<'C'
#!/bin/sh
echo
C
done_testing
