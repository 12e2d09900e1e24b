#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of at most 80 lines, files of at most 600, structs of at most 30 members; prints the
# medians.
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

# One line per struct: its members, name and file.
struct_sizes() {
    # shellcheck disable=SC2046
    ctags -f - --fields=s --kinds-C=m --languages=C --langmap=C:.c.h \
        $(sources '*.[ch]' | grep -E '^(src|plugins)/') | awk -F'\t' '
        $4 ~ /^struct:[^:]*$/ { n[substr($4, 8) " " $2]++ }
        END { for (s in n) print n[s], s }'
}

large_structs() {
    struct_sizes | awk '$1 > 30 { print $3 ": struct " $2 " has " $1 " members" }'
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
if command -v ctags >/dev/null 2>&1 && ctags --version | grep -q 'Universal Ctags'; then
    holds "no struct has more than 30 members" large_structs
    catches "a struct of 31 members" large_structs 'src/bad.h: struct big has 31 members' src/bad.h <<C
struct big {
$(seq -f '    int m%g;' 31)
};
C
else
    skipped "no struct has more than 30 members" "ctags is not Universal Ctags"
fi
(cd "$top" && medians)
done_testing
