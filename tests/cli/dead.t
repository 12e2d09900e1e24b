#!/bin/sh
# SPDX-License-Identifier: MIT
# turncast dead: what could not be delivered is listed, shown, sent again or dropped.
. "$(dirname "$0")/cli.sh"

state=$TURNCAST_BUILDDIR/tests/fake/state
dir=$XDG_STATE_HOME/turncast
token=1234567890:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA

lay() { "$state" lay "$dir" "$@" 2>/dev/null || exit 99; }

try dead list
is "$status $out$err" "0 No dead letters." "without a state there is nothing"
[ ! -e "$dir" ]
result $? "and asking makes none"
try dead show 1
is "$status $err" "1 turncast: no dead letter 1" "nothing can be shown"

lay telegram t1 "400: Bad Request $(printf '\033[2J') bot$token" \
    "{\"url\":\"https://api.example.com/bot$token/x\"}
{\"text\":\"hello \\u0062ot$token\"}"
lay slack t2 "expired" "no JSON $(printf '\033[31m') bot$token"

try dead list
is "$status" 0 "two letters"
is "$(wc -l <"$scratch/out")" 2 "a line for each"
is "$(sed -n 's/  [0-9T:-]*Z  /  TIME  /; 2p' "$scratch/out")" \
    "2  TIME  slack  request of turn t2 for c1, attempts: 1: expired" "that says what it is"
has "$out" "telegram  request of turn t1" "the oldest first"
try dead list slack
is "$status $(wc -l <"$scratch/out")" "0 1" "those of one instance"
try dead list none
is "$status $out" "0 No dead letters." "of one that has none"
has "$err" 'unknown instance "none"' "and is not configured"
echo 'plugins : { instances : { telegram : { token = "1:x"; }; }; };' >"$scratch/telegram.conf"
try dead list -c "$scratch/telegram.conf" telegran
is "$status $err" '0 turncast: unknown instance "telegran" (did you mean "telegram"?)' "the nearest one"

try dead show 1 2
is "$status" 0 "they are shown"
has "$out" '{"url":"https://api.example.com/' "what was asked"
has "$out" '{"text":"hello ' "with its body"
has "$out" "no JSON" "whatever it is"
lacks "$out" "AAAAAAAA" "without secrets"
lacks "$out" "$(printf '\033')" "without terminal sequences"

try dead retry 1
is "$status $out$err" "0 " "one is sent again"
try dead list
is "$(wc -l <"$scratch/out")" 1 "it is none any more"
has "$("$state" rows "$dir" telegram)" '{"text":' "but waits again"
has "$("$state" rows "$dir" telegram)" '?' "in doubt"
try dead drop 1 2
is "$status $err" "1 turncast: no dead letter 1" "one that is not there is named"
try dead list
is "$status $out" "0 No dead letters." "and the other is dropped"

"$state" bury "$dir" slack t3 "dies of it" '{"type":"step","payload":{"name":"bot'$token'"}}' 2>/dev/null
try dead list
has "$out" "slack  event of turn t3, attempts: 3: dies of it" "an event that kills is one, too"
try dead show 3
has "$out" '{"type":"step"' "with its line"
lacks "$out" "AAAAAAAA" "without secrets"
try dead retry 3
is "$status $err" "1 turncast: dead letter 3 is an event of a finished turn and cannot be retried; use show or drop" \
    "it cannot be sent again"
try dead drop 3
is "$status" 0 "but dropped"

"$state" lay "$dir" slack turn-3 "gone" "{}"
mkfifo "$scratch/hold" "$scratch/held"
"$state" hold "$dir" <"$scratch/hold" >"$scratch/held" 2>/dev/null &
exec 3>"$scratch/hold"
read -r held <"$scratch/held"
try dead list
is "$held $status" "held 0" "while a host holds the state"
has "$out" "of turn turn-3" "they are listed"
try dead retry 4
is "$status" 2 "but none is sent again"
is "$(wc -l <"$scratch/err")" 1 "one line says"
has "$err" "is in use by another turncast (process $!); stop it, or use another state_directory" "by which and what to do"
exec 3>&-
wait $!
try dead drop 4
is "$status" 0 "and then it is free"

try dead
is "$status" 2 "no action"
try dead lst
is "$status" 2 "a wrong one"
has "$err" 'unknown subcommand "lst"; use list, show, retry or drop' "is named"
for words in "show" "show x" "drop 1x" "retry -1" "list a b" "drop 12345678901234567890"; do
    # shellcheck disable=SC2086
    try dead $words
    is "$status" 2 "dead $words"
done

cat >"$scratch/some.conf" <<CONF
state_directory = "here";
CONF
"$state" lay "$scratch/here" telegram t1 "400" "{}" 2>/dev/null
try dead list -c "$scratch/some.conf"
has "$out" "telegram  request of turn t1" "the state of a configuration"

# Secrets of the configuration that look like any other word, wherever a connector puts them.
cat >"$scratch/secrets.conf" <<CONF
state_directory = "there";
plugins : { instances : {
    tg : { plugin = "telegram"; token = "literal-canary-one"; };
    second : { plugin = "telegram"; token = "env:CANARY_TWO"; };
    third : { plugin = "telegram"; token = "canary-three"; max_parts = "many"; };
    gone : { plugin = "$scratch/gone.so"; key = "canary-four"; env = "A=1 B=env:CANARY_FIVE"; };
}; };
CONF
chmod 600 "$scratch/secrets.conf"
"$state" lay "$scratch/there" tg t1 "refused for literal-canary-one" \
    '{"url":"https://example.com/","tag":"literal-canary-one canary-two"}
{"token":"literal-canary-one","others":["canary-two-by-env","canary-three","canary-four","canary-five-by-env"]}' 2>/dev/null
CANARY_TWO=canary-two-by-env CANARY_FIVE=canary-five-by-env
export CANARY_TWO CANARY_FIVE
try dead show 1 -c "$scratch/secrets.conf"
is "$status" 0 "a letter with secrets of the configuration is shown"
has "$out" '"token":"***"' "with a literal secret masked in its body"
has "$out" 'refused for ***' "and in its reason"
has "$out" '"others":["***","***","***","***"]' \
    "one of the environment, one beside a wrong option, one of a plugin that is gone: masked, too"
try dead list -c "$scratch/secrets.conf"
has "$out" 'refused for ***' "the list masks them as well"
finish
