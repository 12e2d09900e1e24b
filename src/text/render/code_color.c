/* SPDX-License-Identifier: MIT
 * Table of languages, and their lexer. */
#include "text/render/code_color.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct code_language {
    const char *names;    /* names, separated by blanks */
    const char *keywords; /* keywords, separated by blanks; NULL: lines of a diff */
    const char *line;     /* starts a comment up to the end of the line; "": none */
    bool block;           /* has comments of C */
    bool triple;          /* has triple-quoted strings */
    const char *quotes;   /* quote characters of strings */
    bool any_case;        /* keywords ignore case */
};

static const struct code_language languages[] = {
    {" c h cpp c++ cc hpp cxx objc java kotlin kt scala swift cs csharp dart php zig ",
     " auto bool break case catch char class const continue default delete do double else enum "
     "extern false final float for func fun goto if implements import in inline int interface let "
     "long namespace new null nullptr NULL override package private protected public return short "
     "signed sizeof static struct super switch template this throw true try typedef typename union "
     "unsigned using val var virtual void volatile while ",
     "//", true, false, "\"'", false},
    {" js javascript ts typescript jsx tsx mjs json jsonc json5 ",
     " async await break case catch class const continue default delete do else enum export "
     "extends "
     "false finally for from function if implements import in instanceof interface let new null of "
     "return static super switch this throw true try type typeof undefined var void while yield ",
     "//", true, false, "\"'`", false},
    {" go golang ",
     " break case chan const continue default defer else false for func go if import interface map "
     "nil package range return select struct switch true type var ",
     "//", true, false, "\"'`", false},
    {" rust rs ",
     " as async await break const continue crate else enum false fn for if impl in let loop match "
     "mod move mut pub ref return self Self static struct super trait true type unsafe use where "
     "while ",
     "//", true, false, "\"", false},
    {" py python python3 ",
     " and as assert async await break class continue def del elif else except False finally for "
     "from global if import in is lambda None nonlocal not or pass raise return self True try "
     "while with yield ",
     "#", false, true, "\"'", false},
    {" sh bash shell zsh console fish make makefile dockerfile ",
     " case do done elif else esac exit export fi for function if in local return set shift then "
     "unset until while ",
     "#", false, false, "\"'", false},
    {" yaml yml toml ini conf ruby rb perl pl r elixir ",
     " def do else elsif end false if my nil no null off on return sub true unless use while yes ",
     "#", false, false, "\"'", false},
    {" sql lua hs haskell ",
     " and as begin by case create delete do drop else end from function group having if in index "
     "inner insert into is join left limit local nil not null on or order outer primary return "
     "right select set table then union unique update values where while with ",
     "--", false, false, "\"'", true},
    {" diff patch udiff ", NULL, "", false, false, "", false},
};

static bool code_color_has_word(const char *words, struct str word, bool any_case)
{
    for (const char *at = words + 1; *at; at += strcspn(at, " ") + 1) {
        const size_t n = strcspn(at, " ");
        if (n == word.len && (any_case ? strncasecmp(at, word.p, n) : strncmp(at, word.p, n)) == 0)
            return true;
    }
    return false;
}

const struct code_language *code_color_find_language(const char *name)
{
    const size_t n = strcspn(name, " \t{,");
    for (size_t i = 0; n > 0 && i < sizeof languages / sizeof *languages; i++)
        if (code_color_has_word(languages[i].names, (struct str){name, n}, true))
            return &languages[i];
    return NULL;
}

static size_t line_length(struct str s)
{
    const char *const newline = memchr(s.p, '\n', s.len);
    return newline ? (size_t)(newline - s.p) : s.len;
}

static bool code_color_begins_with(struct str s, const char *text)
{
    const size_t n = strlen(text);
    return n > 0 && s.len >= n && memcmp(s.p, text, n) == 0;
}

static size_t code_color_diff_line(struct str rest, enum code_token *token)
{
    const size_t n = line_length(rest);
    *token = code_color_begins_with(rest, "@@") || code_color_begins_with(rest, "+++ ") ||
                     code_color_begins_with(rest, "--- ") || code_color_begins_with(rest, "diff ")
                 ? CODE_HUNK
             : code_color_begins_with(rest, "+") ? CODE_ADDED
             : code_color_begins_with(rest, "-") ? CODE_REMOVED
                                                 : CODE_PLAIN;
    return n < rest.len ? n + 1 : n;
}

/* Length up to and including `end`; up to the end of the text if `end` is missing. */
static size_t code_color_length_until(struct str s, size_t from, const char *end)
{
    const char *const at = s.len > from ? memmem(s.p + from, s.len - from, end, strlen(end)) : NULL;
    return at ? (size_t)(at - s.p) + strlen(end) : s.len;
}

/* A string ends with its line, unless its quote is ` or `. */
static size_t code_color_string_length(struct str s)
{
    size_t at = 1;
    while (at < s.len && s.p[at] != s.p[0] && (s.p[at] != '\n' || s.p[0] == '`'))
        at += s.p[at] == '\\' && at + 1 < s.len && s.p[at + 1] != '\n' ? 2 : 1;
    return at < s.len && s.p[at] == s.p[0] ? at + 1 : at < s.len ? at : s.len;
}

static bool code_color_is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static size_t word_length(struct str s)
{
    size_t n = 0;
    while (n < s.len && code_color_is_word_char(s.p[n]))
        n++;
    return n;
}

/* "#" and "--" begin a comment only after a blank or at the beginning of a line. */
static bool is_comment(const struct code_language *lang, struct str code, struct str rest)
{
    if (!code_color_begins_with(rest, lang->line))
        return false;
    return lang->line[0] == '/' || rest.p == code.p || isspace((unsigned char)rest.p[-1]);
}

static size_t code_color_word_or_char(const struct code_language *lang, struct str rest,
                                      enum code_token *token)
{
    const size_t n = word_length(rest);
    if (n == 0)
        return 1;
    if (isdigit((unsigned char)rest.p[0]))
        *token = CODE_NUMBER;
    else if (code_color_has_word(lang->keywords, (struct str){rest.p, n}, lang->any_case))
        *token = CODE_KEYWORD;
    return n;
}

size_t code_color_next(const struct code_language *lang, struct str code, struct str rest,
                       enum code_token *token)
{
    *token = CODE_PLAIN;
    if (!lang->keywords)
        return code_color_diff_line(rest, token);
    if (is_comment(lang, code, rest)) {
        *token = CODE_COMMENT;
        return line_length(rest);
    }
    if (lang->block && code_color_begins_with(rest, "/*")) {
        *token = CODE_COMMENT;
        return code_color_length_until(rest, 2, "*/");
    }
    if (lang->triple &&
        (code_color_begins_with(rest, "\"\"\"") || code_color_begins_with(rest, "'''"))) {
        const char end[] = {rest.p[0], rest.p[0], rest.p[0], '\0'};
        *token = CODE_STRING;
        return code_color_length_until(rest, 3, end);
    }
    if (strchr(lang->quotes, rest.p[0]) && rest.p[0]) {
        *token = CODE_STRING;
        return code_color_string_length(rest);
    }
    return code_color_word_or_char(lang, rest, token);
}
