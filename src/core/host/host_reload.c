/* SPDX-License-Identifier: MIT
 * Owns what is refused of another configuration, and what is told of it. */
#include "core/host/host_reload.h"

#include <stdio.h>
#include <string.h>

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

static bool host_reload_same_bus(const struct conf *a, const struct conf *b)
{
    return host_reload_same_text(a->host_name, b->host_name) &&
           host_reload_same_list(a->bus.urls, b->bus.urls) &&
           host_reload_same_text(a->bus.prefix, b->bus.prefix) &&
           host_reload_same_text(a->bus.credentials, b->bus.credentials) &&
           host_reload_same_text(a->bus.token, b->bus.token) &&
           host_reload_same_text(a->bus.creds_file, b->bus.creds_file) &&
           host_reload_same_text(a->bus.tls.ca, b->bus.tls.ca) &&
           host_reload_same_text(a->bus.tls.cert, b->bus.tls.cert) &&
           host_reload_same_text(a->bus.tls.key, b->bus.tls.key) &&
           a->bus.replicas == b->bus.replicas;
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
    if (!host_reload_same_bus(old, next))
        t->add_name(&t->fixed, "bus");
}

/* ---- the report ---- */

static void host_reload_tell_step(void *ctx, const char *name, enum dispatch_reconfig_action step)
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

void host_reload_tell(struct buf *out, const struct conf *old, const struct conf *next,
                      const struct dispatch_reconfig *change)
{
    struct host_reload_report t = {.add_name = host_reload_add_json_name};
    dispatch_reconfig_each(change, host_reload_tell_step, &t);
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
    dispatch_reconfig_each(change, host_reload_tell_step, &t);
    list_fixed(&t, old, next);
    buf_add_str(out, next->file);
    host_reload_add_plain_list(out, "started", &t.names[DISPATCH_STARTED]);
    host_reload_add_plain_list(out, "restarted", &t.names[DISPATCH_RESTARTED]);
    host_reload_add_plain_list(out, "stopped", &t.names[DISPATCH_STOPPED]);
    buf_printf(out, "; unchanged: %u", t.kept);
    host_reload_add_plain_list(out, "requires a restart", &t.fixed);
    buf_fini(&t.names[DISPATCH_KEPT]);
}

/* ---- */

static struct conf *load_file(const struct conf *current, struct tc_err *err)
{
    struct conf *const next = conf_load(current->file, err);
    if (!next)
        return NULL;
    if (host_reload_check(next, err) == 0 &&
        host_reload_same_text(current->state_dir, next->state_dir))
        return next;
    if (!host_reload_same_text(current->state_dir, next->state_dir))
        err_set(err, next->file, "state_directory cannot be changed by a reload; restart turncast");
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
