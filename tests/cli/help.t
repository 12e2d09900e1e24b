#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the help of every command, of the version, and of invalid command lines.
. "$(dirname "$0")/cli.sh"

try --version
is "$status" 0 "--version succeeds"
has "$out" "turncast " "--version prints the version"
has "$out" "plugin ABI 1.6" "--version prints the ABI"

try --help
is "$status" 0 "--help succeeds"
is "$err" "" "--help prints to stdout only"
for command in run serve status reload restart replay plugins check new test doctor visibility audit dead approvals answer pair; do
    has "$out" "
  $command" "names $command"
done
try -h
is "$status" 0 "-h succeeds"

for command in run serve status reload restart replay plugins check new test doctor visibility audit dead approvals answer; do
    try "$command" --help
    is "$status" 0 "$command --help succeeds"
    has "$out" "Usage: turncast $command [OPTION]..." "$command: the help has the usage"
    has "$out" "-h, --help" "$command: the help has the options"
    is "$(awk 'length > 100' "$scratch/out")" "" "$command: no line over 100 columns"
    short=$("$turncast" "$command" -h 2>&1)
    is "$short" "$out" "$command -h prints the same as --help"
done
for option in "-p, --plugin NAME|FILE.so[,KEY=VALUE]..." "-d, --dialect NAME" "-s, --speed X" \
    "-a, --agent AGENT" "-c, --config FILE" "-v, --verbose"; do
    has "$("$turncast" replay --help)" "$option" "replay --help has $option"
done

try
is "$status" 2 "without arguments the status is 2"
has "$err" "Usage: turncast COMMAND" "without arguments the help is printed"
is "$out" "" "without arguments stdout is empty"

# refused MESSAGE [ARGUMENT...]
refused() {
    wanted=$1
    shift
    try "$@"
    is "$status $out" "2 " "turncast $*: status 2, nothing on stdout"
    is "$err" "$wanted" "turncast $*: the error names the reason"
}

refused 'turncast: unknown command "frobnicate"; see turncast --help' frobnicate
refused 'turncast: unknown command "rpelay" (did you mean "replay"?); see turncast --help' rpelay
refused 'turncast replay: missing operand: FILE|- [/show-X|/hide-X]...; see turncast replay --help' replay
refused 'turncast run: missing operand: MESSAGE|-; see turncast run --help' run
refused 'turncast run: unexpected argument "b"; see turncast run --help' run a b
refused 'turncast replay: unknown option --plugn=x (did you mean --plugin?); see turncast replay --help' \
    replay --plugn=x -
refused 'turncast replay: unknown option -z; see turncast replay --help' replay -z -
refused 'turncast replay: unknown option -z; see turncast replay --help' replay -vz -
refused 'turncast replay: option --plugin requires a value; see turncast replay --help' replay --plugin
refused 'turncast replay: option -p requires a value; see turncast replay --help' replay -p
refused 'turncast replay: option --verbose=1 does not take a value; see turncast replay --help' replay --verbose=1 -
for speed in 0 -1 fast 1x nan 1e9 ''; do
    refused "turncast replay: --speed: \"$speed\" is out of range; use a number from 0.001 to 1000000; see turncast replay --help" \
        replay --speed "$speed" -
done
refused 'turncast answer: invalid choice "yes"; use allow, allow-turn, allow-session, allow-always, allow-agent, deny, deny-stop or answer; see turncast answer --help' \
    answer r1 yes
refused 'turncast answer: missing operand: CHOICE (allow, deny, ...); see turncast answer --help' answer r1
refused 'turncast audit: unknown subcommand "check"; use verify; see turncast audit --help' audit check x
refused 'turncast audit: missing operand: verify FILE...; see turncast audit --help' audit verify

if [ -c /dev/full ]; then
    "$turncast" --help >/dev/full 2>"$scratch/err"
    is $? 1 "output to a full disk fails"
    has "$(cat "$scratch/err")" "standard output: No space left on device" "the full disk is reported"
fi
finish
