#!/bin/sh
# SPDX-License-Identifier: MIT
# Subjects of commits: an area, then what the commit does in the imperative, 72 characters at most.
. "$(dirname "$0")/lint.sh"
needs git
since=423617cce3acb7a1764622863d981a1149b044ca # the rule is younger than the project

# wrong_subjects: of the lines "HASH SUBJECT" on standard input. The first word is no imperative when
# it ends as other forms of verbs do; words like "pass" and "need" are in the list.
wrong_subjects() {
    awk '
        { subject = $0; sub(/^[^ ]+ /, "", subject); verb = subject; sub(/^[^:]*: /, "", verb); sub(/[^a-z].*/, "", verb) }
        length(subject) > 72 { print $1 ": longer than 72 characters: " subject; next }
        subject !~ /^[a-z0-9_\/., -]+: [a-z]/ { print $1 ": not AREA: VERB ...: " subject; next }
        verb ~ /(s|ed|ing)$/ && verb !~ /^(pass|process|address|discuss|compress|express|press|bus|need|embed|feed|speed|bring|string|sing)$/ {
            print $1 ": not imperative: " subject
        }'
}

history() { git -C "$top" log --no-merges --format='%h %s' "$since..HEAD" | wrong_subjects; }
planted() { echo "1234567 $subject" | wrong_subjects; }

if [ -e "$top/.git" ] && git -C "$top" cat-file -e "$since" 2>/dev/null; then
    holds "subjects of commits" history
else
    skipped "subjects of commits" "no history"
fi
# refuses SUBJECT PATTERN
refuses() {
    subject=$1
    catches "\"$1\"" planted "$2" none </dev/null
}
refuses "core: fixed the order of rows" "not imperative"
refuses "core: fixes the order of rows" "not imperative"
refuses "Fix the order of rows" "not AREA"
refuses "core: put the rows of the outbox in an order that is the same after each restart" "longer than 72"
done_testing
