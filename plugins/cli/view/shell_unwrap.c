/* SPDX-License-Identifier: MIT
 * Parses simple quoting; other syntax is left unchanged. */
#include "shell_unwrap.h"

#include <string.h>

bool is_shell(const char *word, size_t len)
{
    static const char *const names[] = {"sh", "bash", "zsh", "dash", "ksh"};
    const char *const slash = memrchr(word, '/', len);
    const char *const name = slash ? slash + 1 : word;
    const size_t n = len - (size_t)(name - word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
            return true;
    return false;
}

bool is_command_option(const char *word)
{
    const size_t n = strcspn(word, " ");
    return n > 1 && word[0] == '-' && word[n - 1] == 'c' &&
           strspn(word + 1, "abcdefghijklmnopqrstuvwxyz") == n - 1;
}

/* Parses a part of a word: 'text', "text" with escapes, or \c. Appends its text, and returns its
 * length; 0: another form. */
static size_t read_part(const char *p, char *out, size_t *len)
{
    const char quote = *p;
    size_t at = 1;
    if (quote == '\\' && p[1]) {
        out[(*len)++] = p[1];
        return 2;
    }
    if (quote != '\'' && quote != '"')
        return 0;
    for (; p[at] && p[at] != quote; at++) {
        if (quote == '"' && p[at] == '\\' && p[at + 1] && strchr("\"\\$`", p[at + 1]))
            at++;
        out[(*len)++] = p[at];
    }
    return p[at] == quote ? at + 1 : 0;
}

/* The result in `text` is never longer than the input. */
size_t shell_unwrap(char *text, size_t n)
{
    const size_t name = strcspn(text, " ");
    if (!is_shell(text, name) || !text[name])
        return n;
    const char *at = text + name + 1;
    if (!is_command_option(at))
        return n;
    at += strcspn(at, " ");
    at += strspn(at, " ");
    char copy[4096];
    size_t len = 0;
    if (n >= sizeof copy || (*at != '\'' && *at != '"'))
        return n;
    while (*at) {
        const size_t part = read_part(at, copy, &len);
        if (part == 0)
            return n;
        at += part;
    }
    memcpy(text, copy, len);
    text[len] = '\0';
    return len;
}
