/* SPDX-License-Identifier: MIT
 * Owns the way from a word in a message to the stored switches. */
#include "core/toggle.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "turn/slash.h"

struct change {
    struct switches *switches;
    char *agent;
    struct buf text, rest;
    struct toggle toggle;
    void (*done)(void *ctx, const struct toggle *t);
    void *ctx;
};

static void finish(void *ctx, enum sticky_saved saved)
{
    struct change *const c = ctx;
    c->toggle.saved = saved;
    c->done(c->ctx, &c->toggle);
    free(c->agent);
    buf_fini(&c->text);
    buf_fini(&c->rest);
    free(c);
}

static void on_switches(void *ctx, struct visibility before)
{
    struct change *const c = ctx;
    struct toggle *const t = &c->toggle;
    t->visibility = before;
    const struct slash_result found = slash_parse(c->text.p, c->text.len, &t->visibility, &c->rest);
    t->empty = found.empty;
    t->rest = (struct str){c->rest.p ? c->rest.p : "", c->rest.len};
    if (found.toggled && !visibility_equal(&before, &t->visibility))
        switches_set(c->switches, c->agent, t->visibility, finish, c);
    else
        finish(c, STICKY_SAVED);
}

bool toggle_is_wanted(struct str text)
{
    CLEANUP_BUF struct buf rest = {0};
    struct visibility any = visibility_default();
    return slash_parse(text.p, text.len, &any, &rest).found;
}

void toggle_apply(struct switches *switches, const char *agent, struct str text,
                  void (*done)(void *ctx, const struct toggle *t), void *ctx)
{
    if (!toggle_is_wanted(text)) {
        done(ctx, &(struct toggle){.rest = text});
        return;
    }
    struct change *const c = xcalloc(1, sizeof *c);
    *c = (struct change){.switches = switches, .agent = xstrdup(agent), .done = done, .ctx = ctx};
    buf_add(&c->text, text.p, text.len);
    switches_get(switches, agent, on_switches, c);
}
