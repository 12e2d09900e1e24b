/* SPDX-License-Identifier: MIT
 * Decides which characters may be sent to a terminal. */
#include "safe_char.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct safe_char_range {
    uint32_t from, to;
};

/* Bidirectional controls, line and paragraph separators, invisible and deprecated formatting. */
static const struct safe_char_range denied[] = {
    {0x80, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},     {0x180e, 0x180e},
    {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
    {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
};

/* Combining marks, joiners and variation selectors, as far as agents use them. */
static const struct safe_char_range zero[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
    {0x900, 0x902},   {0x93c, 0x93c},   {0x941, 0x948},   {0x94d, 0x94d},   {0xe31, 0xe31},
    {0xe34, 0xe3a},   {0xe47, 0xe4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200c, 0x200d},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

static const struct safe_char_range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},   {0x2705, 0x2705},
    {0x274c, 0x274c},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97c},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x1f004, 0x1f004}, {0x1f18e, 0x1f19a}, {0x1f1e6, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

#define IN(table, cp) in_ranges(table, sizeof(table) / sizeof *(table), cp)

static bool in_ranges(const struct safe_char_range *table, size_t n, uint32_t cp)
{
    for (size_t i = 0; i < n && table[i].from <= cp; i++)
        if (cp <= table[i].to)
            return true;
    return false;
}

/* Length of the UTF-8 character at p; 0: invalid. */
static size_t decode(const char *p, size_t n, uint32_t *cp)
{
    const unsigned char *s = (const unsigned char *)p;
    const size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (len == 0 || len > n || s[0] > 0xf4)
        return 0;
    *cp = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *cp = *cp << 6 | (s[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = *cp >= 0xd800 && *cp <= 0xdfff;
    return *cp < least[len] || surrogate || *cp > 0x10ffff ? 0 : len;
}

static struct glyph shown_as(size_t used, const char *text)
{
    struct glyph g = {.used = used, .len = strlen(text), .width = (unsigned)strlen(text)};
    memcpy(g.text, text, g.len);
    return g;
}

static struct glyph control(const char *p, size_t n)
{
    if (p[0] == '\n' || (p[0] == '\r' && n > 1 && p[1] == '\n'))
        return (struct glyph){.used = p[0] == '\n' ? 1 : 2, .len = 1, .text = "\n"};
    if (p[0] == '\t')
        return (struct glyph){.used = 1, .len = 1, .width = 1, .text = "\t"};
    return shown_as(1, (char[]){'^', (char)(p[0] ^ 0x40), '\0'});
}

struct glyph glyph_next(const char *p, size_t n, bool ascii)
{
    uint32_t cp = 0;
    char code[12];
    const size_t len = decode(p, n, &cp);
    if (len == 0) {
        snprintf(code, sizeof code, "<%02X>", (unsigned char)p[0]);
        return shown_as(1, code);
    }
    if (cp < 0x20 || cp == 0x7f)
        return control(p, n);
    if (IN(denied, cp)) {
        snprintf(code, sizeof code, "<U+%04X>", (unsigned)cp);
        return shown_as(len, code);
    }
    if (ascii && cp >= 0x80)
        return shown_as(len, "?");
    struct glyph g = {.used = len, .len = len, .width = IN(zero, cp) ? 0 : IN(wide, cp) ? 2 : 1};
    memcpy(g.text, p, len);
    return g;
}
