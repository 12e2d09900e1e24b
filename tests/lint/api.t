#!/bin/sh
# SPDX-License-Identifier: MIT
# TURNCAST_API_MINOR hides what is newer: a plugin that is built for an older host does not compile
# when it uses a member, type or macro that this host lacks.
. "$(dirname "$0")/lint.sh"

cc=${TURNCAST_CC:-cc}
cc=${cc#ccache }
cc=${cc%% *}
needs "$cc"

# What is marked "since 1.N" and does not stand inside "#if TURNCAST_API_MINOR >= N".
unguarded() {
    find include -type f -name '*.h' -exec awk '
        FNR == 1 { depth = 0 }
        /^#if/ { guard[++depth] = /^#if TURNCAST_API_MINOR >= [0-9]+/ ? $4 : 0 }
        match($0, /[Ss]ince 1\.[0-9]+/) {
            minor = substr($0, RSTART + 8, RLENGTH - 8)
            found = 0
            for (i = 1; i <= depth; i++)
                if (guard[i] == minor)
                    found = 1
            if (!found)
                print FILENAME ":" FNR ": " $0
        }
        /^#endif/ { depth-- }' {} +
}

# compiles MINOR STATEMENTS: a callback with them compiles for hosts of that minor.
compiles() {
    cat >"$scratch/plugin.c" <<C
#include <turncast/plugin.h>
static int on_request(struct tc_turn *t, const struct tc_request *r)
{
    (void)t;
    (void)r;
    $2
    return 0;
}
TURNCAST_PLUGIN(.name = "uses", .sink = TC_SINK(.on_request = on_request));
C
    "$cc" -std=c11 -Wall -Wextra -Werror=implicit-function-declaration -fsyntax-only \
        "-DTURNCAST_API_MINOR=$1" -I "$top/include" "$scratch/plugin.c" >"$scratch/errors" 2>&1
}

# since MINOR WHAT STATEMENTS: they compile for that minor, and not for the one before it.
since() {
    compiles "$1" "$3"
    result $? "$2 is there for hosts of 1.$1"
    ! compiles "$(($1 - 1))" "$3"
    result $? "$2 is not there for hosts of 1.$(($1 - 1))"
}

holds "what is newer than 1.0 is hidden from plugins for older hosts" unguarded
compiles 0 'return tc_keep(t, r->request_id) && tc_alloc(t, 1) ? 0 : -1;'
result $? "a plugin for hosts of 1.0 compiles"
since 1 tc_ticket 'return tc_ticket(t, r->request_id) ? 0 : -1;'
since 1 tc_answer 'return tc_answer(t, NULL, NULL);'
since 1 TC_DECISION 'return TC_DECISION(.ticket = "t")->ticket ? 0 : -1;'
since 1 'struct tc_decision' 'struct tc_decision d = {0}; return d.ticket ? 0 : -1;'
since 1 choices 'return r->choices ? 0 : -1;'
since 4 'struct tc_rule' 'struct tc_rule x = {0}; return x.key ? 0 : -1;'
since 4 TC_RULE_ONE_OF 'return TC_RULE_ONE_OF;'
since 4 TC_PROBE 'return TC_PROBE(.url = "u")->url ? 0 : -1;'
since 4 'rules of a plugin' 'struct tc_plugin p = {0}; return p.rules ? 0 : -1;'
since 5 TC_HTML 'return TC_TEXT(.form = TC_HTML)->size ? 0 : -1;'
since 5 TC_TERMINAL 'return TC_TEXT(.form = TC_TERMINAL, .columns = 80)->size ? 0 : -1;'
since 5 'unit of a text' 'return TC_TEXT(.unit = TC_UNIT_BYTES)->size ? 0 : -1;'
since 5 tc_complete 'return tc_complete(t, 1, TC_COMPLETION(.outcome = TC_YOUR_TURN));'
since 5 TC_NEXT_LATER 'return TC_NEXT_LATER;'
since 5 tc_socket_send_binary 'return tc_socket_send_binary(t->inst, 1, "", 0);'
since 5 'headers of a socket' 'return TC_SOCKET(.headers = NULL)->binary;'
since 5 tc_hit_answer 'struct tc_answer a = {.later = true}; return tc_hit_answer(t->inst, 1, &a);'
since 5 tc_secret 'return tc_secret(t->inst, "a", "b");'
since 5 TC_AFTER_MEMORY 'return TC_AFTER_MEMORY;'
since 5 parts 'struct tc_part p = {0}; struct tc_http h = {.parts = &p}; return h.parts ? 0 : -1;'
since 5 'headers of a reply' 'struct tc_reply r2 = {0}; return r2.headers ? 0 : -1;'
since 5 tc_store 'return tc_store(t->inst, r->request_id, NULL);'
since 5 tc_load 'return tc_load(t->inst, r->request_id) ? 0 : -1;'
since 5 tc_quote 'return tc_quote(t, r->request_id) ? 0 : -1;'
since 5 tc_same 'return tc_same(t, r->request_id, r->kind) ? 0 : -1;'
since 1 to 'return r->to ? 0 : -1;'
since 6 tc_say 'return tc_say(t, r->kind, NULL) ? 0 : -1;'
since 6 tc_ed25519_sign 'return tc_ed25519_sign(t, r->kind, "", 0) ? 0 : -1;'
since 6 tc_random 'return (int)tc_random(t, 1, 2);'
since 6 tc_is_recent 'return tc_is_recent(t, r->kind, 1) ? 0 : -1;'
since 6 TC_INPUT_DIALOG 'return TC_INPUT_DIALOG;'
since 6 tc_chat_form 'size_t n; return tc_chat_form(t, NULL, &n) ? 0 : -1;'
since 6 tc_cut 'return tc_cut(t, r->kind, 1) ? 0 : -1;'
since 6 tc_fit 'return tc_fit(t, r->kind, 1) ? 0 : -1;'
since 6 tc_url_at 'return tc_url_at(t, r->kind, "a", "b") ? 0 : -1;'
since 6 tc_feed_add 'return tc_feed_add(t, "a", "b");'
since 6 tc_is_signed 'return tc_is_signed(t, NULL, TC_SIGNATURE(.key = "a")) ? 0 : -1;'
since 6 tc_secret_of 'return tc_secret_of(t->inst, "a", "b");'
since 6 tc_chat_inputs 'size_t n; return tc_chat_inputs(t, NULL, 0, 0, 0, &n) ? 0 : -1;'
since 6 tc_mention 'struct tc_mention m = {0}; return TC_CHAT_MESSAGE(.mentions = &m)->size ? 0 : -1;'
since 6 attachments 'struct tc_chat c = {0}; return c.attachments.ref ? 0 : -1;'
since 6 'arguments of a menu' 'struct tc_op o = {0}; return o.menu_arguments && o.emoji && o.form ? 0 : -1;'
since 6 tc_webhook_keys 'return tc_webhook_keys(t->inst, "a", "b", true);'
since 6 tc_webhook_sign 'return tc_webhook_sign(t, "a", "b", "1", "", 0) ? 0 : -1;'
since 6 tc_webhook_check 'struct tc_hit h = {0}; return tc_webhook_check(t, "a", &h) ? 0 : -1;'
since 6 tc_route_signed 'return tc_route_signed(t->inst, "/a", TC_ISSUER(.issuer = "a"));'
since 6 tc_link_keep 'return tc_link_keep(t->inst, TC_LINK(.service = "a"));'
since 6 tc_link_open 'return tc_link_open(t, TC_SOCKET(.url = "a"));'
since 6 tc_link_send 'return tc_link_send(t, "a");'
since 6 tc_link_ready 'return tc_link_ready(t, NULL);'
since 6 'claims of a request to a route' 'struct tc_hit h = {0}; return h.claims && h.key ? 0 : -1;'
since 6 tc_header_value 'struct tc_reply m = {0}; return tc_header_value(t, &m, "a") ? 0 : -1;'
since 6 'address of a probe' 'return TC_PROBE(.address = true)->address ? 0 : -1;'

catches "a member without its guard" unguarded 'Since 1.2' include/turncast/plugin.h <<'C'
struct tc_host {
#if TURNCAST_API_MINOR >= 1
    /* Since 1.1. */
    int (*old)(void);
    /* Since 1.2. */
    int (*new)(void);
#endif
};
C
catches "a member behind its guard" unguarded 'since 1.1' include/turncast/plugin.h <<'C'
#if TURNCAST_API_MINOR >= 1
#endif
int x; /* since 1.1 */
C
done_testing
