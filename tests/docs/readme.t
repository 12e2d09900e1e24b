#!/bin/sh
# SPDX-License-Identifier: MIT
# The README's tour, command by command: its output is what is printed there.
. "$(dirname "$0")/../lint/lint.sh"
[ -x "$build/turncast" ] || { echo "Bail out! there is no $build/turncast"; exit 99; }

# Commands of the tour are comments before the block that shows what they print.
commands() {
    sed -n 's/^<!-- tour: \(.*\) -->$/\1/p' "$top/README.md"
}

# shown N: the block behind the Nth command.
shown() {
    awk -v n="$1" '/^<!-- tour: / { i++ } /^```/ { if (inside) inside = 0; else if (i == n && !done) {
        inside = done = 1; next } } inside && i == n' "$top/README.md"
}

# How long a tool took is different each time.
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

# What it names is there.
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
holds "every file and page it names is there" missing_files
catches "a page that is not there" missing_files 'no page turncast-x.7' README.md <<'C'
Read `turncast-x(7)`.
C
done_testing
