/* SPDX-License-Identifier: MIT
 * Tests of text/text_clean.h and text/markdown/html_entity.h. */
#include "text/text_clean.h"

#include "tap/tap.h"
#include "text/markdown/html_entity.h"

static const struct {
    const char *raw, *wanted;
} texts[] = {
    {"plain\ttext\n", "plain\ttext\n"},
    {"a\r\nb\rc", "a\nb\nc"},
    {"bell\x07 bs\x08", "bell  bs "},
    {"del\x7f", "del "},
    {"\x1b[1;31mred\x1b[0m", "red"},
    {"\x1b]0;title\x07text", "text"},
    {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
    {"\x1b]no end\nnext", "no end\nnext"},
    {"\x1bM up", " up"},
    {"\x1b(B", "(B"},
    {"\x1b", ""},
    {"\x1b[", ""},
    {"bad \xff\xc3 end", "bad \xef\xbf\xbd\xef\xbf\xbd end"},
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"rtl\xe2\x80\xaegpj.exe", "rtlgpj.exe"},
    {"line\xe2\x80\xa8sep", "linesep"},
    {"iso\xe2\x81\xa6late", "isolate"},
    {"\xef\xbb\xbf"
     "bom",
     "bom"},
    {"c1\xc2\x85", "c1 "},
    {"\xf0\x9f\x98\x80 e\xcc\x81", "\xf0\x9f\x98\x80 e\xcc\x81"},
};

static const struct {
    const char *ref, *wanted;
} refs[] = {
    {"&amp;", "&"},
    {"&lt;", "<"},
    {"&AElig;", "\xc3\x86"},
    {"&zwnj;", "\xe2\x80\x8c"},
    {"&nbsp;", "\xc2\xa0"},
    {"&#65;", "A"},
    {"&#x20AC;", "\xe2\x82\xac"},
    {"&#X1f600;", "\xf0\x9f\x98\x80"},
    {"&#0;", "\xef\xbf\xbd"},
    {"&#xD800;", "\xef\xbf\xbd"},
    {"&#x110000;", "\xef\xbf\xbd"},
    {"&#9999999;", "\xef\xbf\xbd"},
    {"&#10;", " "},
    {"&#x1b;", " "},
    {"&#x202E;", ""},
    {"&unknownname;", "&unknownname;"},
    {"&averylongnamethatisnone;", "&averylongnamethatisnone;"},
    {"&a;", "&a;"},
};

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CLEANUP_BUF struct buf out = {0};
        text_clean_append(&out, texts[i].raw, strlen(texts[i].raw));
        is_str(out.p ? out.p : "", texts[i].wanted, "text %zu", i);
    }
    for (size_t i = 0; i < sizeof refs / sizeof refs[0]; i++) {
        CLEANUP_BUF struct buf out = {0};
        html_entity_append_decoded(&out, (struct str){refs[i].ref, strlen(refs[i].ref)});
        is_str(out.p ? out.p : "", refs[i].wanted, "%s", refs[i].ref);
    }
    CLEANUP_BUF struct buf nul = {0};
    text_clean_append(&nul, "a\0b", 3);
    is_str(nul.p,
           "a\xef\xbf\xbd"
           "b",
           "a NUL is shown");
    return 0;
}
