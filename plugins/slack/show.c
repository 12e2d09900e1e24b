/* SPDX-License-Identifier: MIT
 * A turn as Slack shows it: which event becomes what. */
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "message.h"
#include "pulse.h"
#include "route.h"
#include "show.h"
#include "shown.h"
#include "slack.h"
#include "text.h"

#define PIECE_BYTES 8000          /* of text given to the stream at once: a message holds it */
#define STALE_MS (30 * 60 * 1000) /* without any event: the status is not kept up any longer */

/* Only what began in Slack is shown while it runs. */
static bool is_live(struct tc_turn *turn)
{
    return route_of(turn)->thread && !cast_of(turn)->over;
}

static void changed(struct tc_turn *turn, struct slack_task *t)
{
    if (!t)
        return;
    stream_task(turn, t);
    progress_changed(turn);
}

/* Something happened: the turn no longer thinks, or is silent. */
static void touch(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    changed(turn, task_settle(turn));
    cast->event_ms = pulse_now();
}

int show_start(struct tc_turn *turn, const struct tc_start *ev)
{
    struct slack_state *s = state_of(turn);
    struct cast *cast = cast_of(turn);
    const struct slack_conf *conf = turn->inst->conf;
    const struct route *r = route_of(turn);
    cast->begun = true;
    cast->surface = conf->stream && !s->off.stream ? SURFACE_STREAM : SURFACE_EDIT;
    if (ev->resumed) {
        cast->surface = SURFACE_NONE;
        shown_clean_up(turn);
    }
    if (!is_live(turn))
        return 0;
    talk_note(&s->talks, r->lane, turn->id);
    pulse_begin(turn);
    status_set(turn, question_waits(turn) ? STATUS_SUSPENDED : STATUS_PROCESSING);
    return 0;
}

/* ---- narration */

static void begin_segment(struct tc_turn *turn, const char *message_id)
{
    struct segment *seg = &cast_of(turn)->segment;
    seg->text.len = seg->told = 0;
    seg->over = false;
    snprintf(seg->message_id, sizeof seg->message_id, "%s", message_id ? message_id : "");
}

/* Gives the stream the segment up to `to`. */
static void tell_up_to(struct tc_turn *turn, size_t to)
{
    struct segment *seg = &cast_of(turn)->segment;
    if (cast_of(turn)->surface != SURFACE_STREAM || to <= seg->told)
        return;
    size_t count = 0;
    const struct tc_piece *pieces =
        tc_pieces(turn,
                  TC_TEXT(.markdown = seg->text.p + seg->told, .len = to - seg->told,
                          .form = TC_MARKDOWN, .bytes = PIECE_BYTES),
                  &count);
    seg->told = to;
    for (size_t i = 0; pieces && i < count; i++) {
        const char *text = tc_sprint(turn, "%s\n\n", pieces[i].text);
        if (text)
            stream_text(turn, text, strlen(text));
    }
}

/* All of the segment is said: something else follows. */
static void end_segment(struct tc_turn *turn)
{
    tell_up_to(turn, cast_of(turn)->segment.text.len);
    cast_of(turn)->segment.over = true;
}

static bool is_of_segment(const struct segment *seg, const char *message_id)
{
    return !seg->over &&
           (!message_id || strncmp(message_id, seg->message_id, sizeof seg->message_id - 1) == 0);
}

int show_narration(struct tc_turn *turn, const struct tc_narration *ev)
{
    struct cast *cast = cast_of(turn);
    struct segment *seg = &cast->segment;
    if (!is_live(turn) || ev->meta->agent || ev->meta->parent_id)
        return 0;
    touch(turn);
    if (!is_of_segment(seg, ev->message_id)) {
        end_segment(turn);
        begin_segment(turn, ev->message_id);
    }
    if (text_add(turn, &seg->text, ev->text, ev->text_len)) {
        cast->stream.broken = true;
        return 0;
    }
    tell_up_to(turn,
               seg->told + tc_settled(turn, seg->text.p + seg->told, seg->text.len - seg->told));
    progress_changed(turn);
    return 0;
}

/* ---- what happens beside it */

int show_thinking(struct tc_turn *turn, const struct tc_thinking *ev)
{
    const struct slack_conf *conf = turn->inst->conf;
    if (!is_live(turn) || ev->meta->agent)
        return 0;
    cast_of(turn)->event_ms = pulse_now();
    if (conf->thinking)
        changed(turn, task_thinking(turn, ev));
    return 0;
}

int show_tool_call(struct tc_turn *turn, const struct tc_tool_call *ev)
{
    if (!is_live(turn))
        return 0;
    touch(turn);
    if (!ev->meta->agent)
        end_segment(turn);
    changed(turn, task_call(turn, ev));
    return 0;
}

int show_tool_result(struct tc_turn *turn, const struct tc_tool_result *ev)
{
    if (!is_live(turn))
        return 0;
    touch(turn);
    changed(turn, task_result(turn, ev));
    return 0;
}

int show_request(struct tc_turn *turn, const struct tc_request *ev)
{
    /* What nobody is asked was decided before. */
    if (cast_of(turn)->over || (!ev->blocking && !ev->choices && strcmp(ev->state, "open") == 0))
        return 0;
    if (is_live(turn))
        touch(turn);
    question_show(turn, ev);
    if (is_live(turn)) {
        status_set(turn, question_waits(turn) ? STATUS_SUSPENDED : STATUS_PROCESSING);
        progress_changed(turn);
    }
    return 0;
}

static bool is_retraction(const struct tc_notice *ev)
{
    return ev->code && strcmp(ev->code, "retracted") == 0;
}

int show_notice(struct tc_turn *turn, const struct tc_notice *ev)
{
    const struct segment *seg = &cast_of(turn)->segment;
    if (!is_live(turn))
        return 0;
    touch(turn);
    if (is_retraction(ev)) {
        if (ev->message_id &&
            strncmp(ev->message_id, seg->message_id, sizeof seg->message_id - 1) == 0)
            begin_segment(turn, NULL);
        progress_changed(turn);
        return 0;
    }
    if (strcmp(ev->level, "info") == 0)
        return 0;
    end_segment(turn);
    const char *text = tc_sprint(turn, "\xe2\x9a\xa0 %s\n\n", text_label(turn, ev->text, 400));
    if (text)
        stream_text(turn, text, strlen(text));
    return 0;
}

int show_wake(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    const bool beat = pulse_woke(turn);
    if (cast->over) {
        pulse_end(turn);
        return 0;
    }
    if (beat && pulse_now() - cast->event_ms < STALE_MS)
        status_refresh(turn);
    if (beat) {
        struct slack_task *quiet =
            pulse_now() - cast->event_ms >= PULSE_BEAT_MS ? task_silence(turn) : NULL;
        if (quiet)
            changed(turn, quiet);
        for (struct slack_task *t = NULL; (t = task_after(&cast->tasks, t));)
            if (t->state == TASK_RUNNING)
                changed(turn, t);
        progress_changed(turn);
    }
    stream_check_age(turn);
    stream_pump(turn);
    progress_pump(turn);
    return 0;
}

/* ---- the outcome */

static const char *show_skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* What of the answer the stream has not been given; NULL: it was given something else. */
static const char *rest_of(struct tc_turn *turn, const char *text)
{
    const struct segment *seg = &cast_of(turn)->segment;
    const bool is_answer = seg->told > 0 && !seg->over;
    const char *said = is_answer ? show_skip_blanks(seg->text.p) : "";
    const char *answer = show_skip_blanks(text);
    const size_t n =
        is_answer && said < seg->text.p + seg->told ? (size_t)(seg->text.p + seg->told - said) : 0;
    if (strncmp(answer, said, n) == 0)
        return answer + n;
    /* the answer may lack the white space that ended what was told */
    size_t m = n;
    while (m > 0 && strchr(" \t\r\n", said[m - 1]))
        m--;
    return strlen(answer) == m && strncmp(answer, said, m) == 0 ? answer + m : NULL;
}

static void put_away(struct tc_turn *turn)
{
    stream_end(turn);
    progress_end(turn);
}

/* Status first: whatever delays the answer, the turn no longer runs. */
static bool begin_end(struct tc_turn *turn)
{
    const struct route *r = route_of(turn);
    question_end(turn);
    if (!r->channel)
        return false;
    if (cast_of(turn)->begun && is_live(turn))
        touch(turn);
    status_set(turn, STATUS_ACTIVE);
    if (r->lane)
        talk_end(&state_of(turn)->talks, r->lane, turn->id);
    return true;
}

/* The answer; of a turn that somebody stopped, what the agent had written, and that it was stopped.
 * NULL: no memory. */
static const char *text_of(struct tc_turn *turn, const struct tc_final *ev)
{
    const char *reason = ev->meta->x ? tc_json_get(turn, ev->meta->x, "/reason") : NULL;
    if (!reason || strcmp(reason, "cancelled") != 0)
        return ev->text;
    return ev->text_len ? tc_sprint(turn, "%s\n\n_Stopped._", ev->text) : "*Stopped.*";
}

int show_final(struct tc_turn *turn, const struct tc_final *ev)
{
    struct cast *cast = cast_of(turn);
    if (!begin_end(turn))
        return 0;
    const char *text = text_of(turn, ev);
    if (!text)
        return -1;
    const char *rest = cast->surface == SURFACE_STREAM ? rest_of(turn, text) : NULL;
    const bool ended = rest && answer_end_stream(turn, text, rest);
    cast->over = true;
    if (ended)
        return 0;
    const int rc = answer_send(turn, text, 0);
    put_away(turn);
    return rc;
}

int show_error(struct tc_turn *turn, const struct tc_error *ev)
{
    if (!begin_end(turn))
        return 0;
    cast_of(turn)->over = true;
    /* the host knows the message of a turn that began in a channel */
    const bool may_retry = turn->route && (!ev->code || strcmp(ev->code, "cancelled") != 0);
    const char *text = tc_sprint(turn, "\xe2\x9a\xa0 %s%s", ev->message,
                                 may_retry ? "\nSend !retry to try again." : "");
    const int rc = answer_send(turn, text ? text : "\xe2\x9a\xa0", TC_VERBATIM);
    put_away(turn);
    return rc;
}

int show_done(struct tc_turn *turn, const struct tc_done *ev)
{
    (void)ev;
    question_end(turn);
    cast_of(turn)->over = true;
    pulse_end(turn);
    return 0;
}
