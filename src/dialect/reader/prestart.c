/* SPDX-License-Identifier: MIT
 * Owns the lines that are kept until the start. */
#include "dialect/reader/prestart.h"

#include "event/json/json_reader.h"

#define EARLY_MAX ((size_t)1 << 20)

void early_keep(struct early *e, struct arena *scratch, struct str line)
{
    size_t len = 0;
    const char *const text = json_compact_dup(scratch, line, &len);
    if (e->lines.len + len + 1 > EARLY_MAX)
        return;
    buf_add(&e->lines, text, len);
    buf_add_char(&e->lines, '\n');
}

void early_release(struct early *e, void (*take)(void *ctx, struct str line), void *ctx)
{
    struct early kept = *e;
    *e = (struct early){0};
    for (size_t at = 0, len; at < kept.lines.len; at += len + 1) {
        len = strcspn(kept.lines.p + at, "\n");
        take(ctx, (struct str){kept.lines.p + at, len});
    }
    early_fini(&kept);
}

void early_fini(struct early *e)
{
    buf_fini(&e->lines);
}
