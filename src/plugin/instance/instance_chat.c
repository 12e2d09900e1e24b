/* SPDX-License-Identifier: MIT
 * Connects an instance with the chat engine, when its plugin has a chat table. */
#include <inttypes.h>
#include <string.h>

#include "base/sys/clock.h"
#include "chat/card/chat_card.h"
#include "plugin/instance/services_internal.h"

/* ---- for the engine ---- */

static void wake_turn(void *ctx, struct tc_turn *turn, int64_t ms)
{
    struct instance *const in = ctx;
    struct instance_turn *const t = CONTAINER(turn, struct instance_turn, handle);
    if (ms < 0)
        wake_heap_remove(&in->wakes.chat, &t->chat_wake);
    else
        wake_heap_set(&in->wakes.chat, &t->chat_wake, clock_mono_ms() + (ms < 1 ? 1 : ms));
}

static const char *instance_chat_print_option(struct instance *in, const struct tc_option *option)
{
    const char *const value = (const char *)in->conf + option->offset;
    const char *text = NULL;
    int64_t number = 0;
    if (option->type == TC_T_STR)
        memcpy(&text, value, sizeof text);
    else if (option->type == TC_T_INT)
        memcpy(&number, value, sizeof number);
    else if (option->type == TC_T_BOOL && *(const bool *)value)
        text = "true";
    return number ? arena_sprintf(&in->scratch, "%" PRId64, number) : text;
}

const char *instance_chat_read_option(void *ctx, const char *key)
{
    struct instance *const in = ctx;
    for (const struct tc_option *o = in->loaded->plugin.options; o && o->key; o++)
        if (strcmp(o->key, key) == 0)
            return instance_chat_print_option(in, o);
    return NULL;
}

static enum tc_accepted resend(void *ctx, const char *turn, const char *user, const char *chat,
                               struct tc_receipt *receipt)
{
    return instance_resend(ctx, turn, user, chat, receipt);
}

static enum tc_accepted instance_chat_retry(void *ctx, const struct tc_inbound *inbound,
                                            const char *turn, struct tc_receipt *receipt)
{
    return instance_retry(ctx, inbound, turn, receipt);
}

static void begin_chat(struct instance *in, const struct tc_chat *table)
{
    const struct chat_hooks hooks = {
        .ctx = in,
        .wake = wake_turn,
        .option = instance_chat_read_option,
        .resend = resend,
        .retry = instance_chat_retry,
    };
    in->chat = chat_new(&in->handle, &in->loaded->plugin, table, &hooks);
    for (struct instance_turn *t = in->turns; t; t = t->next)
        t->chat = chat_turn_new(in->chat, &t->handle);
}

void instance_chat_init(struct instance *in)
{
    if (in->loaded->plugin.chat && !in->chat)
        begin_chat(in, in->loaded->plugin.chat);
}

int instance_chat_take_event(struct instance_turn *t, const struct event *ev)
{
    if (!t->chat)
        return 0;
    status_page_enter_callback(t->in->status, (int)ev->kind, t->handle.id);
    const int rc = chat_turn_handle_event(t->chat, ev);
    status_page_leave_callback(t->in->status);
    return rc;
}

/* ---- for the plugin ---- */

static struct instance *services_check_chat(struct tc_turn *turn, const char *service)
{
    struct instance_turn *const t = instance_check_turn(turn, service);
    if (t && !t->in->chat)
        services_refuse(t->in, service, "the plugin has no chat table");
    return t && t->in->chat ? t->in : NULL;
}

enum tc_accepted service_chat_receive(struct tc_turn *turn, const struct tc_chat_message *message)
{
    struct instance *const in = services_check_chat(turn, "tc_chat_receive");
    return in && message ? chat_handle_message(in->chat, message) : TC_INVALID;
}

int service_chat_act(struct tc_turn *turn, const struct tc_chat_action *action)
{
    struct instance *const in = services_check_chat(turn, "tc_chat_act");
    return in && action ? chat_handle_action(in->chat, action) : 0;
}

const struct tc_field *service_chat_form(struct tc_turn *turn, const struct tc_chat_action *action,
                                         size_t *count)
{
    struct instance *const in = services_check_chat(turn, "tc_chat_form");
    return in && action && count ? chat_open_form(in->chat, action, count) : NULL;
}

const struct tc_form_input *service_chat_inputs(struct tc_turn *turn, const struct tc_field *fields,
                                                size_t count, size_t inputs_max, size_t options_max,
                                                size_t *n)
{
    struct instance *const in = services_check_chat(turn, "tc_chat_inputs");
    return in && n ? chat_inputs_make(&in->scratch, fields, count, inputs_max, options_max, n)
                   : NULL;
}

/* ---- the feed ---- */

static struct chat *services_check_feed(struct tc_turn *turn, const char *service)
{
    struct instance *const in = services_check_chat(turn, service);
    const bool has_feed = in && chat_has_feed(in->chat);
    if (in && !has_feed)
        services_refuse(in, service, "the chat table has no feed");
    return has_feed ? in->chat : NULL;
}

int service_feed_add(struct tc_turn *turn, const char *event, const char *position)
{
    struct chat *const c = services_check_feed(turn, "tc_feed_add");
    return c && chat_feed_add(c, event, position) ? 0 : -1;
}

void service_feed_go(struct tc_turn *turn)
{
    struct chat *const c = services_check_feed(turn, "tc_feed_go");
    if (c)
        chat_feed_go(c);
}

const char *service_feed_position(struct tc_turn *turn)
{
    struct chat *const c = services_check_feed(turn, "tc_feed_position");
    return c ? chat_feed_position(c) : NULL;
}

void service_feed_ready(struct tc_turn *turn, bool gap)
{
    struct chat *const c = services_check_feed(turn, "tc_feed_ready");
    if (c)
        chat_feed_ready(c, gap);
}

void service_feed_page(struct tc_turn *turn, const char *key, const struct tc_reply *reply,
                       const char *events, const char *next)
{
    struct chat *const c = services_check_feed(turn, "tc_feed_page");
    if (c && key && reply)
        chat_gap_handle_page(c, key, reply, events, next);
}

int service_chat_describe(struct tc_instance *inst, const struct tc_chat *table)
{
    struct instance *const in = instance_check_thread(inst, "tc_chat_describe");
    if (!in)
        return -1;
    const char *const fault = !(in->loaded->plugin.flags & TC_CHATS)
                                  ? "the flag TC_CHATS is missing"
                              : !table ? "the table is NULL"
                                       : chat_options_find_fault(&in->loaded->plugin, table);
    if (fault)
        return services_refuse(in, "tc_chat_describe", fault);
    if (in->chat)
        chat_replace_table(in->chat, table);
    else
        begin_chat(in, table);
    return 0;
}
