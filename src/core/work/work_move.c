/* SPDX-License-Identifier: MIT
 * Iterates over the homes of a conversation. A home that changed meanwhile has a higher revision,
 * so the iteration finds it again. */
#include "core/work/work_move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

struct work_move {
    struct bus_link *link;
    struct buf keys;  /* pattern of the conversation's homes */
    struct buf agent; /* token that the key of each home of the agent begins with */
    char host[BUS_HOST_MAX + 1];
    uint64_t revision; /* of the last entry that was read */
    int moved;
    void (*done)(void *ctx, int moved);
    void *ctx;
};

bool work_home_is_moved(struct str value)
{
    return str_is(json_reader_pointer(value, "/moved"), "true");
}

bool work_home_is_here(const struct bus_link *l, const struct bus_kv_entry *home)
{
    struct bus_origin from;
    return home->result == BUS_KV_DONE && bus_origin_read(home->value, &from) == 0 &&
           strcmp(from.host, l->names.host) == 0 && !work_home_is_moved(home->value);
}

static void work_move_end(struct work_move *m, int moved)
{
    void (*const done)(void *ctx, int moved) = m->done;
    void *const ctx = m->ctx;
    buf_fini(&m->keys);
    buf_fini(&m->agent);
    free(m);
    done(ctx, moved);
}

/* The key is "SESSIONS.CONVERSATION". SESSIONS is the name of the agent, or for another working
 * directory "NAME@DIRECTORY", see conf_agent_session_name. */
static bool work_move_is_of_agent(const struct work_move *m, const char *key)
{
    return strncmp(key, m->agent.p, m->agent.len) == 0 &&
           (key[m->agent.len] == '.' || strncmp(key + m->agent.len, "_40", 3) == 0);
}

static void work_move_next(struct work_move *m);

static void work_move_on_written(void *ctx, enum nats_client_result result,
                                 const struct nats_client_message *reply)
{
    struct work_move *const m = ctx;
    struct bus_kv_entry written;
    bus_kv_read_written(result, reply, &written);
    if (written.result != BUS_KV_DONE && written.result != BUS_KV_CONFLICT) {
        work_move_end(m, -1);
        return;
    }
    work_move_next(m);
}

static void work_move_write(struct work_move *m, const struct bus_kv_entry *home)
{
    CLEANUP_BUF struct buf value = {0};
    struct bus_origin from = bus_link_next_origin(m->link);
    snprintf(from.host, sizeof from.host, "%s", m->host);
    buf_add_char(&value, '{');
    bus_origin_write(&value, &from);
    jsonw_member_bool(&value, "moved", true);
    buf_add_char(&value, '}');
    bus_kv_put(m->link, BUS_HOMES, home->key, (struct str){value.p, value.len}, home->revision,
               work_move_on_written, m);
}

static void work_move_on_home(void *ctx, enum nats_client_result result,
                              const struct nats_client_message *reply)
{
    struct work_move *const m = ctx;
    struct bus_kv_entry home;
    struct bus_origin from;
    bus_kv_read_entry(m->link, BUS_HOMES, result, reply, &home);
    if (home.result != BUS_KV_DONE && home.result != BUS_KV_NONE) {
        work_move_end(m, -1);
        return;
    }
    if (!home.revision) {
        work_move_end(m, m->moved);
        return;
    }
    m->revision = home.revision;
    const bool is_read = home.result == BUS_KV_DONE && work_move_is_of_agent(m, home.key) &&
                         bus_origin_read(home.value, &from) == 0;
    const bool is_there = is_read && strcmp(from.host, m->host) == 0;
    m->moved += is_there;
    if (is_read && !is_there)
        work_move_write(m, &home);
    else
        work_move_next(m);
}

static void work_move_next(struct work_move *m)
{
    bus_kv_next(m->link, BUS_HOMES, m->keys.p, m->revision, work_move_on_home, m);
}

void work_move_conversation(const struct work_move_spec *spec)
{
    struct work_move *const m = xcalloc(1, sizeof *m);
    m->link = spec->link;
    m->done = spec->done;
    m->ctx = spec->ctx;
    snprintf(m->host, sizeof m->host, "%s", spec->host);
    bus_stream_add_token(&m->agent, spec->agent);
    buf_add_str(&m->keys, "*.");
    bus_stream_add_token(&m->keys, spec->conversation);
    work_move_next(m);
}
