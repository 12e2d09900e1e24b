/* SPDX-License-Identifier: MIT
 * Owns the table of commands. */
#include "core/inbound/user_command.h"

#include <strings.h>

#define BLANKS " \t\r\n\v\f"

static const struct user_command_word {
    const char *words;
    enum user_command command;
} rows[] = {
    {"/stop", COMMAND_STOP},
    {"stop", COMMAND_STOP},
    {"!stop", COMMAND_STOP},
    {"/new", COMMAND_NEW},
    {"!new", COMMAND_NEW},
    {"/status", COMMAND_STATUS},
    {"!status", COMMAND_STATUS},
    {"/queue", COMMAND_QUEUE},
    {"!queue", COMMAND_QUEUE},
    {"/queue clear", COMMAND_QUEUE_CLEAR},
    {"!queue clear", COMMAND_QUEUE_CLEAR},
    {"/help", COMMAND_HELP},
    {"!help", COMMAND_HELP},
    {"/start", COMMAND_HELP},
    {"!start", COMMAND_HELP},
};

static struct str user_command_trimmed(const char *text)
{
    text += strspn(text, BLANKS);
    size_t len = strlen(text);
    while (len && strchr(BLANKS, text[len - 1]))
        len--;
    return (struct str){text, len};
}

/* The words are the same, whatever stands between them and around. */
static bool user_command_is_same(struct str text, const char *words)
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
    return !text.len && !*words;
}

enum user_command user_command_parse(const char *text)
{
    CLEANUP_BUF struct buf plain = {0};
    user_command_strip_mention(&plain, text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (user_command_is_same(user_command_trimmed(plain.p ? plain.p : ""), rows[i].words))
            return rows[i].command;
    return COMMAND_NONE;
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
