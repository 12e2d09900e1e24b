#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast new: projects of connectors that build and pass their tests with the commands
# that it prints.
. "$(dirname "$0")/cli.sh"
: "${TURNCAST_CC:?}" "${TURNCAST_DATA:?}"

# Replaces an installed copy. Variables of the outer make must not reach the inner one.
mkdir "$scratch/bin"
ln -s "$turncast" "$scratch/bin/turncast"
printf '#!/bin/sh\nexec %s "$@"\n' "$TURNCAST_CC" >"$scratch/bin/cc"
printf '#!/bin/sh\necho "-I%s"\n' "$TURNCAST_SRCDIR/include" >"$scratch/bin/pkg-config"
chmod +x "$scratch/bin/cc" "$scratch/bin/pkg-config"
PATH=$scratch/bin:$PATH
export PATH
unset http_proxy HTTP_PROXY MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
mkdir "$scratch/work"
cd "$scratch/work" || exit 99

# typed: runs the commands that were printed last.
typed() {
    sed -n 's/^    //p' "$scratch/out" >"$scratch/commands"
    sh -e "$scratch/commands" >"$scratch/typed" 2>&1
    result $? "$1: the printed commands succeed"
    sed 's/^/# /' "$scratch/typed"
}

try new room
is "$status $err" "0 " "a connector in C is created"
has "$out" "cd room
    make
    make test
    turncast check turncast.conf" "the next commands are printed"
is "$(cd room && echo *)" "Makefile README.md room.c room.script turncast.conf" "the files of the project"
is "$(grep -l '@[A-Z]*@' room/*)" "" "no placeholder is left"
typed c
has "$(cat "$scratch/typed")" "ok 1 - an answer is posted" "the test of the project succeeds"
has "$(cat "$scratch/typed")" "turncast.conf: OK (0 agents, 1 instance)" "the instance of the project is valid"
# shellcheck disable=SC2086 # TURNCAST_CC may carry options.
$TURNCAST_CC -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$TURNCAST_SRCDIR/include" room/room.c
result $? "the connector compiles without a warning"
sed -i 's/ev->text/"lost"/' room/room.c
(cd room && make test) >"$scratch/typed" 2>&1
is "$?" 2 "make test fails if the connector is wrong"
has "$(cat "$scratch/typed")" "# room.script:" "the failure has its position"

# language NAME FILE PROGRAM: tests a project in this language, which needs the program. Then the
# service is unreachable.
language() {
    if ! command -v "$3" >/dev/null || ! command -v curl >/dev/null; then
        results=$((results + 1))
        echo "ok $results - $1 # SKIP $3 or curl is not installed"
        return
    fi
    try new "in-$1" --language "$1"
    is "$status $err" "0 " "a connector in $1 is created"
    wanted=$(printf '%s\n' Makefile README.md turncast.conf "in-$1.script" "$2" | LC_ALL=C sort)
    is "$(cd "in-$1" && printf '%s\n' * | LC_ALL=C sort)" "$wanted" "$1: the files of the project"
    is "$(grep -l '@[A-Z]*@' "in-$1"/*)" "" "$1: no placeholder is left"
    [ -x "in-$1/$2" ]
    result $? "$1: the connector is executable"
    typed "$1"
    has "$(cat "$scratch/typed")" "ok 3 - a turn that began elsewhere" "$1: the test of the project succeeds"
    has "$(cat "$scratch/typed")" "turncast.conf: OK (0 agents, 1 instance)" "$1: the instance of the project is valid"
    cat >away.script <<'S'
option env URL=http://127.0.0.1:1/x
init
turn t
= it tries again
t: final {"text":"Done."}
log info to main: Done.
log warn the service does not answer
wait 5000
log info to main: Done.
log warn the service does not answer
open t
S
    try test "./in-$1/$2" away.script
    is "$out" "ok 1 - it tries again
1..1" "$1: an unreachable service is tried again"
}
language sh in-sh.sh jq
language python in-python.py python3
language node in-node.mjs node

before=$(cat room/*)
try new room
is "$status" 2 "an existing directory: status 2"
is "$err" "turncast: room: cannot create the directory: File exists" "the error names the directory"
is "$(cat room/*)" "$before" "the existing directory is not changed"

try new two-rooms --directory "a folder"
is "$status" 0 "a directory with a space"
has "$out" "cd 'a folder'" "the directory is quoted for the shell"
typed "a directory with a space"
try new x -d "it's"
has "$out" "cd 'it'\\''s'" "a quote in the directory is escaped"
typed "a directory with a quote"
for bad in 'a"b' 'a\b' "a\$b" 'a#b'; do
    try new x -d "$bad"
    is "$status" 2 "a directory $bad: status 2"
    [ ! -e "$bad" ]
    result $? "no directory is created"
done
try new x -d missing/x
is "$status" 2 "a missing parent directory: status 2"

for bad in "" Room 1room -- ro.om ro/om "ro om" "$(printf '%033d' 0 | tr 0 a)" \
    "$(printf '%065d' 0 | tr 0 a)"; do
    try new -- "$bad"
    is "$status $out" "2 " "the name \"$bad\": status 2"
    has "$err" "is not a name" "the error names the reason"
done
try new y --language cobol
is "$status" 2 "an unknown language: status 2"
has "$err" '--language: invalid value "cobol"; valid values: c, sh, python, node' "the error lists the languages"
[ ! -e y ]
result $? "no directory is created"

mkdir -p "$scratch/data/new/c"
echo x >"$scratch/data/new/c/connector.c"
ln -s "$scratch/none" "$scratch/data/new/c/missing"
TURNCAST_DATA=$scratch/data try new z
is "$status" 2 "an unreadable template: status 2"
[ ! -e z ]
result $? "no directory is left"
TURNCAST_DATA=$scratch/none try new z
is "$status" 2 "missing templates: status 2"
has "$err" "is not in $scratch/none" "the error names the folder of the templates"
finish
