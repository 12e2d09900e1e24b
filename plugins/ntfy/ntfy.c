/* SPDX-License-Identifier: MIT
 * The connector ntfy: its options, and requests, answers and errors as push notifications.
 *
 * Texts of others never contain a placeholder of the host: see text_defuse. A notification has a
 * sequence id, so that a repeat replaces it. */
#include "ntfy.h"

#include <string.h>

#define MESSAGE_BYTES 3900 /* the server makes an attachment of more than 4,096 */
#define TITLE_BYTES 200
#define BUTTONS_MAX 3
#define LIMITED_MS 5000             /* the server permits one request more after this time */
#define LIMITED_MAX_MS (15 * 60000) /* the limit may be one of a day */
#define REFUSED_MS (5 * 60000)

static const struct tc_option options[] = {
    TC_OPTION(struct ntfy_conf, server, "https://ntfy.sh", 0, "address of the ntfy server"),
    TC_OPTION(struct ntfy_conf, topic, NULL, TC_REQUIRED | TC_SECRET,
              "topic for notifications; who knows it can read them, unless the server protects it"),
    TC_OPTION(struct ntfy_conf, token, NULL, TC_SECRET, "access token, tk_..."),
    TC_OPTION(struct ntfy_conf, user, NULL, 0, "user name, in place of a token"),
    TC_OPTION(struct ntfy_conf, password, NULL, TC_SECRET, "password of that user"),
    TC_OPTION(struct ntfy_conf, answers, NULL, TC_SECRET,
              "second topic, to which the buttons publish and which this connector reads"),
    TC_OPTION(struct ntfy_conf, answers_token, NULL, TC_SECRET,
              "token that the buttons use, which may only publish to that topic"),
    TC_OPTION(
        struct ntfy_conf, public_url, NULL, 0,
        "address at which phones reach the HTTP server: for buttons without the second topic, "
        "and opened by a tap"),
    TC_OPTION(struct ntfy_conf, person, "ntfy", 0, "ID of the person who presses, as in allow"),
    TC_OPTION(struct ntfy_conf, priority, "3", 0,
              "priority of answers, 1 to 5; requests and errors have one more"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "server", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "public_url", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "public_url", .kind = TC_RULE_SERVER},
    {.key = "public_url", .kind = TC_RULE_GRANTS, .text = "answer"},
    {.key = "answers", .kind = TC_RULE_GRANTS, .text = "answer"},
    {.key = "user", .kind = TC_RULE_NEEDS, .text = "password"},
    {.key = "password", .kind = TC_RULE_NEEDS, .text = "user"},
    {.key = "answers_token", .kind = TC_RULE_NEEDS, .text = "answers"},
    {.key = "priority", .kind = TC_RULE_RANGE, .min = 1, .max = 5},
    {0},
};

/* The default of the server: 60 requests at once, then one per 5 s. Some are left for people. */
static const struct tc_rate rates[] = {{.count = 1, .burst = 50, .interval_ms = 5000}, {0}};

const struct tc_header ntfy_headers[NTFY_HEADERS] = {
    {"Authorization", "Bearer {option:token}"}, {"Authorization", "Basic {base64:user:password}"}};

/* ---- bodies ---- */

/* JSON whose strings contain no placeholder: a brace before a letter is escaped. In compact JSON, a
 * brace that is no part of a string is never followed by a letter. */
static const char *text_defuse(struct tc_turn *turn, const char *json)
{
    const char *out = "";
    while (json && out && *json) {
        const char *const brace = strchr(json, '{');
        const int len = brace ? (int)(brace - json) : (int)strlen(json);
        const bool escape = brace && strchr("bos", brace[1]) && brace[1];
        out = tc_sprint(turn, "%s%.*s%s", out, len, json, !brace ? "" : escape ? "\\u007b" : "{");
        json += len + (brace != NULL);
    }
    return json ? out : NULL;
}

/* The beginning of a text, in one message. *cut: it has more. */
static const char *text_cut(struct tc_turn *turn, const char *text, uint32_t flags, bool *cut)
{
    size_t count = 0;
    const struct tc_piece *const pieces =
        tc_pieces(turn,
                  TC_TEXT(.markdown = text, .len = strlen(text), .form = TC_PLAIN, .flags = flags,
                          .units = MESSAGE_BYTES - 4, .unit = TC_UNIT_BYTES),
                  &count);
    *cut = count > 1;
    if (!pieces || count == 0)
        return NULL;
    return tc_sprint(turn, "%.*s%s", (int)pieces[0].len, pieces[0].text, *cut ? "\n…" : "");
}

/* Returns the sequence ID, which is the same for each attempt, and for the update of a request. */
static const char *sequence_id(struct tc_turn *turn, const char *what)
{
    const char *const text = tc_sprint(turn, "%s %s", turn->id, what);
    const char *const digest =
        text ? tc_hmac_sha256(turn, "turncast", 8, text, strlen(text)) : NULL;
    return digest ? tc_sprint(turn, "%.24s", digest) : NULL;
}

struct notification {
    const char *id; /* sequence id: it is kept on disk, and may be repeated; or NULL */
    const char *title, *message, *tag;
    int64_t priority;
    const char *actions; /* JSON array with placeholders, or NULL */
    enum tc_priority urgency;
};

static int publish(struct tc_turn *turn, const struct notification *n)
{
    const struct ntfy_conf *const conf = turn->inst->conf;
    const int64_t priority = n->priority > 5 ? 5 : n->priority;
    const char *const json =
        text_defuse(turn, tc_json(turn, "{s:s, s:s, s:[s], s:I, s:s*, s:s*}", "title", n->title,
                                  "message", n->message, "tags", n->tag, "priority", priority,
                                  "sequence_id", n->id, "click", conf->public_url));
    if (!json)
        return -1;
    return tc_http(
        turn,
        TC_HTTP(.url = "{option:server}", .headers = ntfy_headers, .header_count = NTFY_HEADERS,
                .body = tc_sprint(turn, "{\"topic\":\"{option:topic}\"%s%s,%s",
                                  n->actions ? ",\"actions\":" : "", n->actions ? n->actions : "",
                                  json + 1),
                .lane = turn->conversation ? turn->conversation : turn->id, .priority = n->urgency,
                .rates = 1, .flags = TC_FILL_BODY | (n->id ? TC_DURABLE | TC_IDEMPOTENT : 0u)));
}

int ntfy_publish_notice(struct tc_turn *lobby, const char *text)
{
    return publish(lobby, &(struct notification){.title = "turncast",
                                                 .message = text,
                                                 .tag = "hourglass",
                                                 .priority = 2,
                                                 .urgency = TC_P_NOTICE});
}

/* ---- buttons ---- */

static const char *button_url(struct tc_turn *turn)
{
    const struct ntfy_conf *const conf = turn->inst->conf;
    if (conf->answers)
        return "{origin:server}/{option:answers}";
    size_t len = conf->public_url ? strlen(conf->public_url) : 0;
    while (len > 0 && conf->public_url[len - 1] == '/')
        len--;
    return len > 0 ? tc_sprint(turn, "%.*s/hooks/%s/answer", (int)len, conf->public_url,
                               turn->inst->name)
                   : NULL;
}

/* `list` with one more button. text: answer to a question, or NULL. */
static const char *button_add(struct tc_turn *turn, const char *list, const char *label,
                              const char *ticket, const char *choice, const char *text)
{
    const struct ntfy_conf *const conf = turn->inst->conf;
    const char *const body = tc_json(turn, "{s:s, s:s, s:s*}", "t", ticket, "c", choice, "x", text);
    const char *const json =
        text_defuse(turn, tc_json(turn, "{s:s, s:s, s:s, s:b, s:s}", "action", "http", "label",
                                  label, "method", "POST", "clear", 1, "body", body));
    if (!json)
        return list;
    return tc_sprint(turn, "%s%s{\"url\":\"%s\",%s%s", list, *list ? "," : "[", button_url(turn),
                     conf->answers_token
                         ? "\"headers\":{\"Authorization\":\"Bearer {option:answers_token}\"},"
                         : "",
                     json + 1);
}

/* The options of a single question, if there is room for them and for one choice more. */
static const char *buttons_of_question(struct tc_turn *turn, const char *questions,
                                       const char *ticket)
{
    json_t *const list = questions ? json_loads(questions, 0, NULL) : NULL;
    const json_t *const question = json_array_size(list) == 1 ? json_array_get(list, 0) : NULL;
    const json_t *const choices = json_object_get(question, "options");
    const char *buttons = "";
    if (json_array_size(choices) < BUTTONS_MAX && !json_is_true(json_object_get(question, "multi")))
        for (size_t i = 0; buttons && i < json_array_size(choices); i++) {
            const json_t *const one = json_array_get(choices, i);
            const char *const label =
                json_is_string(one) ? json_string_value(one) : tc_member_text(one, "label");
            if (label)
                buttons = button_add(turn, buttons, label, ticket, "answer", label);
        }
    json_decref(list);
    return buttons;
}

/* The first choices and the last one, which is harmless. Of a text that is cut, only the last one:
 * nobody allows what they cannot read. A choice that needs a text has no button. */
static const char *buttons_of_request(struct tc_turn *turn, const struct tc_request *ev, bool cut)
{
    const char *const ticket =
        ev->choices && button_url(turn) ? tc_ticket(turn, ev->request_id) : NULL;
    if (!ticket)
        return NULL;
    json_t *const list = json_loads(ev->choices, 0, NULL);
    const size_t count = json_array_size(list);
    const char *buttons = cut ? "" : buttons_of_question(turn, ev->questions, ticket);
    const bool asks = *buttons;
    for (size_t i = 0; buttons && i < count; i++) {
        const json_t *const one = json_array_get(list, i);
        const char *const id = tc_member_text(one, "id"), *const label =
                                                              tc_member_text(one, "label");
        const bool last = i + 1 == count, first = !cut && !asks && i < BUTTONS_MAX - 1;
        if (id && label && strcmp(id, "answer") != 0 && (first || last))
            buttons = button_add(turn, buttons, tc_say(turn, label, NULL), ticket, id, NULL);
    }
    json_decref(list);
    return buttons && *buttons ? tc_sprint(turn, "%s]", buttons) : NULL;
}

/* ---- events ---- */

static int on_outcome(struct tc_turn *turn, const char *text, uint32_t flags, const char *tag,
                      const char *title, int64_t priority)
{
    bool cut;
    const char *const message = text_cut(turn, text, flags, &cut);
    return publish(
        turn, &(struct notification){
                  .id = sequence_id(turn, "outcome"),
                  .title = title,
                  .message = message ? message
                                     : tc_say(turn, "The agent finished without an answer.", NULL),
                  .tag = tag,
                  .priority = priority,
                  .urgency = TC_P_FINAL});
}

static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    const struct ntfy_conf *const conf = turn->inst->conf;
    return on_outcome(turn, ev->text, 0, "white_check_mark", turn->agent, conf->priority);
}

static int on_error(struct tc_turn *turn, const struct tc_error *ev)
{
    const struct ntfy_conf *const conf = turn->inst->conf;
    return on_outcome(turn, ev->message, TC_VERBATIM, "warning",
                      tc_say(turn, "{agent}: error", turn->agent), conf->priority + 1);
}

static const char *decision_text(struct tc_turn *turn, const struct tc_request *ev)
{
    static const char *const words[][3] = {{"allow", "Allowed", "Allowed by {by}"},
                                           {"deny", "Denied", "Denied by {by}"},
                                           {"answered", "Answered", "Answered by {by}"},
                                           {"timeout", "Denied: no answer in time", NULL}};
    for (size_t i = 0; ev->decision && i < sizeof words / sizeof *words; i++)
        if (strcmp(ev->decision, words[i][0]) == 0)
            return tc_say(turn, ev->by && words[i][2] ? words[i][2] : words[i][1], ev->by);
    return tc_say(turn, "Closed", NULL);
}

/* Sends a request, or its decision, which replaces the request without a sound. */
static int on_request(struct tc_turn *turn, const struct tc_request *ev)
{
    const struct ntfy_conf *const conf = turn->inst->conf;
    const bool open = strcmp(ev->state, "open") == 0;
    const char *const asked = ev->preview ? ev->preview : ev->message ? ev->message : ev->subject;
    const char *const what = ev->tool ? ev->tool : ev->kind;
    const char *const end = tc_sprint(turn, "→ %s", decision_text(turn, ev));
    bool cut = false;
    const char *const text = open ? text_cut(turn, asked ? asked : "", TC_VERBATIM, &cut) : end;
    return publish(
        turn, &(struct notification){
                  .id = sequence_id(turn, ev->request_id),
                  .title = tc_sprint(turn, "%s: %s", turn->agent, tc_cut(turn, what, TITLE_BYTES)),
                  .message = text ? text : ev->kind,
                  .tag = open ? "raised_hand" : "heavy_check_mark",
                  .priority = open ? conf->priority + 1 : 1,
                  .actions = open ? buttons_of_request(turn, ev, cut) : NULL,
                  .urgency = TC_P_REQUEST});
}

/* ---- replies ---- */

static int on_reply(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    if (r->status == 429) {
        const unsigned doubled = r->attempts < 9 ? r->attempts : 9;
        int64_t ms = (int64_t)LIMITED_MS << (doubled > 0 ? doubled - 1 : 0);
        ms = ms > LIMITED_MAX_MS ? LIMITED_MAX_MS : ms;
        *v = (struct tc_verdict){.next = TC_NEXT_AGAIN,
                                 .hold_ms = v->hold_ms > ms ? v->hold_ms : ms,
                                 .scope = TC_HOLD_RATES};
    } else if (r->outcome == TC_REJECTED && (r->status == 401 || r->status == 403)) {
        *v = (struct tc_verdict){.next = TC_NEXT_AGAIN,
                                 .hold_ms = REFUSED_MS,
                                 .scope = TC_HOLD_INSTANCE,
                                 .reason = tc_sprint(turn,
                                                     "the server refuses to publish to the topic "
                                                     "(status %d)",
                                                     r->status)};
    }
    return 0;
}

TURNCAST_PLUGIN(.name = "ntfy", .version = "0.1.0",
                .summary = "requests, answers and errors as push notifications, with buttons",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct ntfy_conf),
                .state_size = sizeof(struct ntfy), .options = options, .rules = rules,
                .probe = TC_PROBE(.url = "{origin:server}/v1/account", .headers = ntfy_headers,
                                  .header_count = NTFY_HEADERS, .account = "/username",
                                  .reason = "/error"),
                .init = ntfy_answer_init, .rates = rates,
                .sink = TC_SINK(.on_final = on_final, .on_error = on_error,
                                .on_request = on_request, .on_reply = on_reply,
                                .on_hit = ntfy_answer_on_hit, .on_frame = ntfy_answer_on_frame));
