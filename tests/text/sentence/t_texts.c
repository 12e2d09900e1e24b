/* SPDX-License-Identifier: MIT
 * The table of sentences: placeholders, plural forms, and that each sentence is one. */
#include "text/sentence/texts.h"

#include <ctype.h>
#include <string.h>

#include "tap/tap.h"

static void test_append(void)
{
    CLEANUP_BUF struct buf out = {0};
    texts_append(&out, TEXT_START_HELP, TEXT_VALUES(TEXT_STR("prefix", "!")));
    is_str(out.p, "Send !help for the list of commands.", "a text in its place");
    buf_reset(&out);
    texts_append(&out, TEXT_START_AGENT, TEXT_VALUES(TEXT_STR("agent", "{cwd}")));
    is_str(out.p, "Messages in this chat go to the agent {cwd}, and it answers here.",
           "a value is not searched for placeholders");
}

/* Appends the placeholders of the text, each once, in a row. */
static void add_placeholders(struct buf *out, const char *text)
{
    for (; (text = strchr(text, '{')); text++) {
        const size_t len = strcspn(text, "}") + 1;
        CLEANUP_BUF struct buf name = {0};
        buf_add(&name, text, len);
        ok(len > 2 && text[len - 1] == '}' && islower((unsigned char)text[1]), "a placeholder: %s",
           name.p);
        if (!out->p || !strstr(out->p, name.p))
            buf_add(out, name.p, name.len);
    }
}

static void test_row(const struct text_forms *row)
{
    CLEANUP_BUF struct buf other = {0}, one = {0};
    ok(*row->other, "%s has a text", row->id);
    add_placeholders(&other, row->other);
    if (!row->count)
        return;
    CLEANUP_BUF struct buf count = {0};
    buf_printf(&count, "{%s}", row->count);
    add_placeholders(&one, row->one);
    ok(other.p && strstr(other.p, count.p), "%s: the number is in the form for many", row->id);
    for (const char *at = one.p; at && *at; at = strchr(at, '}') + 1) {
        CLEANUP_BUF struct buf name = {0};
        buf_add(&name, at, strcspn(at, "}") + 1);
        ok(strstr(other.p, name.p), "%s: %s of the form for one is in the other", row->id, name.p);
    }
}

int main(void)
{
    plan_lazy();
    test_append();
    for (int i = 0; i < TEXT_COUNT; i++)
        test_row(texts_find_forms((enum text_id)i));
    return 0;
}
