/* SPDX-License-Identifier: MIT
 * Shared events for the tests of queues and instances. */
#ifndef TESTS_PLUGIN_EVENTS_H
#define TESTS_PLUGIN_EVENTS_H

#include <string.h>

#include "event/event.h"

static inline struct event draft(enum tc_kind kind, uint64_t seq)
{
    struct event ev;
    event_init(&ev, kind);
    ev.meta.seq = seq;
    ev.meta.ts = 1.0;
    ev.meta.src = "test";
    ev.meta.correlation_id = "t1";
    ev.meta.session_id = "";
    return ev;
}

static inline struct shared_event *box_of(enum tc_kind kind, uint64_t seq)
{
    const struct event ev = draft(kind, seq);
    return shared_event_new(&ev);
}

static inline struct shared_event *narration(uint64_t seq, const char *text, const char *message_id)
{
    struct event ev = draft(TC_NARRATION, seq);
    ev.u.narration.text = text;
    ev.u.narration.text_len = strlen(text);
    ev.u.narration.message_id = message_id;
    return shared_event_new(&ev);
}

static inline struct shared_event *thinking(uint64_t seq, const char *text)
{
    struct event ev = draft(TC_THINKING, seq);
    ev.u.thinking.text = text;
    ev.u.thinking.text_len = strlen(text);
    return shared_event_new(&ev);
}

static inline struct shared_event *progress(uint64_t seq, const char *tool, const char *message)
{
    struct event ev = draft(TC_PROGRESS, seq);
    ev.u.progress.tool_use_id = tool;
    ev.u.progress.message = message;
    return shared_event_new(&ev);
}

static inline struct shared_event *output(uint64_t seq, const char *tool, const char *text)
{
    struct event ev = draft(TC_PROGRESS, seq);
    ev.u.progress.tool_use_id = tool;
    ev.u.progress.output = text;
    ev.u.progress.output_len = strlen(text);
    return shared_event_new(&ev);
}

static inline struct shared_event *tool_call(uint64_t seq, const char *args)
{
    struct event ev = draft(TC_TOOL_CALL, seq);
    ev.u.tool_call.name = "Bash";
    ev.u.tool_call.tool_use_id = "u1";
    ev.u.tool_call.args = args;
    ev.u.tool_call.args_len = strlen(args);
    return shared_event_new(&ev);
}

static inline struct shared_event *tool_result(uint64_t seq, const char *content)
{
    struct event ev = draft(TC_TOOL_RESULT, seq);
    ev.u.tool_result.tool_use_id = "u1";
    ev.u.tool_result.content = content;
    ev.u.tool_result.content_len = strlen(content);
    return shared_event_new(&ev);
}

#endif
