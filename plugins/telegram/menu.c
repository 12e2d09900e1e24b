/* SPDX-License-Identifier: MIT
 * The menu of commands that Telegram offers in a chat, and the commands that people send from it.
 */
#include <string.h>

#include "telegram.h"

/* Telegram allows no blank and no hyphen in the name of a command: `means` is the host's word. */
static const struct {
    const char *name, *means, *what;
} menu[] = {
    {"stop", "/stop", "Stop the running turn, drop queued messages"},
    {"new", "/new", "Start a new session"},
    {"status", "/status", "Show status"},
    {"queue", "/queue", "List queued messages"},
    {"queue_clear", "/queue clear", "Drop queued messages"},
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
    {"stream_status", "/stream-status", "List what is shown"},
    {"help", "/help", "List the commands"},
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
