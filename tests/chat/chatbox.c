/* SPDX-License-Identifier: MIT
 * A chat connector for tests of the engine: it describes a made-up service, and each operation is
 * one request whose body says everything about the operation. People act by websocket-free routes:
 * POST /message and /action. The service is chosen when the file is compiled:
 *   CHATBOX_IDEMPOTENCY  TC_IDEMPOTENCY_…     CHATBOX_INPUT  TC_INPUT_…
 *   CHATBOX_IDEMPOTENCY_MS  for how long a key is known
 *   CHATBOX_TYPING_MS    how long typing is visible
 *   CHATBOX_CHAT_OPTION  the option that names a chat
 *   CHATBOX_LACKS        operations that the service does not have
 *   CHATBOX_STREAM_FORM  form of texts in streams
 *   CHATBOX_UNSTREAMED   a chat where streams are not possible
 *   CHATBOX_NO_BLANKS    names of commands have neither blanks nor hyphens
 *   CHATBOX_STREAM_WHOLE each request of a stream carries all of its text
 *   CHATBOX_FEED         the service sends events by itself, here by the route: POST /action with
 *                        {"feed": "add", "event", "position"}, "go" or "ready" with "gap"; events
 *                        with "look" wait until "go"
 *   CHATBOX_FORMS        forms of at most two fields, only alerts are shown to one person, and each
 *                        person has a menu; with CHATBOX_INPUT */
#include <stdio.h>
#include <string.h>
#include <turncast/plugin.h>

#ifndef CHATBOX_IDEMPOTENCY
#define CHATBOX_IDEMPOTENCY TC_IDEMPOTENCY_NONE
#endif
#ifndef CHATBOX_IDEMPOTENCY_MS
#define CHATBOX_IDEMPOTENCY_MS 0
#endif
#ifndef CHATBOX_INPUT
#define CHATBOX_INPUT TC_INPUT_BUTTONS
#endif
#ifndef CHATBOX_TYPING_MS
#define CHATBOX_TYPING_MS 5000
#endif
#ifndef CHATBOX_CHAT_OPTION
#define CHATBOX_CHAT_OPTION "room"
#endif
#ifdef CHATBOX_FORMS
#define CHATBOX_FIELDS 2
#else
#define CHATBOX_FIELDS 0
#endif
/* The three operations of native streams. */
#define CHATBOX_STREAMS                                                                            \
    (TC_CAN(TC_OP_STREAM_BEGIN) | TC_CAN(TC_OP_STREAM_APPEND) | TC_CAN(TC_OP_STREAM_END))
#ifndef CHATBOX_LACKS
#define CHATBOX_LACKS (TC_CAN(TC_OP_MENU) | CHATBOX_STREAMS)
#endif

#ifndef CHATBOX_STREAM_FORM
#define CHATBOX_STREAM_FORM TC_PLAIN
#endif
#ifndef CHATBOX_STREAM_WHOLE
#define CHATBOX_STREAM_WHOLE false
#endif
#ifdef CHATBOX_NO_BLANKS
#define CHATBOX_COMMAND_LACKS " -"
#else
#define CHATBOX_COMMAND_LACKS NULL
#endif
#ifndef CHATBOX_UNSTREAMED
#define CHATBOX_UNSTREAMED "edited"
#endif

struct conf {
    const char *base, *room;
    int64_t number;
    bool draft, source, hooked, stream;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, base, "https://chatbox.invalid", 0, "URL of the service"),
    TC_OPTION(struct conf, room, NULL, 0, "chat for turns that began elsewhere"),
    TC_OPTION(struct conf, number, "0", 0, "the same, as a number"),
    TC_OPTION(struct conf, draft, "false", 0, "show progress by drafts"),
    TC_OPTION(struct conf, source, "false", 0, "send answers as Markdown"),
    TC_OPTION(struct conf, stream, "true", 0, "show progress by native streams"),
    TC_OPTION(struct conf, hooked, "false", 0, "events come by the routes only"),
    {0},
};

static const struct tc_rate rates[] = {{1, 1, 100, 1}, {1, 1, 300, 1}, {0}};

static const struct tc_error_rule errors[] = {
    {0, "bad format", TC_RESULT_BAD_FORMAT},   {0, "too long", TC_RESULT_TOO_LONG},
    {0, "nothing", TC_RESULT_EMPTY},           {0, "no question", TC_RESULT_REPLY_GONE},
    {0, "no thread", TC_RESULT_THREAD_GONE},   {0, "no message", TC_RESULT_MESSAGE_GONE},
    {0, "moved", TC_RESULT_CHAT_MOVED},        {0, "no chat", TC_RESULT_CHAT_GONE},
    {0, "unsupported", TC_RESULT_UNSUPPORTED}, {0, "not found", TC_RESULT_NOT_FOUND},
    {0, "stopped", TC_RESULT_STOPPED},         {0, NULL, TC_RESULT_DONE},
};

static const char *const names[] = {"identify", "post",    "edit",   "delete", "file",  "typing",
                                    "react",    "private", "lookup", "poll",   "fetch", "menu",
                                    "draft",    "begin",   "append", "end"};

static const char *buttons_of(struct tc_turn *t, const struct tc_op *op)
{
    const char *list = "[]";
    for (size_t i = 0; i < op->button_count; i++)
        list = tc_json(t, "[j*, {s:s, s:s, s:b}]", list, "data", op->buttons[i].data, "label",
                       op->buttons[i].label, "confirm", op->buttons[i].confirm);
    return list;
}

static const char *field_of(struct tc_turn *t, const struct tc_field *f)
{
    const char *list = "[]";
    for (size_t i = 0; i < f->option_count; i++)
        list = tc_json(t, "[j*, {s:s, s:s?}]", list, "label", f->options[i].label, "about",
                       f->options[i].about);
    return tc_json(t, "{s:s, s:s?, s:b, s:j}", "id", f->id, "label", f->label, "multi", f->multi,
                   "options", list);
}

static const char *fields_of(struct tc_turn *t, const struct tc_field *fields, size_t count)
{
    const char *list = "[]";
    for (size_t i = 0; i < count; i++)
        list = tc_json(t, "[j*, j]", list, field_of(t, &fields[i]));
    return list;
}

static const char *menu_of(struct tc_turn *t, const struct tc_op *op)
{
    if (op->menu_count == 0)
        return "null";
    const char *list = "[]";
    for (size_t i = 0; i < op->menu_count; i++)
        list = tc_json(t, "[j*, s]", list,
                       tc_sprint(t, "%s %s", op->menu[i].name, op->menu_arguments[i]));
    return tc_json(t, "{s:s, s:s, s:b, s:j}", "first", op->menu[0].name, "help", op->menu[0].help,
                   "many", op->menu_count > 10, "all", list);
}

/* What a stream is given: texts, and lines with a sign of their state. */
static const char *items_of(struct tc_turn *t, const struct tc_op *op)
{
    static const char *const states[] = {"running", "ok", "failed"};
    const char *list = "[]";
    for (size_t i = 0; i < op->item_count; i++) {
        const struct tc_stream_item *const item = &op->items[i];
        const struct tc_tool_line *const line = item->line;
        list = item->text ? tc_json(t, "[j*, s]", list, item->text)
                          : tc_json(t, "[j*, {s:s, s:s, s:s, s:s, s:i, s:s?}]", list, "id",
                                    line->id, "name", line->name, "summary", line->summary, "state",
                                    states[line->state], "took", (int)line->took_ms, "detail",
                                    line->detail);
    }
    return list;
}

static const char *view_of(struct tc_turn *t, const struct tc_op *op)
{
    static const char *const phases[] = {"working", "waiting", "stopping"};
    return op->kind == TC_OP_TYPING && op->view
               ? tc_json(t, "{s:s, s:i}", "phase", phases[op->view->phase], "elapsed",
                         (int)op->view->elapsed_ms)
               : "null";
}

static const char *target_of(struct tc_turn *t, const struct tc_op *op)
{
    static const struct tc_target none;
    const struct tc_target *const to = op->target ? op->target : &none;
    return tc_json(t, "{s:s?, s:s?, s:s?, s:s?}", "chat", to->chat, "thread",
                   op->omit & TC_OMIT_THREAD ? NULL : to->thread, "reply_to",
                   op->omit & TC_OMIT_REPLY ? NULL : to->message, "user", to->user);
}

static int chatbox_request(struct tc_turn *t, const struct tc_op *op, struct tc_http *http)
{
    static const char *const roles[] = {"live", "answer", "card", "reply"};
    const char *const text = op->omit & TC_OMIT_FORMAT ? op->plain : op->text;
    http->url = tc_sprint(t, "{option:base}/%s", names[op->kind]);
    if (CHATBOX_FIELDS && op->kind == TC_OP_PRIVATE && op->silent)
        return -1;
    if (op->kind == TC_OP_FILE) {
        http->body = op->file->data;
        http->body_len = op->file->len;
        http->content_type = op->file->type;
        http->url = tc_sprint(t, "{option:base}/file?name=%s", op->file->name);
        return 0;
    }
    if (op->kind == TC_OP_STREAM_BEGIN && strcmp(op->target->chat, CHATBOX_UNSTREAMED) == 0)
        return -1;
    if (op->kind == TC_OP_FETCH && strncmp(op->file->ref, "elsewhere", 9) == 0)
        return -1;
    if (op->kind == TC_OP_FETCH) { /* the address first, then the content */
        http->method = "GET";
        http->flags |= op->step ? TC_SAVE : 0;
        http->url = tc_sprint(t, op->step ? "{option:base}/content/%s" : "{option:base}/fetch?%s",
                              op->step ? op->cursor : op->file->ref);
        return 0;
    }
    http->body = tc_json(
        t,
        "{s:s, s:j, s:s?, s:s?, s:s, s:j, s:b, s:b, s:b, s:i, s:s?, s:i, s:s?, s:i, s:s?, "
        "s:j, s:j, s:s?, s:j, s:j}",
        "role", roles[op->role], "to", target_of(t, op), "message", op->message, "key",
        CHATBOX_IDEMPOTENCY == TC_IDEMPOTENCY_NONE ? NULL : op->key, "text", text, "buttons",
        buttons_of(t, op), "silent", op->silent, "source", op->source, "off", op->off, "part",
        (int)op->part, "cursor", op->cursor, "reaction", (int)op->reaction, "emoji",
        op->kind == TC_OP_REACT ? op->emoji : NULL, "omit", (int)op->omit, "action", op->action,
        "menu", menu_of(t, op), "fields", fields_of(t, op->fields, op->field_count), "form",
        op->form, "items", items_of(t, op), "view", view_of(t, op));
    return http->body ? 0 : -1;
}

/* ---- people ---- */

#define FILES 8

static size_t files_of(struct tc_turn *l, const char *body, struct tc_chat_file *files)
{
    size_t n = 0;
    const char *ref;
    for (; n < FILES && (ref = tc_json_get(l, body, tc_sprint(l, "/files/%zu", n))); n++)
        files[n] = (struct tc_chat_file){.name = tc_sprint(l, "%s.txt", ref), .ref = ref};
    return n;
}

#define MARKS 4

/* {"marks": [[MARK, NAME]…]}; without a name: of the bot. */
static size_t marks_of(struct tc_turn *l, const char *body, struct tc_mention *marks)
{
    size_t n = 0;
    const char *mark;
    for (; n < MARKS && (mark = tc_json_get(l, body, tc_sprint(l, "/marks/%zu/0", n))); n++)
        marks[n] = (struct tc_mention){mark, tc_json_get(l, body, tc_sprint(l, "/marks/%zu/1", n))};
    return n;
}

static int take_message(struct tc_turn *l, const char *body, int *status)
{
    struct tc_chat_file files[FILES];
    struct tc_mention marks[MARKS];
    const char *const id = tc_json_get(l, body, "/id");
    const char *const addressed = tc_json_get(l, body, "/addressed");
    const struct tc_chat_message m = {
        .size = sizeof m,
        .id = id,
        .target = {.chat = tc_json_get(l, body, "/chat"),
                   .thread = tc_json_get(l, body, "/thread"),
                   .message = id,
                   .user = tc_json_get(l, body, "/user"),
                   .group = tc_json_get(l, body, "/group") != NULL},
        .topic = tc_json_get(l, body, "/topic"),
        .user = tc_json_get(l, body, "/user"),
        .name = tc_json_get(l, body, "/name"),
        .text = tc_json_get(l, body, "/text"),
        .reply_to = tc_json_get(l, body, "/reply_to"),
        .reply_text = tc_json_get(l, body, "/reply_text"),
        .reply_data = tc_json_get(l, body, "/reply_data"),
        .chat_was = tc_json_get(l, body, "/chat_was"),
        .addressed = !addressed                         ? TC_ADDRESSED_YES
                     : strcmp(addressed, "thread") == 0 ? TC_ADDRESSED_THREAD
                                                        : TC_ADDRESSED_NO,
        .files = files,
        .file_count = files_of(l, body, files),
        .kind = tc_json_get(l, body, "/kind"),
        .group = tc_json_get(l, body, "/album"),
        .mentions = marks,
        .mention_count = marks_of(l, body, marks),
        .attachments = tc_json_get(l, body, "/attachments"),
        .mentioned = tc_json_get(l, body, "/mentioned"),
    };
    *status = tc_chat_receive(l, &m) == TC_NOT_KEPT ? 503 : 200;
    return 0;
}

/* The inputs of a form with room for three, and for menus of two. */
static const char *inputs_of(struct tc_turn *t, const struct tc_field *fields, size_t count)
{
    const char *list = "[]";
    size_t n = 0;
    const struct tc_form_input *const inputs = tc_chat_inputs(t, fields, count, 3, 2, &n);
    for (size_t i = 0; i < n; i++)
        list = tc_json(t, "[j*, {s:s, s:s, s:i, s:b, s:b}]", list, "id", inputs[i].id, "label",
                       inputs[i].label, "options", (int)inputs[i].option_count, "multi",
                       inputs[i].multi, "required", inputs[i].required);
    return list;
}

/* A press that opens a form is answered with its fields, or its inputs. */
static int take_action(struct tc_turn *l, const char *body, struct tc_answer *answer)
{
    size_t count = 0;
    const char *const reaction = tc_json_get(l, body, "/reaction");
    const struct tc_chat_action a = {
        .size = sizeof a,
        .id = tc_json_get(l, body, "/id"),
        .data = tc_json_get(l, body, "/data"),
        .reaction =
            reaction && strcmp(reaction, "allow") == 0 ? TC_REACTION_ALLOW : TC_REACTION_DENY,
        .target = {.chat = tc_json_get(l, body, "/chat"),
                   .thread = tc_json_get(l, body, "/thread"),
                   .message = tc_json_get(l, body, "/message")},
        .topic = tc_json_get(l, body, "/topic"),
        .user = tc_json_get(l, body, "/user"),
        .answers = tc_json_get(l, body, "/answers"),
        .filled = tc_json_get(l, body, "/filled"),
        .form = tc_json_get(l, body, "/form"),
        .stop = tc_json_get(l, body, "/stop") != NULL,
        .menu = tc_json_get(l, body, "/menu") != NULL,
    };
    const struct tc_field *const form =
        tc_json_get(l, body, "/opens") ? tc_chat_form(l, &a, &count) : NULL;
    if (form)
        answer->body =
            tc_json_get(l, body, "/inputs") ? inputs_of(l, form, count) : fields_of(l, form, count);
    else
        answer->status = tc_chat_act(l, &a) < 0 ? 503 : 200;
    return 0;
}

#ifdef CHATBOX_FEED
static bool looked_up; /* what events with "look" wait for */

static enum tc_feed_step feed_take(struct tc_turn *l, const char *event,
                                   const struct tc_target *where)
{
    int status = 200;
    if (tc_json_get(l, event, "/look") && !looked_up)
        return TC_FEED_WAIT;
    if (where)
        tc_log(l->inst, TC_INFO, "of %s", where->chat);
    take_message(l, event, &status);
    return status == 200 ? TC_FEED_DONE : TC_FEED_NOT_KEPT;
}

static void feed_rewind(struct tc_turn *l)
{
    const char *const position = tc_feed_position(l);
    tc_log(l->inst, TC_INFO, "again from %s", position ? position : "the beginning");
}

static int feed_page(struct tc_turn *l, const struct tc_target *where, const char *after,
                     const char *key)
{
    return strcmp(where->chat, "mute") == 0
               ? -1
               : tc_http(l,
                         TC_HTTP(.method = "GET",
                                 .url = tc_sprint(l, "{option:base}/%s/%s/history?%s", where->chat,
                                                  where->thread ? where->thread : "-", after),
                                 .flags = TC_IDEMPOTENT, .tag = key));
}

static const struct tc_feed feed = {
    .size = sizeof feed, .take = feed_take, .rewind = feed_rewind, .page = feed_page};

static int take_feed(struct tc_turn *l, const char *step, const char *body)
{
    if (strcmp(step, "ready") == 0) {
        tc_feed_ready(l, tc_json_get(l, body, "/gap") != NULL);
    } else if (strcmp(step, "go") == 0) {
        looked_up = true;
        tc_feed_go(l);
    } else {
        looked_up = false;
        return tc_feed_add(l, tc_json_get(l, body, "/event"), tc_json_get(l, body, "/position"));
    }
    return 0;
}

static int on_reply(struct tc_turn *l, const struct tc_reply *reply, struct tc_verdict *v)
{
    if (v->next == TC_NEXT_AGAIN)
        return 0;
    tc_feed_page(l, reply->tag, reply, tc_json_get(l, reply->body, "/messages"),
                 tc_json_get(l, reply->body, "/next"));
    return 0;
}
#define CHATBOX_FEED_TABLE &feed
#define CHATBOX_ON_REPLY on_reply
#else
#define CHATBOX_FEED_TABLE NULL
#define CHATBOX_ON_REPLY NULL
static int take_feed(struct tc_turn *l, const char *step, const char *body)
{
    return tc_feed_add(l, step, body);
}
#endif

static int on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    const char *const step = tc_json_get(lobby, hit->body, "/feed");
    if (step) {
        answer->status = take_feed(lobby, step, hit->body) < 0 ? 503 : 200;
        return 0;
    }
    return strcmp(hit->path, "/message") == 0 ? take_message(lobby, hit->body, &answer->status)
                                              : take_action(lobby, hit->body, answer);
}

/* What a poll brings is taken as from the route. */
static int chatbox_read(struct tc_turn *l, const struct tc_op *op, const struct tc_reply *reply,
                        struct tc_result *result)
{
    int status = 200;
    if (op->kind == TC_OP_FETCH && op->step == 0 && result->kind == TC_RESULT_DONE) {
        result->kind = TC_RESULT_NEXT_STEP;
        result->cursor = tc_json_get(l, reply->body, "/at");
    }
    if ((op->kind == TC_OP_TYPING || op->kind == TC_OP_REACT) && result->kind == TC_RESULT_DONE &&
        tc_json_get(l, reply->body, "/step")) {
        result->kind = TC_RESULT_NEXT_STEP;
        result->cursor = tc_json_get(l, reply->body, "/step");
    }
    if (op->kind != TC_OP_POLL || result->kind != TC_RESULT_DONE)
        return 0;
    const char *const message = tc_json_get(l, reply->body, "/message");
    const char *const step = tc_json_get(l, reply->body, "/step");
    result->cursor = step ? step : tc_json_get(l, reply->body, "/cursor");
    if (step)
        result->kind = TC_RESULT_NEXT_STEP;
    if (message)
        take_message(l, message, &status);
    if (status != 200)
        result->cursor = op->cursor;
    return 0;
}

static int ready(struct tc_turn *lobby, const struct tc_result *identity)
{
    const struct conf *const conf = lobby->inst->conf;
    (void)identity;
    return conf->hooked;
}

static int init(struct tc_instance *inst)
{
    tc_route(inst, "/message");
    return tc_route(inst, "/action");
}

static const struct tc_chat chat = {
    .size = sizeof chat,
    .can = ((1u << TC_OPS) - 1) & ~(CHATBOX_LACKS) &
           (CHATBOX_IDEMPOTENCY == TC_IDEMPOTENCY_LOOKUP ? ~0u : ~TC_CAN(TC_OP_LOOKUP)),
    .text = {{.form = TC_PLAIN, .units = 1000},
             {.form = TC_PLAIN, .units = 1000},
             {.form = TC_PLAIN, .units = 2000},
             {.form = TC_PLAIN, .units = 1000}},
    .edit_ms = 1000,
    .typing_ms = CHATBOX_TYPING_MS,
    .idempotency = CHATBOX_IDEMPOTENCY,
    .idempotency_ms = CHATBOX_IDEMPOTENCY_MS,
    .input = CHATBOX_INPUT,
    .fields = CHATBOX_FIELDS,
    .personal_menu = CHATBOX_FIELDS > 0,
    .rates = 1,
    .rates_group = 2,
    .reply = {.ok = "/ok",
              .error = "/error",
              .message = "/id",
              .chat = "/chat",
              .retry_ms = "/retry_ms",
              .rules = errors},
    .error_words = "/words",
    .error_details = "/details",
    .mentions = {.id = "id", .name = "title", .marks = "<*> [*!]"},
    .command = CHATBOX_IDEMPOTENCY == TC_IDEMPOTENCY_LOOKUP ? "!" : NULL,
    .command_lacks = CHATBOX_COMMAND_LACKS,
    .attachments =
        {.name = "title name", .type = "type", .ref = "ref", .bytes = "size", .bytes_max = 100},
    .chat_option = CHATBOX_CHAT_OPTION,
    .feed = CHATBOX_FEED_TABLE,
    .draft_option = "draft",
    .source_option = "source",
    .source_bytes = 2000,
    .stream = {.text = {.form = CHATBOX_STREAM_FORM, .units = 150},
               .age_ms = 240000,
               .bytes = 600,
               .items = 8,
               .option = "stream"},
    .stream_whole = CHATBOX_STREAM_WHOLE,
    .ready = ready,
    .request = chatbox_request,
    .read = chatbox_read,
};

TURNCAST_PLUGIN(.name = "chatbox", .version = "1.0", .summary = "a chat service for tests",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct conf), .options = options,
                .rates = rates, .init = init,
                .sink = TC_SINK(.on_hit = on_hit, .on_reply = CHATBOX_ON_REPLY), .chat = &chat);
