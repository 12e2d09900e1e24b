/* SPDX-License-Identifier: MIT
 * Fuzzes rules that allow: what they let pass is plain by what another reader of JSON and other
 * words for it say. The first byte chooses the tool, and whether the rest is its arguments or the
 * text of the one that counts. */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "event/json/json_writer.h"
#include "policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct conf_rule rules[] = {
    {.action = CONF_ALLOW, .tool = "Bash", .match = CONF_PREFIX, .pattern = "git status"},
    {.action = CONF_ALLOW, .tool = "Write", .match = CONF_PREFIX, .pattern = "/srv/data"},
    {.action = CONF_ALLOW, .tool = "WebFetch", .match = CONF_PREFIX, .pattern = "https://a.org"},
    {.action = CONF_ALLOW,
     .tool = "mcp__*",
     .argument = "x",
     .match = CONF_PREFIX,
     .pattern = "/srv/data"},
    {.action = CONF_DENY, .tool = "Bash", .match = CONF_PREFIX, .pattern = "rm"},
    {.action = CONF_DENY, .tool = "Write", .match = CONF_GLOB, .pattern = "*a*b*c"},
    {.action = CONF_ASK, .tool = "WebFetch", .match = CONF_EXACT, .pattern = "https://b.org"},
};
static const struct conf_agent agent = {.rules = rules, .n_rules = sizeof rules / sizeof *rules};

static void demand(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "allowed, but %s\n", what);
    abort();
}

static void check_bytes(const char *text, const char *others)
{
    for (; *text; text++)
        demand(isascii(*text) && (isalnum(*text) || strchr(others, *text)), "an odd byte");
}

static void check_command(const char *text)
{
    static const char word[] = "git status";
    demand(strncmp(text, word, strlen(word)) == 0, "another command");
    demand(!text[strlen(word)] || text[strlen(word)] == ' ', "half a word");
    check_bytes(text, " _./:,+@%-");
}

static void check_path(const char *text, bool shell)
{
    demand(strcmp(text, "/srv/data") == 0 || strncmp(text, "/srv/data/", 10) == 0, "another path");
    demand(!strstr(text, "//") && !strstr(text, "/./") && !strstr(text, "/../"), "a detour");
    const size_t len = strlen(text);
    demand(strcmp(text + len - 2, "/.") != 0 && strcmp(text + len - 3, "/..") != 0, "a detour");
    check_bytes(text, shell ? " _./:,+@-" : " _./:,+@-()[]{}#=~^!");
}

static void check_url(const char *text)
{
    static const char host[] = "https://a.org";
    demand(strncmp(text, host, strlen(host)) == 0, "another host");
    demand(strchr("/?#", text[strlen(host)]), "a longer host"); /* or the end */
    for (const char *c = text; *c; c++)
        demand(isascii(*c) && isgraph(*c) && *c != '\\' && *c != '@', "an odd byte");
}

/* The script of a shell in single quotes stands for itself. */
static void check_line(const char *text)
{
    const char *const from = strstr(text, "c '");
    if (strncmp(text, "git", 3) == 0 || !from) {
        check_command(text);
        return;
    }
    char *const script = strdup(from + 3);
    const size_t len = strlen(script);
    demand(len && script[len - 1] == '\'', "no script");
    script[len - 1] = 0;
    check_command(script);
    free(script);
}

static void check_argv(const json_t *argv)
{
    const size_t n = json_array_size(argv);
    demand(n > 0, "no words");
    if (n == 3 && strcmp(json_string_value(json_array_get(argv, 0)), "git") != 0) {
        check_line(json_string_value(json_array_get(argv, 2)));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *const word = json_string_value(json_array_get(argv, i));
        demand(word && *word, "no word");
        check_bytes(word, "_./:,+@%-");
    }
}

static void check_allowed(unsigned which, const char *key, const char *args, size_t len)
{
    json_error_t error;
    json_t *const all = json_loadb(args, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    demand(json_is_object(all), "not one object of single keys");
    const json_t *const value = json_object_get(all, key);
    const char *const text = json_string_value(value);
    demand(text || (which == 0 && json_is_array(value)), "no text");
    demand(!text || strlen(text) == json_string_length(value), "NUL");
    if (!text)
        check_argv(value);
    else if (which == 0)
        check_line(text);
    else if (which == 2)
        check_url(text);
    else
        check_path(text, which == 3);
    json_decref(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const tools[] = {"Bash", "Write", "WebFetch", "mcp__f__x"};
    static const char *const keys[] = {"command", "file_path", "url", "x"};
    if (size < 1)
        return 0;
    const unsigned which = data[0] & 3;
    const char *const rest = (const char *)data + 1;
    struct buf args = {0};
    struct arena arena = {0};
    if (data[0] & 4 && utf8_is_valid(rest, size - 1)) {
        buf_printf(&args, "{\"%s\":", keys[which]);
        jsonw_string(&args, rest, size - 1);
        buf_add_char(&args, '}');
    } else {
        buf_add(&args, rest, size - 1);
    }
    const char *const text = args.p ? args.p : "";
    if (policy_evaluate(&agent, tools[which], text, args.len).action == POLICY_ALLOW)
        check_allowed(which, keys[which], text, args.len);
    policy_approval_key(&arena, tools[which], text, args.len);
    arena_fini(&arena);
    buf_fini(&args);
    return 0;
}
