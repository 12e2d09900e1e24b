/* SPDX-License-Identifier: MIT
 * Defines when two events belong to the same message and can be joined. */
#include "plugin/queue/event_coalesce.h"

#include <string.h>

/* Members of the payload for joining, by offset. */
struct coalesce_rule {
    size_t owner; /* id of the message or the tool */
    size_t text, len;
};

#define SEAM(type, owner, text, len)                                                               \
    {                                                                                              \
        offsetof(struct type, owner), offsetof(struct type, text), offsetof(struct type, len)      \
    }

static const struct coalesce_rule narration_seam = SEAM(tc_narration, message_id, text, text_len);
static const struct coalesce_rule thinking_seam = SEAM(tc_thinking, message_id, text, text_len);
static const struct coalesce_rule args_seam =
    SEAM(tc_progress, tool_use_id, args_delta, args_delta_len);
static const struct coalesce_rule output_seam = SEAM(tc_progress, tool_use_id, output, output_len);

/* NULL: events of this kind cannot be joined. */
static const struct coalesce_rule *event_coalesce_find_rule(const struct event *ev)
{
    if (ev->kind == TC_NARRATION)
        return &narration_seam;
    if (ev->kind == TC_THINKING)
        return ev->u.thinking.encrypted ? NULL : &thinking_seam;
    if (ev->kind != TC_PROGRESS || !ev->u.progress.args_delta == !ev->u.progress.output)
        return NULL;
    return ev->u.progress.output ? &output_seam : &args_seam;
}

static const void *event_coalesce_member(const struct event *ev, size_t offset)
{
    return (const char *)&ev->u + offset;
}

static const char *event_coalesce_string_member(const struct event *ev, size_t offset)
{
    return *(const char *const *)event_coalesce_member(ev, offset);
}

static bool event_coalesce_equal_strings(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool event_coalesce_is_same_source(const struct tc_meta *a, const struct tc_meta *b)
{
    return event_coalesce_equal_strings(a->parent_id, b->parent_id) &&
           event_coalesce_equal_strings(a->agent, b->agent) &&
           event_coalesce_equal_strings(a->audience, b->audience) && a->hidden == b->hidden;
}

bool event_coalesce_is_allowed(const struct event *older, const struct event *newer, bool strict)
{
    const struct coalesce_rule *const seam = event_coalesce_find_rule(older);
    return seam && seam == event_coalesce_find_rule(newer) &&
           event_coalesce_equal_strings(event_coalesce_string_member(older, seam->owner),
                                        event_coalesce_string_member(newer, seam->owner)) &&
           event_coalesce_is_same_source(&older->meta, &newer->meta) &&
           (!strict || event_coalesce_equal_strings(older->meta.x, newer->meta.x));
}

struct str event_coalesce_text(const struct event *ev)
{
    const struct coalesce_rule *const seam = event_coalesce_find_rule(ev);
    if (!seam)
        return (struct str){0};
    return (struct str){event_coalesce_string_member(ev, seam->text),
                        *(const size_t *)event_coalesce_member(ev, seam->len)};
}

struct shared_event *event_coalesce_build(const struct event *newest, const struct buf *text)
{
    struct event ev = *newest;
    const struct coalesce_rule *const seam = event_coalesce_find_rule(newest);
    ev.u.meta = &ev.meta;
    if (seam) {
        memcpy((char *)&ev.u + seam->text, &text->p, sizeof text->p);
        memcpy((char *)&ev.u + seam->len, &text->len, sizeof text->len);
    }
    return shared_event_new(&ev);
}
