#!/bin/sh
# SPDX-License-Identifier: MIT
# Texts that people read, in the program and on its page, are free of phrases that only its developers
# understand, and of counts before a fixed plural.
. "$(dirname "$0")/lint.sh"
needs python3

odd_texts() {
    python3 "$top/tests/lint/find_words.py" "$top/tests/lint/words.allowed"
}

holds "texts are in plain words" odd_texts
catches "a thing that there is not" odd_texts 'src/bad.c:1: "there is no"' src/bad.c <<'C'
const char *why(void) { return "there is no agent of that name"; }
C
catches "a failure without its object, over two literals" odd_texts 'src/bad.c:2: "cannot be opened"' src/bad.c <<'C'
/* What cannot be opened is no text. */
const char *why(void) { return "cannot "
                               "be opened"; }
C
catches "a demand" odd_texts 'plugins/x/bad.c:1: "has to be"' plugins/x/bad.c <<'C'
const char *why(void) { return "prompt has to be a string"; }
C
catches "1 agents" odd_texts 'src/bad.c:1: "%zu agents"' src/bad.c <<'C'
const char *good(void) { return "OK: %zu agents"; }
C
catches "1 events, of 64 bits" odd_texts 'src/bad.c:1: "%d events"' src/bad.c <<'C'
const char *lost(void) { return "lost: %" PRIu64 " events"; }
C
catches "a folder in a table of texts" odd_texts 'src/bad.def:1: "folder"' src/bad.def <<'C'
TEXT(WHERE, "It works in this folder.")
C
catches "a folder on the page" odd_texts 'share/page/bad.mjs:2: "folder"' share/page/bad.mjs <<'JS'
// A folder in a comment is none.
export const title = "Files of this folder";
JS
catches "a folder in the document" odd_texts 'share/page/index.html:1: "folder"' share/page/index.html <<'HTML'
<p>Select a folder.</p>
HTML

# excused TEXT: the exception of the file and the text is enough, or is reported itself.
excused() {
    mkdir -p "$scratch/tree/src"
    echo 'const char *why(void) { return "the folder of the plugin"; }' >"$scratch/tree/src/bad.c"
    echo "src/bad.c | $1 | as a test" >"$scratch/allowed"
    (cd "$scratch/tree" && python3 "$top/tests/lint/find_words.py" "$scratch/allowed")
}
rm -rf "$scratch/tree"
[ -z "$(excused 'the folder of')" ]
result $? "an exception counts"
excused 'another folder' | grep -q 'no such text in src/bad.c: another folder'
result $? "catches an exception of a text that is gone"
done_testing
