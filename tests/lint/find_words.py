#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the texts of the program that use a phrase its users do not understand, or a count before a
fixed plural, as "file:line: phrase: text". Reads the sources below the current folder: src and plugins
(string literals of C and of .def), share/page (strings of JavaScript, lines of HTML).

find_words.py EXCEPTIONS: lines "FILE | TEXT | REASON" of texts that may stay; TEXT is a part of the literal.
An exception that excuses nothing is printed, too.
"""
import pathlib
import re
import sys

# Each with what to write instead; the whole style is in HACKING.md.
PHRASES = [
    (r"[Tt]here (?:is|are) no\b", 'unknown X "name", no X, or X is missing'),
    (r"\bha(?:s|ve) to be\b", "must be"),
    (r"\b(?:is|are) expected\b", "expected A, found B"),
    # A sentence has a subject and may say this of it; an error has its object in front.
    (r"^[^A-Z]*\bcannot be (?:[a-z]+ed|read|run|made|sent|written|set|found|told|taken|kept)\b",
     "cannot VERB OBJECT"),
    (r"\bis none of\b", "invalid value; valid values:"),
    (r"\b(?:is|are) no (?:number|path|text|file|folder|turn|agent|name)\b", "is not a …"),
    (r"\bto be had\b", "cannot allocate"),
    (r"\bmend(?:s|ed)?\b", "repair, error"),
    (r"\bfolders?\b", "directory"),
    (r"\bsaid\b", "the subject and what it did"),
    (r"\btold\b", "delivered, reported, shown"),
    (r"\bthe begin of\b", "prefix"),
    (r"\bas it was\b", "unchanged"),
    (r"\bis over\b", "has ended"),
    (r"\bunder way\b", "running, in flight"),
    (r"\b(?:died|dies)\b", "crashed, terminated, exited"),
    (r"\bwhole number\b", "integer"),
]
# A number before a word in the plural: 1 of them is wrong. Units and verbs are no plurals.
COUNT = re.compile(r"%(?:z|l|ll|h|hh|j)?[ud](?: [a-z]+)? ([a-z]+s)\b")
UNITS = {"bytes", "ms", "is", "has", "was", "days", "does", "exceeds", "less", "process"}
BOUNDS = ("at most", "more than", "least", "limit:", "limits:", " to", "of", "%d", "limit of")
CONVERSION = re.compile(r'%["] *PRI[du](?:8|16|32|64) *["]')


def c_literals(text):
    """Yields (line, joined text) of adjacent string literals; a PRI macro in between is %d."""
    token = re.compile(r"""/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|[A-Za-z_]\w*|\s+|\\\n|.""",
                       re.S)
    line, start, parts = 1, 0, []
    for match in token.finditer(text):
        piece = match.group()
        if piece.startswith('"'):
            if not parts:
                start = line
            parts.append(piece[1:-1])
        elif re.fullmatch(r"PRI[a-zA-Z]+\d+|JSON_INTEGER_FORMAT", piece) and parts:
            parts.append("d")
        elif parts and not piece.isspace() and not piece.startswith(("/*", "//", "\\")):
            yield start, "".join(parts)
            parts = []
        line += piece.count("\n")
    if parts:
        yield start, "".join(parts)


def page_texts(text):
    """Yields (line, text) of each string of a script, or each line of a document."""
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*(//|/\*|\*)", line):
            continue
        for match in re.finditer(r'"((?:\\.|[^"\\])*)"|`([^`]*)`', line):
            yield number, match.group(1) or match.group(2) or ""


def texts():
    for folder in ("src", "plugins"):
        root = pathlib.Path(folder)
        for path in sorted([*root.rglob("*.[ch]"), *root.rglob("*.def")]):
            source = path.read_text(encoding="utf-8", errors="replace")
            source = re.sub(r"^[ \t]*#[ \t]*include[^\n]*", "", source, flags=re.M)
            yield from ((path, line, text) for line, text in c_literals(source))
    for path in sorted(pathlib.Path("share/page").glob("*.mjs")):
        yield from ((path, *found) for found in page_texts(path.read_text(encoding="utf-8")))
    for path in sorted(pathlib.Path("share/page").glob("*.html")):
        yield from ((path, *found) for found in enumerate(path.read_text("utf-8").split("\n"), 1))


def faults(text):
    if " " not in text.strip():
        return
    for pattern, instead in PHRASES:
        match = re.search(pattern, text)
        if match:
            yield f'"{match.group()}"; write: {instead}'
    for match in COUNT.finditer(text):
        before = text[:match.start()].rstrip(" (")
        if match.group(1) not in UNITS and not before.endswith(BOUNDS):
            yield f'"{match.group()}" is wrong for 1; use PLURAL'


def exceptions(path):
    found = []
    for line in pathlib.Path(path).read_text(encoding="utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            file, text, reason = (part.strip() for part in line.split(" | "))
            assert reason, line
            found.append([file, text, False])
    return found


def main():
    allowed = exceptions(sys.argv[1])
    for path, line, text in texts():
        for fault in faults(text):
            excuse = [e for e in allowed if e[0] == str(path) and e[1] in text]
            for e in excuse:
                e[2] = True
            if not excuse:
                print(f"{path}:{line}: {fault}: {text[:120]}")
    for file, text, used in allowed:
        if not used and pathlib.Path(file).exists():
            print(f"{sys.argv[1]}: no such text in {file}: {text}")


if __name__ == "__main__":
    main()
