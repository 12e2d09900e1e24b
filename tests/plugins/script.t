#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the runner of scripts: a correct script passes, and each kind of error fails.
set -u
: "${TURNCAST_SCRIPT:?}" "${TURNCAST_SRCDIR:?}" "${TURNCAST_CC:?}"

results=0
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/turncast-script.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

cat >"$scratch/probe.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <turncast/plugin.h>

struct conf {
    const char *token;
};
static const struct tc_option options[] = {TC_OPTION(struct conf, token, NULL, TC_SECRET, ""), {0}};
static const struct tc_rate rates[] = {{1, 1, 1000, 1}, {0}};

static void send(struct tc_turn *t, const char *text, enum tc_priority p, uint32_t flags)
{
    tc_http(t, TC_HTTP(.url = "https://x.test/{option:token}/say", .rates = 1, .lane = "l", .key = "k",
                       .body = tc_json(t, "{s:s, s:[i,i]}", "text", text, "list", 1, 2),
                       .priority = p, .flags = flags, .tag = text));
}
static int on_narration(struct tc_turn *t, const struct tc_narration *ev)
{
    send(t, ev->text, TC_P_LIVE, TC_IDEMPOTENT);
    tc_wake(t, 500);
    return 0;
}
static int on_wake(struct tc_turn *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    char text[32];
    snprintf(text, sizeof text, "%ld.%03ld", (long)now.tv_sec, now.tv_nsec / 1000000);
    send(t, text, TC_P_NOTICE, 0);
    return 0;
}
static int on_final(struct tc_turn *t, const struct tc_final *ev)
{
    send(t, ev->text, TC_P_FINAL, TC_DURABLE);
    return tc_remember(t, "final");
}
static int on_error(struct tc_turn *t, const struct tc_error *ev)
{
    tc_log(t->inst, TC_WARN, "%s", ev->message);
    return 0;
}
static int on_notice(struct tc_turn *t, const struct tc_notice *ev)
{
    tc_log(t->inst, TC_INFO, "%s", ((const struct conf *)t->inst->conf)->token);
    return 0;
}
static int on_reply(struct tc_turn *t, const struct tc_reply *r, struct tc_verdict *v)
{
    if (r->status == 400 && strcmp(r->tag, "plain") != 0)
        send(t, "plain", TC_P_FINAL, TC_DURABLE);
    if (r->status == 429)
        v->hold_ms = 3000;
    if (r->outcome == TC_DROPPED)
        tc_log(t->inst, TC_WARN, "dropped %s", r->tag);
    return 0;
}
static int on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *a)
{
    struct tc_receipt receipt;
    const enum tc_accepted got = tc_submit(
        lobby, TC_INBOUND(.id = "1", .chat = "c", .user = "u", .text = hit->body), &receipt);
    a->status = got == TC_ACCEPTED ? 200 : 500;
    a->body = receipt.answer;
    return 0;
}
static int init(struct tc_instance *inst)
{
    return tc_route(inst, "/in");
}
TURNCAST_PLUGIN(.name = "probe", .version = "1", .summary = "", .flags = TC_DELIVERS,
                .conf_size = sizeof(struct conf), .options = options, .rates = rates, .init = init,
                .sink = TC_SINK(.on_narration = on_narration, .on_final = on_final,
                                .on_error = on_error, .on_notice = on_notice,
                                .on_reply = on_reply, .on_wake = on_wake, .on_hit = on_hit));
C
# shellcheck disable=SC2086
$TURNCAST_CC -shared -fPIC -D_GNU_SOURCE -I"$TURNCAST_SRCDIR/include" "$scratch/probe.c" \
    -o "$scratch/probe.so" || exit 99
mkdir "$scratch/probe"

# run TITLE: runs the script of stdin after a preamble.
run() {
    {
        printf 'option token canary-1234\ninit\nturn t\n= %s\n' "$1"
        cat
    } >"$scratch/probe/x.script"
    "$TURNCAST_SCRIPT" "$scratch/probe.so" "$scratch/probe/x.script" >"$scratch/out" 2>&1
}

result() {
    results=$((results + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $results - $2"
    else
        failures=$((failures + 1))
        echo "not ok $results - $2"
        sed 's/^/# /' "$scratch/out"
    fi
}

passes() {
    run "$1"
    result $? "$1"
}

# fails TITLE REASON
fails() {
    run "$1"
    ! grep -q '^ok' "$scratch/out" && grep -q "$2" "$scratch/out"
    result $? "$1: the reason is reported"
}

passes "a lane: one in flight, the newest edit, finals first" <<'S'
t: narration {"text":"a"}
> say live idempotent !durable lane=l key=k rates=1 {"text":"a","list":[1,2],"x":null}
t: narration {"text":"b"}
t: narration {"text":"c"}
log warn dropped b
t: final {"text":"f"}
log warn dropped c
< 200 {}
verdict done
> say final durable tag=f {"text":"~f"}
remember final
t: done {"reason":"completed"}
open t
< 200 {}
over t
S
passes "time, holds, back-off, replacements, doubt" <<'S'
t: narration {"text":"a"}
> say
< 429 {}
verdict again 3000 lane
wait 2999
wait 1
> say notice {"text":"1000.500"}
< lost
verdict fail
> say {"text":"a"}
< unsent
verdict again
wait 1000
> say {"text":"a"}
< 200 {}
t: final {"text":"f"}
> say {"text":"f"}
< lost
verdict again
wait 1000
> say {"text":"f"}
< 400 {}
verdict fail
> say {"text":"plain"}
< 400 {}
dead say
S
passes "a restart: durable requests are in doubt" <<'S'
t: final {"text":"f"}
> say {"text":"f"}
restart
wait 1000
> say {"text":"f"}
< 200 {}
over t
S
passes "people" <<'S'
submit {"text":"hello","user":"u"} = accepted turn-1
hit POST /in {} hello
answer 200
submit {"text":"stop"} = command - Stopped.
hit POST /in {} stop
answer 500 "Stopped."
S
fails "an unexpected request" "unexpected request: say" <<'S'
t: final {"text":"f"}
S
fails "a missing request" "no say on the wire" <<'S'
> say
S
fails "a request with another body" "wanted \"g\", got \"f\"" <<'S'
t: final {"text":"f"}
> say {"text":"g"}
S
fails "a request with another number of elements" "list: wanted" <<'S'
t: final {"text":"f"}
> say {"list":[1]}
S
fails "a request without the flag" "is not live" <<'S'
t: final {"text":"f"}
> say live
S
fails "an unexpected warning" "logged: broken" <<'S'
t: error {"message":"broken"}
S
fails "a secret in the log" "the secret token" <<'S'
t: notice {"level":"info","text":"x"}
S
fails "an unexpected dead letter" "gave up: say" <<'S'
t: final {"text":"f"}
> say
< 403 {}
S
fails "an unexpected submit" "unexpected submit" <<'S'
hit POST /in {} hello
S
fails "a missing submit" "was not called" <<'S'
submit {} = accepted
t: narration {"text":"a"}
S
fails "a submit with another text" "wanted \"bye\"" <<'S'
submit {"text":"bye"} = accepted
hit POST /in {} hello
S
fails "an unknown word" "no such word" <<'S'
sleep 5
S
echo "1..$results"
exit $((failures > 0))
