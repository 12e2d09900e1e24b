#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints sentences in string literals of the folders whose texts for people are in the table
src/text/sentence/texts.def, and of connectors that people read, whose own are in cli_words.def or in
that of the host (tc_say); as "file:line: text". A literal is a sentence if it has a blank and begins with
a capital letter, after signs if any, or ends as a sentence does; log lines and errors do neither.

find_sentences.py EXCEPTIONS: lines "FILE | TEXT | REASON", as for find_words.py.
"""
import pathlib
import re
import sys

from find_words import c_literals, exceptions

CONNECTORS = ("cli", "discord", "email", "matrix", "ntfy", "slack", "teams", "telegram")
CORE = ("agent", "conversation", "inbound", "request", "settings", "turn")


ENGLISH = pathlib.Path("src/text/sentence/texts.def")


def known():
    """What tc_say finds."""
    source = ENGLISH.read_text(encoding="utf-8") if ENGLISH.exists() else ""
    return {text for _, text in c_literals(source)}


def sources():
    for folder in CORE:
        yield from sorted(pathlib.Path("src/core", folder).glob("*.[ch]"))
    yield from sorted(pathlib.Path("src/chat").glob("**/*.[ch]"))
    yield from sorted(pathlib.Path("src/plugin/instance").glob("services_inbound.c"))
    for name in CONNECTORS:
        yield from sorted(pathlib.Path("plugins", name).glob("**/*.[ch]"))


def literals():
    for path in sources():
        source = path.read_text(encoding="utf-8", errors="replace")
        source = re.sub(r"^[ \t]*#[ \t]*include[^\n]*", "", source, flags=re.M)
        yield from ((path, line, text) for line, text in c_literals(source))


def is_sentence(text):
    bare = re.sub(r"^(?:\\n|\s|[^\x00-\x7f])+|(?:\\n|\s)+$", "", text)
    return " " in bare and bool(re.match(r"[A-Z]", bare) or re.search(r"[a-z%][.!?]$", bare))


def main():
    allowed = exceptions(sys.argv[1])
    said = known()
    for path, line, text in literals():
        if not is_sentence(text) or (path.parts[0] == "plugins" and text in said):
            continue
        excuse = [e for e in allowed if e[0] == str(path) and e[1] in text]
        for e in excuse:
            e[2] = True
        if not excuse:
            table = "the words of the connector" if path.parts[0] == "plugins" else "src/text/sentence/texts.def"
            print(f"{path}:{line}: move to {table}: {text[:100]}")
    for file, text, used in allowed:
        if not used and pathlib.Path(file).exists():
            print(f"{sys.argv[1]}: no such text in {file}: {text}")


main()
