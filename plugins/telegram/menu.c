/* SPDX-License-Identifier: MIT
 * The menu of commands that Telegram offers in a chat, and the commands that people send from it.
 */
#include <stdio.h>
#include <string.h>

#include "telegram.h"

#define CHAT_COMMAND(id, words, arguments, help) words,
#define CHAT_WORD(word, help) word,
static const char *const menu[] = {
#include "commands.def" /* of the host: src/text/sentence */
};
#define N_MENU (sizeof menu / sizeof *menu)
#define NAME_SIZE 33 /* Telegram's limit */

/* Telegram allows no blank and no hyphen in the name of a command. */
static void menu_make_name(char *name, const char *words)
{
    snprintf(name, NAME_SIZE, "%s", words);
    for (; (name = strpbrk(name, " -")); name++)
        *name = '_';
}

json_t *menu_body(const struct tc_op *op)
{
    json_t *const commands = json_array();
    for (size_t i = 0; i < op->menu_count; i++) {
        char name[NAME_SIZE];
        menu_make_name(name, op->menu[i].name);
        json_array_append_new(
            commands, json_pack("{s:s, s:s}", "command", name, "description", op->menu[i].help));
    }
    return json_pack("{s:o}", "commands", commands);
}

/* A link to the bot begins a chat with "/start" and a word of its own. */
static bool is_start(const char *text)
{
    const size_t n = strlen("/start ");
    return strncmp(text, "/start ", n) == 0 && text[n] && !strpbrk(text + n, " \n");
}

const char *menu_spell(struct tc_turn *lobby, const char *text)
{
    for (size_t i = 0; *text == '/' && i < N_MENU; i++) {
        char name[NAME_SIZE];
        menu_make_name(name, menu[i]);
        if (strcmp(text + 1, name) == 0)
            return tc_sprint(lobby, "/%s", menu[i]);
    }
    return is_start(text) ? "/start" : text;
}
