/* SPDX-License-Identifier: MIT
 * The requests of the agent: each is a message with buttons, which says in the end how it was
 * answered and by whom. The list of messages survives a restart: see question_pack. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "call.h"
#include "fault.h"
#include "find.h"
#include "form.h"
#include "message.h"
#include "question.h"
#include "question_plain.h"
#include "route.h"
#include "shown.h"
#include "slack.h"
#include "text.h"

#define MEMORY_BYTES 3500 /* tc_remember keeps 4 KiB of all that is shown */
#define MAX_AGE_MS (30 * 60 * 1000)
#define PLACES_MAX 8
#define PARTS_MAX 20 /* of one request, before its message */
#define ANSWERS_UNITS 300

static const char turn_over[] = "closed: the turn has ended";

static bool is_of(const struct slack_question *q, const char *id)
{
    return q->id[0] && strncmp(q->id, id, sizeof q->id - 1) == 0;
}

static struct slack_question *question_find(struct tc_turn *turn, const char *id,
                                            const char *channel, const char *thread)
{
    struct questions *all = &cast_of(turn)->questions;
    question_recall(turn);
    for (size_t i = 0; id && channel && i < QUESTIONS_MAX; i++) {
        struct slack_question *q = &all->list[i];
        if (is_of(q, id) && strcmp(q->channel, channel) == 0 &&
            strcmp(q->thread, thread ? thread : "") == 0)
            return q;
    }
    return NULL;
}

static struct slack_question *free_place(struct tc_turn *turn)
{
    struct questions *all = &cast_of(turn)->questions;
    for (size_t i = 0; i < QUESTIONS_MAX; i++)
        if (!all->list[i].id[0])
            return &all->list[i];
    return NULL;
}

/* ---- who waits */

static uint64_t question_hash_of(const char *s)
{
    uint64_t h = 14695981039346656037u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h ? h : 1;
}

static void note_waiting(struct tc_turn *turn, const char *id, bool waits)
{
    uint64_t *list = cast_of(turn)->questions.waiting;
    const uint64_t hash = question_hash_of(id);
    size_t place = WAITING_MAX;
    for (size_t i = 0; i < WAITING_MAX; i++) {
        if (list[i] == hash)
            list[i] = 0;
        if (list[i] == 0)
            place = i;
    }
    if (waits && place < WAITING_MAX)
        list[place] = hash;
}

bool question_waits(struct tc_turn *turn)
{
    const uint64_t *list = cast_of(turn)->questions.waiting;
    for (size_t i = 0; i < WAITING_MAX; i++)
        if (list[i])
            return true;
    return false;
}

/* ---- over a restart */

json_t *question_pack(struct tc_turn *turn)
{
    const struct questions *all = &cast_of(turn)->questions;
    json_t *list = json_array();
    question_recall(turn);
    for (size_t i = 0; i < QUESTIONS_MAX; i++) {
        const struct slack_question *q = &all->list[i];
        if (!q->id[0])
            continue;
        json_array_append_new(list, json_pack("[s, s, s, s, s, s*]", q->id, q->channel, q->thread,
                                              q->ts, q->title, q->after));
        if (json_dumpb(list, NULL, 0, JSON_COMPACT) > MEMORY_BYTES) {
            json_array_remove(list, json_array_size(list) - 1);
            break;
        }
    }
    if (json_array_size(list) > 0)
        return list;
    json_decref(list);
    return NULL;
}

/* A reply in its thread may be an answer. */
static void listen(struct tc_turn *turn, const struct slack_question *q)
{
    struct asked_place place = {.rooted = !q->thread[0], .open = true};
    if (!q->ticket[0])
        return;
    snprintf(place.channel, sizeof place.channel, "%s", q->channel);
    snprintf(place.thread, sizeof place.thread, "%s", q->thread[0] ? q->thread : q->ts);
    snprintf(place.ticket, sizeof place.ticket, "%s", q->ticket);
    asked_note(&state_of(turn)->asked, &place);
}

static void set_text(char *out, size_t cap, const json_t *list, size_t i)
{
    const char *text = json_string_value(json_array_get(list, i));
    snprintf(out, cap, "%s", text ? text : "");
}

static void recall_one(struct tc_turn *turn, const json_t *kept)
{
    struct slack_question *q = free_place(turn);
    const char *after = json_string_value(json_array_get(kept, 5));
    if (!q)
        return;
    *q = (struct slack_question){.after = after ? tc_keep(turn, after) : NULL};
    set_text(q->id, sizeof q->id, kept, 0);
    set_text(q->channel, sizeof q->channel, kept, 1);
    set_text(q->thread, sizeof q->thread, kept, 2);
    set_text(q->ts, sizeof q->ts, kept, 3);
    set_text(q->title, sizeof q->title, kept, 4);
    const char *ticket = q->id[0] ? tc_ticket(turn, q->id) : NULL;
    if (!ticket)
        return;
    snprintf(q->ticket, sizeof q->ticket, "%s", ticket);
    note_waiting(turn, q->id, true);
    if (q->ts[0])
        listen(turn, q);
}

void question_recall(struct tc_turn *turn)
{
    struct questions *all = &cast_of(turn)->questions;
    size_t i;
    const json_t *kept;
    if (all->recalled)
        return;
    all->recalled = true;
    json_auto_t *memory = turn->memory ? json_loads(turn->memory, 0, NULL) : NULL;
    json_array_foreach(json_object_get(memory, "asked"), i, kept)
    {
        recall_one(turn, kept);
    }
}

/* ---- asking */

struct question_place {
    const char *channel, *thread; /* thread: or NULL */
};

static size_t add_place(struct question_place list[PLACES_MAX], size_t count,
                        struct question_place p)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].channel, p.channel) == 0 &&
            strcmp(list[i].thread ? list[i].thread : "", p.thread ? p.thread : "") == 0)
            return count;
    if (p.channel && *p.channel && count < PLACES_MAX)
        list[count++] = p;
    return count;
}

/* What follows "INSTANCE" in it; NULL: it is another instance's. */
static const char *own_part(const struct tc_turn *turn, const char *entry)
{
    const size_t n = strlen(turn->inst->name);
    const bool own = entry && strncmp(entry, turn->inst->name, n) == 0;
    return own && (entry[n] == '\0' || entry[n] == ':') ? entry + n : NULL;
}

/* ":CHAT" or ":CHAT:THREAD". */
static struct question_place read_place(struct tc_turn *turn, const char *text)
{
    const size_t n = strcspn(text + 1, ":");
    const char *thread = text[1 + n] ? text + n + 2 : NULL;
    return (struct question_place){tc_sprint(turn, "%.*s", (int)n, text + 1),
                                   thread && *thread ? thread : NULL};
}

/* Where it is asked here. `to` is that of the event, read. */
static size_t places_of(struct tc_turn *turn, const json_t *to,
                        struct question_place out[PLACES_MAX])
{
    const struct route *r = route_of(turn);
    const struct question_place own = {r->channel, r->thread};
    size_t count = 0, i;
    const json_t *entry;
    if (!to)
        return r->channel ? add_place(out, 0, own) : 0;
    json_array_foreach(to, i, entry)
    {
        const char *part = own_part(turn, json_string_value(entry));
        if (part && (*part || r->channel))
            count = add_place(out, count, *part ? read_place(turn, part) : own);
    }
    return count;
}

static int64_t wall_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int question_repeat(struct tc_turn *turn, json_t *body, json_t *data)
{
    const char *channel = json_string_value(json_object_get(body, "channel"));
    const char *thread = json_string_value(json_object_get(body, "thread_ts"));
    const int64_t left = json_integer_value(json_object_get(data, "until")) - wall_ms();
    const struct slack_call how = {.tag = call_tag(turn, "question", data),
                                   .lane = route_lane(turn, channel, thread),
                                   .priority = TC_P_REQUEST,
                                   .flags = TC_DURABLE,
                                   .max_age_ms = left > 1000 ? left : 1000};
    return call_json(turn, POST_MESSAGE, body, &how);
}

/* It is found again by its turn, and by which of all questions it is. */
static json_t *mark_of(const struct tc_turn *turn, const char *ticket)
{
    return json_pack("{s:s, s:{s:s, s:s}}", "event_type", "turncast_turn", "event_payload", "turn",
                     turn->id, "request", ticket);
}

/* A text that does not fit into the message is sent before it, in parts; of a very long text only
 * the beginning. */
static void send_parts(struct tc_turn *turn, const struct tc_request *ev,
                       const struct question_place *p)
{
    size_t count = 0;
    const struct tc_piece *pieces =
        ev->preview ? tc_pieces(turn,
                                TC_TEXT(.markdown = ev->preview, .len = strlen(ev->preview),
                                        .form = TC_PLAIN, .flags = TC_VERBATIM,
                                        .units = FORM_PREVIEW_UNITS),
                                &count)
                    : NULL;
    const size_t sent = count < PARTS_MAX ? count : PARTS_MAX;
    const struct slack_call how = {.tag = "told",
                                   .lane = route_lane(turn, p->channel, p->thread),
                                   .priority = TC_P_REQUEST,
                                   .flags = TC_DURABLE,
                                   .max_age_ms = MAX_AGE_MS};
    for (size_t i = 0; count > 1 && i < sent; i++) {
        const bool last = i + 1 == sent && sent < count;
        const char *head =
            tc_sprint(turn, "%s, part %zu of %zu%s", form_title(turn, ev), i + 1, count,
                      last ? "; to read the rest, run: turncast answer --show" : "");
        call_json(turn, POST_MESSAGE,
                  json_pack("{s:s, s:s*, s:s, s:o, s:b, s:b}", "channel", p->channel, "thread_ts",
                            p->thread, "text", text_label(turn, head, 200), "blocks",
                            form_part(head, &pieces[i]), "unfurl_links", 0, "unfurl_media", 0),
                  &how);
    }
}

static void ask_at(struct tc_turn *turn, const struct tc_request *ev, const char *ticket,
                   const struct question_place *p)
{
    struct slack_question *q = free_place(turn);
    if (!q) {
        tc_log(turn->inst, TC_WARN, "turn %s: too many open requests; one is not shown in Slack",
               turn->id);
        return;
    }
    send_parts(turn, ev, p);
    *q = (struct slack_question){0};
    snprintf(q->id, sizeof q->id, "%s", ev->request_id);
    snprintf(q->channel, sizeof q->channel, "%s", p->channel);
    snprintf(q->thread, sizeof q->thread, "%s", p->thread ? p->thread : "");
    snprintf(q->ticket, sizeof q->ticket, "%s", ticket);
    snprintf(q->title, sizeof q->title, "%s", form_title(turn, ev));
    q->about = tc_keep(turn, call_dump(turn, form_about(turn, ev)));
    const char *subject = ev->subject ? text_label(turn, ev->subject, 200) : "";
    json_t *body = json_pack(
        "{s:s, s:s*, s:o, s:o, s:o, s:b, s:b}", "channel", p->channel, "thread_ts", p->thread,
        "text", json_sprintf("%s %s", q->title, subject), "blocks", form_blocks(turn, ev, ticket),
        "metadata", mark_of(turn, ticket), "unfurl_links", 0, "unfurl_media", 0);
    const int64_t now = wall_ms();
    const int64_t until = ev->expires_ms > now ? ev->expires_ms : now + MAX_AGE_MS;
    json_t *data = json_pack("{s:s, s:s, s:I}", "id", ev->request_id, "title", q->title, "until",
                             (json_int_t)until);
    if (question_repeat(turn, body, data))
        q->id[0] = '\0';
}

static void question_ask(struct tc_turn *turn, const struct tc_request *ev)
{
    json_auto_t *to = ev->to ? json_loads(ev->to, 0, NULL) : NULL;
    struct question_place places[PLACES_MAX];
    const size_t count = places_of(turn, to, places);
    const char *ticket = count > 0 ? tc_ticket(turn, ev->request_id) : NULL;
    for (size_t i = 0; ticket && i < count; i++)
        ask_at(turn, ev, ticket, &places[i]);
    if (ticket)
        shown_remember(turn);
}

/* One that cannot be answered here. */
static void question_tell(struct tc_turn *turn, const struct tc_request *ev)
{
    const struct route *r = route_of(turn);
    const char *text = r->channel ? question_plain(turn, ev) : NULL;
    size_t count = 0;
    const struct tc_piece *pieces = text ? message_pieces(turn, text, 0, &count) : NULL;
    struct slack_question *q = free_place(turn);
    if (!pieces || count == 0)
        return;
    if (q) {
        *q = (struct slack_question){0};
        snprintf(q->id, sizeof q->id, "%s", ev->request_id);
        snprintf(q->channel, sizeof q->channel, "%s", r->channel);
        snprintf(q->thread, sizeof q->thread, "%s", r->thread ? r->thread : "");
        snprintf(q->title, sizeof q->title, "%s", form_title(turn, ev));
    }
    const struct slack_call how = {
        .tag = call_tag(turn, "question", json_pack("{s:s}", "id", ev->request_id)),
        .lane = r->lane,
        .priority = TC_P_REQUEST,
        .max_age_ms = MAX_AGE_MS};
    call_json(turn, POST_MESSAGE, message_body(turn, r, &pieces[0]), &how);
}

/* ---- the end of it */

static const char *answers_of(struct tc_turn *turn, const struct tc_request *ev)
{
    json_auto_t *answers =
        ev->answers && strcmp(ev->kind, "ask") == 0 ? json_loads(ev->answers, 0, NULL) : NULL;
    const char *key, *all = "";
    json_t *value;
    json_object_foreach(answers, key, value)
    {
        const char *text =
            json_is_array(value) ? call_dump(turn, json_incref(value)) : json_string_value(value);
        const char *more = text ? tc_sprint(turn, "%s%s%s", all, *all ? "; " : ": ", text) : NULL;
        all = more ? more : all;
    }
    return *all ? text_plain(turn, all, ANSWERS_UNITS) : "";
}

/* The answers, or the reason of a denial. */
static const char *told_with(struct tc_turn *turn, const struct tc_request *ev)
{
    const bool denied = ev->decision && strcmp(ev->decision, "deny") == 0;
    if (!denied)
        return answers_of(turn, ev);
    const char *why = ev->reason ? text_plain(turn, ev->reason, ANSWERS_UNITS) : "";
    const char *text = *why ? tc_sprint(turn, ": %s", why) : NULL;
    return text ? text : "";
}

/* "allowed by Ann (telegram)". */
static const char *words_of(struct tc_turn *turn, const struct tc_request *ev)
{
    static const char *const words[][2] = {{"allow", "allowed"},
                                           {"deny", "denied"},
                                           {"answered", "answered"},
                                           {"cancelled", "no longer needed"},
                                           {"timeout", "denied: no answer in time"}};
    const char *done = "closed";
    for (size_t i = 0; ev->decision && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], ev->decision) == 0)
            done = words[i][1];
    const char *by = ev->by && strcmp(done, words[4][1]) != 0 ? text_plain(turn, ev->by, 100) : "";
    const char *all = tc_sprint(turn, "%s%s%s%s", done, *by ? " by " : "", by, told_with(turn, ev));
    return all ? all : done;
}

/* The message shows the outcome instead of the buttons. */
static void edit(struct tc_turn *turn, const struct slack_question *q, const char *after)
{
    const char *text = tc_sprint(turn, "*%s*: %s", q->title, text_label(turn, after, 500));
    char *end = tc_sprint(turn, "%s", after);
    json_t *blocks = q->about ? json_loads(q->about, 0, NULL) : NULL;
    if (!text || !end)
        return;
    end[0] = (char)toupper((unsigned char)end[0]);
    if (blocks)
        json_array_append_new(blocks, form_end(end));
    else
        blocks = json_pack("[{s:s, s:{s:s, s:s}}]", "type", "section", "text", "type", "mrkdwn",
                           "text", text);
    const struct slack_call how = {.tag = "answered",
                                   .lane = route_lane(turn, q->channel, q->thread),
                                   .priority = TC_P_REQUEST,
                                   .flags = TC_DURABLE | TC_IDEMPOTENT};
    call_json(turn, UPDATE,
              json_pack("{s:s, s:s, s:s, s:o}", "channel", q->channel, "ts", q->ts, "text", text,
                        "blocks", blocks),
              &how);
}

/* Edits the message, or notes the text until the message has arrived. */
static void end(struct tc_turn *turn, struct slack_question *q, const char *after)
{
    note_waiting(turn, q->id, false);
    if (q->ticket[0])
        asked_end(&state_of(turn)->asked, q->ticket);
    if (!q->ts[0]) {
        q->after = tc_keep(turn, after);
        return;
    }
    edit(turn, q, after);
    q->id[0] = '\0';
}

static bool end_all(struct tc_turn *turn, const char *id, const char *after)
{
    struct questions *all = &cast_of(turn)->questions;
    bool any = false;
    question_recall(turn);
    for (size_t i = 0; i < QUESTIONS_MAX; i++) {
        struct slack_question *q = &all->list[i];
        if (id ? !is_of(q, id) : !q->id[0] || q->after)
            continue;
        end(turn, q, after);
        any = true;
    }
    return any;
}

void question_end(struct tc_turn *turn)
{
    if (end_all(turn, NULL, turn_over))
        shown_remember(turn);
}

void question_show(struct tc_turn *turn, const struct tc_request *ev)
{
    const bool open = strcmp(ev->state, "open") == 0;
    note_waiting(turn, ev->request_id, open);
    if (open && ev->choices)
        question_ask(turn, ev);
    else if (open)
        question_tell(turn, ev);
    else if (*ev->request_id && end_all(turn, ev->request_id, words_of(turn, ev)))
        shown_remember(turn);
}

/* ---- what Slack said */

void question_posted(struct tc_turn *turn, const json_t *body, const json_t *data, const char *ts)
{
    const char *channel = json_string_value(json_object_get(body, "channel"));
    const char *thread = json_string_value(json_object_get(body, "thread_ts"));
    const char *title = json_string_value(json_object_get(data, "title"));
    struct slack_question *q =
        question_find(turn, json_string_value(json_object_get(data, "id")), channel, thread);
    struct slack_question unknown = {.after = turn_over};
    if (!channel || !ts)
        return;
    if (!q) { /* its turn was over before, and that is all that is left of it */
        q = &unknown;
        snprintf(q->channel, sizeof q->channel, "%s", channel);
        snprintf(q->thread, sizeof q->thread, "%s", thread ? thread : "");
        snprintf(q->title, sizeof q->title, "%s", title ? title : "Question");
    }
    snprintf(q->ts, sizeof q->ts, "%s", ts);
    if (q->after) {
        edit(turn, q, q->after);
        q->id[0] = '\0';
    } else {
        listen(turn, q);
    }
    shown_remember(turn);
}

/* Payload: once without what can be filled in, then as text. NULL: there is no other form. */
static json_t *question_plainer(json_t *body)
{
    const json_t *blocks = json_object_get(body, "blocks"), *block;
    const char *text = json_string_value(json_object_get(body, "text"));
    json_t *row = NULL;
    size_t i;
    if (!blocks)
        return NULL;
    json_array_foreach(blocks, i, block)
    {
        const char *type = json_string_value(json_object_get(block, "type"));
        row = type && strcmp(type, "actions") == 0 ? json_array_get(blocks, i) : row;
    }
    if (row && json_array_size(blocks) > 2)
        json_object_set_new(body, "blocks",
                            json_pack("[{s:s, s:{s:s, s:s}}, O]", "type", "section", "text", "type",
                                      "mrkdwn", "text", text ? text : "?", row));
    else
        json_object_del(body, "blocks");
    return json_incref(body);
}

static void forget(struct tc_turn *turn, const json_t *body, const json_t *data)
{
    struct slack_question *q = question_find(turn, json_string_value(json_object_get(data, "id")),
                                             json_string_value(json_object_get(body, "channel")),
                                             json_string_value(json_object_get(body, "thread_ts")));
    if (!q)
        return;
    q->id[0] = '\0';
    shown_remember(turn);
}

int question_on_post(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    json_auto_t *body = json_loads(r->http->body, 0, NULL), *data = answer_data(r);
    const bool durable = r->http->flags & TC_DURABLE;
    fault_judge(turn, &f, r, false, v);
    if (durable && f.kind == FAULT_DOUBT) {
        find_question(turn, body, data, v);
        return 0;
    }
    if (!fault_is_end(v))
        return 0;
    if (f.kind == FAULT_NONE) {
        question_posted(turn, body, data, json_string_value(json_object_get(f.json, "ts")));
        return 0;
    }
    json_auto_t *other = durable && (f.kind == FAULT_PAYLOAD || f.kind == FAULT_OTHER)
                             ? question_plainer(body)
                             : NULL;
    if (other)
        fault_replaced(v, question_repeat(turn, json_incref(other), json_incref(data)), f.error);
    else
        forget(turn, body, data);
    return 0;
}

int question_on_edit(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, true, v);
    if (f.kind == FAULT_MESSAGE) /* somebody has deleted it */
        v->next = TC_NEXT_DONE;
    return 0;
}
