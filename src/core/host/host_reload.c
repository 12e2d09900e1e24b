/* SPDX-License-Identifier: MIT
 * Owns what is refused of another configuration, and what is told of it. */
#include "core/host/host_reload.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/host/network_clients.h"
#include "dialect/dialect.h"
#include "event/json/json_writer.h"

/* ---- what a serving host wants ---- */

static int vet_instance(const struct conf *conf, const struct conf_instance *inst,
                        struct tc_err *err)
{
    const struct conf_agent *const agent = conf_agent_find(conf, inst->agent);
    char place[sizeof err->place];
    if (!inst->enabled || !(inst->grants & CONF_SUBMIT) || (agent && dialect_find(agent->dialect)))
        return 0;
    snprintf(place, sizeof place, "%.200s:%d", inst->file ? inst->file : conf->file, inst->line);
    return err_set(err, place, "plugins.instances.%s: %s", inst->name,
                   agent ? "its agent has an unknown dialect; see turncast.conf(5), DIALECTS"
                         : "no agent; set agent or default_agent");
}

int host_reload_check(struct conf *conf, struct tc_err *err)
{
    for (size_t i = 0; i < conf->n_instances; i++)
        if (vet_instance(conf, &conf->instances[i], err) < 0)
            return -1;
    for (size_t i = 0; i < conf->n_agents; i++)
        if (conf_check_agent_user(conf, &conf->agents[i], err) < 0)
            return -1;
    return conf_resolve_keys(conf, err);
}

/* What a reload did, as lists of names in JSON or in plain text. */
struct host_reload_report {
    void (*add_name)(struct buf *list, const char *name);
    struct buf names[DISPATCH_STOPPED + 1];
    struct buf fixed; /* keys that are read at the next start only */
    unsigned kept;
};

/* ---- what does not change while the host runs ---- */

static bool host_reload_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_store(const struct conf_store *a, const struct conf_store *b)
{
    return a->kind == b->kind && host_reload_same_text(a->host, b->host) &&
           host_reload_same_text(a->path, b->path) && a->port == b->port &&
           host_reload_same_text(a->prefix, b->prefix) &&
           host_reload_same_text(a->password, b->password) && a->database == b->database &&
           a->session_ttl_s == b->session_ttl_s;
}

/* Lists that end with NULL, or NULL. */
static bool host_reload_same_list(char *const *a, char *const *b)
{
    if (!a || !b)
        return a == b;
    for (; *a && *b; a++, b++)
        if (strcmp(*a, *b) != 0)
            return false;
    return !*a && !*b;
}

static bool host_reload_same_tls(const struct conf_tls *a, const struct conf_tls *b)
{
    return host_reload_same_text(a->ca, b->ca) && host_reload_same_text(a->cert, b->cert) &&
           host_reload_same_text(a->key, b->key);
}

static void host_reload_add_json_name(struct buf *list, const char *name)
{
    if (list->len)
        buf_add_str(list, ",");
    jsonw_string(list, name, strlen(name));
}

static void host_reload_add_plain_name(struct buf *list, const char *name)
{
    buf_printf(list, "%s%s", list->len ? ", " : "", name);
}

static void list_fixed(struct host_reload_report *t, const struct conf *old,
                       const struct conf *next)
{
    const struct conf_http *const a = &old->http, *const b = &next->http;
    if (!host_reload_same_text(a->listen, b->listen) || a->allow_remote != b->allow_remote)
        t->add_name(&t->fixed, "http.listen");
    if (!same_store(&old->store, &next->store))
        t->add_name(&t->fixed, "store");
    if (!network_clients_is_same(old, next))
        t->add_name(&t->fixed, "proxy");
}

/* ---- the report ---- */

static void host_reload_write_step(void *ctx, const char *name, enum dispatch_reconfig_action step)
{
    struct host_reload_report *const t = ctx;
    t->kept += step == DISPATCH_KEPT;
    t->add_name(&t->names[step], name);
}

static void host_reload_add_list(struct buf *out, const char *key, struct buf *names)
{
    jsonw_key(out, key);
    buf_printf(out, "[%s]", names->len ? names->p : "");
    buf_fini(names);
}

void host_reload_write_report(struct buf *out, const struct conf *old, const struct conf *next,
                              const struct dispatch_reconfig *change)
{
    struct host_reload_report t = {.add_name = host_reload_add_json_name};
    dispatch_reconfig_each(change, host_reload_write_step, &t);
    list_fixed(&t, old, next);
    buf_add_str(out, "{");
    jsonw_member_str(out, "file", next->file);
    host_reload_add_list(out, "started", &t.names[DISPATCH_STARTED]);
    host_reload_add_list(out, "restarted", &t.names[DISPATCH_RESTARTED]);
    host_reload_add_list(out, "stopped", &t.names[DISPATCH_STOPPED]);
    jsonw_member_int(out, "kept", t.kept);
    host_reload_add_list(out, "needs_restart", &t.fixed);
    buf_add_str(out, "}");
    buf_fini(&t.names[DISPATCH_KEPT]);
}

static void host_reload_add_plain_list(struct buf *out, const char *title, struct buf *names)
{
    if (names->len)
        buf_printf(out, "; %s: %s", title, names->p);
    buf_fini(names);
}

void host_reload_describe(struct buf *out, const struct conf *old, const struct conf *next,
                          const struct dispatch_reconfig *change)
{
    struct host_reload_report t = {.add_name = host_reload_add_plain_name};
    dispatch_reconfig_each(change, host_reload_write_step, &t);
    list_fixed(&t, old, next);
    buf_add_str(out, next->file);
    host_reload_add_plain_list(out, "started", &t.names[DISPATCH_STARTED]);
    host_reload_add_plain_list(out, "restarted", &t.names[DISPATCH_RESTARTED]);
    host_reload_add_plain_list(out, "stopped", &t.names[DISPATCH_STOPPED]);
    buf_printf(out, "; unchanged: %u", t.kept);
    host_reload_add_plain_list(out, "requires a restart", &t.fixed);
    buf_fini(&t.names[DISPATCH_KEPT]);
}

/* ---- what refuses a reload ---- */

/* Keys of `bus`, and those that count only with it. bus.runs is read anew, and bus.insecure only
 * permits a file. */
static void host_reload_add_changed_bus(struct buf *keys, const struct conf *old,
                                        const struct conf *next)
{
    const struct conf_bus *const a = &old->bus, *const b = &next->bus;
    const struct {
        const char *key;
        bool is_same;
    } rows[] = {
        {"bus.url", host_reload_same_list(a->urls, b->urls)},
        {"bus.prefix", host_reload_same_text(a->prefix, b->prefix)},
        {"bus.replicas", a->replicas == b->replicas},
        {"bus.credentials", host_reload_same_text(a->credentials, b->credentials)},
        {"bus.token", host_reload_same_text(a->token, b->token)},
        {"bus.credentials_file", host_reload_same_text(a->creds_file, b->creds_file)},
        {"bus.tls", host_reload_same_tls(&a->tls, &b->tls)},
        {"bus.roles", a->is_gateway == b->is_gateway && a->is_runner == b->is_runner},
        {"bus.lost_after_s", a->lost_after_ms == b->lost_after_ms},
        {"bus.move_after_s", a->move_after_ms == b->move_after_ms},
        {"bus.on_loss", a->on_loss == b->on_loss},
        {"sessions.shared", host_reload_same_text(old->sessions_shared, next->sessions_shared)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!rows[i].is_same)
            host_reload_add_plain_name(keys, rows[i].key);
}

/* Parts of a host that were made with these values would disagree with parts that read the new
 * ones. */
static void host_reload_list_refused(struct buf *keys, const struct conf *old,
                                     const struct conf *next)
{
    const bool has_bus = old->bus.urls, will_have_bus = next->bus.urls;
    if (!host_reload_same_text(old->state_dir, next->state_dir))
        host_reload_add_plain_name(keys, "state_directory");
    if (has_bus != will_have_bus) {
        host_reload_add_plain_name(keys, "bus");
        return; /* a bus changes the default of host.name, too */
    }
    if (!host_reload_same_text(old->host_name, next->host_name))
        host_reload_add_plain_name(keys, "host.name");
    if (has_bus)
        host_reload_add_changed_bus(keys, old, next);
}

static int host_reload_check_fixed(const struct conf *old, const struct conf *next,
                                   struct tc_err *err)
{
    CLEANUP_BUF struct buf keys = {0};
    host_reload_list_refused(&keys, old, next);
    if (!keys.len)
        return 0;
    return err_set(err, next->file, "cannot change %s by a reload; restart turncast", keys.p);
}

static struct conf *load_file(const struct conf *current, struct tc_err *err)
{
    struct conf *const next = conf_load(current->file, err);
    if (!next)
        return NULL;
    if (host_reload_check(next, err) == 0 && host_reload_check_fixed(current, next, err) == 0)
        return next;
    conf_unref(next);
    return NULL;
}

struct conf *host_reload_load(const struct conf *current, struct tc_err *err)
{
    if (*current->file != '(')
        return load_file(current, err);
    err_set(err, NULL,
            "turncast serve was started without a configuration file; nothing to reload");
    return NULL;
}
