#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast(1) has every command and every option that --help has, and every exit status.
. "$(dirname "$0")/../lint/lint.sh"
[ -x "$build/turncast" ] || { echo "Bail out! there is no $build/turncast"; exit 99; }

page=$top/man/turncast.1

# Prints the section of a command in the manual page.
section() {
    awk -v name="$1" '/^\.S[sh] / { inside = ($2 == name) || ($2 " " $3 == name " verify") } inside' \
        "$page"
}

"$build/turncast" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >"$scratch/names"
[ "$(wc -l <"$scratch/names")" -ge 6 ]
result $? "--help lists the commands"

while read -r name; do
    section "$name" >"$scratch/section"
    [ -s "$scratch/section" ]
    result $? "$name has a section"
    "$build/turncast" "$name" --help | grep -o -- '--[a-z][a-z-]*' | sort -u | sed 's/^--//' |
        while read -r option; do
            grep -q -- "^\.It Fl .*-$option\b" "$scratch/section" || [ "$option" = help ] ||
                echo "--$option"
        done >"$scratch/missing"
    [ ! -s "$scratch/missing" ]
    result $? "$name: every option is in the manual page"
    sed 's/^/# /' "$scratch/missing"
    # The manual page must not have an option that the command does not know.
    sed -n 's/^\.It Fl [a-zA-Z] , -\([a-z-]*\).*/\1/p' "$scratch/section" | while read -r option; do
        "$build/turncast" "$name" --help | grep -q -- "--$option" || echo "--$option"
    done >"$scratch/invented"
    [ ! -s "$scratch/invented" ]
    result $? "$name: every option in the manual page exists"
    sed 's/^/# /' "$scratch/invented"
done <"$scratch/names"

for token in thinking tools narration final all; do
    grep -q "/show-$token" "$page" && grep -q "/hide-$token" "$page"
    result $? "the tokens of $token"
done
done_testing
