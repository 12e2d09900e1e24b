#!/bin/sh
# SPDX-License-Identifier: MIT
# Plugins that cannot be loaded, all of them beside a healthy one: a line each, by every command
# that meets them, and the healthy one gets what it gets alone.
. "$(dirname "$0")/cli.sh"

turn=$fixtures/turn.jsonl
fault=$TURNCAST_BUILDDIR/tests/fault
bad=$scratch/bad
good=$fault/recorder.so
mkdir "$bad" "$bad/open" "$scratch/elsewhere"

# patch FILE OFFSET BYTES: into a copy of the good one; bytes as printf has them.
patch() {
    cp "$good" "$bad/$1.so"
    # shellcheck disable=SC2059 # they are a format
    printf "$3" | dd of="$bad/$1.so" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# Where the ELF header says its parts are, of 64 bits and the low byte first, as od reads it here.
number_at() {
    od -An -t u8 -j "$1" -N 8 "$good" | tr -d ' '
}
table=$(number_at 32)

# The file, as it can be damaged.
echo 'no ELF, and long enough to have a header of that: so it is looked at, and refused' >"$bad/text.so"
: >"$bad/empty.so"
for n in 40 70 4096; do
    head -c "$n" "$good" >"$bad/cut$n.so"
done
patch machine 18 '\026\000'
patch class 4 '\001'
patch order 5 '\002'
patch type 16 '\002\000'
patch segments 56 '\310\000'
patch beyond $((table + 8)) '\000\360\377\377\377\377\377\177'
patch large $((table + 32)) '\000\000\000\000\001\000\000\000\000\000\000\000\001\000\000\000'
patch huge $((table + 40)) '\000\000\000\000\000\100\000\000'
mkdir "$bad/folder.so"
mkfifo "$bad/fifo.so"
cp "$good" "$scratch/elsewhere/linked.so"
ln -s "$scratch/elsewhere/linked.so" "$bad/link.so"
cp "$good" "$bad/group.so"
chmod g+w "$bad/group.so"
cp "$good" "$bad/world.so"
chmod o+w "$bad/world.so"
cp "$good" "$bad/unreadable.so"
chmod 0 "$bad/unreadable.so"
[ ! -r "$bad/unreadable.so" ] || rm -f "$bad/unreadable.so"
# What it exports, and what it does as it is loaded.
for name in badname badoption badrate badtext function manyrates newminor nosink nosymbol oldmajor \
    toolong tooshort twooptions undefined \
    loads_aborts loads_closes loads_exits loads_exits7 loads_scribbles loads_segfaults; do
    cp "$fault/$name.so" "$bad/"
done
cp "$good" "$bad/open/below.so"
chmod 0777 "$bad/open"

files=$(find "$bad" -name '*.so' | LC_ALL=C sort)
n=$(echo "$files" | wc -l)
[ "$n" -ge 38 ]
result $? "$n fixtures"

for file in $files; do
    try check "$file"
    is "$status $(wc -l <"$scratch/out") $err" "2 1 " "check $(basename "$file"): one line"
    has "$out" "$file: " "  that names it"
done

# conf FILE...: the healthy instance, and those of these files.
conf() {
    echo 'agents : { main : { command = ["'"$fake_agent"'", "play='"$turn"'"]; }; };'
    echo 'default_agent = "main";'
    echo 'plugins : { instances : {'
    i=0
    for file in "$@"; do
        i=$((i + 1))
        echo "bad$i : { plugin = \"$file\"; };"
        [ $i -ne 10 ] || echo "healthy : { plugin = \"$good\"; paths = [\"$scratch\"]; path = \"$scratch/told\"; };"
    done
    [ $i -ge 10 ] || echo "healthy : { plugin = \"$good\"; paths = [\"$scratch\"]; path = \"$scratch/told\"; };"
    echo '}; };'
}

# told: what the healthy one got, without what differs from run to run.
told() {
    sed 's/"ts":[0-9.]*/"ts":0/g; s/"correlation_id":"[^"]*"/"correlation_id":""/g; s/"duration_ms":[0-9.]*/"duration_ms":0/g' \
        "$scratch/told"
}

conf >"$scratch/alone.conf"
# shellcheck disable=SC2086 # a list
conf $files "$fault/initfails.so" "$fault/loads_hangs.so" >"$scratch/all.conf"
# This one does no harm.
conf "$fault/loads_prints.so" >"$scratch/odd.conf"

try replay -c "$scratch/alone.conf" "$turn"
told >"$scratch/alone"
[ -s "$scratch/alone" ]
result $? "a replay for the healthy one alone"
rm "$scratch/told"
try replay -c "$scratch/all.conf" "$turn"
is "$status $out" "0 " "a replay beside all of them goes well"
told | cmp -s - "$scratch/alone"
result $? "the healthy one gets the same, to the byte"
for file in $files "$fault/loads_hangs.so"; do
    is "$(grep -cF "$file: " "$scratch/err")" 1 "one line about $(basename "$file")"
done
has "$err" ": no luck today" "what an init says of its failure"
has "$err" ": disabled: init failed" "and what follows from it"
is "$(wc -l <"$scratch/err")" $((n + 3)) "and no other line"

rm "$scratch/told"
try run -c "$scratch/all.conf" hello
is "$status" 0 "so does a run"
is "$(kinds <"$scratch/told" | tr ' ' '\n' | tail -n 1)" 'done' "which the healthy one sees to its end"

rm "$scratch/told"
try check "$scratch/all.conf"
is "$status" 2 "check of that configuration"
is "$(wc -l <"$scratch/out")" $((n + 1)) "a line for each that cannot be loaded"
[ ! -e "$scratch/told" ]
result $? "and runs nothing"

try replay -c "$scratch/odd.conf" "$turn"
is "$status" 0 "what prints as it is loaded is loaded"
told | cmp -s - "$scratch/alone"
result $? "and disturbs nobody"

try check "$fault/loads_prints.so"
is "$status $err" "0 " "check of one that prints"
lacks "$out" "constructor" "does not print it"

TURNCAST_PLUGIN_PATH=$bad try plugins
is "$status" 2 "a folder of them"
is "$(grep -c ' error: ' "$scratch/out")" $((n - 1)) "is listed, each with its line"
finish
