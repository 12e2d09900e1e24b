/* SPDX-License-Identifier: MIT
 * Common options of chat connectors: adds them to the options of a plugin, and reads them. */
#include "chat/chat_options.h"

#include <stdalign.h>
#include <string.h>

#include "text/render/text_pieces.h"

/* Members are found by key, because a plugin may have its own option of the same name. */
struct chat_conf {
    const char *finalize, *after, *overflow, *ambiguous;
    int64_t max_parts, progress_after_ms, refusals_max;
    bool progress, thinking, footer, retry;
};

static const struct tc_option chat_option_rows[] = {
    TC_OPTION(struct chat_conf, finalize, "new", 0,
              "answer: new (send a new message) or edit (replace the progress message)"),
    TC_OPTION(struct chat_conf, after, "delete", 0,
              "progress message after the answer: keep, summary or delete"),
    TC_OPTION(struct chat_conf, overflow, "split", 0,
              "answer too long for one message: split, file or trim"),
    TC_OPTION(struct chat_conf, max_parts, "6", 0, "maximum number of messages per answer"),
    TC_OPTION(struct chat_conf, ambiguous, "mark", 0,
              "answer with unknown delivery state: mark (send again, marked) or drop"),
    TC_OPTION(struct chat_conf, progress, "true", 0, "show a progress message"),
    TC_OPTION(struct chat_conf, progress_after_ms, "1500", 0,
              "delay before the progress message is sent, in ms"),
    TC_OPTION(struct chat_conf, thinking, "true", 0,
              "show thinking in the progress message if visibility allows it"),
    TC_OPTION(struct chat_conf, footer, "false", 0,
              "end an answer with a line about its time, tool calls, tokens and cost"),
    TC_OPTION(struct chat_conf, retry, "true", 0,
              "show errors with a button that repeats the message, where there are buttons"),
    TC_OPTION(struct chat_conf, refusals_max, "1000", 0,
              "refused requests in 10 minutes after which all requests pause"),
};
#define OPTION_COUNT (sizeof chat_option_rows / sizeof *chat_option_rows)

static const struct tc_rule chat_option_rules[] = {
    {.key = "finalize", .kind = TC_RULE_ONE_OF, .text = "new edit"},
    {.key = "after", .kind = TC_RULE_ONE_OF, .text = "keep summary delete"},
    {.key = "overflow", .kind = TC_RULE_ONE_OF, .text = "split file trim"},
    {.key = "max_parts", .kind = TC_RULE_RANGE, .min = 1, .max = 50},
    {.key = "ambiguous", .kind = TC_RULE_ONE_OF, .text = "mark drop"},
    {.key = "progress_after_ms", .kind = TC_RULE_DURATION, .text = "ms"},
    {.key = "progress_after_ms", .kind = TC_RULE_RANGE, .min = 0, .max = INT64_MAX},
    {.key = "refusals_max", .kind = TC_RULE_RANGE, .min = 1, .max = 5000},
};
#define RULE_COUNT (sizeof chat_option_rules / sizeof *chat_option_rules)

/* ---- adding ---- */

static const struct tc_option *chat_options_find_option(const struct tc_option *rows,
                                                        const char *key)
{
    while (rows && rows->key && strcmp(rows->key, key) != 0)
        rows++;
    return rows && rows->key ? rows : NULL;
}

static size_t count_options(const struct tc_option *rows)
{
    size_t n = 0;
    while (rows && rows[n].key)
        n++;
    return n;
}

static size_t count_rules(const struct tc_rule *rows)
{
    size_t n = 0;
    while (rows && rows[n].key)
        n++;
    return n;
}

static const struct tc_option *extend_options(const struct tc_plugin *plugin, size_t base,
                                              struct arena *arena)
{
    size_t n = count_options(plugin->options);
    struct tc_option *const all = arena_alloc(arena, (n + OPTION_COUNT + 1) * sizeof *all);
    if (n)
        memcpy(all, plugin->options, n * sizeof *all);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (chat_options_find_option(plugin->options, chat_option_rows[i].key))
            continue;
        all[n] = chat_option_rows[i];
        all[n++].offset += base;
    }
    return all;
}

static const struct tc_rule *extend_rules(const struct tc_plugin *plugin, struct arena *arena)
{
    size_t n = count_rules(plugin->rules);
    struct tc_rule *const all = arena_alloc(arena, (n + RULE_COUNT + 1) * sizeof *all);
    if (n)
        memcpy(all, plugin->rules, n * sizeof *all);
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (!chat_options_find_option(plugin->options, chat_option_rules[i].key))
            all[n++] = chat_option_rules[i];
    return all;
}

struct tc_plugin chat_options_extend(const struct tc_plugin *plugin, struct arena *arena)
{
    struct tc_plugin extended = *plugin;
    const size_t align = alignof(struct chat_conf);
    const size_t base = (plugin->conf_size + align - 1) / align * align;
    if (!plugin->chat && !(plugin->flags & TC_CHATS))
        return extended;
    extended.options = extend_options(plugin, base, arena);
    extended.rules = extend_rules(plugin, arena);
    extended.conf_size = base + sizeof(struct chat_conf);
    return extended;
}

/* ---- checking ---- */

/* Size of the table in the first version of the header. */
#define TABLE_MIN offsetof(struct tc_chat, read)

/* Native streams need three operations, and their items have no entities. */
static const char *find_stream_fault(const struct tc_chat *chat)
{
    const uint32_t all =
        TC_CAN(TC_OP_STREAM_BEGIN) | TC_CAN(TC_OP_STREAM_APPEND) | TC_CAN(TC_OP_STREAM_END);
    if (!(chat->can & all))
        return NULL;
    if ((chat->can & all) != all)
        return "can lacks one of TC_OP_STREAM_BEGIN, TC_OP_STREAM_APPEND and TC_OP_STREAM_END";
    if (chat->size < offsetof(struct tc_chat, stream) + sizeof chat->stream)
        return "the table is too short for native streams";
    return chat->stream.text.form == TC_TELEGRAM ||
                   text_pieces_find_fault(
                       &(struct tc_text){.markdown = "", .form = chat->stream.text.form})
               ? "stream.text has a form that streams cannot have"
               : NULL;
}

static bool has_forms(const struct tc_chat *chat)
{
    for (size_t i = 0; i < TC_ROLES; i++)
        if (text_pieces_find_fault(
                &(struct tc_text){.markdown = "", .form = chat->text[i].form, .unit = chat->unit}))
            return false;
    return true;
}

const char *chat_options_find_fault(const struct tc_plugin *plugin, const struct tc_chat *chat)
{
    const uint32_t required = TC_CAN(TC_OP_IDENTIFY) | TC_CAN(TC_OP_POST);
    if (chat->size < TABLE_MIN)
        return "the table is too short; set .size = sizeof(struct tc_chat)";
    if (!chat->request)
        return "request is missing";
    if ((chat->can & required) != required)
        return "can lacks TC_OP_IDENTIFY or TC_OP_POST";
    if (!(plugin->flags & TC_DELIVERS))
        return "the flag TC_DELIVERS is missing";
    if (chat->idempotency == TC_IDEMPOTENCY_LOOKUP && !(chat->can & TC_CAN(TC_OP_LOOKUP)))
        return "TC_IDEMPOTENCY_LOOKUP needs TC_OP_LOOKUP";
    if (find_stream_fault(chat))
        return find_stream_fault(chat);
    return has_forms(chat) ? NULL : "a text has an unknown form or unit";
}

/* ---- reading ---- */

static const void *chat_options_value(const struct tc_plugin *plugin, const void *conf,
                                      const char *key)
{
    const struct tc_option *const row = chat_options_find_option(plugin->options, key);
    return row ? (const char *)conf + row->offset : NULL;
}

static bool chat_options_is_word(const struct tc_plugin *plugin, const void *conf, const char *key,
                                 const char *word)
{
    const char *text = NULL;
    const void *const value = chat_options_value(plugin, conf, key);
    if (value)
        memcpy(&text, value, sizeof text);
    return text && strcmp(text, word) == 0;
}

static int64_t chat_options_read_number(const struct tc_plugin *plugin, const void *conf,
                                        const char *key)
{
    int64_t number = 0;
    const void *const value = chat_options_value(plugin, conf, key);
    if (value)
        memcpy(&number, value, sizeof number);
    return number;
}

static bool chat_options_read_flag(const struct tc_plugin *plugin, const void *conf,
                                   const char *key)
{
    const bool *const value = chat_options_value(plugin, conf, key);
    return value && *value;
}

struct chat_options chat_options_read(const struct tc_plugin *p, const void *conf)
{
    return (struct chat_options){
        .finalize_edit = chat_options_is_word(p, conf, "finalize", "edit"),
        .drops_doubts = chat_options_is_word(p, conf, "ambiguous", "drop"),
        .progress = chat_options_read_flag(p, conf, "progress"),
        .thinking = chat_options_read_flag(p, conf, "thinking"),
        .footer = chat_options_read_flag(p, conf, "footer"),
        .retry = chat_options_read_flag(p, conf, "retry"),
        .overflow = chat_options_is_word(p, conf, "overflow", "file")   ? CHAT_OVERFLOW_FILE
                    : chat_options_is_word(p, conf, "overflow", "trim") ? CHAT_OVERFLOW_TRIM
                                                                        : CHAT_OVERFLOW_SPLIT,
        .after = chat_options_is_word(p, conf, "after", "summary") ? CHAT_AFTER_SUMMARY
                 : chat_options_is_word(p, conf, "after", "keep")  ? CHAT_AFTER_KEEP
                                                                   : CHAT_AFTER_DELETE,
        .max_parts = (size_t)chat_options_read_number(p, conf, "max_parts"),
        .progress_after_ms = chat_options_read_number(p, conf, "progress_after_ms"),
        .refusals_max = chat_options_read_number(p, conf, "refusals_max"),
    };
}
