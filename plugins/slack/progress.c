/* SPDX-License-Identifier: MIT
 * The message that is edited while a turn runs, where Slack has no native stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "fault.h"
#include "pulse.h"
#include "route.h"
#include "shown.h"
#include "slack.h"
#include "text.h"

#define START_MS 1500
#define PACE_MS 1200
#define LINES 8
#define SAID_BYTES 1500 /* of the narration: its end */
#define SOURCE_BYTES 1200
#define LINES_BYTES 1400 /* LINES of 160 and a duration; a section holds 3,000 in all */

/* The newest cards. */
static const char *task_lines(struct tc_turn *turn)
{
    struct tasks *tasks = &cast_of(turn)->tasks;
    const char *lines = "";
    size_t skip = 0;
    for (struct slack_task *t = NULL; (t = task_after(tasks, t));)
        skip++;
    skip = skip > LINES ? skip - LINES : 0;
    for (struct slack_task *t = NULL; (t = task_after(tasks, t));) {
        if (skip > 0) {
            skip--;
            continue;
        }
        const char *more = tc_sprint(turn, "%s%s", lines, task_line(turn, t));
        if (!more || strlen(more) > LINES_BYTES)
            break;
        lines = more;
    }
    return lines;
}

/* The end of what was said. */
static const char *said(struct tc_turn *turn)
{
    const struct text *t = &cast_of(turn)->segment.text;
    size_t from = t->len > SOURCE_BYTES ? t->len - SOURCE_BYTES : 0, count = 0;
    if (t->len == 0)
        return "";
    const char *newline = from > 0 ? strchr(t->p + from, '\n') : NULL;
    if (newline && newline < t->p + from + SOURCE_BYTES / 2)
        from = (size_t)(newline - t->p);
    while (from > 0 && ((unsigned char)t->p[from] & 0xc0) == 0x80)
        from++;
    const struct tc_piece *pieces = tc_pieces(turn,
                                              TC_TEXT(.markdown = t->p + from, .len = t->len - from,
                                                      .form = TC_MRKDWN, .bytes = SAID_BYTES),
                                              &count);
    return pieces && count > 0 ? tc_sprint(turn, "%s\n\n", pieces[count - 1].text) : "";
}

static const char *text_now(struct tc_turn *turn)
{
    char elapsed[32];
    text_elapsed(elapsed, pulse_now() - cast_of(turn)->begin_ms);
    return tc_sprint(turn, "%s%s_%s\xe2\x80\xa6 %s_", said(turn), task_lines(turn),
                     question_waits(turn) ? "waiting for an answer" : "working", elapsed);
}

static json_t *stop_button(struct tc_turn *turn)
{
    return json_pack("{s:s, s:[{s:s, s:{s:s, s:s}, s:s, s:s, s:s}]}", "type", "actions", "elements",
                     "type", "button", "text", "type", "plain_text", "text", "Stop", "style",
                     "danger", "action_id", "turncast_stop", "value", turn->id);
}

static json_t *body_of(struct tc_turn *turn, const char *text)
{
    const struct cast *cast = cast_of(turn);
    json_t *body = json_pack("{s:s, s:s, s:[{s:s, s:{s:s, s:s}}, o]}", "channel",
                             cast->route.channel, "text", text, "blocks", "type", "section", "text",
                             "type", "mrkdwn", "text", text, stop_button(turn));
    if (cast->progress.ts[0]) {
        json_object_set_new(body, "ts", json_string(cast->progress.ts));
    } else {
        json_object_set_new(body, "thread_ts", json_string(cast->route.thread));
        json_object_set_new(body, "unfurl_links", json_false());
        json_object_set_new(body, "unfurl_media", json_false());
    }
    return body;
}

static uint64_t progress_hash_of(const char *s)
{
    uint64_t h = 14695981039346656037u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h;
}

static void progress_send(struct tc_turn *turn, const char *text)
{
    struct cast *cast = cast_of(turn);
    struct progress *p = &cast->progress;
    const bool first = p->ts[0] == '\0';
    const struct slack_call how = {.tag =
                                       first ? "progress" : tc_sprint(turn, "edit %u", ++p->edits),
                                   .lane = cast->route.lane,
                                   .priority = TC_P_LIVE,
                                   .key = first ? NULL : "edit",
                                   .flags = first ? 0 : TC_IDEMPOTENT};
    p->busy = call_json(turn, first ? POST_MESSAGE : UPDATE, body_of(turn, text), &how) == 0;
    p->stale = false;
    p->sent_ms = pulse_now();
}

void progress_changed(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    if (cast->surface != SURFACE_EDIT || cast->over || cast->progress.lost)
        return;
    cast->progress.stale = true;
    progress_pump(turn);
}

void progress_pump(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    struct progress *p = &cast->progress;
    if (cast->surface != SURFACE_EDIT || cast->over || p->lost || p->busy || !p->stale)
        return;
    const int64_t now = pulse_now();
    const int64_t due = p->sent_ms ? p->sent_ms + PACE_MS : cast->begin_ms + START_MS;
    if (now < due) {
        pulse_wake_at(turn, due);
        return;
    }
    const char *text = text_now(turn);
    const uint64_t hash = text ? progress_hash_of(text) : p->hash;
    if (hash != p->hash)
        progress_send(turn, text);
    p->hash = hash;
}

void progress_end(struct tc_turn *turn)
{
    struct progress *p = &cast_of(turn)->progress;
    if (p->ts[0])
        shown_remove(turn, p->ts);
    p->ts[0] = '\0';
}

int progress_on_post(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    struct cast *cast = cast_of(turn);
    struct progress *p = &cast->progress;
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    if (!fault_is_end(v))
        return 0;
    const char *ts = json_string_value(json_object_get(f.json, "ts"));
    p->busy = false;
    if (f.kind != FAULT_NONE || !ts) {
        p->lost = true; /* it may be there: another one would be one too many */
        return 0;
    }
    if (cast->over) {
        shown_remove(turn, ts);
        return 0;
    }
    snprintf(p->ts, sizeof p->ts, "%s", ts);
    shown_remember(turn);
    progress_pump(turn);
    return 0;
}

int progress_on_edit(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    struct progress *p = &cast_of(turn)->progress;
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    if (strtoul(r->tag + strlen("edit"), NULL, 10) != p->edits)
        return 0;
    p->busy = false; /* one that waits gives way to a newer one */
    p->lost |= f.kind == FAULT_MESSAGE || f.kind == FAULT_TARGET || f.kind == FAULT_SCOPE;
    progress_pump(turn);
    return 0;
}
