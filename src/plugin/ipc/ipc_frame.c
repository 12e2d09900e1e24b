/* SPDX-License-Identifier: MIT
 * Encodes and decodes frames, and the set-up data of an instance and its turns. */
#include "plugin/ipc/ipc_frame.h"

size_t ipc_frame_begin(struct buf *out, enum frame_type type)
{
    const struct ipc_frame_header head = {(uint32_t)type, 0};
    buf_add(out, &head, sizeof head);
    return out->len;
}

void ipc_frame_end(struct buf *out, size_t begun)
{
    const uint32_t len = (uint32_t)(out->len - begun);
    memcpy(out->p + begun - sizeof len, &len, sizeof len);
}

/* ---- headers ---- */

#define HEADERS_MAX 1024

void ipc_frame_pack_headers(struct buf *out, const struct tc_header *headers, size_t count)
{
    pack_int64(out, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        pack_string(out, headers[i].name);
        pack_string(out, headers[i].value);
    }
}

const struct tc_header *ipc_frame_unpack_headers(struct unpacker *u, struct arena *a, size_t *count)
{
    *count = unpack_count(u, HEADERS_MAX);
    struct tc_header *const headers = arena_alloc(a, (*count + 1) * sizeof *headers);
    for (size_t i = 0; i < *count; i++) {
        headers[i].name = unpack_required_string(u);
        headers[i].value = unpack_required_string(u);
    }
    return headers;
}

/* ---- setup ---- */

#define LIST_MAX 512
#define CHAOS_MAX 64

static void pack_list(struct buf *out, const char *const *list)
{
    for (; list && *list; list++)
        pack_string(out, *list);
    pack_string(out, NULL);
}

static const char *const *unpack_list(struct unpacker *u, struct arena *a)
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

static void pack_pairs(struct buf *out, const struct conf_option *pairs)
{
    for (; pairs && pairs->key; pairs++) {
        pack_string(out, pairs->key);
        pack_string(out, pairs->value);
        pack_int64(out, pairs->line);
    }
    pack_string(out, NULL);
}

static const struct conf_option *unpack_pairs(struct unpacker *u, struct arena *a)
{
    struct conf_option pairs[LIST_MAX];
    const char *key;
    size_t n = 0;
    while (n < LIST_MAX - 1 && (key = unpack_text(u)))
        pairs[n++] = (struct conf_option){
            .key = arena_strdup(a, key),
            .value = arena_strdup(a, unpack_required_string(u)),
            .line = (int)unpack_count(u, INT32_MAX),
            .resolved = true,
        };
    u->bad = u->bad || n == LIST_MAX - 1;
    struct conf_option *const list = arena_alloc(a, (n + 1) * sizeof *list);
    memcpy(list, pairs, n * sizeof *list);
    return list;
}

static void pack_stored(struct buf *out, const struct stored_text *s)
{
    for (; s; s = s->next) {
        pack_string(out, s->key);
        pack_string(out, s->text);
    }
    pack_string(out, NULL);
}

/* Copies it to the arena. */
static const struct stored_text *unpack_stored(struct unpacker *u, struct arena *a)
{
    struct stored_text *first = NULL;
    const char *key;
    while ((key = unpack_text(u))) {
        const size_t size = strlen(key) + 1;
        struct stored_text *const s = arena_alloc(a, sizeof *s + size);
        *s = (struct stored_text){.next = first};
        s->text = (char *)(uintptr_t)unpack_required_string(u);
        memcpy(s->key, key, size);
        first = s;
    }
    return first;
}

static void pack_ports(struct buf *out, const int64_t *ports)
{
    for (; ports && *ports; ports++)
        pack_int64(out, *ports);
    pack_int64(out, 0);
}

static const int64_t *unpack_ports(struct unpacker *u, struct arena *a)
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
        pack_int64(out, (int64_t)rule->what);
        pack_string(out, rule->callback);
        pack_string(out, rule->text);
        pack_string(out, rule->trigger);
        pack_int64(out, rule->every);
        pack_double(out, rule->rate);
        pack_int64(out, rule->seed);
        pack_int64(out, rule->delay_ms);
        pack_int64(out, rule->bytes);
    }
    pack_int64(out, CHAOS_NOTHING);
}

static const struct conf_chaos *unpack_chaos(struct unpacker *u, struct arena *a)
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

static enum language unpack_language(struct unpacker *u)
{
    const int64_t n = unpack_number(u);
    u->bad = u->bad || n < 0 || n >= LANGUAGE_COUNT;
    return u->bad ? LANGUAGE_EN : (enum language)n;
}

void ipc_frame_pack_setup(struct buf *out, const struct ipc_setup *s)
{
    pack_string(out, s->file);
    pack_int64(out, s->line);
    pack_string(out, s->path);
    pack_string(out, s->name);
    pack_pairs(out, s->options);
    pack_stored(out, s->stored);
    pack_bool(out, s->has_batch);
    pack_bool(out, s->has_ask);
    pack_bool(out, s->has_server);
    pack_bool(out, s->has_sockets);
    pack_int64(out, (int64_t)s->last_request);
    pack_bool(out, s->debug);
    pack_string(out, s->dir);
    pack_bool(out, s->dir_full);
    pack_list(out, s->write_paths);
    pack_bool(out, s->starts_programs);
    pack_list(out, s->run_paths);
    pack_ports(out, s->ports);
    pack_int64(out, s->memory);
    pack_int64(out, s->file_size);
    pack_int64(out, s->language);
    pack_chaos(out, s->chaos);
}

void ipc_frame_unpack_setup(struct unpacker *u, struct arena *a, struct ipc_setup *s)
{
    s->file = unpack_required_string(u);
    s->line = unpack_number(u);
    s->path = unpack_required_string(u);
    s->name = unpack_required_string(u);
    s->options = unpack_pairs(u, a);
    s->stored = unpack_stored(u, a);
    s->has_batch = unpack_flag(u);
    s->has_ask = unpack_flag(u);
    s->has_server = unpack_flag(u);
    s->has_sockets = unpack_flag(u);
    s->last_request = (uint64_t)unpack_number(u);
    s->debug = unpack_flag(u);
    s->dir = unpack_text(u);
    s->dir_full = unpack_flag(u);
    s->write_paths = unpack_list(u, a);
    s->starts_programs = unpack_flag(u);
    s->run_paths = unpack_list(u, a);
    s->ports = unpack_ports(u, a);
    s->memory = unpack_number(u);
    s->file_size = unpack_number(u);
    s->language = unpack_language(u);
    s->chaos = unpack_chaos(u, a);
}

/* ---- turns ---- */

void ipc_frame_pack_turn(struct buf *out, const struct channel_turn *t)
{
    pack_string(out, t->id);
    pack_string(out, t->agent);
    pack_string(out, t->conversation);
    pack_string(out, t->route);
    pack_string(out, t->memory);
    pack_int64(out, (int64_t)t->requests);
    pack_bool(out, t->over);
}

void ipc_frame_unpack_turn(struct unpacker *u, struct channel_turn *t)
{
    t->id = unpack_required_string(u);
    t->agent = unpack_text(u);
    t->conversation = unpack_text(u);
    t->route = unpack_text(u);
    t->memory = unpack_text(u);
    t->requests = unpack_count(u, UINT32_MAX);
    t->over = unpack_flag(u);
}
