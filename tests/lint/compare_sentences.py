#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_sentences.py ENGLISH OTHER: prints how the sentences of another language differ from the
English ones in what they have to share: the ids, their order, the placeholders, and the placeholder that
chooses the plural form. One difference per line, as "file:line: text"."""
import re
import sys

ROW = re.compile(r'^TEXT(?P<plural>_PLURAL)?\(\s*(?P<id>\w+),(?P<rest>(?:\s*"(?:[^"\\]|\\.)*"\s*,?)+)\)', re.M)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
ARGUMENT = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')


def arguments(text):
    """The arguments of a row, with adjacent literals joined."""
    return ["".join(LITERAL.findall(argument)) for argument in ARGUMENT.findall(text)]


def rows(path):
    """-> {id: (line, name of the count or None, [its forms])}"""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    found = {}
    for row in ROW.finditer(source):
        words = arguments(row["rest"])
        count = words.pop(0) if row["plural"] else None
        found[row["id"]] = (source.count("\n", 0, row.start()) + 1, count, words)
    if len(found) != len(re.findall(r"^TEXT", source, re.M)):
        sys.exit(f"{path}: a row is in a form that this test cannot read, or stands twice")
    return found


def placeholders(form):
    return sorted(set(re.findall(r"\{\w+\}", form)))


def differences(english, other):
    """-> (id, what is wrong)"""
    for id_ in english.keys() - other.keys():
        yield id_, "is not translated"
    for id_ in other.keys() - english.keys():
        yield id_, "is in no English row"
    common = [id_ for id_ in english if id_ in other]
    if common != [id_ for id_ in other if id_ in english]:
        yield next(a for a, b in zip(common, (i for i in other if i in english)) if a != b), "is elsewhere"
    for id_ in common:
        (_, count, forms), (_, their_count, their_forms) = english[id_], other[id_]
        if count != their_count or len(forms) != len(their_forms):
            yield id_, f"has the plural forms of {their_count}, in English of {count}"
        elif any(not form for form in their_forms):
            yield id_, "has no text"
        elif placeholders(forms[-1]) != placeholders(their_forms[-1]):
            yield id_, f"has {placeholders(their_forms[-1])}, in English {placeholders(forms[-1])}"


def main():
    english, other = rows(sys.argv[1]), rows(sys.argv[2])
    if not english or not other:
        print(f"{sys.argv[2]}:1: no sentences")
    for id_, what in sorted(differences(english, other)):
        line = other[id_][0] if id_ in other else 1
        print(f"{sys.argv[2]}:{line}: {id_} {what}")


main()
