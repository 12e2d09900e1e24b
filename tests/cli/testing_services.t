#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the services of the host in scripts of turncast test: response headers, parts, pauses
# after success, secrets that are set at run time, and requests that the connector executes itself.
. "$(dirname "$0")/cli.sh"
: "${TURNCAST_CC:?}"
cd "$scratch" || exit 99

cat >all.c <<'C'
#include <string.h>
#include <turncast/plugin.h>
static int on_narration(struct tc_turn *t, const struct tc_narration *n)
{
    if (strcmp(n->text, "secret") == 0)
        return tc_secret(t->inst, "token", "run-time-canary");
    if (strcmp(n->text, "forget") == 0)
        return tc_secret(t->inst, "token", NULL);
    if (strcmp(n->text, "leak") == 0)
        return tc_http(t, TC_HTTP(.url = "https://x/leak", .body = "\"run-time-canary\""));
    return tc_remember(t, "creating") |
           tc_http(t, TC_HTTP(.url = "https://x/{secret:token}/live", .lane = "a",
                              .flags = TC_AFTER_MEMORY, .priority = TC_P_LIVE));
}
static int on_final(struct tc_turn *t, const struct tc_final *f)
{
    const struct tc_part parts[] = {{.name = "to", .data = "7"},
                                    {.name = "doc", .file_name = "a.md", .data = f->text}};
    return tc_http(t, TC_HTTP(.url = "https://x/upload", .lane = "a", .flags = TC_DURABLE,
                              .parts = parts, .part_count = 2)) |
           tc_http(t, TC_HTTP(.url = "self:", .lane = "a", .flags = TC_DURABLE, .tag = "mine",
                              .timeout_ms = 5000));
}
static int on_reply(struct tc_turn *t, const struct tc_reply *r, struct tc_verdict *v)
{
    for (size_t i = 0; i < r->header_count; i++)
        if (strcmp(r->headers[i].name, "x-left") == 0 && strcmp(r->headers[i].value, "0") == 0)
            v->hold_ms = 3000;
    if (r->outcome == TC_YOUR_TURN && r->attempts == 2)
        return tc_complete(t, r->number, TC_COMPLETION(.outcome = TC_OK, .body = "kept"));
    tc_log(t->inst, TC_WARN, "%s: outcome %d, attempt %u, %s", r->tag, (int)r->outcome,
           r->attempts, r->body);
    return 0;
}
static uint64_t promised;
static int init(struct tc_instance *inst)
{
    return tc_route(inst, "/in");
}
static int on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    promised = hit->number;
    answer->later = true;
    tc_wake(lobby, 100);
    return 0;
}
static int on_wake(struct tc_turn *lobby)
{
    return tc_hit_answer(lobby->inst, promised, &(struct tc_answer){.body = "{\"ok\":true}"});
}
TURNCAST_PLUGIN(.name = "all", .version = "1", .summary = "",
                .sink = TC_SINK(.on_narration = on_narration, .on_final = on_final,
                                .on_reply = on_reply, .on_hit = on_hit, .on_wake = on_wake),
                .init = init);
C
# shellcheck disable=SC2086 # TURNCAST_CC may carry options.
$TURNCAST_CC -shared -fPIC -I"$TURNCAST_SRCDIR/include" all.c -o all.so || exit 99

cat >good.script <<'S'
init
turn t
= a request waits for its secret
t: narration {"text":"show"}
t: narration {"text":"secret"}
secret token run-time-canary
> live after-memory live
remember creating
< 200 {}
log warn outcome 0
= parts are an object; a success holds the lane; then the connector performs a request itself
t: final {"text":"Done."}
> upload durable {"to":7,"doc":{"filename":"a.md","content":"Done."}}
< headers={"x-left":"0"} 200 {}
verdict done 3000
log warn outcome 0
wait 2999
wait 1
log warn mine: outcome 5, attempt 1
wait 6000
log warn mine: outcome 3, attempt 1
log warn mine: outcome 0, attempt 2, kept
t: done {"reason":"completed"}
over t
= a response is promised, and comes
hit POST /in {} x
answer later
wait 100
answer 200 {"ok":true}
S
try test ./all.so good.script
is "$status $err" "0 " "a script with all services passes"

cat >bad.script <<'S'
init
turn t
= a secret that is not named
t: narration {"text":"secret"}
t: narration {"text":"forget"}
= another value
t: narration {"text":"secret"}
secret token another
= in a body
t: narration {"text":"secret"}
secret token
t: narration {"text":"leak"}
> leak
S
try test ./all.so bad.script
is "$status" 1 "a script with wrong expectations fails"
has "$out" "set the secret: token run-time-canary" "a missing secret is reported"
has "$out" "that secret was not set" "another value of a secret is reported"
has "$out" "the secret token is in a body" "a secret in a body is reported"
finish
