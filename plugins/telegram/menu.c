/* SPDX-License-Identifier: MIT
 * The menu of commands that Telegram offers in a chat, and the commands that people send from it.
 */
#include <string.h>

#include "telegram.h"

/* Names in the menu have no blank and no hyphen, so some stand for other words of the host. */
static const struct {
    const char *name, *means, *what;
} menu[] = {
    {"stop", "/stop", "End the running turn, drop what waits"},
    {"new", "/new", "Begin a new session"},
    {"status", "/status", "What runs, waits and is shown"},
    {"queue", "/queue", "The messages that wait"},
    {"queue_clear", "/queue clear", "Drop the messages that wait"},
    {"show_tools", "/show-tools", "Show tool calls"},
    {"hide_tools", "/hide-tools", "Hide tool calls"},
    {"show_thinking", "/show-thinking", "Show thinking"},
    {"hide_thinking", "/hide-thinking", "Hide thinking"},
    {"show_narration", "/show-narration", "Show what the agent says while it works"},
    {"hide_narration", "/hide-narration", "Hide what the agent says while it works"},
    {"show_final", "/show-final", "Show answers"},
    {"hide_final", "/hide-final", "Hide answers"},
    {"show_all", "/show-all", "Show everything"},
    {"hide_all", "/hide-all", "Show answers only"},
    {"stream_status", "/stream-status", "What is shown"},
    {"help", "/help", "The commands"},
};

void menu_publish(struct tc_turn *lobby)
{
    json_t *const commands = json_array();
    for (size_t i = 0; i < sizeof menu / sizeof *menu; i++)
        json_array_append_new(commands, json_pack("{s:s, s:s}", "command", menu[i].name,
                                                  "description", menu[i].what));
    call_send(lobby, &(struct telegram_call){.method = "setMyCommands",
                                             .body = json_pack("{s:o}", "commands", commands),
                                             .tag = call_tag("cmds"),
                                             .priority = TC_P_NOTICE,
                                             .flags = TC_IDEMPOTENT});
}

/* A link to the bot begins a chat with "/start" and a word of its own. */
static bool is_start(const char *text)
{
    const size_t n = strlen("/start ");
    return strncmp(text, "/start ", n) == 0 && text[n] && !strpbrk(text + n, " \n");
}

const char *menu_spell(const char *text)
{
    for (size_t i = 0; *text == '/' && i < sizeof menu / sizeof *menu; i++)
        if (strcmp(text + 1, menu[i].name) == 0)
            return menu[i].means;
    return is_start(text) ? "/start" : text;
}
