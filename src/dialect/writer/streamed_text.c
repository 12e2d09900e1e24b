/* SPDX-License-Identifier: MIT
 * Compares streamed text with an answer. */
#include "dialect/writer/streamed_text.h"

void streamed_text_add(struct buf *said, const char *text, size_t len)
{
    buf_add(said, text, len);
    if (said->len > 2 * SAID_MAX)
        buf_consume(said, said->len - SAID_MAX);
}

static size_t without_space(const char *p, size_t len)
{
    while (len && strchr(" \t\r\n", p[len - 1]))
        len--;
    return len;
}

bool streamed_text_ends_with(const struct buf *said, const char *text, size_t len)
{
    size_t told = without_space(said->p, said->len), left = without_space(text, len);
    if (!left)
        return false;
    while (left && told && said->p[told - 1] == text[left - 1]) {
        told = without_space(said->p, told - 1);
        left = without_space(text, left - 1);
    }
    return !left;
}
