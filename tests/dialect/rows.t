#!/bin/sh
# SPDX-License-Identifier: MIT
# Every row of tests/dialects/ROWS has a recording that shows it.
set -u
cd "${TURNCAST_SRCDIR:-.}/tests/dialects" || exit 1

# shows FOLDERS SOURCE CANONICAL: a case with the source's event and what it becomes.
shows() {
    for folder in $1; do
        for case in "$folder"/*.events; do
            stream=${case%.events}.jsonl
            [ -f "$stream" ] || stream=${case%.events}.sse
            if grep -qE -e "$2" "$stream" && grep -qE -e "$3" "$case"; then
                return 0
            fi
        done
    done
    return 1
}

# check NUMBER ROW
check() {
    row=$(printf '%s\n' "$2" | sed 's/ *|| */\t/g')
    name=$(printf '%s\n' "$row" | cut -f 1)
    if shows "$(printf '%s\n' "$row" | cut -f 2)" "$(printf '%s\n' "$row" | cut -f 3)" \
        "$(printf '%s\n' "$row" | cut -f 4)"; then
        echo "ok $1 - $name"
    else
        echo "not ok $1 - $name is in no recording"
    fi
}

n=0
while IFS= read -r line; do
    case $line in '' | '#'*) continue ;; esac
    n=$((n + 1))
    check "$n" "$line"
done <ROWS
if shows claude '"type":"text_delta"' '"type":"no such kind"'; then
    echo "not ok $((n + 1)) - a row without a recording is reported"
else
    echo "ok $((n + 1)) - a row without a recording is reported"
fi
echo "1..$((n + 1))"
