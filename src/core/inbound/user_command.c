/* SPDX-License-Identifier: MIT
 * Table of commands. */
#include "core/inbound/user_command.h"

#include <string.h>
#include <strings.h>

#include "text/sentence/texts.h"

#define BLANKS " \t\r\n\v\f"

#define HELP(en, de)                                                                               \
    {                                                                                              \
        [LANGUAGE_EN] = (en), [LANGUAGE_DE] = (de)                                                 \
    }
#define CHAT_COMMAND(id, words, arguments, en, de) {words, arguments, HELP(en, de), COMMAND_##id},
#define CHAT_WORD(word, en, de) {word, "", HELP(en, de), COMMAND_NONE},
static const struct user_command_row {
    const char *words, *arguments, *help[LANGUAGE_COUNT];
    enum user_command command; /* COMMAND_NONE: a visibility word */
} rows[] = {
#include "text/sentence/commands.def"
};
#define N_ROWS (sizeof rows / sizeof *rows)

static struct str user_command_trimmed(const char *text)
{
    text += strspn(text, BLANKS);
    size_t len = strlen(text);
    while (len && strchr(BLANKS, text[len - 1]))
        len--;
    return (struct str){text, len};
}

/* Whether the text begins with the words, across any white space; *rest is the remaining text. */
static bool user_command_has_words(struct str text, const char *words, struct str *rest)
{
    while (text.len && *words) {
        const size_t have = strcspn(text.p, BLANKS), want = strcspn(words, " ");
        const size_t word = have < text.len ? have : text.len;
        if (word != want || strncasecmp(text.p, words, word) != 0)
            return false;
        const size_t gap = word < text.len ? strspn(text.p + word, BLANKS) : 0;
        text = (struct str){text.p + word + gap, text.len - word - gap};
        words += want + (words[want] == ' ');
    }
    *rest = text;
    return !*words;
}

static bool user_command_matches(const struct user_command_row *row, struct str text,
                                 struct str *rest)
{
    return row->command != COMMAND_NONE && user_command_has_words(text, row->words, rest) &&
           (!rest->len || (*row->arguments && !memchr(rest->p, '\n', rest->len)));
}

enum user_command user_command_parse(const char *text, struct buf *argument)
{
    CLEANUP_BUF struct buf plain = {0};
    user_command_strip_mention(&plain, text);
    struct str words = user_command_trimmed(plain.p ? plain.p : ""), rest;
    const bool marked = words.len && (*words.p == '/' || *words.p == '!');
    if (marked)
        words = (struct str){words.p + 1, words.len - 1};
    for (size_t i = 0; i < N_ROWS; i++) {
        if ((!marked && rows[i].command != COMMAND_STOP) ||
            !user_command_matches(&rows[i], words, &rest))
            continue;
        buf_add(argument, rest.p, rest.len);
        return rows[i].command;
    }
    return COMMAND_NONE;
}

void user_command_append_help(struct buf *out, char prefix)
{
    texts_append(out, TEXT_HELP_HEAD, NULL);
    buf_add_char(out, '\n');
    for (size_t i = 0; i < N_ROWS; i++)
        buf_printf(out, "\n- %c%s%s%s: %s", prefix, rows[i].words, *rows[i].arguments ? " " : "",
                   rows[i].arguments, rows[i].help[texts_language()]);
}

char user_command_prefix(const char *text)
{
    return *user_command_trimmed(text).p == '!' ? '!' : '/';
}

static size_t user_command_name_len(const char *p)
{
    return strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
}

void user_command_strip_mention(struct buf *out, const char *text)
{
    const struct str word = user_command_trimmed(text);
    const size_t head = word.len && *word.p == '/' ? 1 + user_command_name_len(word.p + 1) : 0;
    const size_t bot =
        head > 1 && word.p[head] == '@' ? user_command_name_len(word.p + head + 1) : 0;
    const char *const rest = bot ? word.p + head + 1 + bot : text;
    if (!bot || (*rest && !strchr(BLANKS, *rest))) {
        buf_add_str(out, text);
        return;
    }
    buf_add(out, word.p, head);
    buf_add_str(out, rest);
}
