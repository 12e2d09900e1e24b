/* SPDX-License-Identifier: MIT
 * Owns where a frame begins and ends, and what an instance is told of itself and of its turns. */
#include "plugin/ipc/ipc_frame.h"

#include "base/alloc.h"

size_t frame_begin(struct buf *out, enum frame_type type)
{
    const struct frame_head head = {(uint32_t)type, 0};
    buf_add(out, &head, sizeof head);
    return out->len;
}

void frame_end(struct buf *out, size_t begun)
{
    const uint32_t len = (uint32_t)(out->len - begun);
    memcpy(out->p + begun - sizeof len, &len, sizeof len);
}

/* ---- setup ---- */

#define LIST_MAX 512
#define CHAOS_MAX 64

static void pack_list(struct buf *out, const char *const *list)
{
    for (; list && *list; list++)
        pack_text(out, *list);
    pack_text(out, NULL);
}

static const char *const *unpack_list(struct unpack *u, struct arena *a)
{
    const char *texts[LIST_MAX], *text;
    size_t n = 0;
    while (n < LIST_MAX && (text = unpack_text(u)))
        texts[n++] = text;
    u->bad = u->bad || n == LIST_MAX;
    const char **const list = arena_alloc(a, (n + 1) * sizeof *list);
    memcpy(list, texts, n * sizeof *list);
    return list;
}

static void pack_pairs(struct buf *out, const struct conf_pair *pairs)
{
    for (; pairs && pairs->key; pairs++) {
        pack_text(out, pairs->key);
        pack_text(out, pairs->value);
        pack_number(out, pairs->line);
    }
    pack_text(out, NULL);
}

static const struct conf_pair *unpack_pairs(struct unpack *u, struct arena *a)
{
    struct conf_pair pairs[LIST_MAX];
    const char *key;
    size_t n = 0;
    while (n < LIST_MAX - 1 && (key = unpack_text(u)))
        pairs[n++] = (struct conf_pair){
            .key = arena_strdup(a, key),
            .value = arena_strdup(a, unpack_required(u)),
            .line = (int)unpack_count(u, INT32_MAX),
            .resolved = true,
        };
    u->bad = u->bad || n == LIST_MAX - 1;
    struct conf_pair *const list = arena_alloc(a, (n + 1) * sizeof *list);
    memcpy(list, pairs, n * sizeof *list);
    return list;
}

static void pack_ports(struct buf *out, const int64_t *ports)
{
    for (; ports && *ports; ports++)
        pack_number(out, *ports);
    pack_number(out, 0);
}

static const int64_t *unpack_ports(struct unpack *u, struct arena *a)
{
    int64_t ports[LIST_MAX];
    size_t n = 0;
    while (n < LIST_MAX && (ports[n] = unpack_number(u)))
        n++;
    u->bad = u->bad || n == LIST_MAX;
    int64_t *const list = arena_alloc(a, (n + 1) * sizeof *list);
    memcpy(list, ports, n * sizeof *list);
    return list;
}

static void pack_chaos(struct buf *out, const struct conf_chaos *rule)
{
    for (; rule && rule->what; rule++) {
        pack_number(out, (int64_t)rule->what);
        pack_text(out, rule->callback);
        pack_text(out, rule->text);
        pack_text(out, rule->trigger);
        pack_number(out, rule->every);
        pack_real(out, rule->rate);
        pack_number(out, rule->seed);
        pack_number(out, rule->delay_ms);
        pack_number(out, rule->bytes);
    }
    pack_number(out, CHAOS_NOTHING);
}

static const struct conf_chaos *unpack_chaos(struct unpack *u, struct arena *a)
{
    struct conf_chaos rules[CHAOS_MAX];
    size_t n = 0;
    for (; n < CHAOS_MAX; n++) {
        struct conf_chaos *const rule = &rules[n];
        rule->what = (enum conf_chaos_act)unpack_count(u, CHAOS_GARBAGE);
        if (rule->what == CHAOS_NOTHING)
            break;
        rule->callback = unpack_text(u);
        rule->text = unpack_text(u);
        rule->trigger = unpack_text(u);
        rule->every = unpack_number(u);
        rule->rate = unpack_real(u);
        rule->seed = unpack_number(u);
        rule->delay_ms = unpack_number(u);
        rule->bytes = unpack_number(u);
    }
    u->bad = u->bad || n == CHAOS_MAX;
    struct conf_chaos *const list = arena_alloc(a, (n + 1) * sizeof *list);
    memcpy(list, rules, n * sizeof *list);
    return list;
}

void frame_pack_setup(struct buf *out, const struct frame_setup *s)
{
    pack_text(out, s->file);
    pack_number(out, s->line);
    pack_text(out, s->path);
    pack_text(out, s->name);
    pack_pairs(out, s->options);
    pack_flag(out, s->has_batch);
    pack_flag(out, s->has_ask);
    pack_flag(out, s->has_server);
    pack_flag(out, s->has_sockets);
    pack_number(out, (int64_t)s->last_letter);
    pack_flag(out, s->debug);
    pack_text(out, s->dir);
    pack_flag(out, s->dir_full);
    pack_list(out, s->write_paths);
    pack_ports(out, s->ports);
    pack_number(out, s->memory);
    pack_number(out, s->file_size);
    pack_chaos(out, s->chaos);
}

void frame_unpack_setup(struct unpack *u, struct arena *a, struct frame_setup *s)
{
    s->file = unpack_required(u);
    s->line = unpack_number(u);
    s->path = unpack_required(u);
    s->name = unpack_required(u);
    s->options = unpack_pairs(u, a);
    s->has_batch = unpack_flag(u);
    s->has_ask = unpack_flag(u);
    s->has_server = unpack_flag(u);
    s->has_sockets = unpack_flag(u);
    s->last_letter = (uint64_t)unpack_number(u);
    s->debug = unpack_flag(u);
    s->dir = unpack_text(u);
    s->dir_full = unpack_flag(u);
    s->write_paths = unpack_list(u, a);
    s->ports = unpack_ports(u, a);
    s->memory = unpack_number(u);
    s->file_size = unpack_number(u);
    s->chaos = unpack_chaos(u, a);
}

/* ---- turns ---- */

void frame_pack_turn(struct buf *out, const struct channel_turn *t)
{
    pack_text(out, t->id);
    pack_text(out, t->agent);
    pack_text(out, t->conversation);
    pack_text(out, t->route);
    pack_text(out, t->memory);
    pack_number(out, (int64_t)t->letters);
    pack_flag(out, t->over);
}

void frame_unpack_turn(struct unpack *u, struct channel_turn *t)
{
    t->id = unpack_required(u);
    t->agent = unpack_text(u);
    t->conversation = unpack_text(u);
    t->route = unpack_text(u);
    t->memory = unpack_text(u);
    t->letters = unpack_count(u, UINT32_MAX);
    t->over = unpack_flag(u);
}
