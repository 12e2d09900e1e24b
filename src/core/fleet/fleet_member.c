/* SPDX-License-Identifier: MIT
 * Publishes the state of this host, and renews its entry when that changes. */
#include "core/fleet/fleet_member.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/work/work.h"
#include "event/json/json_writer.h"

/* Minimum interval, so frequently changing slots are published once a second. */
#define LOOK_MS 1000

struct fleet_member {
    struct bus *bus;
    const struct conf *conf;
    struct turn_scheduler *scheduler;
    struct work *work;     /* or NULL */
    struct runner *runner; /* or NULL */
    void (*set_aside)(void *ctx, bool is_aside);
    void *ctx;
    bool is_draining;
    bool is_idle; /* it drains, and "no turn runs" was logged */
    struct loop_timer *look;
    struct buf published;
};

/* ---- published state ---- */

static void fleet_member_add_roles(const struct conf_bus *conf, struct buf *out)
{
    jsonw_key(out, "roles");
    buf_printf(out, "[%s%s%s]", conf->is_gateway ? "\"gateway\"" : "",
               conf->is_gateway && conf->is_runner ? "," : "", conf->is_runner ? "\"runner\"" : "");
}

static void fleet_member_add_agent(const struct fleet_member *m, const struct conf_agent *agent,
                                   struct buf *out)
{
    jsonw_key(out, agent->name);
    buf_add_char(out, '{');
    jsonw_member_int(out, "free", (int64_t)runner_free_slots(m->runner, agent));
    jsonw_member_int(out, "max", agent->runners.slots);
    buf_add_char(out, '}');
}

void fleet_member_describe(const struct fleet_member *m, struct buf *out)
{
    const struct conf *const conf = m->conf;
    fleet_member_add_roles(&conf->bus, out);
    jsonw_key(out, "agents");
    buf_add_char(out, '{');
    for (size_t i = 0; m->runner && i < conf->n_agents; i++)
        if (runner_may_run(m->runner, &conf->agents[i]))
            fleet_member_add_agent(m, &conf->agents[i], out);
    buf_add_char(out, '}');
    jsonw_member_bool(out, "draining", m->is_draining);
}

static size_t fleet_member_count_running(const struct fleet_member *m)
{
    return turn_scheduler_count_here(m->scheduler) + (m->runner ? runner_count(m->runner) : 0);
}

void fleet_member_write_reply(const struct fleet_member *m, struct buf *out)
{
    buf_add_char(out, '{');
    jsonw_member_int(out, "running", (int64_t)fleet_member_count_running(m));
    jsonw_member_bool(out, "draining", m->is_draining);
    buf_add_str(out, "}\n");
}

/* ---- draining ---- */

static void fleet_member_set_aside(struct fleet_member *m, bool is_aside)
{
    if (m->is_draining == is_aside)
        return;
    m->is_draining = is_aside;
    m->is_idle = false;
    log_write(LOG_INFO, "bus",
              is_aside ? "draining: this host begins no turns" : "this host begins turns again");
    if (m->runner)
        runner_set_aside(m->runner, is_aside);
    if (m->work)
        work_set_aside(m->work, is_aside);
    turn_scheduler_set_aside(m->scheduler, is_aside);
    m->set_aside(m->ctx, is_aside);
    loop_timer_set(m->look, 0);
}

void fleet_member_order(struct fleet_member *m, struct str order)
{
    const struct str what = bus_message_text(order, "/do");
    if (str_is(what, "drain"))
        fleet_member_set_aside(m, true);
    else if (str_is(what, "undo"))
        fleet_member_set_aside(m, false);
}

bool fleet_member_is_draining(const struct fleet_member *m)
{
    return m && m->is_draining;
}

static void fleet_member_check_idle(struct fleet_member *m)
{
    if (!m->is_draining || m->is_idle || fleet_member_count_running(m))
        return;
    m->is_idle = true;
    log_write(LOG_INFO, "bus",
              "drained: no turn runs; stop this host, or run: turncast drain --undo");
}

static void fleet_member_on_request(void *ctx, struct bus_call *call, struct str body)
{
    CLEANUP_BUF struct buf out = {0};
    fleet_member_order(ctx, body);
    fleet_member_write_reply(ctx, &out);
    bus_call_answer(call, (struct str){out.p, out.len});
}

/* ---- create and free ---- */

static void fleet_member_on_look(void *arg)
{
    struct fleet_member *const m = arg;
    struct buf now = {0};
    fleet_member_describe(m, &now);
    if (!str_equal((struct str){now.p, now.len}, (struct str){m->published.p, m->published.len}))
        bus_renew(m->bus);
    buf_fini(&m->published);
    m->published = now;
    fleet_member_check_idle(m);
    loop_timer_set(m->look, LOOK_MS);
}

void fleet_member_set_conf(struct fleet_member *m, const struct conf *conf)
{
    m->conf = conf;
    if (m->runner)
        runner_set_conf(m->runner, conf);
}

struct work *fleet_member_get_work(const struct fleet_member *m)
{
    return m ? m->work : NULL;
}

struct runner *fleet_member_get_runner(const struct fleet_member *m)
{
    return m ? m->runner : NULL;
}

struct fleet_member *fleet_member_new(const struct fleet_member_spec *spec)
{
    struct fleet_member *const m = xcalloc(1, sizeof *m);
    const struct conf *const conf = spec->parts.conf;
    *m = (struct fleet_member){.bus = spec->bus,
                               .conf = conf,
                               .scheduler = spec->own,
                               .set_aside = spec->set_aside,
                               .ctx = spec->ctx};
    if (conf->bus.is_gateway)
        m->work = work_new(m->bus, spec->hosts, conf, spec->parts.journal);
    turn_scheduler_set_work(m->scheduler, m->work);
    if (conf->bus.is_runner)
        m->runner = runner_new(
            &(struct runner_spec){.bus = m->bus, .parts = spec->parts, .own = m->scheduler});
    bus_serve(m->bus, FLEET_MEMBER_VERB, fleet_member_on_request, m);
    m->look = loop_timer_new(spec->parts.loop, fleet_member_on_look, m);
    loop_timer_set(m->look, 0);
    return m;
}

void fleet_member_stop(struct fleet_member *m)
{
    if (!m)
        return;
    loop_timer_set(m->look, -1);
    runner_stop(m->runner);
    work_stop(m->work);
}

void fleet_member_free(struct fleet_member *m)
{
    if (!m)
        return;
    fleet_member_stop(m);
    loop_timer_free(m->look);
    runner_free(m->runner);
    work_free(m->work);
    buf_fini(&m->published);
    free(m);
}
