/* SPDX-License-Identifier: MIT
 * Executes visibility words of a message. */
#include "core/settings/visibility_command.h"
#include "text/sentence/texts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "turn/visibility/slash_tokens.h"

struct change {
    struct visibility_cache *switches;
    char *agent;
    struct buf text, rest;
    struct visibility_command_result result;
    struct visibility before;
    enum language language; /* sender of the message */
    void (*done)(void *ctx, const struct visibility_command_result *t);
    void *ctx;
};

/* If a setting is refused, the whole message is refused: otherwise the agent's answer would show or
 * hide more than its sender wants. */
static void explain_refusal(struct change *c, struct buf *text, const char *why)
{
    texts_append(text, TEXT_VISIBILITY_REFUSED,
                 TEXT_VALUES(TEXT_STR("agent", c->agent), TEXT_STR("why", why)));
    c->result.visibility = c->before;
    c->result.why = text->p;
}

static void visibility_command_finish(void *ctx, enum visibility_store_result saved,
                                      const char *why)
{
    struct change *const c = ctx;
    TEXTS_IN(c->language);
    CLEANUP_BUF struct buf text = {0};
    c->result.saved = saved;
    if (saved == STICKY_FAILED)
        explain_refusal(c, &text, why);
    c->done(c->ctx, &c->result);
    free(c->agent);
    buf_fini(&c->text);
    buf_fini(&c->rest);
    free(c);
}

static void on_switches(void *ctx, struct visibility before)
{
    struct change *const c = ctx;
    struct visibility_command_result *const t = &c->result;
    t->visibility = c->before = before;
    const struct slash_tokens_result found =
        slash_tokens_parse(c->text.p, c->text.len, &t->visibility, &c->rest);
    t->empty = found.empty;
    t->rest = (struct str){c->rest.p ? c->rest.p : "", c->rest.len};
    if (found.toggled && !visibility_equal(&before, &t->visibility))
        visibility_cache_set(c->switches, c->agent, t->visibility, visibility_command_finish, c);
    else
        visibility_command_finish(c, STICKY_SAVED, NULL);
}

bool visibility_command_is_wanted(struct str text)
{
    CLEANUP_BUF struct buf rest = {0};
    struct visibility any = visibility_default();
    return slash_tokens_parse(text.p, text.len, &any, &rest).found;
}

void visibility_command_apply(struct visibility_cache *switches, const char *agent, struct str text,
                              void (*done)(void *ctx, const struct visibility_command_result *t),
                              void *ctx)
{
    if (!visibility_command_is_wanted(text)) {
        done(ctx, &(struct visibility_command_result){.rest = text});
        return;
    }
    struct change *const c = xcalloc(1, sizeof *c);
    *c = (struct change){.switches = switches,
                         .agent = xstrdup(agent),
                         .language = texts_language(),
                         .done = done,
                         .ctx = ctx};
    buf_add(&c->text, text.p, text.len);
    visibility_cache_get(switches, agent, on_switches, c);
}
