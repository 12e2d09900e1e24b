/* SPDX-License-Identifier: MIT
 * Tokens of source code, for colours: keywords, strings, comments, numbers and lines of a diff. A
 * simple lexer per family of languages, which may be wrong but always ends. Pure. */
#ifndef TEXT_RENDER_CODE_COLOR_H
#define TEXT_RENDER_CODE_COLOR_H

#include "base/str.h"

enum code_token {
    CODE_PLAIN,
    CODE_KEYWORD,
    CODE_STRING,
    CODE_COMMENT,
    CODE_NUMBER,
    CODE_ADDED,
    CODE_REMOVED,
    CODE_HUNK,
};

struct code_language;

/* The language of that name ("py", "c++", "diff", …); NULL: unknown. */
const struct code_language *code_color_find_language(const char *name);
/* The length (above 0) of the token at the beginning of `rest`, which is not empty. `code` is the
 * whole text, of which `rest` is the end. */
size_t code_color_next(const struct code_language *lang, struct str code, struct str rest,
                       enum code_token *token);

#endif
