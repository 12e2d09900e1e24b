/* SPDX-License-Identifier: MIT
 * Formats quotes and files of a message. */
#include "core/conversation/prompt.h"

#include "base/cleanup.h"
#include "text/file_line.h"

static void separate(struct buf *out)
{
    if (!out->len)
        return;
    buf_add_str(out, out->p[out->len - 1] == '\n' ? "\n" : "\n\n");
}

static void add_quote(struct buf *out, const char *quote)
{
    separate(out);
    while (*quote) {
        const size_t len = strcspn(quote, "\n");
        buf_printf(out, "> %.*s\n", (int)len, quote);
        quote += len + (quote[len] == '\n');
    }
}

/* A file name comes from a person, so it is kept on one line. */
static void prompt_add_name(struct buf *out, const char *name)
{
    for (; *name; name++)
        buf_add_char(out, (unsigned char)*name < ' ' || *name == 0x7f ? '_' : *name);
}

static void prompt_add_file(struct buf *out, const char *path, const char *name)
{
    CLEANUP_BUF struct buf rest = {0};
    if (name && *name) {
        buf_add_str(&rest, " (");
        prompt_add_name(&rest, name);
        buf_add_char(&rest, ')');
    }
    file_line_append(out, path, (struct str){rest.len ? rest.p : "", rest.len});
    buf_add_char(out, '\n');
}

void prompt_append_message(struct buf *out, const struct tc_inbound *in, struct str text)
{
    if (in->quote && *in->quote)
        add_quote(out, in->quote);
    if (text.len)
        prompt_append_prompt(out, text);
    if (in->file_count)
        separate(out);
    for (size_t i = 0; i < in->file_count; i++)
        prompt_add_file(out, in->files[i], in->file_names ? in->file_names[i] : NULL);
    if (in->file_count)
        out->p[--out->len] = '\0'; /* its last newline */
}

void prompt_append_prompt(struct buf *out, struct str prompt)
{
    separate(out);
    buf_add(out, prompt.p, prompt.len);
}
