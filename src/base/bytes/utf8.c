/* SPDX-License-Identifier: MIT
 * Validation, repair, encoding and decoding of UTF-8. */
#include "base/bytes/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Length of the run of ASCII at the start. */
static size_t ascii_prefix(const char *p, size_t n)
{
    size_t i = 0;
    for (uint64_t word; n - i >= sizeof word; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    while (i < n && (unsigned char)p[i] < 0x80)
        i++;
    return i;
}

/* Valid continuation bytes of a lead byte: Unicode 15, table 3-7. */
struct utf8_lead {
    unsigned char len;
    unsigned char low, high; /* range of the second byte; later bytes are 80..BF */
};

static const struct utf8_lead leads[256] = {
    [0xc2 ... 0xdf] = {2, 0x80, 0xbf}, [0xe0] = {3, 0xa0, 0xbf},
    [0xe1 ... 0xec] = {3, 0x80, 0xbf}, [0xed] = {3, 0x80, 0x9f},
    [0xee ... 0xef] = {3, 0x80, 0xbf}, [0xf0] = {4, 0x90, 0xbf},
    [0xf1 ... 0xf3] = {4, 0x80, 0xbf}, [0xf4] = {4, 0x80, 0x8f},
}; /* all others, including ASCII: len 0 */

/* Length of the character at p (not ASCII, n > 0), or 0 if it is ill-formed: *bad is then the
 * length of its maximal subpart. */
static size_t utf8_multibyte_length(const char *p, size_t n, size_t *bad)
{
    const unsigned char *const s = (const unsigned char *)p;
    const struct utf8_lead *const lead = &leads[s[0]];
    *bad = 1;
    if (!lead->len || n < 2 || s[1] < lead->low || s[1] > lead->high)
        return 0;
    for (*bad = 2; *bad < lead->len; ++*bad)
        if (*bad == n || (s[*bad] & 0xc0) != 0x80)
            return 0;
    return lead->len;
}

static bool utf8_is_tail_byte(char c)
{
    return (signed char)c < -64; /* 80..BF */
}

/* Fast path: lead bytes of most scripts permit any continuation bytes, and need no table. */
static size_t common_multibyte(const char *p, size_t n)
{
    const unsigned char lead = (unsigned char)*p;
    if (n >= 2 && lead >= 0xc2 && lead <= 0xdf && utf8_is_tail_byte(p[1]))
        return 2;
    if (n >= 3 && lead >= 0xe1 && lead <= 0xec && utf8_is_tail_byte(p[1]) &&
        utf8_is_tail_byte(p[2]))
        return 3;
    return 0;
}

size_t utf8_multibyte_prefix(const char *p, size_t n)
{
    size_t i = 0, bad;
    while (i < n) {
        size_t len = common_multibyte(p + i, n - i);
        if (!len)
            len = utf8_multibyte_length(p + i, n - i, &bad);
        if (!len)
            break;
        i += len;
    }
    return i;
}

size_t utf8_valid_prefix(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        size_t step = ascii_prefix(p + i, n - i);
        step += utf8_multibyte_prefix(p + i + step, n - i - step);
        if (!step)
            break;
        i += step;
    }
    return i;
}

bool utf8_is_valid(const char *p, size_t n)
{
    return utf8_valid_prefix(p, n) == n;
}

size_t utf8_count(const char *p, size_t n)
{
    size_t tails = 0, i = 0;
    /* A continuation byte has its highest bit set and the next one cleared. */
    for (uint64_t word; n - i >= sizeof word; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        const uint64_t ones = word >> 7 & ~(word >> 6) & UINT64_C(0x0101010101010101);
        tails += ones * UINT64_C(0x0101010101010101) >> 56;
    }
    for (; i < n; i++)
        tails += utf8_is_tail_byte(p[i]);
    return n - tails;
}

size_t utf8_repair(struct buf *out, const char *p, size_t n)
{
    size_t repairs = 0;
    while (n) {
        const size_t good = utf8_valid_prefix(p, n);
        buf_add(out, p, good);
        p += good;
        n -= good;
        if (!n)
            break;
        size_t bad;
        utf8_multibyte_length(p, n, &bad);
        buf_add_str(out, REPLACEMENT);
        repairs++;
        p += bad;
        n -= bad;
    }
    return repairs;
}

static char utf8_tail_byte(uint32_t bits)
{
    return (char)(0x80 | (bits & 0x3f));
}

size_t utf8_encode(char *out, uint32_t cp)
{
    if ((cp >= 0xd800 && cp <= 0xdfff) || cp > 0x10ffff)
        cp = 0xfffd;
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = utf8_tail_byte(cp);
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = utf8_tail_byte(cp >> 6);
        out[2] = utf8_tail_byte(cp);
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = utf8_tail_byte(cp >> 12);
    out[2] = utf8_tail_byte(cp >> 6);
    out[3] = utf8_tail_byte(cp);
    return 4;
}

uint32_t utf8_decode(const char *p, size_t n, size_t *len)
{
    const unsigned char *const s = (const unsigned char *)p;
    *len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (*len == 1 || *len > n) {
        *len = *len > n ? n : 1;
        return s[0] < 0x80 ? s[0] : 0xfffd;
    }
    uint32_t cp = s[0] & (0xffu >> (*len + 1));
    for (size_t i = 1; i < *len; i++)
        cp = cp << 6 | (s[i] & 0x3f);
    return cp;
}
