/* SPDX-License-Identifier: MIT
 * Encodes an agent's visibility in two Redis keys, and validates existing values. */
#include "core/settings/visibility_redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define WORDS_MAX (2 + 2 * VISIBILITY_KEYS + 1)

struct keys {
    const char *switches, *saved;
};

static struct keys keys_of(struct arena *a, const char *prefix, const char *agent)
{
    return (struct keys){
        arena_sprintf(a, "%s:stream_config:%s", prefix, agent),
        arena_sprintf(a, "%s:stream_config_saved:%s", prefix, agent),
    };
}

/* ---- reading ---- */

/* Values that agenticore takes for true, and values that clearly mean false. */
static bool is_switch(const char *value)
{
    static const char *const off[] = {"0", "false", "no", "off"};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (strcasecmp(value, off[i]) == 0)
            return true;
    return visibility_parse_value(value) == SHOW_ON;
}

static bool visibility_redis_read_field(struct visibility *v, const char *name, const char *value)
{
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        if (strcmp(name, visibility_key(i)) == 0) {
            *visibility_switch_at(v, i) = visibility_parse_value(value);
            return is_switch(value);
        }
    return true; /* possibly a field of a later agenticore */
}

/* Missing settings get agenticore's defaults: thinking and tools are off. */
static enum visibility_redis_result visibility_redis_read_hash(const struct redis_reply *hash,
                                                               struct visibility *v)
{
    struct visibility read = {SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET};
    if (hash->type != REDIS_LIST || hash->n % 2)
        return STICKY_FOREIGN;
    for (size_t i = 0; i < hash->n; i += 2)
        if (hash->items[i].type != REDIS_TEXT || hash->items[i + 1].type != REDIS_TEXT ||
            !visibility_redis_read_field(&read, hash->items[i].text.p, hash->items[i + 1].text.p))
            return STICKY_FOREIGN;
    *v = visibility_resolve(read);
    return hash->n ? STICKY_FOUND : STICKY_NOTHING;
}

static void write_bits(char bits[VISIBILITY_KEYS + 1], struct visibility v)
{
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        bits[i] = *visibility_switch_at(&v, i) == SHOW_ON ? '1' : '0';
    bits[VISIBILITY_KEYS] = 0;
}

/* Value "MILLISECONDS BITS"; valid as long as the hash has the settings written then. */
static int64_t visibility_redis_read_saved(const struct redis_reply *saved, struct visibility v)
{
    char bits[VISIBILITY_KEYS + 1];
    char *end;
    if (saved->type != REDIS_TEXT)
        return 0;
    write_bits(bits, v);
    const int64_t ms = strtoll(saved->text.p, &end, 10);
    return *end == ' ' && strcmp(end + 1, bits) == 0 ? ms : 0;
}

enum visibility_redis_result visibility_redis_read(struct redis_client *r, const char *prefix,
                                                   const char *agent, struct visibility_row *row,
                                                   struct tc_err *err)
{
    struct arena a = {0};
    const struct keys keys = keys_of(&a, prefix, agent);
    const struct redis_command commands[] = {
        {(const char *const[]){"HGETALL", keys.switches, NULL}},
        {(const char *const[]){"GET", keys.saved, NULL}},
    };
    struct redis_reply replies[2];
    enum visibility_redis_result found = VISIBILITY_REDIS_DOWN;
    if (redis_call_pipeline(r, commands, 2, &a, replies, err) == 0)
        found = visibility_redis_read_hash(&replies[0], &row->shown);
    row->saved_ms =
        found == STICKY_FOUND ? visibility_redis_read_saved(&replies[1], row->shown) : 0;
    row->unsaved = false;
    arena_fini(&a);
    return found;
}

/* ---- writing ---- */

/* Writes in a transaction, so that a reader sees all or nothing. */
static int write_keys(struct redis_client *r, struct arena *a, struct keys keys,
                      struct visibility v, const char *saved, struct tc_err *err)
{
    const char *hset[WORDS_MAX] = {"HSET", keys.switches};
    for (size_t i = 0; i < VISIBILITY_KEYS; i++) {
        hset[2 + 2 * i] = visibility_key(i);
        hset[3 + 2 * i] = *visibility_switch_at(&v, i) == SHOW_ON ? "1" : "0";
    }
    const struct redis_command commands[] = {
        {(const char *const[]){"MULTI", NULL}},
        {(const char *const[]){"DEL", keys.switches, NULL}},
        {hset},
        {(const char *const[]){"SET", keys.saved, saved, NULL}},
        {(const char *const[]){"EXEC", NULL}},
    };
    struct redis_reply replies[sizeof commands / sizeof *commands];
    if (redis_call_pipeline(r, commands, sizeof commands / sizeof *commands, a, replies, err) < 0)
        return -1;
    return replies[4].type == REDIS_LIST
               ? 0
               : err_set(err, "Redis", "the transaction was aborted (EXEC)");
}

int visibility_redis_write(struct redis_client *r, const char *prefix, const char *agent,
                           const struct visibility_row *row, struct tc_err *err)
{
    struct arena a = {0};
    char bits[VISIBILITY_KEYS + 1];
    write_bits(bits, row->shown);
    const int rc = write_keys(r, &a, keys_of(&a, prefix, agent), row->shown,
                              arena_sprintf(&a, "%" PRId64 " %s", row->saved_ms, bits), err);
    arena_fini(&a);
    return rc;
}
