/* SPDX-License-Identifier: MIT
 * Encodes an agent's visibility for the bucket of shared settings: the key vis.AGENT. */
#include "core/settings/visibility_share.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/bus/bus_stream.h"
#include "event/json/json_reader.h"

#define KEY "vis."

struct visibility_share {
    const struct shared_settings *all;
    struct shared_user *shared;
    struct visibility_cache *cache;
    struct settings_worker *settings;
    const struct conf *conf;
};

static void visibility_share_put(void *ctx, const char *agent, struct visibility v)
{
    struct visibility_share *const s = ctx;
    CLEANUP_BUF struct buf json = {0};
    CLEANUP_FREE char *key = xasprintf(KEY "%s", agent);
    if (!bus_stream_is_token(agent))
        return;
    visibility_append_json(&json, v);
    shared_put(s->shared, key, json.p);
}

/* An older host omits members that it does not know; they stay unset. */
static bool visibility_share_read(struct str value, struct visibility *v)
{
    *v = (struct visibility){SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET};
    size_t n = 0;
    for (size_t i = 0; i < VISIBILITY_KEYS; i++) {
        CLEANUP_FREE char *pointer = xasprintf("/%s", visibility_key(i));
        const struct str found = json_reader_pointer(value, pointer);
        const bool on = str_is(found, "true");
        if (!on && !str_is(found, "false"))
            continue;
        *visibility_switch_at(v, i) = on ? SHOW_ON : SHOW_OFF;
        n++;
    }
    *v = visibility_resolve(*v);
    return n > 0;
}

static void visibility_share_on_changed(void *ctx, const char *key, const char *host,
                                        const char *value)
{
    struct visibility_share *const s = ctx;
    struct visibility v;
    const char *const agent = key + strlen(KEY);
    if (!value || !conf_agent_find(s->conf, agent) ||
        !visibility_share_read((struct str){value, strlen(value)}, &v))
        return;
    const struct visibility before = visibility_cache_peek(s->cache, agent);
    if (visibility_equal(&before, &v))
        return;
    if (*host)
        log_write(LOG_INFO, "bus", "visibility of agent \"%s\" was changed on host \"%s\"", agent,
                  host);
    visibility_cache_set_shared(s->cache, agent, v);
}

/* A shared value has precedence; a local value without a shared one becomes shared. */
static void visibility_share_compare(struct visibility_share *s)
{
    struct visibility configured;
    if (visibility_store_load_local(settings_worker_visibility(s->settings), NULL, &configured,
                                    NULL) < 0)
        return;
    for (size_t i = 0; i < s->conf->n_agents; i++) {
        const char *const agent = s->conf->agents[i].name;
        CLEANUP_FREE char *key = xasprintf(KEY "%s", agent);
        const char *const shared = shared_get(s->shared, key);
        const struct visibility v = visibility_cache_peek(s->cache, agent);
        if (shared)
            visibility_share_on_changed(s, key, "", shared);
        else if (!visibility_equal(&v, &configured))
            visibility_share_put(s, agent, v);
    }
}

static void visibility_share_on_known(void *ctx)
{
    visibility_share_compare(ctx);
}

struct visibility_share *visibility_share_new(struct shared_settings *shared,
                                              struct visibility_cache *cache,
                                              struct settings_worker *settings,
                                              const struct conf *conf)
{
    if (settings_worker_store_conf(settings)->kind == CONF_REDIS)
        return NULL;
    struct visibility_share *const s = xcalloc(1, sizeof *s);
    s->cache = cache;
    s->settings = settings;
    s->conf = conf;
    s->all = shared;
    s->shared = shared_user_join(shared, &(struct shared_user_spec){
                                             .prefix = KEY,
                                             .changed = visibility_share_on_changed,
                                             .known = visibility_share_on_known,
                                             .ctx = s,
                                         });
    visibility_cache_set_watch(cache, visibility_share_put, s);
    return s;
}

void visibility_share_set_conf(struct visibility_share *s, const struct conf *conf)
{
    if (!s)
        return;
    s->conf = conf;
    if (shared_settings_is_known(s->all))
        visibility_share_compare(s);
}

void visibility_share_free(struct visibility_share *s)
{
    if (!s)
        return;
    visibility_cache_set_watch(s->cache, NULL, NULL);
    free(s);
}
