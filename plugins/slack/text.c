/* SPDX-License-Identifier: MIT
 * Text that grows in memory of the turn, and text of agents made fit for Slack. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

int text_add(struct tc_turn *turn, struct text *t, const char *p, size_t n)
{
    if (n >= TEXT_MAX || t->len + n >= TEXT_MAX)
        return -1;
    if (t->len + n + 1 > t->cap) {
        size_t cap = t->cap ? t->cap : 1024;
        while (cap < t->len + n + 1)
            cap *= 2;
        char *grown = tc_alloc(turn, cap);
        if (!grown)
            return -1;
        if (t->len > 0)
            memcpy(grown, t->p, t->len);
        t->p = grown;
        t->cap = cap;
    }
    if (n > 0)
        memcpy(t->p + t->len, p, n);
    t->len += n;
    t->p[t->len] = '\0';
    return 0;
}

const char *text_mrkdwn(struct tc_turn *turn, const char *markdown, size_t len, uint32_t flags,
                        size_t bytes)
{
    size_t count = 0;
    const struct tc_piece *pieces =
        tc_pieces(turn,
                  TC_TEXT(.markdown = markdown, .len = len, .form = TC_MRKDWN, .flags = flags,
                          .bytes = bytes),
                  &count);
    return pieces && count > 0 ? pieces[0].text : "";
}

const char *text_plain(struct tc_turn *turn, const char *raw, size_t units)
{
    size_t count = 0;
    const struct tc_piece *pieces =
        tc_pieces(turn,
                  TC_TEXT(.markdown = raw, .len = strlen(raw), .form = TC_PLAIN,
                          .flags = TC_VERBATIM, .units = units),
                  &count);
    return pieces && count > 0 ? pieces[0].text : "";
}

const char *text_label(struct tc_turn *turn, const char *raw, size_t bytes)
{
    char line[512];
    size_t n = 0;
    for (; *raw && n < sizeof line - 1; raw++) {
        const bool blank = strchr(" \t\r\n", *raw) != NULL;
        if (!blank)
            line[n++] = *raw;
        else if (n > 0 && line[n - 1] != ' ')
            line[n++] = ' ';
    }
    while (n > 0 && *raw && ((unsigned char)line[n - 1] & 0x80))
        n--; /* a character that may have been cut */
    line[n] = '\0';
    return text_mrkdwn(turn, line, n, TC_VERBATIM, bytes);
}

void text_elapsed(char out[32], int64_t ms)
{
    const int64_t s = ms / 1000;
    if (ms < 1000)
        snprintf(out, 32, "%" PRId64 "ms", ms < 0 ? 0 : ms);
    else if (s < 60)
        snprintf(out, 32, "%" PRId64 "s", s);
    else
        snprintf(out, 32, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
}
