#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of turncast test: the expectations of a script are compared with the behaviour of the
# connector, and reported as TAP.
. "$(dirname "$0")/cli.sh"
: "${TURNCAST_CC:?}"

cp "$TURNCAST_SRCDIR/examples/hello.c" "$TURNCAST_SRCDIR/examples/poster.c" "$scratch"
for name in hello poster; do
    # shellcheck disable=SC2086 # TURNCAST_CC may carry options.
    $TURNCAST_CC -shared -fPIC -I"$TURNCAST_SRCDIR/include" "$scratch/$name.c" \
        -o "$scratch/$name.so" || exit 99
done
cd "$scratch" || exit 99

cat >good.script <<'S'
option greeting So
init
turn t
= it prints what is said
t: narration {"text":"Hi "}
t: narration {"text":"there."}
print Hi there.
= and the answer
t: final {"text":"42"}
print "\nSo: 42\n"
t: done {"reason":"completed"}
over t
= all of a recording
play r recording.jsonl
print First I read the notes.
print So: Summary:
S
cp "$TURNCAST_SRCDIR/examples/recording.jsonl" .
try test ./hello.so good.script
is "$status $err" "0 " "a script that passes: status 0"
is "$out" "ok 1 - it prints what is said
ok 2 - and the answer
ok 3 - all of a recording
1..3" "TAP has one result for each test"
(cd / && "$turncast" test "$scratch/hello.so" "$scratch/good.script") >out 2>&1
is "$?" 0 "a script in another folder passes"
sed '/^option/d' good.script >given.script
try test -o greeting=So ./hello.so given.script
is "$status" 0 "-o sets an option"
try test ./hello.so,greeting=So given.script
is "$status" 0 "a short option name is accepted"
try test --option greeting=No ./hello.so good.script
is "$status" 0 "options of the script take precedence"
try test ./hello.so given.script
is "$status" 1 "without the option: status 1"
has "$out" "not ok 2 - and the answer
# given.script:9: that was not printed, but: " "a failure has file and line"
has "$out" "# failed 2 of 3" "the number of failures is printed"

cat >bad.script <<'S'
init
turn t
= an event that is none
t: fnial {"text":"x"}
= a word that is none
frobnicate
= no such turn
u: final {"text":"x"}
= a request that is not sent
t: final {"text":"x"}
> post
S
try test ./hello.so bad.script
is "$status" 1 "a script with errors: status 1"
for line in "bad.script:4: no event" "bad.script:6: no such word: frobnicate" \
    "bad.script:8: unknown turn u" "bad.script:11: no post on the wire, but nothing"; do
    has "$out" "# $line" "$line"
done
try test ./hello.so good.script bad.script
has "$out" "1..7" "several scripts are one run"

# poster URL: runs the connector that delivers.
cat >poster.script <<'S'
option url https://example.org/hook
init
turn t
= an answer that nobody expected
t: final {"text":"x"}
= and one that is
t: final {"text":"x"}
> url durable {"text":"x"}
< 200
S
try test ./poster.so poster.script
has "$out" "not ok 1 - an answer that nobody expected
# poster.script:5: unexpected request: url " "an unexpected request fails"
has "$out" "ok 2 - and one that is" "an expected request passes"

try test ./hello.so
is "$status" 0 "without a script a recorded turn is played"
has "$out" "ok 1 - a recorded turn
# 15 callbacks, 0 failed
# 0 requests
# printed " "the sums of the recorded turn are printed"
has "$out" "# answer: Summary:" "the output of the recorded turn is printed"
try test -o url=https://example.org/hook ./poster.so
has "$out" "# 1 request: url 1" "the requests are counted"
cat >fails.c <<'C'
#include <turncast/plugin.h>
static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    (void)ev;
    tc_log(turn->inst, TC_ERR, "no room");
    return -1;
}
TURNCAST_PLUGIN(.name = "fails", .version = "1", .summary = "",
                .sink = TC_SINK(.on_final = on_final));
C
# shellcheck disable=SC2086
$TURNCAST_CC -shared -fPIC -I"$TURNCAST_SRCDIR/include" fails.c -o fails.so || exit 99
try test ./fails.so
is "$status" 1 "a callback that fails: status 1"
has "$out" "not ok 1 - a recorded turn
# on_final returned -1
# 1 callback, 1 failed" "the failed callback is reported"
has "$out" "# log: error: no room" "the log of the connector is printed"

# Stored texts survive a restart, and can be checked.
cat >stores.c <<'C'
#include <turncast/plugin.h>
static int init(struct tc_instance *inst)
{
    const char *lives = tc_load(inst, "lives");
    return tc_store(inst, "lives", tc_sprint(inst->lobby, "%s+", lives ? lives : ""));
}
static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    (void)ev;
    return tc_store(turn->inst, "lives", NULL);
}
TURNCAST_PLUGIN(.name = "stores", .version = "1", .summary = "", .init = init,
                .sink = TC_SINK(.on_final = on_final));
C
# shellcheck disable=SC2086
$TURNCAST_CC -shared -fPIC -I"$TURNCAST_SRCDIR/include" stores.c -o stores.so || exit 99
cat >stores.script <<'S'
init
= stored
stored lives +
stored other -
restart
stored lives ++
= removed
turn t
t: final {"text":"x"}
stored lives -
= not there
stored lives ++
S
try test ./stores.so stores.script
has "$out" "ok 1 - stored
ok 2 - removed" "a stored text survives a restart"
has "$out" "not ok 3 - not there
# stores.script:12: stored under lives: +" "a missing stored text fails"

# A connector that ends the process fails its own test only.
cat >ends.c <<'C'
#include <stdlib.h>
#include <unistd.h>
#include <turncast/plugin.h>
static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    if (*ev->text == 'x') {
        tc_log(turn->inst, TC_ERR, "I leave");
        _exit(0);
    }
    abort();
}
TURNCAST_PLUGIN(.name = "ends", .version = "1", .summary = "",
                .sink = TC_SINK(.on_final = on_final));
C
# shellcheck disable=SC2086
$TURNCAST_CC -shared -fPIC -I"$TURNCAST_SRCDIR/include" ends.c -o ends.so || exit 99
cat >ends.script <<'S'
init
turn t
= a connector that ends
t: final {"text":"x"}
= one that crashes
t: final {"text":"y"}
= one that does not
t: narration {"text":"z"}
S
try test ./ends.so ends.script
is "$status" 1 "a connector that ends its process: status 1"
is "$out" "not ok 1 - a connector that ends
# ends.script:4: its process ended with status 0
# log: error: I leave
not ok 2 - one that crashes
# ends.script:6: its process was terminated by signal 6 (Aborted)
ok 3 - one that does not
1..3
# failed 2 of 3" "only its test fails"
try test ./ends.so
has "$out" "not ok 1 - a recorded turn
# its process was terminated by signal 6" "the end of the process is reported without a script, too"

# A program in another language, which the connector exec runs.
cat >room.py <<'P'
#!/usr/bin/env python3
import json
import sys

def say(**message):
    print(json.dumps(message), flush=True)

say(tc="hello", protocol=1, wants=["final", "error"], delivers=True, may=["submit"], routes=["/in"])
for line in sys.stdin:
    m = json.loads(line)
    if m["tc"] == "event" and m["event"]["payload"]["text"] == "bad":
        say(tc="reject", n=m["n"], why="no room")
    elif m["tc"] == "event" and m["event"]["payload"]["text"] == "post":
        say(tc="http", id="h1", n=m["n"], url="{option:env.BASE}/send", lane="room", pace_ms=50,
            headers={"Authorization": "Bearer {option:env.TOKEN}"}, body={"text": "post"})
    elif m["tc"] == "response":
        print("I! response", m["id"], m["outcome"], m["status"], m.get("body"), file=sys.stderr, flush=True)
    elif m["tc"] == "event" and m["event"]["payload"]["text"] == "later":
        say(tc="nack", n=m["n"], retry_ms=3000)
    elif m["tc"] == "event" and m["event"]["payload"]["text"] != "never":
        print("I! answer", m["event"]["payload"]["text"], *sys.argv[1:], file=sys.stderr, flush=True)
        say(tc="remember", turn=m["turn"], text="told")
        say(tc="ack", n=m["n"])
    elif m["tc"] == "hit":
        message = json.loads(m["body"])
        say(tc="submit", id="1", key=message["id"], chat="c", user="u", text=message["text"],
            instances=message.get("to", []))
        say(tc="answer_hit", id=m["id"], status=202, body="taken")
    elif m["tc"] == "reply":
        print("I! reply", m["status"], file=sys.stderr, flush=True)
    elif m["tc"] == "ping":
        say(tc="pong", n=m["n"])
    elif m["tc"] == "stop":
        break
P
chmod +x room.py
cat >room.script <<'S'
option urls {option:env.BASE}
init
turn t
= an answer
t: final {"text":"42"}
log info answer 42
remember told
t: done {"reason":"completed"}
over t
= a message
submit {"id":"m1","chat":"c","user":"u","text":"Hi"} = accepted t2
hit POST /in {} {"id":"m1","text":"Hi"}
answer 202
log info reply accepted
= a message that names instances
submit {"id":"m2","instances":["log","tg"]} = accepted t2
hit POST /in {} {"id":"m2","text":"Hi","to":["log","tg"]}
answer 202
log info reply accepted
submit {"id":"m3","instances":["lgo"]} = invalid
hit POST /in {} {"id":"m3","text":"Hi","to":["lgo"]}
answer 202
log info reply invalid
submit {"id":"m4","instances":null} = accepted t2
hit POST /in {} {"id":"m4","text":"Hi"}
answer 202
log info reply accepted
= a request that takes the place of an outcome
t: final {"text":"post"}
> send durable final lane=room turn=t url={option:env.BASE} {"text":"post"}
< 200 Sent.
log info response h1 ok 200 Sent.
verdict done 50
t: done {"reason":"completed"}
over t
= a request that the service refuses
t: final {"text":"post"}
> send
< 400 No.
dead send
log info response h1 rejected 400 No.
= an event that is not acknowledged keeps its turn
t: final {"text":"never"}
t: done {"reason":"completed"}
open t
= an outcome that is rejected, and nothing behind it
t: final {"text":"bad"}
log warn rejected event 1: no room
dead outcome no room
= another process of the program after a restart of the host
restart
turn t
t: final {"text":"43"}
log info answer 43
S
try test ./room.py room.script
is "$status $err" "0 " "a script of a program passes"
is "$out" "ok 1 - an answer
ok 2 - a message
ok 3 - a message that names instances
ok 4 - a request that takes the place of an outcome
ok 5 - a request that the service refuses
ok 6 - an event that is not acknowledged keeps its turn
ok 7 - an outcome that is rejected, and nothing behind it
ok 8 - another process of the program after a restart of the host
1..8" "all tests of the program pass"
try test "python3 ./room.py with words" room.script
is "$status" 0 "a command in quotes is accepted"
try test ./room.py
has "$out" "ok 1 - a recorded turn" "a program without a script plays a recorded turn"
cat >wrong.script <<'S'
init
turn t
= another answer
t: final {"text":"42"}
log info answer 43
= nobody says hello
submit {} = accepted
t: final {"text":"42"}
S
try test ./room.py wrong.script
is "$status" 1 "a program that behaves differently: status 1"
has "$out" "# wrong.script:5: no such line was logged" "a missing log line is reported after waiting"
has "$out" "# wrong.script:8: the submit of line 7 was not called" "a missing submit is reported"
TURNCAST_PLUGIN_PATH=$scratch try test ./room.py room.script
is "$status" 2 "without the connector exec: status 2"
has "$err" 'programs are run by the connector "exec", which is not installed' "the error says that exec is not installed"

try test jsonl
is "$status" 0 "a connector of the plugin path is found"
try test jsnl
is "$status $out" "2 " "an unknown connector: status 2"
has "$err" "plugin not found" "the error says that the plugin was not found"
try test ./missing.so
is "$status" 2 "a missing file: status 2"
try test ./hello.so none.script
is "$status" 1 "a missing script is a failed test"
has "$out" "not ok 1 - none.script
# none.script: cannot open" "the failed test names the missing script"
: >empty.script
try test ./hello.so empty.script
is "$status" 1 "a script without a test is a failed test"
try test ./poster.so
is "$status" 1 "a missing required option is a failed test"
has "$out" "url: missing required option (where to post); set url=VALUE" "the failed test has the advice"
try test -o greeting ./hello.so
is "$status" 2 "an option without a value: status 2"
try test -o greting=x ./hello.so
is "$status" 1 "an unknown option is a failed test"
has "$out" 'did you mean "greeting"' "the nearest option is suggested"
try test ./hello.c
is "$status" 2 "a file that is not a program: status 2"
has "$err" "hello.c: cannot execute" "the error says that the file cannot be executed"
finish
