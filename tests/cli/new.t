#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast new: projects of connectors that build and pass their tests by the commands that it prints.
. "$(dirname "$0")/cli.sh"
: "${TURNCAST_CC:?}" "${TURNCAST_DATA:?}"

# In the place of an installed copy. An inner make must not get the outer one's variables.
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

# typed: the commands that were printed last, as they are.
typed() {
    sed -n 's/^    //p' "$scratch/out" >"$scratch/commands"
    sh -e "$scratch/commands" >"$scratch/typed" 2>&1
    result $? "$1: the printed commands"
    sed 's/^/# /' "$scratch/typed"
}

try new room
is "$status $err" "0 " "a connector in C"
has "$out" "cd room
    make
    make test
    turncast check turncast.conf" "the commands to type next"
is "$(cd room && echo *)" "Makefile README.md room.c room.script turncast.conf" "its files"
is "$(grep -l '@[A-Z]*@' room/*)" "" "nothing is left to be filled in"
typed c
has "$(cat "$scratch/typed")" "ok 1 - an answer is posted" "its test is run"
has "$(cat "$scratch/typed")" "turncast.conf: OK (0 agents, 1 instance)" "its instance is accepted"
# shellcheck disable=SC2086 # TURNCAST_CC may carry options.
$TURNCAST_CC -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$TURNCAST_SRCDIR/include" room/room.c
result $? "it compiles without a warning"
sed -i 's/ev->text/"lost"/' room/room.c
(cd room && make test) >"$scratch/typed" 2>&1
is "$?" 2 "make test fails when the connector is wrong"
has "$(cat "$scratch/typed")" "# room.script:" "and says where"

# language NAME FILE PROGRAM: a project in it, with the program that it needs. Then the service is away.
language() {
    if ! command -v "$3" >/dev/null || ! command -v curl >/dev/null; then
        results=$((results + 1))
        echo "ok $results - $1 # SKIP $3 or curl is not installed"
        return
    fi
    try new "in-$1" --language "$1"
    is "$status $err" "0 " "a connector in $1"
    wanted=$(printf '%s\n' Makefile README.md turncast.conf "in-$1.script" "$2" | LC_ALL=C sort)
    is "$(cd "in-$1" && printf '%s\n' * | LC_ALL=C sort)" "$wanted" "$1: its files"
    is "$(grep -l '@[A-Z]*@' "in-$1"/*)" "" "$1: nothing is left to be filled in"
    [ -x "in-$1/$2" ]
    result $? "$1: it can be run"
    typed "$1"
    has "$(cat "$scratch/typed")" "ok 3 - a turn that began elsewhere" "$1: its test is run"
    has "$(cat "$scratch/typed")" "turncast.conf: OK (0 agents, 1 instance)" "$1: its instance is accepted"
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
1..1" "$1: a service that is away is asked again"
}
language sh in-sh.sh jq
language python in-python.py python3
language node in-node.mjs node

before=$(cat room/*)
try new room
is "$status" 2 "a directory that exists: status 2"
is "$err" "turncast: room: cannot create the directory: File exists" "it says so"
is "$(cat room/*)" "$before" "and nothing in it is changed"

try new two-rooms --directory "a folder"
is "$status" 0 "a directory of another name"
has "$out" "cd 'a folder'" "is quoted for the shell"
typed "a directory with a space"
try new x -d "it's"
has "$out" "cd 'it'\\''s'" "so is a quote"
typed "a directory with a quote"
for bad in 'a"b' 'a\b' "a\$b" 'a#b'; do
    try new x -d "$bad"
    is "$status" 2 "a directory $bad: status 2"
    [ ! -e "$bad" ]
    result $? "is not made"
done
try new x -d missing/x
is "$status" 2 "a directory in one that is missing: status 2"

for bad in "" Room 1room -- ro.om ro/om "ro om" "$(printf '%033d' 0 | tr 0 a)" \
    "$(printf '%065d' 0 | tr 0 a)"; do
    try new -- "$bad"
    is "$status $out" "2 " "the name \"$bad\": status 2"
    has "$err" "is not a name" "and why"
done
try new y --language cobol
is "$status" 2 "an unknown language: status 2"
has "$err" '--language: invalid value "cobol"; valid values: c, sh, python, node' "and which there are"
[ ! -e y ]
result $? "nothing is made"

mkdir -p "$scratch/data/new/c"
echo x >"$scratch/data/new/c/connector.c"
ln -s "$scratch/none" "$scratch/data/new/c/missing"
TURNCAST_DATA=$scratch/data try new z
is "$status" 2 "a template that cannot be read: status 2"
[ ! -e z ]
result $? "nothing is left of it"
TURNCAST_DATA=$scratch/none try new z
is "$status" 2 "no templates: status 2"
has "$err" "is not in $scratch/none" "it says where they are looked for"
finish
