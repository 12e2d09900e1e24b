/* SPDX-License-Identifier: MIT
 * Tests of chat/chat_options.h: what is wrong with the chat table of a plugin. */
#include "chat/chat_options.h"

#include <stddef.h>
#include <string.h>

#include "tap/tap.h"

#define STREAMS                                                                                    \
    (TC_CAN(TC_OP_STREAM_BEGIN) | TC_CAN(TC_OP_STREAM_APPEND) | TC_CAN(TC_OP_STREAM_END))

static int make(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    (void)turn;
    (void)op;
    (void)http;
    return -1;
}

static struct tc_chat table(uint32_t more)
{
    return (struct tc_chat){.size = sizeof(struct tc_chat),
                            .can = TC_CAN(TC_OP_IDENTIFY) | TC_CAN(TC_OP_POST) | more,
                            .request = make};
}

static const char *fault_of(const struct tc_chat *chat)
{
    const char *const fault =
        chat_options_find_fault(&(struct tc_plugin){.flags = TC_DELIVERS}, chat);
    return fault ? fault : "";
}

int main(void)
{
    plan_lazy();
    struct tc_chat chat = table(0);
    is_str(fault_of(&chat), "", "a table without streams is accepted");
    chat = table(STREAMS);
    is_str(fault_of(&chat), "", "a table with streams is accepted");
    chat = table(STREAMS & ~TC_CAN(TC_OP_STREAM_APPEND));
    ok(strstr(fault_of(&chat), "TC_OP_STREAM_APPEND"),
       "a table with two of three stream operations is refused");
    chat = table(STREAMS);
    chat.stream.text.form = TC_TELEGRAM;
    ok(strstr(fault_of(&chat), "stream.text"), "a table whose stream text has entities is refused");
    chat.stream.text.form = (enum tc_form)99;
    ok(strstr(fault_of(&chat), "stream.text"),
       "a table whose stream text has an unknown form is refused");
    chat = table(STREAMS);
    chat.size = offsetof(struct tc_chat, stream);
    ok(strstr(fault_of(&chat), "too short"), "a table of an older header has no streams");
    return 0;
}
