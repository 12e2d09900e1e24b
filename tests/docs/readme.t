#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tour of the README, command by command, and compares the output with the README.
. "$(dirname "$0")/../lint/lint.sh"
[ -x "$build/turncast" ] || { echo "Bail out! there is no $build/turncast"; exit 99; }

# The commands of the tour are comments before the block with their output.
commands() {
    sed -n 's/^<!-- tour: \(.*\) -->$/\1/p' "$top/README.md"
}

# shown N: prints the block after the Nth command.
shown() {
    awk -v n="$1" '/^<!-- tour: / { i++ } /^```/ { if (inside) inside = 0; else if (i == n && !done) {
        inside = done = 1; next } } inside && i == n' "$top/README.md"
}

# Removes the durations of tools, which differ each time.
without_times() {
    sed 's/\([( ]\)[0-9.]*m\{0,1\}s)/\1time)/'
}

mkdir "$scratch/work"
ln -s "$top/examples" "$scratch/work/examples"
PATH=$build:$PATH
export PATH
n=0
commands >"$scratch/commands"
while read -r command; do
    n=$((n + 1))
    shown "$n" | without_times >"$scratch/wanted"
    (cd "$scratch/work" && sh -c "$command" 2>&1 </dev/null) | without_times >"$scratch/got"
    [ -s "$scratch/wanted" ] && cmp -s "$scratch/wanted" "$scratch/got"
    result $? "$command"
    cmp -s "$scratch/wanted" "$scratch/got" || diff "$scratch/wanted" "$scratch/got" | sed 's/^/# /'
done <"$scratch/commands"
[ "$n" -ge 3 ]
result $? "the tour has commands"

# Files and pages that the README names must exist.
missing_files() {
    grep -o '](\([A-Z]*\.md\))' README.md | tr -d ']()' | while read -r file; do
        [ -f "$file" ] || echo "README.md: no $file"
    done
    grep -o '\(turncast[a-z.-]*\)([1-8])' README.md | tr '()' '. ' | while read -r page; do
        page=${page% }
        [ -f "man/$page" ] || [ -f "plugins/${page#turncast-}" ] ||
            [ -n "$(find plugins -name "$page")" ] || echo "README.md: no page $page"
    done
}
holds "every named file and page exists" missing_files
catches "a missing page" missing_files 'no page turncast-x.7' README.md <<'C'
Read `turncast-x(7)`.
C
done_testing
