/* SPDX-License-Identifier: MIT
 * Normalises arguments, and tracks a dialect's open calls. */
#include "dialect/reader/tool_args.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define OPEN_MAX 4096

static bool tool_args_is_object(struct str value)
{
    return value_parse_line(value.p, value.len, NULL, 0) == 0;
}

static void tool_args_set_raw(struct arena *a, struct tc_tool_call *call, const char *text,
                              size_t len)
{
    CLEANUP_BUF struct buf args = {0};
    buf_add_str(&args, "{\"_raw\":");
    jsonw_string(&args, text, len);
    buf_add_char(&args, '}');
    call->args = arena_strndup(a, args.p, args.len);
    call->args_len = args.len;
}

void tool_args_parse_text(struct arena *a, struct tc_tool_call *call, const char *text, size_t len)
{
    const struct str value = {text, len};
    if (len == 0)
        return; /* as set by event_init: {} */
    call->args_raw = text;
    call->args_raw_len = len;
    if (tool_args_is_object(value))
        call->args = json_reader_compact_dup(a, value, &call->args_len);
    else
        tool_args_set_raw(a, call, text, len);
}

void tool_args_parse(struct arena *a, struct tc_tool_call *call, struct str value)
{
    size_t len = 0;
    if (!value.p || str_is(value, "null"))
        return;
    if (tool_args_is_object(value)) {
        call->args = json_reader_compact_dup(a, value, &call->args_len);
        return;
    }
    const char *const text = value_text_or_json(a, value, &len);
    if (value_string(value).p)
        tool_args_parse_text(a, call, text, len);
    else
        tool_args_set_raw(a, call, text, len);
}

static void tool_args_remove_at(struct open_calls *set, size_t i)
{
    free(set->ids[i]);
    free(set->names[i]);
    set->n--;
    memmove(set->ids + i, set->ids + i + 1, (set->n - i) * sizeof(*set->ids));
    memmove(set->names + i, set->names + i + 1, (set->n - i) * sizeof(*set->names));
}

void open_calls_add(struct open_calls *set, const char *id, const char *name)
{
    if (set->n == OPEN_MAX)
        tool_args_remove_at(set, 0);
    if (set->n == set->cap) {
        set->cap = set->cap ? set->cap * 2 : 8;
        set->ids = xrealloc(set->ids, set->cap * sizeof(*set->ids));
        set->names = xrealloc(set->names, set->cap * sizeof(*set->names));
    }
    set->ids[set->n] = xstrdup(id);
    set->names[set->n++] = xstrdup(name);
}

static size_t tool_args_find(const struct open_calls *set, const char *id)
{
    size_t i = 0;
    while (i < set->n && strcmp(set->ids[i], id) != 0)
        i++;
    return i;
}

bool open_calls_contains(const struct open_calls *set, const char *id)
{
    return tool_args_find(set, id) < set->n;
}

bool open_calls_remove(struct open_calls *set, const char *id)
{
    const size_t i = tool_args_find(set, id);
    if (i == set->n)
        return false;
    tool_args_remove_at(set, i);
    return true;
}

const char *open_calls_find_by_name(const struct open_calls *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->names[i] && strcmp(set->names[i], name) == 0)
            return set->ids[i];
    return NULL;
}

const char *open_calls_get_name(const struct open_calls *set, const char *id)
{
    const size_t i = tool_args_find(set, id);
    return i < set->n ? set->names[i] : NULL;
}

void open_calls_fini(struct open_calls *set)
{
    while (set->n)
        tool_args_remove_at(set, set->n - 1);
    free(set->ids);
    free(set->names);
    *set = (struct open_calls){0};
}
