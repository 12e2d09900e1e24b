#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of at most 80 lines, files of at most 600; prints the medians.
. "$(dirname "$0")/lint.sh"

# One line per function: its size and place. A body is what stands between { and } in column 0.
function_sizes() {
    # shellcheck disable=SC2046
    awk '/^\{/ { from = FNR } /^\}/ && from { print FNR - from + 1, FILENAME ":" from; from = 0 }
         FNR == 1 { from = 0 }' $(sources '*.[ch]') /dev/null
}

long_functions() {
    function_sizes | awk '$1 > 80 { print $2 ": a function of " $1 " lines" }'
}

long_files() {
    for file in $(sources '*.[ch]' '*.t' '*.sh' '*.py'); do
        lines=$(wc -l <"$file")
        [ "$lines" -le 600 ] || echo "$file: $lines lines"
    done
}

medians() {
    function_sizes | grep -v ' tests/' | sort -n |
        awk '{ size[NR] = $1 }
             END { if (NR) printf "# %d functions outside tests: median %d, p90 %d, longest %d lines\n",
                   NR, size[int((NR + 1) / 2)], size[int(NR * 0.9 + 0.5)], size[NR] }'
    for file in $(sources '*.[ch]' | grep -v '^tests/'); do wc -l <"$file"; done | sort -n |
        awk '{ size[NR] = $1 }
             END { if (NR) printf "# %d files outside tests: median %d, longest %d lines\n",
                   NR, size[int((NR + 1) / 2)], size[NR] }'
}

body() {
    printf 'int f(void)\n{\n'
    yes '    g();' | head -n "$1"
    printf '}\n'
}

holds "no function is longer than 80 lines" long_functions
holds "no file is longer than 600 lines" long_files
body 79 >"$scratch/long"
catches "a function of 81 lines" long_functions 'src/bad.c:2: a function of 81 lines' \
    src/bad.c <"$scratch/long"
yes '' | head -n 601 >"$scratch/long"
catches "a file of 601 lines" long_files 'tests/bad.h: 601 lines' tests/bad.h <"$scratch/long"
mkdir -p "$scratch/fine/src"
body 78 >"$scratch/fine/src/f.c"
holds "a function of 80 lines is fine" long_functions "$scratch/fine"
(cd "$top" && medians)
done_testing
