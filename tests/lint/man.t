#!/bin/sh
# SPDX-License-Identifier: MIT
# Manual pages are clean for mandoc, and read the same with groff.
. "$(dirname "$0")/lint.sh"
needs mandoc

# Pages that refer to each other before they are installed are no defect.
unclean() {
    for page in $(sources '*.[1-8]'); do
        mandoc -T lint -W warning "$page" 2>&1
    done
}

holds "manual pages are clean" unclean
catches "a page with an unknown macro" unclean 'unknown\|UNSUPP\|WARNING\|ERROR' man/bad.1 <<'C'
.\" SPDX-License-Identifier: MIT
.Dd November 21, 2026
.Dt BAD 1
.Os
.Sh NAME
.Nm bad
.Nd page
.Zz
C

# What groff warns of shows, for example a table that is wider than a page.
warned_of() {
    for page in $(sources '*.[1-8]'); do
        groff -mdoc -K utf8 -T utf8 -ww -z "$page" 2>&1 | sed "s|^|$page: |"
    done
}
if command -v groff >/dev/null 2>&1; then
    holds "groff has no warning" warned_of
    catches "a table that is too wide" warned_of "man/bad.1: .*can't break line" man/bad.1 <<'C'
.\" SPDX-License-Identifier: MIT
.Dd November 21, 2026
.Dt BAD 1
.Os
.Sh NAME
.Nm bad
.Nd page
.Bl -column "a column that leaves hardly any room for what comes" "and another one"
.It one Ta two Ta three words here
.El
C
else
    skipped "groff has no warning" "groff is not installed"
fi

# groff ends Ql and Pq at the end of the line: a second one in the line is inside the first.
nested() {
    for page in $(sources '*.[1-8]' | grep '^man/'); do
        grep -nE '(Ql .* Ql|Pq .* Pq) ' "$page" | sed "s|^|$page:|"
    done
}
holds "no quotation or parenthesis is inside another of its kind" nested
catches "a quotation in a quotation" nested 'man/bad.1:' man/bad.1 <<'C'
.\" SPDX-License-Identifier: MIT
.It Ql /stop , Ql stop
C

# A label whose first word is the name of a macro loses that word.
shortened() {
    for page in $(sources '*.[1-8]'); do
        grep -nE '^\.It (No|An|As|At|Do|In|Is|On|To) [a-zA-Z]* ?(host|event|[a-z]+ (is|can|has|of|for))' "$page" |
            sed "s|^|$page:|"
    done
}
holds "no label begins with a word that is a macro" shortened
catches "a label that begins with No" shortened 'man/bad.1:' man/bad.1 <<'C'
.\" SPDX-License-Identifier: MIT
.It No host can take a turn
C
done_testing
