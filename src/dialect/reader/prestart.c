/* SPDX-License-Identifier: MIT
 * Stores lines until the start. */
#include "dialect/reader/prestart.h"

#include "event/json/json_reader.h"

#define EARLY_MAX ((size_t)1 << 20)

void prestart_append(struct prestart *e, struct arena *scratch, struct str line)
{
    size_t len = 0;
    const char *const text = json_reader_compact_dup(scratch, line, &len);
    if (e->lines.len + len + 1 > EARLY_MAX)
        return;
    buf_add(&e->lines, text, len);
    buf_add_char(&e->lines, '\n');
}

void prestart_replay(struct prestart *e, void (*take)(void *ctx, struct str line), void *ctx)
{
    struct prestart kept = *e;
    *e = (struct prestart){0};
    for (size_t at = 0, len; at < kept.lines.len; at += len + 1) {
        len = strcspn(kept.lines.p + at, "\n");
        take(ctx, (struct str){kept.lines.p + at, len});
    }
    prestart_fini(&kept);
}

void prestart_fini(struct prestart *e)
{
    buf_fini(&e->lines);
}
