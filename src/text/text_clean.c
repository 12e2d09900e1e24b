/* SPDX-License-Identifier: MIT
 * Filters characters and terminal sequences. */
#include "text/text_clean.h"

#include <string.h>

#include "base/bytes/utf8.h"

#define ESC 0x1b
#define BEL 0x07

static bool text_clean_is_removed(uint32_t cp)
{
    return (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff;
}

static bool is_control(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0);
}

void text_clean_append_char(struct buf *out, uint32_t cp)
{
    char bytes[4];
    if (text_clean_is_removed(cp))
        return;
    if (cp != 0 && is_control(cp))
        cp = ' ';
    buf_add(out, bytes, utf8_encode(bytes, cp ? cp : 0xfffd));
}

/* A CSI sequence: ESC [ … final byte. */
static size_t csi_length(const char *p, size_t n)
{
    size_t at = 2;
    while (at < n && p[at] >= 0x20 && p[at] < 0x40)
        at++;
    return at < n && p[at] >= 0x40 && p[at] < 0x7f ? at + 1 : at;
}

/* An OSC sequence: ESC ] … BEL or ESC \; two characters if it does not end in its line. */
static size_t osc_length(const char *p, size_t n)
{
    for (size_t at = 2; at < n && p[at] != '\n'; at++) {
        if (p[at] == BEL)
            return at + 1;
        if (p[at] == ESC && at + 1 < n && p[at + 1] == '\\')
            return at + 2;
    }
    return 2;
}

/* Length of the terminal sequence at p, which points to an ESC. */
static size_t sequence_length(const char *p, size_t n)
{
    if (n < 2)
        return 1;
    if (p[1] == '[')
        return csi_length(p, n);
    if (p[1] == ']')
        return osc_length(p, n);
    return p[1] >= 0x40 && p[1] < 0x60 ? 2 : 1;
}

static size_t clean_ascii(struct buf *out, const char *p, size_t n)
{
    if (*p == ESC)
        return sequence_length(p, n);
    if (*p == '\r') {
        buf_add_char(out, '\n');
        return n > 1 && p[1] == '\n' ? 2 : 1;
    }
    if (*p == '\n' || *p == '\t')
        buf_add_char(out, *p);
    else
        text_clean_append_char(out, (unsigned char)*p);
    return 1;
}

static void clean_valid(struct buf *out, const char *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t len = 1;
        if ((unsigned char)p[at] < 0x80)
            len = clean_ascii(out, p + at, n - at);
        else
            text_clean_append_char(out, utf8_decode(p + at, n - at, &len));
        at += len;
    }
}

void text_clean_append(struct buf *out, const char *p, size_t n)
{
    if (utf8_is_valid(p, n)) {
        clean_valid(out, p, n);
        return;
    }
    CLEANUP_BUF struct buf repaired = {0};
    utf8_repair(&repaired, p, n);
    clean_valid(out, repaired.p ? repaired.p : "", repaired.len);
}
