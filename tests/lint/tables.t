#!/bin/sh
# SPDX-License-Identifier: MIT
# The tables of tests/README.md have every requirement and complaint, and what they name is there.
. "$(dirname "$0")/lint.sh"

tab=$(printf '\t')

# Each test that a row names: row TAB file TAB title.
named() {
    awk -F '|' '/^\| [RHAB]?[0-9]+ \|/ {
        row = $2
        gsub(/ /, "", row)
        parts = split($0, part, /`/)
        for (i = 2; i < parts; i += 2) {
            titles = split(part[i + 1], title, /"/)
            for (j = 2; j < titles; j += 2) print row "\t" part[i] "\t" title[j]
        }
    }' tests/README.md
}

# Rows without a test, or with none that has its number in its name.
rows_without() {
    named >"$scratch/named"
    {
        seq 1 52
        seq 1 30 | sed 's/^/R/'
        seq 1 12 | sed 's/^/H/'
        seq 1 4 | sed 's/^/A/'
        seq 1 9 | sed 's/^/B/'
    } | while read -r row; do
        awk -F '\t' -v row="$row" '
            $1 == row && (row !~ /[RAB]/ || $3 ~ row "([^0-9]|$)") { found = 1 }
            END { if (!found) print row ": no test is named" }' "$scratch/named"
    done
}

tests_missing() {
    named | while IFS=$tab read -r row file title; do
        if ! [ -f "tests/$file" ]; then
            echo "$row: there is no $file"
        elif ! grep -qF -- "$title" "tests/$file"; then
            echo "$row: $file has no \"$title\""
        fi
    done
}

holds "every requirement, fault and complaint has its test" rows_without
holds "every test that is named is there" tests_missing

mark='`'
catches "a requirement without a test" rows_without '^R7: no test' tests/README.md <<T
| R7 | types | ${mark}lint/lint.sh${mark}: "R17: a name" |
T
catches "a fault of a connector whose test has another number" rows_without '^B3: no test' tests/README.md <<T
| B3 | waits | ${mark}lint/lint.sh${mark}: "B31: a name" |
T
catches "a complaint without a test" rows_without '^44: no test' tests/README.md <<T
| 43 | types | ${mark}lint/lint.sh${mark}: "a name" |
T
catches "a file that is not there" tests_missing '^R7: there is no io/t_none.c' tests/README.md <<T
| R7 | types | ${mark}io/t_none.c${mark}: "R7: a name" |
T
missing_beside() {
    echo 'ok 1 - a name' >tests/t_one.c
    tests_missing
}
catches "a test that is not there" missing_beside '^8: t_one.c has no "another' tests/README.md <<T
| 8 | types | ${mark}t_one.c${mark}: "a name", "another name" |
T
done_testing
