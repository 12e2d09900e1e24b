/* SPDX-License-Identifier: MIT
 * A small parser of terminal sequences, independent of the code that writes them. */
#include "text/terminal_check.h"

#include <string.h>
#include <wchar.h>

#include "base/bytes/utf8.h"
#include "text/display_width.h"

struct terminal_state {
    bool styled, linked; /* in a style; in a link */
    size_t column;
};

/* Length of the sequence ESC [ 0 ; N m at p; 0 if there is none. */
static size_t style_length(struct str s, struct terminal_state *state)
{
    size_t at = 3;
    if (s.len < 4 || memcmp(s.p, "\033[0", 3) != 0)
        return 0;
    while (at < s.len && strchr("0123456789;", s.p[at]))
        at++;
    state->styled = at > 3;
    return at < s.len && s.p[at] == 'm' ? at + 1 : 0;
}

/* Length of the sequence ESC ] 8 ; ; address ESC \; 0 if there is none. */
static size_t link_length(struct str s, struct terminal_state *state)
{
    size_t at = 5;
    if (s.len < 7 || memcmp(s.p, "\033]8;;", 5) != 0)
        return 0;
    while (at < s.len && s.p[at] > ' ' && s.p[at] < 0x7f)
        at++;
    state->linked = at > 5;
    return at + 1 < s.len && memcmp(s.p + at, "\033\\", 2) == 0 ? at + 2 : 0;
}

static bool is_denied(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x2028 && cp <= 0x202e) ||
           (cp >= 0x2066 && cp <= 0x2069) || cp == 0x200b || cp == 0x200e || cp == 0xfeff;
}

const char *terminal_check(struct str text, size_t columns, bool styled, bool links)
{
    struct terminal_state state = {0};
    for (size_t len; text.len > 0; text = (struct str){text.p + len, text.len - len}) {
        len = styled ? style_length(text, &state) : 0;
        if (!len && links)
            len = link_length(text, &state);
        if (len)
            continue;
        const uint32_t cp = utf8_decode(text.p, text.len, &len);
        if (cp == '\n' && (state.styled || state.linked))
            return "a line ends within a style or a link";
        if (cp == '\n') {
            state.column = 0;
            continue;
        }
        if (is_denied(cp))
            return "a control character";
        state.column += display_width_char(cp);
        if (columns && state.column > columns)
            return "a line is too wide";
    }
    return state.styled || state.linked ? "the text ends within a style or a link" : NULL;
}
