#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of tools/release in a temporary repository; a fake `make` creates the tarball.
. "$(dirname "$0")/../lint/lint.sh"
needs git sha256sum

tree=$scratch/tree
mkdir -p "$tree/tools" "$tree/debian" "$scratch/build"
cp "$top/tools/release" "$tree/tools/release"
GIT_CONFIG_GLOBAL=/dev/null
GIT_CONFIG_SYSTEM=/dev/null
export GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
in_tree() {
    git -C "$tree" -c user.name=tester -c user.email=tester@example.org "$@" >/dev/null 2>&1
}
# committed NEWS-LINE CHANGELOG-LINE
committed() {
    printf '%s\n\n  First.\n' "$1" >"$tree/NEWS"
    printf '%s\n\n  * First.\n' "$2" >"$tree/debian/changelog"
    in_tree add -A && in_tree commit --allow-empty -m "all: try a release"
}
release() {
    rm -f "$scratch/build"/*
    (cd "$scratch/build" && "$tree/tools/release" 1.2.3 "$@" >"$scratch/said" 2>&1)
}
# refused DESCRIPTION PATTERN: the release must fail with this message, without a tarball.
refused() {
    ! release touch turncast-1.2.3.tar.xz && grep -q -- "$2" "$scratch/said" &&
        [ ! -e "$scratch/build/turncast-1.2.3.tar.xz" ]
    status=$?
    result $status "refuses $1"
    [ $status -eq 0 ] || sed 's/^/# /' "$scratch/said"
}

news='turncast 1.2.3 (2026-11-27)'
changelog='turncast (1.2.3) unstable; urgency=medium'
in_tree init
refused "a tree that is not committed" 'changes that are not committed'
committed 'turncast 1.2.3 (unreleased)' "$changelog"
refused "a version without a date" 'NEWS begins with "turncast 1.2.3 (unreleased)"'
committed 'turncast 1.2.30 (2026-11-27)' "$changelog"
refused "a version that NEWS does not name" 'expected "turncast 1.2.3 (YYYY-MM-DD)"'
committed "$news" 'turncast (1.2.2) unstable; urgency=medium'
refused "a version that debian/changelog does not name" 'expected "turncast (1.2.3) ..."'
committed "$news" 'turncast (1.2.3) UNRELEASED; urgency=medium'
refused "an unreleased package" 'unreleased version'
committed "$news" "$changelog"
: >"$tree/forgotten"
refused "a tree with a file that is not committed" '?? forgotten'
rm "$tree/forgotten"

! release false && [ ! -e "$scratch/build/turncast-1.2.3.tar.xz.sha256" ]
result $? "a failed check ends the release"
! release true && grep -q 'no turncast-1.2.3.tar.xz was made' "$scratch/said"
result $? "a missing tarball is an error"
release touch turncast-1.2.3.tar.xz
result $? "a complete tree is released"
(cd "$scratch/build" && sha256sum --quiet -c turncast-1.2.3.tar.xz.sha256)
result $? "the checksum is that of the tarball"
grep -q 'tag -s v1.2.3' "$scratch/said" && ! in_tree rev-parse --verify v1.2.3
result $? "the command for a signed tag is printed, and not run"
in_tree tag v1.2.3
refused "a version that has a tag" 'the tag v1.2.3 exists'
done_testing
