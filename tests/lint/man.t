#!/bin/sh
# SPDX-License-Identifier: MIT
# Manual pages are clean for mandoc.
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
done_testing
