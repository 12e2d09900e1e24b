/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes as the body of a chat completion, the first line as names in its headers;
 * what is taken is a message of text and names within bounds. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/chat/chat_request.h"
#include "base/alloc.h"
#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_name(const char *name)
{
    check(!name || (*name && strlen(name) <= 200));
    for (const char *p = name; p && *p; p++)
        check(!iscntrl((unsigned char)*p));
}

static void check_ask(const struct chat_request *ask)
{
    CLEANUP_BUF struct buf flat = {0};
    const struct buf *const last = &ask->said.last;
    check(last->len && strlen(last->p) == last->len);
    chat_messages_append_prompt(&ask->said, &flat, (struct str){last->p, last->len});
    check(strlen(flat.p) == flat.len && flat.len >= last->len);
    check(memcmp(flat.p + flat.len - last->len, last->p, last->len) == 0);
    check_name(ask->conversation);
    check_name(ask->user);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const text = (const char *)data;
    const char *const end = size ? memchr(text, '\n', size) : NULL;
    const size_t line = end ? (size_t)(end - text) : 0;
    CLEANUP_FREE char *name = xstrndup(line ? text : "", line);
    const struct httpd_header headers[] = {{"X-Conversation-Id", name}, {"X-User-Id", name}};
    const struct httpd_request r = {.headers = headers, .header_count = line ? 2 : 0};
    json_t *const body = json_loadb(end ? end + 1 : text, end ? size - line - 1 : size,
                                    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    if (body && json_is_object(body)) {
        struct chat_request ask;
        if (!chat_request_parse(&ask, &r, body))
            check_ask(&ask);
        chat_request_fini(&ask);
    }
    json_decref(body);
    return 0;
}
