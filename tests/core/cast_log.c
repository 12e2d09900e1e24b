/* SPDX-License-Identifier: MIT
 * Owns the short form of events. */
#include "core/cast_log.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/clock.h"

struct dispatch_turn {
    struct dispatch *d;
};

static void put(struct dispatch *d, const char *word, const char *text)
{
    buf_printf(&d->text, "%s%s", d->text.len ? " " : "", word);
    if (text)
        buf_printf(&d->text, "(%s)", text);
}

static void put_error(struct dispatch *d, const struct tc_error *e)
{
    CLEANUP_BUF struct buf both = {0};
    buf_printf(&both, "%s: %s", e->code ? e->code : "-", e->message);
    put(d, "error", both.p);
}

static void put_number(struct dispatch *d, const char *word, long long n)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "%lld", n);
    put(d, word, text.p);
}

static void put_event(struct dispatch *d, const struct event *ev)
{
    switch ((int)ev->kind) {
    case TC_START:
        put(d, "start", ev->u.start.task ? ev->u.start.task : "-");
        break;
    case TC_NARRATION:
        put(d, "n", ev->u.narration.text);
        break;
    case TC_FINAL:
        put(d, "final", ev->u.final.text);
        break;
    case TC_ERROR:
        put_error(d, &ev->u.error);
        break;
    case TC_USAGE:
        put_number(d, "usage", ev->u.usage.input_tokens);
        break;
    case TC_NOTICE:
        put(d, "notice", ev->u.notice.code);
        buf_printf(&d->notices, "%s\n", ev->u.notice.text);
        break;
    case TC_DONE:
        put(d, "done", ev->u.done.reason);
        break;
    default:
        put(d, kind_name(ev->kind), NULL);
    }
}

struct dispatch_turn *dispatch_open_turn(struct dispatch *d, const struct dispatch_turn_spec *spec)
{
    if (spec->instances)
        put(d, "for", spec->instances);
    struct dispatch_turn *const t = xmalloc(sizeof *t);
    *t = (struct dispatch_turn){d};
    d->turns_open++;
    return t;
}

void dispatch_event(struct dispatch_turn *t, struct event *ev)
{
    struct dispatch *const d = t->d;
    d->disorder |= ev->meta.seq <= d->last_seq;
    d->last_seq = ev->meta.seq;
    if (ev->kind == TC_FINAL || ev->kind == TC_ERROR)
        d->final_s = clock_wall_s();
    if (ev->kind == TC_DONE)
        d->done_s = clock_wall_s();
    const size_t before = d->text.len;
    put_event(d, ev);
    if (ev->kind == TC_FINAL || ev->kind == TC_ERROR || ev->kind == TC_DONE)
        buf_add_str(&d->outcome, d->text.p + before + (before && !d->outcome.len ? 1 : 0));
    if (d->watch)
        d->watch(d->watch_ctx, ev);
}

void dispatch_set_batching(struct dispatch_turn *t, bool on)
{
    (void)t;
    (void)on;
}

void dispatch_close_turn(struct dispatch_turn *t)
{
    t->d->turns_open--;
    free(t);
}

bool dispatch_shows(const struct dispatch *d, const char *instance, const char *turn)
{
    return d->turns_open && d->shown_at && *turn && strcmp(d->shown_at, instance) == 0;
}

const struct conf_instance *dispatch_find_configured(const struct dispatch *d, const char *name,
                                                     struct tc_err *err)
{
    const struct conf_instance *const inst = conf_instance_find(d->conf, name);
    if (!inst)
        err_set(err, NULL, "unknown instance \"%s\"", name);
    return inst;
}

void dispatch_each_admitted(const struct dispatch *d, const struct conf_scope_turn *turn,
                            void (*each)(void *ctx, const char *name), void *ctx)
{
    (void)d;
    (void)turn;
    each(ctx, "tg");
    each(ctx, "log");
}

void dispatch_each_recipient(struct dispatch_turn *t, const struct event *ev,
                             void (*each)(void *ctx, const char *instance, struct str line),
                             void *ctx)
{
    (void)t;
    each(ctx, "tg", str_is((struct str){kind_name(ev->kind), 5}, "final") ? STR("F") : STR("E"));
}

bool dispatch_deliver_row(struct dispatch *d, const char *instance, int64_t seq)
{
    put_number(d, instance, (long long)seq);
    return true;
}

void cast_log_fini(struct dispatch *d)
{
    buf_fini(&d->text);
    buf_fini(&d->outcome);
    buf_fini(&d->notices);
    *d = (struct dispatch){0};
}

const char *cast_log_text(const struct dispatch *d)
{
    return d->text.p ? d->text.p : "";
}
