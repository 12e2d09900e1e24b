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
catches "a sentence of a connector" loose_sentences 'plugins/slack/bad.c:1: move to the words' \
    plugins/slack/bad.c <<'C'
const char *line(void) { return "Or type your own answer"; }
C
catches "a sentence of a connector that the host does not know" loose_sentences 'plugins/ntfy/bad.c:1: move to' \
    plugins/ntfy/bad.c <<'C'
const char *line(struct tc_turn *turn) { return tc_say(turn, "Denied by {her}", NULL); }
C

# ---- translations ----

# A tree with a translation alone is compared with these.
cat >"$scratch/texts.def" <<'C'
TEXT(ONE, "One {name}.")
TEXT_PLURAL(MANY, "n", "{n} of "
                       "{all}.", "{n} of {all}s.")
C

differing() {
    english=src/text/sentence/texts.def
    [ -f "$english" ] || english=$scratch/texts.def
    for other in src/text/sentence/texts_*.def; do
        PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/lint/compare_sentences.py" "$english" "$other" 2>&1
    done
}

# refuses WHAT PATTERN: a translation with the rows of standard input.
refuses() {
    catches "$1" differing "texts_xx.def:[0-9]*: $2" src/text/sentence/texts_xx.def
}

holds "every sentence is translated, with the placeholders and plural forms of English" differing
refuses "a sentence that is not translated" 'ONE is not translated' <<'C'
TEXT_PLURAL(MANY, "n", "{n} von {all}.", "{n} von {all}en.")
C
refuses "a sentence that English lacks" 'TWO is in no English row' <<'C'
TEXT(ONE, "Eins {name}.")
TEXT(TWO, "Zwei.")
TEXT_PLURAL(MANY, "n", "{n} von {all}.", "{n} von {all}en.")
C
refuses "a placeholder of another name" "ONE has .'{what}'., in English .'{name}'." <<'C'
TEXT(ONE, "Eins {what}.")
TEXT_PLURAL(MANY, "n", "{n} von {all}.", "{n} von {all}en.")
C
refuses "a placeholder that is missing" 'MANY has' <<'C'
TEXT(ONE, "Eins {name}.")
TEXT_PLURAL(MANY, "n", "{n} von {all}.", "{n}.")
C
refuses "a sentence without its plural form" 'MANY has the plural forms of None, in English of n' <<'C'
TEXT(ONE, "Eins {name}.")
TEXT(MANY, "{n} von {all}.")
C
refuses "a plural form that another number chooses" 'MANY has the plural forms of all' <<'C'
TEXT(ONE, "Eins {name}.")
TEXT_PLURAL(MANY, "all", "{n} von {all}.", "{n} von {all}en.")
C
refuses "a sentence at another place" 'ONE is elsewhere' <<'C'
TEXT_PLURAL(MANY, "n", "{n} von {all}.", "{n} von {all}en.")
TEXT(ONE, "Eins {name}.")
C
refuses "an empty sentence" 'ONE has no text' <<'C'
TEXT(ONE, "")
TEXT_PLURAL(MANY, "n", "{n} von {all}.", "{n} von {all}en.")
C
catches "a row that cannot be read" differing 'a row is in a form' src/text/sentence/texts_xx.def <<'C'
TEXT(ONE, EINS)
C
done_testing
