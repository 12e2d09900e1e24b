/* SPDX-License-Identifier: MIT
 * Processes activities of people in Teams: messages, and presses of buttons. A conversation id of a
 * channel names the thread behind ";messageid=". */
#include <string.h>

#include "teams.h"

#define FILES_MAX 10
#define MARKS_MAX 16
#define THREAD ";messageid="
#define BLANK "&nbsp;" /* blanks around a mention */
#define FILE_TYPE "application/vnd.microsoft.teams.file.download.info"

/* Person and place of an activity. */
struct teams_place {
    struct tc_target target; /* target.message: the activity */
    const char *id; /* id of the activity, the same when it is delivered again; NULL: incomplete */
    const char *name, *bot;
    bool channel;
};

/* The directory id is the same for each bot and each chat. */
static const char *activity_user(const json_t *activity)
{
    const json_t *const from = json_object_get(activity, "from");
    const char *const known = tc_member_text(from, "aadObjectId");
    return known && *known ? known : tc_member_text(from, "id");
}

static struct teams_place activity_place(struct tc_turn *lobby, const json_t *activity)
{
    const json_t *const in = json_object_get(activity, "conversation");
    const char *const conversation = tc_member_text(in, "id"),
                      *const kind = tc_member_text(in, "conversationType"),
                      *const id = tc_member_text(activity, "id"),
                      *const user = activity_user(activity),
                      *const bot = tc_member_text(json_object_get(activity, "recipient"), "id");
    const char *const at = conversation ? strstr(conversation, THREAD) : NULL;
    struct teams_place p = {.bot = bot,
                            .name = tc_member_text(json_object_get(activity, "from"), "name"),
                            .channel = kind && strcmp(kind, "channel") == 0};
    if (!conversation || !*conversation || !id || !*id || !user || !*user)
        return p;
    p.id = tc_sprint(lobby, "%s:%s", conversation, id);
    p.target = (struct tc_target){
        .chat =
            at ? tc_sprint(lobby, "%.*s", (int)(at - conversation), conversation) : conversation,
        .thread = at          ? at + strlen(THREAD)
                  : p.channel ? id
                              : NULL,
        .message = id,
        .user = user,
        .more = tc_json(lobby, "{s:s, s:s*}", "service", tc_member_text(activity, "serviceUrl"),
                        "bot", bot),
        .group = !kind || strcmp(kind, "personal") != 0,
    };
    return p;
}

/* ---- text ---- */

static bool activity_is_mention_of(const json_t *entity, const char *bot)
{
    const char *const type = tc_member_text(entity, "type"), *const id = tc_member_text(
                                                                 json_object_get(entity,
                                                                                 "mentioned"),
                                                                 "id");
    return type && strcmp(type, "mention") == 0 && bot && id && strcmp(id, bot) == 0;
}

/* Marks of the bot in the text; *mentioned: whether there are any. */
static size_t activity_mentions(const json_t *activity, const char *bot,
                                struct tc_mention marks[MARKS_MAX], bool *mentioned)
{
    size_t i, n = 0;
    const json_t *entity;
    *mentioned = false;
    json_array_foreach(json_object_get(activity, "entities"), i, entity)
    {
        if (!activity_is_mention_of(entity, bot))
            continue;
        *mentioned = true;
        if (n < MARKS_MAX)
            marks[n++] = (struct tc_mention){.mark = tc_member_text(entity, "text")};
    }
    return n;
}

static const char *activity_text(struct tc_turn *lobby, const json_t *activity)
{
    const char *const given = tc_member_text(activity, "text");
    char *const text = tc_sprint(lobby, "%s", given ? given : "");
    const size_t n = strlen(BLANK);
    for (char *at = text; at && (at = strstr(at, BLANK)); at++) {
        memmove(at + 1, at + n, strlen(at + n) + 1);
        *at = ' ';
    }
    return text ? text + strspn(text, " \t\r\n") : "";
}

/* ---- files ---- */

/* An inline image is stored by the service; another file in the person's storage. */
static const char *activity_file_url(const json_t *attachment)
{
    const char *const type = tc_member_text(attachment, "contentType");
    if (type && strcmp(type, FILE_TYPE) == 0)
        return tc_member_text(json_object_get(attachment, "content"), "downloadUrl");
    return type && strncmp(type, "image/", 6) == 0 ? tc_member_text(attachment, "contentUrl")
                                                   : NULL;
}

static size_t activity_files(struct tc_turn *lobby, const json_t *activity,
                             struct tc_chat_file files[FILES_MAX])
{
    size_t i, n = 0;
    const json_t *one;
    json_array_foreach(json_object_get(activity, "attachments"), i, one)
    {
        const char *const url = activity_file_url(one), *const name = tc_member_text(one, "name"),
                          *const type = tc_member_text(one, "contentType");
        if (!url || n == FILES_MAX || !teams_url_of_file(lobby, url))
            continue;
        const bool image = type && strcmp(type, FILE_TYPE) != 0;
        files[n++] = (struct tc_chat_file){
            .name = name ? name : "image", .type = image ? type : NULL, .ref = url};
    }
    return n;
}

/* ---- messages ---- */

/* In a channel, replyToId names the root of the thread. */
static const char *activity_replied_to(const json_t *activity, const struct teams_place *p)
{
    const char *const id = tc_member_text(activity, "replyToId");
    return id && (!p->target.thread || strcmp(id, p->target.thread) != 0) ? id : NULL;
}

/* Without a mention, the bot receives messages only if the app has permission to read all of
 * them. */
static enum tc_addressed activity_addressed(const struct teams_place *p, bool mentioned)
{
    if (mentioned || !p->target.group)
        return TC_ADDRESSED_YES;
    return p->target.thread ? TC_ADDRESSED_THREAD : TC_ADDRESSED_NO;
}

static int activity_message(struct tc_turn *lobby, const json_t *activity)
{
    struct tc_chat_file files[FILES_MAX];
    struct tc_mention marks[MARKS_MAX];
    bool mentioned;
    const struct teams_place p = activity_place(lobby, activity);
    const size_t mention_count = activity_mentions(activity, p.bot, marks, &mentioned);
    const size_t count = activity_files(lobby, activity, files);
    if (!p.id)
        return 200;
    const enum tc_accepted how = tc_chat_receive(
        lobby,
        TC_CHAT_MESSAGE(.id = p.id, .target = p.target, .topic = p.target.thread, .name = p.name,
                        .text = activity_text(lobby, activity),
                        .reply_to = activity_replied_to(activity, &p),
                        .addressed = activity_addressed(&p, mentioned), .files = files,
                        .file_count = count, .mentions = marks, .mention_count = mention_count));
    return how == TC_NOT_KEPT ? 503 : 200;
}

/* ---- presses ---- */

/* data: of the button, with the inputs of the card. */
static int activity_press(struct tc_turn *lobby, const json_t *activity, json_t *data)
{
    struct teams *const s = teams_state(lobby);
    struct teams_place p = activity_place(lobby, activity);
    const char *const button = tc_member_text(data, "tc"), *const card = tc_member_text(
                                                               activity, "replyToId");
    if (!p.id || !card)
        return 200;
    p.target.message = card;
    s->press = p.id;
    s->press_text[0] = '\0';
    const int rc = tc_chat_act(
        lobby, TC_CHAT_ACTION(.id = p.id, .data = button ? button : "", .target = p.target,
                              .topic = p.target.thread, .name = p.name,
                              .filled = tc_json(lobby, "o", json_incref(data)),
                              .form = tc_member_text(data, "form")));
    s->press = NULL;
    return rc < 0 ? 503 : 200;
}

/* The response to a press contains its result; the card is edited for everybody. */
static void activity_invoke(struct tc_turn *lobby, const json_t *activity, struct tc_answer *answer)
{
    const struct teams *const s = teams_state(lobby);
    const char *const name = tc_member_text(activity, "name");
    const json_t *const action = json_object_get(json_object_get(activity, "value"), "action");
    if (!name || strcmp(name, "adaptiveCard/action") != 0) {
        answer->status = 501;
        return;
    }
    answer->status = activity_press(lobby, activity, json_object_get(action, "data"));
    answer->content_type = "application/json";
    answer->body = tc_json(lobby, "{s:i, s:s, s:s}", "statusCode", answer->status, "type",
                           "application/vnd.microsoft.activity.message", "value",
                           *s->press_text ? s->press_text : "OK");
}

static void teams_activity_handle_activity(struct tc_turn *lobby, const json_t *activity,
                                           struct tc_answer *answer)
{
    const char *const type = tc_member_text(activity, "type");
    json_t *const value = json_object_get(activity, "value");
    if (type && strcmp(type, "invoke") == 0)
        activity_invoke(lobby, activity, answer);
    else if (type && strcmp(type, "message") == 0 && tc_member_text(value, "tc"))
        answer->status = activity_press(lobby, activity, value);
    else if (type && strcmp(type, "message") == 0)
        answer->status = activity_message(lobby, activity);
}

/* ---- requests ----
 *
 * The host has checked that the service signed them. */

static bool activity_is_endorsed(const json_t *key, const char *channel)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(key, "endorsements"), i, one)
    {
        if (json_is_string(one) && strcmp(json_string_value(one), channel) == 0)
            return true;
    }
    return false;
}

/* Why the claims do not permit this activity, or NULL. */
static const char *activity_find_fault(struct tc_turn *lobby, const json_t *claims,
                                       const json_t *key, const json_t *activity)
{
    const char *const channel = tc_member_text(activity, "channelId"),
                      *const service = tc_member_text(activity, "serviceUrl"),
                      *const claimed = tc_member_text(claims, "serviceurl");
    if (!channel || strcmp(channel, "msteams") != 0)
        return "the activity is not of the channel msteams";
    if (!activity_is_endorsed(key, channel))
        return "its key is not endorsed for the channel";
    if (!service || !claimed || strcmp(service, claimed) != 0)
        return "it is of another service (serviceurl)";
    if (!teams_url_is_service(lobby, service))
        return "the serviceUrl of the activity is not one of Microsoft Teams";
    return NULL;
}

int teams_activity_on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    json_t *const activity = json_loadb(hit->body, hit->body_len, JSON_REJECT_DUPLICATES, NULL);
    json_t *const claims = json_loads(hit->claims, JSON_REJECT_DUPLICATES, NULL);
    json_t *const key = json_loads(hit->key, 0, NULL);
    const char *const why = activity ? activity_find_fault(lobby, claims, key, activity) : NULL;
    if (strcmp(hit->method, "POST") != 0) {
        answer->status = 405;
    } else if (!activity) {
        answer->status = 400;
    } else if (why) {
        answer->status = 401;
        tc_log(lobby->inst, TC_WARN, "refused a request to the route /messages: the token: %s",
               why);
    } else {
        teams_activity_handle_activity(lobby, activity, answer);
    }
    json_decref(key);
    json_decref(claims);
    json_decref(activity);
    return 0;
}
