/* SPDX-License-Identifier: MIT
 * Owns the table of tools, and finds the relevant argument of a call. */
#include "policy/tool_argument.h"

#include <strings.h>

#include "base/bytes/buf.h"
#include "event/json/json_reader.h"

#define MEMBERS_MAX 256
#define KEYS_MAX 8
#define READ_MAX (768 << 10) /* longest raw value; longer ones are compared by length only */

/* Arguments permitted beside the main argument; NULL: any. */
static const char *const beside_nothing[] = {NULL};
static const char *const beside_command[] = {"description",       "timeout",       "timeout_ms",
                                             "run_in_background", "is_background", "cwd",
                                             "workdir",           "commands",      NULL};
/* Arguments that do not change what is executed. */
static const char *const idle[] = {"description",       "timeout",       "timeout_ms",
                                   "run_in_background", "is_background", NULL};

#define FILE_KEYS                                                                                  \
    {                                                                                              \
        "path", "file_path", "filePath", "filepath", "fileName", "absolute_path"                   \
    }

/* Argument names of different agents; a call that has two of the listed keys is ambiguous. */
static const struct tool {
    const char *name;
    enum tool_argument_kind kind;
    const char *keys[KEYS_MAX]; /* ends with NULL */
    const char *const *beside;
} tools[] = {
    {"Bash", ARGUMENT_COMMAND, {"command"}, beside_command},
    {"bash", ARGUMENT_COMMAND, {"command"}, beside_command},
    {"shell", ARGUMENT_COMMAND, {"command"}, beside_command},
    {"execute", ARGUMENT_COMMAND, {"command"}, beside_command},
    {"terminal", ARGUMENT_COMMAND, {"command"}, beside_command},
    {"run_shell_command", ARGUMENT_COMMAND, {"command"}, beside_command},
    {"Read", ARGUMENT_PATH, {"file_path"}, NULL},
    {"Write", ARGUMENT_PATH, {"file_path"}, NULL},
    {"Edit", ARGUMENT_PATH, {"file_path"}, NULL},
    {"MultiEdit", ARGUMENT_PATH, {"file_path"}, NULL},
    {"NotebookRead", ARGUMENT_PATH, {"notebook_path"}, NULL},
    {"NotebookEdit", ARGUMENT_PATH, {"notebook_path"}, NULL},
    {"LS", ARGUMENT_PATH, {"path"}, NULL},
    {"Grep", ARGUMENT_PATH, {"path"}, NULL},
    {"Glob", ARGUMENT_PATH, {"pattern"}, beside_nothing},
    {"read", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"write", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"edit", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"delete", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"view", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"create", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"read_file", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"write_file", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"delete_file", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"replace", ARGUMENT_PATH, FILE_KEYS, NULL},
    {"WebFetch", ARGUMENT_URL, {"url"}, NULL},
    {"web_fetch", ARGUMENT_URL, {"url"}, NULL},
    {"webfetch", ARGUMENT_URL, {"url"}, NULL},
    {"fetch", ARGUMENT_URL, {"url"}, NULL},
    {"WebSearch", ARGUMENT_TEXT, {"query"}, NULL},
    {"web_search", ARGUMENT_TEXT, {"query"}, NULL},
    {"google_web_search", ARGUMENT_TEXT, {"query"}, NULL},
};

static bool tool_argument_is_listed(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

/* Key as seen by readers that ignore case. */
static bool is_folded(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcasecmp(*list, word) == 0)
            return true;
    return false;
}

static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.p[i] < ' ' || text.p[i] > '~')
            return false;
    return true;
}

struct tool_argument_set tool_argument_parse_call(struct arena *a, const char *args, size_t len)
{
    struct tool_argument_set call = {.ascii = true};
    struct json j;
    struct str key;
    json_init(&j, args ? args : "", args ? len : 0);
    if (!args || !json_reader_enter_object(&j))
        return call;
    call.members = arena_alloc(a, MEMBERS_MAX * sizeof *call.members);
    while (json_reader_next_key(&j, &key)) {
        struct tool_argument_member m = {0};
        m.key.p = json_reader_unescape(a, key, &m.key.len);
        json_reader_skip(&j, &m.value);
        call.ascii &= is_ascii(m.key);
        if (call.n < MEMBERS_MAX)
            call.members[call.n] = m;
        call.n++;
    }
    call.valid = json_reader_finish(&j) == 0 && call.n <= MEMBERS_MAX;
    if (!call.valid)
        call.n = 0;
    return call;
}

static const struct tool *tool_argument_find_tool(const char *name)
{
    for (size_t i = 0; name && i < sizeof tools / sizeof *tools; i++)
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    return NULL;
}

/* ---- text forms of a value ---- */

static bool tool_argument_read_text(struct arena *a, struct str value, struct str *text)
{
    struct json j;
    struct str raw;
    json_init(&j, value.p, value.len);
    if (!json_reader_read_string(&j, &raw))
        return false;
    text->p = json_reader_unescape(a, raw, &text->len);
    return true;
}

/* A word that no shell changes. */
static bool tool_argument_is_word(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:,+@%-",
                    text.p[i]) ||
            !text.p[i])
            return false;
    return text.len > 0;
}

static bool is_shell(struct str text)
{
    static const char *const shells[] = {
        "sh",           "bash",          "zsh",       "dash",        "/bin/sh",
        "/bin/bash",    "/bin/zsh",      "/bin/dash", "/usr/bin/sh", "/usr/bin/bash",
        "/usr/bin/zsh", "/usr/bin/dash", NULL};
    for (const char *const *s = shells; *s; s++)
        if (str_is(text, *s))
            return true;
    return false;
}

static bool is_script_option(struct str text)
{
    return str_is(text, "-c") || str_is(text, "-lc");
}

/* An argv: words, or a shell and its script. */
static bool read_argv(struct arena *a, struct str value, struct str *text, bool *clear)
{
    CLEANUP_BUF struct buf joined = {0};
    struct str words[3] = {{0}};
    struct json j;
    size_t n = 0;
    *clear = true;
    if (!json_reader_open_array(&j, value))
        return false;
    for (struct str element, word; json_reader_next_value(&j, &element); n++) {
        if (!tool_argument_read_text(a, element, &word))
            return false;
        *clear &= tool_argument_is_word(word);
        if (n < 3)
            words[n] = word;
        if (n)
            buf_add_char(&joined, ' ');
        buf_add(&joined, word.p, word.len);
    }
    *text = (struct str){arena_memdup(a, joined.p, joined.len), joined.len};
    if (n == 3 && is_shell(words[0]) && is_script_option(words[1]) && words[2].len) {
        *text = words[2];
        *clear = true;
    }
    return n > 0;
}

/* The first word of *rest, which then begins after the word and one blank. */
static struct str take_word(struct str *rest)
{
    const char *const blank = memchr(rest->p, ' ', rest->len);
    const struct str word = {rest->p, blank ? (size_t)(blank - rest->p) : rest->len};
    const size_t used = word.len + (blank != NULL);
    *rest = (struct str){rest->p + used, rest->len - used};
    return word;
}

struct str tool_argument_shell_script(struct str command)
{
    struct str rest = command;
    if (!is_shell(take_word(&rest)) || !is_script_option(take_word(&rest)))
        return (struct str){0};
    if (tool_argument_is_word(rest) && *rest.p != '-')
        return rest;
    if (rest.len < 3 || rest.p[0] != '\'' || rest.p[rest.len - 1] != '\'')
        return (struct str){0};
    rest = (struct str){rest.p + 1, rest.len - 2};
    return memchr(rest.p, '\'', rest.len) ? (struct str){0} : rest;
}

/* ---- lookup ---- */

/* Replacement for a value that is not a string. */
static bool has_replacement(struct str text)
{
    return memmem(text.p, text.len, "\xef\xbf\xbd", 3) != NULL;
}

static void take_value(struct arena *a, struct tool_argument *to, struct str value)
{
    struct str text = value;
    bool clear = true;
    if (value.len > READ_MAX) {
        to->clear = false;
        to->texts[to->n++] = value;
        return;
    }
    const bool is_text = tool_argument_read_text(a, value, &text);
    const bool is_argv = !is_text && (to->kind == ARGUMENT_COMMAND || to->kind == ARGUMENT_ANY) &&
                         read_argv(a, value, &text, &clear);
    if (!is_text && !is_argv) {
        to->unread = true;
        return;
    }
    to->clear = to->clear && clear && text.len && !memchr(text.p, 0, text.len) &&
                !has_replacement(text) && (is_text || to->kind == ARGUMENT_COMMAND);
    to->alone = to->alone && is_text;
    to->text = text;
    to->texts[to->n++] = text;
}

struct tool_argument tool_argument_find(struct arena *a, const struct tool_argument_set *call,
                                        const char *tool, const char *name)
{
    const struct tool *const known = tool_argument_find_tool(tool);
    const bool is_main = known && (!name || tool_argument_is_listed(known->keys, name));
    const char *const named[] = {name, NULL};
    const char *const *const keys = name ? named : known ? known->keys : named;
    const char *const *const beside = is_main ? known->beside : NULL;
    struct tool_argument found = {.kind = is_main ? known->kind : ARGUMENT_ANY,
                                  .clear = true,
                                  .alone = true,
                                  .unread = !call->valid || !call->ascii,
                                  .texts = arena_alloc(a, (call->n + 1) * sizeof *found.texts)};
    for (size_t i = 0; i < call->n; i++) {
        const struct tool_argument_member *const m = &call->members[i];
        if (is_folded(keys, m->key.p)) {
            take_value(a, &found, m->value);
            found.clear &= tool_argument_is_listed(keys, m->key.p);
            continue;
        }
        found.clear &= !beside || tool_argument_is_listed(beside, m->key.p);
        found.alone &= found.kind != ARGUMENT_COMMAND || tool_argument_is_listed(idle, m->key.p);
    }
    found.unread |= !found.n;
    found.clear = found.clear && found.n == 1 && !found.unread;
    found.alone &= found.clear;
    return found;
}
