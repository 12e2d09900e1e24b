/* SPDX-License-Identifier: MIT
 * Implements glob matching with backtracking to the last star. */
#include "policy/glob.h"

/* Backtracking point: the pattern behind a star, and the text position that the star covers up to
 * now. */
struct star {
    size_t pattern, text;
    bool set;
};

static bool is_at(struct str s, size_t i, char c)
{
    return i < s.len && s.p[i] == c;
}

/* Treats adjacent stars at p[*i] as one. */
static void take_stars(struct str p, size_t *i, size_t text, struct star *one, struct star *many)
{
    const bool twice = is_at(p, *i + 1, '*');
    while (is_at(p, *i, '*'))
        ++*i;
    *(twice ? many : one) = (struct star){*i, text, true};
    if (twice)
        one->set = false;
}

static bool is_sep(char c, int sep)
{
    return (unsigned char)c == sep;
}

static bool fits_byte(struct str pattern, size_t i, char c, int sep)
{
    return i < pattern.len && (pattern.p[i] == '?' ? !is_sep(c, sep) : pattern.p[i] == c);
}

bool glob_match(struct str pattern, struct str text, int sep)
{
    struct star one = {0}, many = {0};
    size_t p = 0, t = 0;
    while (t < text.len) {
        if (is_at(pattern, p, '*')) {
            take_stars(pattern, &p, t, &one, &many);
        } else if (fits_byte(pattern, p, text.p[t], sep)) {
            p++;
            t++;
        } else if (one.set && !is_sep(text.p[one.text], sep)) {
            p = one.pattern;
            t = ++one.text;
        } else if (many.set) {
            one.set = false;
            p = many.pattern;
            t = ++many.text;
        } else {
            return false;
        }
    }
    while (is_at(pattern, p, '*'))
        p++;
    return p == pattern.len;
}
