#!/bin/sh
# SPDX-License-Identifier: MIT
# What the host says to people in chats is in one table, with an id, so that it can be translated.
. "$(dirname "$0")/lint.sh"
needs python3

loose_sentences() {
    PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/lint/find_sentences.py" "$top/tests/lint/sentences.allowed"
}

holds "sentences for people are in src/text/sentence/texts.def" loose_sentences
catches "a reply in the code" loose_sentences 'src/core/inbound/bad.c:2: move to' \
    src/core/inbound/bad.c <<'C'
/* Not this: "A comment is no text." */
const char *reply(void) { return "Nothing was "
                                 "found here."; }
C
catches "an answer that goes on" loose_sentences 'src/core/request/bad.c:1: move to' \
    src/core/request/bad.c <<'C'
const char *reply(void) { return "Denied by %s"; }
C
catches "the end of a reply" loose_sentences 'src/core/conversation/bad.c:1: move to' \
    src/core/conversation/bad.c <<'C'
const char *reply(void) { return " and it was dropped.\n"; }
C
catches "a sentence of the chat engine, behind a sign" loose_sentences 'src/chat/card/bad.c:1: move to' \
    src/chat/card/bad.c <<'C'
const char *line(void) { return "✋ Waiting for an answer"; }
C
catches "a reply of a service of plugins" loose_sentences \
    'src/plugin/instance/services_inbound.c:[0-9]*: move to' src/plugin/instance/services_inbound.c <<'C'
const char *reply(void) { return "Your answer could not be saved."; }
C
done_testing
