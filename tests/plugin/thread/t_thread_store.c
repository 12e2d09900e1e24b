/* SPDX-License-Identifier: MIT
 * Tests of tc_store and tc_load in an instance in a thread of the host. */
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "plugin/channel.h"
#include "tap/tap.h"

#define DEADLINE_MS 10000

static struct loop *loop;
static struct buf told;

/* ---- the plugin: counts its starts ---- */

static int init(struct tc_instance *inst)
{
    const char *const lives = tc_load(inst, "lives");
    return tc_store(inst, "lives", tc_sprint(inst->lobby, "%s+", lives ? lives : ""));
}

static void teardown(struct tc_instance *inst)
{
    tc_store(inst, "end", "x");
    tc_store(inst, "lives", NULL);
}

/* ---- the host ---- */

static void take_batch(void *ctx, struct callback_batch *b)
{
    (void)ctx;
    callback_batch_free(b);
}

static void take_store(void *ctx, const char *key, const char *text)
{
    (void)ctx;
    buf_printf(&told, "%s:%s;", key, text ? text : "-");
}

static struct channel *make(void)
{
    struct loaded_plugin *const l = xmalloc(sizeof *l);
    *l = (struct loaded_plugin){
        .linked = true,
        .plugin = {.name = "lives", .init = init, .teardown = teardown},
    };
    const struct conf conf = {0};
    const struct conf_instance spec = {
        .name = (char[]){"one"}, .queue_events = 10, .queue_bytes = 1 << 20};
    const struct channel_callbacks host = {.loop = loop, .batch = take_batch, .store = take_store};
    struct tc_err err;
    struct channel *const c = channel_thread_new(&conf, &spec, l, &host, &err);
    if (!c)
        bail("%s", err_format(&err));
    return c;
}

static void launch(struct channel *c)
{
    struct tc_err err;
    if (c->ops->wait_started(c, &err) < 0)
        bail("%s", err_format(&err));
}

static int end(struct channel *c)
{
    c->ops->stop(c);
    return c->ops->join(c, clock_mono_ms() + DEADLINE_MS);
}

static void test_restart(void)
{
    struct channel *const c = make();
    launch(c);
    is_int(end(c), 0, "an instance without stored texts ends");
    is_str(told.p, "lives:+;end:x;lives:-;", "stored texts reach the host in order");
    buf_reset(&told);
    struct channel *const d = make();
    d->ops->load(d, "lives", "++");
    launch(d);
    is_int(end(d), 0, "an instance with stored texts ends");
    has_str(told.p, "lives:+++;", "init of the second instance has read the stored text");
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    test_restart();
    loop_free(loop);
    buf_fini(&told);
    return 0;
}
