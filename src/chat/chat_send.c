/* SPDX-License-Identifier: MIT
 * Converts records to requests: the operation for the plugin, and lane, priority, flags, rates and
 * times of the request. */
#include <stdlib.h>
#include <string.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_key.h"
#include "text/sentence/texts.h"

#define BUTTONS_MAX 64

#define LIVE_TIMEOUT_MS 15000
#define FILE_TIMEOUT_MS 120000
#define SIGN_TIMEOUT_MS 5000
#define TYPING_AGE_MS 900 /* a typing indicator that is older would appear after the outcome */
#define REACT_AGE_MS 60000
#define PRESS_AGE_MS 15000
#define REPLY_AGE_MS 600000
#define RECEIVING_AGE_MS 5000
#define POLL_MS 60000

bool chat_can(const struct chat *c, enum tc_op_kind op)
{
    return (c->table.can & TC_CAN(op) & ~c->unsupported) != 0;
}

int64_t chat_unix_ms(void)
{
    return (int64_t)(clock_wall_s() * 1000);
}

bool chat_render_one(struct chat *c, struct chat_record *r, const char *markdown, uint32_t flags)
{
    size_t count;
    const struct text_piece *const p =
        chat_text_render(&c->scratch, &c->table, r->role, markdown, strlen(markdown),
                         &(struct chat_text_options){.flags = flags, .first_only = true}, &count);
    if (!p)
        return false;
    r->text = p->text;
    r->entities = p->entities;
    r->plain = p->plain;
    return true;
}

struct chat_send_extra chat_content_of(const struct tc_http *http)
{
    for (size_t i = 0; i < http->part_count; i++)
        if (!http->parts[i].name || http->parts[i].file_name)
            return (struct chat_send_extra){.data = http->parts[i].data, .len = http->parts[i].len};
    return (struct chat_send_extra){.data = http->body ? http->body : "", .len = http->body_len};
}

/* Stores the content with a step that does not send it, because the next step may need it. */
static void chat_send_store_content(struct chat *c, const struct chat_record *r,
                                    const struct chat_send_extra *extra, struct tc_http *http)
{
    bool sent = http->body && http->body == extra->data;
    if (!r->file.name || r->op == TC_OP_FETCH || !extra->data)
        return;
    for (size_t i = 0; i < http->part_count; i++)
        sent |= http->parts[i].data == extra->data;
    if (sent)
        return;
    struct tc_part *const parts = arena_alloc(&c->scratch, (http->part_count + 1) * sizeof *parts);
    if (http->part_count)
        memcpy(parts, http->parts, http->part_count * sizeof *parts);
    parts[http->part_count++] = (struct tc_part){.data = extra->data, .len = extra->len};
    http->parts = parts;
}

/* ---- the operation ---- */

static size_t read_buttons(const struct chat_record *r, struct tc_button *buttons)
{
    size_t n = 0, i;
    const json_t *one;
    json_array_foreach(r->buttons, i, one)
    {
        if (n == BUTTONS_MAX)
            break;
        buttons[n++] = (struct tc_button){
            .data = json_string_value(json_array_get(one, 0)),
            .label = json_string_value(json_array_get(one, 1)),
            .style = (enum tc_style)json_integer_value(json_array_get(one, 2)),
            .confirm = json_is_true(json_array_get(one, 3)),
        };
    }
    return n;
}

static const struct tc_field_option *read_options(struct chat *c, const json_t *list)
{
    struct tc_field_option *const options =
        arena_alloc(&c->scratch, (json_array_size(list) + 1) * sizeof *options);
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
    {
        options[i] = (struct tc_field_option){json_string_value(json_array_get(one, 0)),
                                              json_string_value(json_array_get(one, 1))};
    }
    return options;
}

const struct tc_field *chat_read_fields(struct chat *c, const json_t *list)
{
    struct tc_field *const fields =
        arena_alloc(&c->scratch, (json_array_size(list) + 1) * sizeof *fields);
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
    {
        const json_t *const options = json_array_get(one, 3);
        fields[i] = (struct tc_field){.id = json_string_value(json_array_get(one, 0)),
                                      .label = json_string_value(json_array_get(one, 1)),
                                      .multi = json_is_true(json_array_get(one, 2)),
                                      .options = read_options(c, options),
                                      .option_count = json_array_size(options)};
    }
    return fields;
}

/* Returns the text with the mark of a repeat at its end, so that the offsets of entities do not
 * change. */
static const char *chat_send_marked_text(struct chat *c, const struct chat_record *r)
{
    const char *const text = r->text ? r->text : "";
    if (!r->tried.marked)
        return text;
    if (!*text)
        return texts_get(TEXT_CHAT_REPEAT);
    const bool html = r->role <= TC_ROLE_REPLY && c->table.text[r->role].form == TC_HTML;
    return arena_sprintf(&c->scratch, html ? "%s<p>%s</p>" : "%s\n\n%s", text,
                         texts_get(TEXT_CHAT_REPEAT));
}

static struct tc_chat_file *chat_send_file(struct chat *c, const struct chat_record *r)
{
    struct tc_chat_file *const file = arena_alloc(&c->scratch, sizeof *file);
    *file = (struct tc_chat_file){.name = r->file.name, .type = r->file.type, .ref = r->file.ref};
    return file;
}

static const char *const emoji[] = {
    [TC_REACTION_SEEN] = "👀",      [TC_REACTION_QUEUED] = "⏳", [TC_REACTION_TAKEN] = "👌",
    [TC_REACTION_ALLOW] = "✅",     [TC_REACTION_DENY] = "❌",   [TC_REACTION_GIVEN] = "🧑‍💻",
    [TC_REACTION_INTERRUPT] = "⚡",
};

/* Returns the fields as the text that the connector may store with the button. */
static const char *chat_send_form(struct chat *c, const json_t *fields)
{
    json_t *const form = fields ? chat_inputs_pack(fields) : NULL;
    char *const text = form ? json_dumps(form, JSON_COMPACT) : NULL;
    const char *const kept = text ? arena_strdup(&c->scratch, text) : NULL;
    free(text);
    json_decref(form);
    return kept;
}

struct tc_op chat_make_op(struct chat *c, const struct tc_turn *turn, const struct chat_record *r)
{
    char key[CHAT_KEY_LENGTH + 1];
    const bool streams = strcmp(r->slot, CHAT_SLOT_STREAMED) == 0; /* its text is not rendered */
    const char *const text = streams ? "" : chat_send_marked_text(c, r);
    chat_key_write(key, c->inst->name, turn->id, r);
    return (struct tc_op){
        .size = sizeof(struct tc_op),
        .kind = r->op,
        .role = r->role,
        .target = r->target.chat ? &r->target : NULL,
        .message = r->message,
        .key = arena_strdup(&c->scratch, key),
        .turn = turn->id,
        .part = r->part,
        .text = text,
        .text_len = strlen(text),
        .entities = r->omit & TC_OMIT_FORMAT ? NULL : r->entities,
        .source = strcmp(r->slot, CHAT_SLOT_SOURCE) == 0,
        .plain = r->plain && !streams ? r->plain : "",
        .silent = r->silent,
        .off = r->off,
        .omit = r->omit,
        .step = r->step,
        .cursor = r->cursor,
        .reaction = r->reaction,
        .emoji = (size_t)r->reaction < sizeof emoji / sizeof *emoji ? emoji[r->reaction] : NULL,
        .action = r->action,
        .file = r->file.name || r->file.ref ? chat_send_file(c, r) : NULL,
    };
}

/* ---- the request ---- */

static bool is_durable(const struct chat_record *r)
{
    if (chat_record_is_slot(r, CHAT_SLOT_LIVE) ||
        (chat_record_is_slot(r, CHAT_SLOT_CARD) && r->op == TC_OP_EDIT))
        return r->last;
    return chat_record_is_slot(r, CHAT_SLOT_ANSWER) || chat_record_is_slot(r, CHAT_SLOT_CLEAN) ||
           chat_record_is_slot(r, CHAT_SLOT_CONFIRM) || chat_record_is_slot(r, CHAT_SLOT_CARD) ||
           chat_record_is_slot(r, CHAT_SLOT_WHOLE) || chat_record_is_slot(r, CHAT_SLOT_CLOSE);
}

/* Whether the request can be sent twice without an additional effect. */
static bool is_idempotent(const struct chat_record *r)
{
    switch ((int)r->op) {
    case TC_OP_POST:
    case TC_OP_FILE:
        return chat_record_is_slot(r, CHAT_SLOT_LOSS);
    case TC_OP_STREAM_BEGIN:
    case TC_OP_STREAM_APPEND:
        return false;
    case TC_OP_STREAM_END:
        return chat_record_is_slot(r, CHAT_SLOT_CLOSE);
    default:
        return true;
    }
}

/* Whether the request creates a progress message. The memory must be on disk before such a request
 * is sent; otherwise the next process would not look for the message. */
static bool is_live_create(const struct chat_record *r)
{
    return r->op == TC_OP_POST && strcmp(r->slot, CHAT_SLOT_LIVE) == 0 && !r->last;
}

static bool is_sign(const struct chat_record *r)
{
    return r->op == TC_OP_TYPING || r->op == TC_OP_REACT;
}

static bool is_stream(const struct chat_record *r)
{
    return chat_record_is_slot(r, CHAT_SLOT_STREAM);
}

static enum tc_priority chat_send_priority(const struct chat_record *r)
{
    if (is_stream(r))
        return TC_P_LIVE;
    if ((chat_record_is_slot(r, CHAT_SLOT_LIVE) && !r->last) || (r->op == TC_OP_TYPING && !r->off))
        return TC_P_LIVE;
    if (chat_record_is_slot(r, CHAT_SLOT_ANSWER) || chat_record_is_slot(r, CHAT_SLOT_REPLY))
        return TC_P_FINAL;
    return chat_record_is_slot(r, CHAT_SLOT_CARD) || chat_record_is_slot(r, CHAT_SLOT_WHOLE) ||
                   chat_record_is_slot(r, CHAT_SLOT_PRESS)
               ? TC_P_REQUEST
               : TC_P_NOTICE;
}

/* Returns the lane of the request. Typing and reactions have a separate lane, so that they never
 * delay a text. A confirming edit has none, because no other request must wait for it. */
static const char *chat_send_lane(struct chat *c, const struct chat_record *r)
{
    if (!r->target.chat || r->op == TC_OP_PRIVATE || r->op == TC_OP_MENU ||
        chat_record_is_slot(r, CHAT_SLOT_CONFIRM))
        return NULL;
    return arena_sprintf(&c->scratch, is_sign(r) ? "signs:%s" : "%s", r->target.chat);
}

static uint32_t chat_send_rates(const struct chat *c, const struct chat_record *r)
{
    if (!r->target.chat || is_sign(r) || r->op == TC_OP_PRIVATE || r->op == TC_OP_MENU ||
        r->op == TC_OP_LOOKUP)
        return 0;
    return r->target.group ? c->table.rates_group : c->table.rates;
}

static int64_t chat_send_timeout_ms(const struct chat *c, const struct chat_record *r)
{
    switch ((int)r->op) {
    case TC_OP_FILE:
    case TC_OP_FETCH:
        return FILE_TIMEOUT_MS;
    case TC_OP_TYPING:
    case TC_OP_REACT:
        return SIGN_TIMEOUT_MS;
    case TC_OP_POLL:
        return (c->table.poll_ms ? c->table.poll_ms : POLL_MS) + LIVE_TIMEOUT_MS;
    default:
        return chat_record_is_slot(r, CHAT_SLOT_LIVE) || is_stream(r) ? LIVE_TIMEOUT_MS : 0;
    }
}

static int64_t chat_send_max_age_ms(const struct chat_record *r, int64_t delay_ms)
{
    /* The host would repeat an unsent request at increasing intervals. A new request is made sooner
     * instead. */
    if (chat_record_is_slot(r, CHAT_SLOT_POLL) || chat_record_is_slot(r, CHAT_SLOT_IDENTIFY))
        return delay_ms + RECEIVING_AGE_MS;
    if (r->until_ms) {
        const int64_t left = r->until_ms - chat_unix_ms();
        return left > 1 ? left : 1;
    }
    switch ((int)r->op) {
    case TC_OP_TYPING:
        return r->off ? REACT_AGE_MS : TYPING_AGE_MS;
    case TC_OP_REACT:
    case TC_OP_FETCH:
        return REACT_AGE_MS;
    case TC_OP_PRIVATE:
        return PRESS_AGE_MS;
    default:
        return chat_record_is_slot(r, CHAT_SLOT_REPLY) ? REPLY_AGE_MS : 0;
    }
}

/* Key by which a later request replaces this one while it waits; NULL: none replaces it, for
 * example an append. */
static const char *chat_send_replace_key(const struct chat_record *r)
{
    if (chat_send_priority(r) != TC_P_LIVE || is_stream(r))
        return NULL;
    return r->op == TC_OP_TYPING ? "typing" : "live";
}

static struct tc_http make_http(struct chat *c, const struct chat_record *r,
                                const struct chat_send_extra *extra, const char *tag)
{
    return (struct tc_http){
        .size = sizeof(struct tc_http),
        .lane = chat_send_lane(c, r),
        .priority = chat_send_priority(r),
        .key = chat_send_replace_key(r),
        .rates = chat_send_rates(c, r),
        .flags = (is_durable(r) ? TC_DURABLE : 0u) | (is_idempotent(r) ? TC_IDEMPOTENT : 0u) |
                 (r->op == TC_OP_POLL ? TC_LONG_POLL : 0u) |
                 (is_live_create(r) ? TC_AFTER_MEMORY : 0u),
        .timeout_ms = chat_send_timeout_ms(c, r),
        .max_age_ms = chat_send_max_age_ms(r, extra->delay_ms),
        .delay_ms = extra->delay_ms,
        .tag = tag,
    };
}

/* Whether the connector may be unable to express this operation for a chat or a message: the turn
 * continues without it, or with a substitute. */
static bool chat_send_is_optional(const struct chat_record *r)
{
    return is_sign(r) || r->op == TC_OP_FETCH || r->op == TC_OP_STREAM_BEGIN ||
           (r->op == TC_OP_PRIVATE && r->silent);
}

int chat_send(struct chat *c, struct tc_turn *turn, const struct chat_record *r,
              const struct chat_send_extra *extra)
{
    static const struct chat_send_extra none;
    const struct chat_send_extra *const more = extra ? extra : &none;
    struct tc_button buttons[BUTTONS_MAX];
    struct tc_op op = chat_make_op(c, turn, r);
    struct tc_chat_file file = op.file ? *op.file : (struct tc_chat_file){0};
    file.data = more->data;
    file.len = more->len;
    op.buttons = buttons;
    op.button_count = read_buttons(r, buttons);
    op.fields = r->fields ? chat_read_fields(c, r->fields) : NULL;
    op.field_count = json_array_size(r->fields);
    op.form = chat_send_form(c, r->fields);
    op.view = more->view;
    op.items = more->items;
    op.item_count = more->item_count;
    if (more->whole) {
        op.text = more->whole;
        op.text_len = strlen(more->whole);
        op.part = more->number;
    }
    op.file = op.file ? &file : NULL;
    if (r->op == TC_OP_MENU)
        chat_menu_fill(c, &op);
    char *const tag = chat_record_write(r);
    struct tc_http http = make_http(c, r, more, tag);
    int rc = c->table.request(turn, &op, &http);
    chat_send_store_content(c, r, more, &http);
    if (rc == 0)
        rc = tc_http(turn, &http);
    else if (rc > 0)
        rc = 0; /* done */
    else if (!chat_send_is_optional(r))
        log_write(LOG_ERR, "chat", "instance %s: the connector cannot express operation %d",
                  c->inst->name, (int)r->op);
    free(tag);
    return rc;
}
