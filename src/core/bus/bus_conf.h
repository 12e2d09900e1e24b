/* SPDX-License-Identifier: MIT
 * Settings that all hosts share: the newest value of each key of the bucket of settings. What one
 * host puts is told to the others; what is put while there is no connection is stored when there is
 * one. Of two values the one that is stored last stays, on every host. Loop thread only. */
#ifndef CORE_BUS_BUS_CONF_H
#define CORE_BUS_BUS_CONF_H

#include <stdbool.h>

#include "base/str.h"

#define BUS_CONF_KEYS_MAX 1000 /* that are known; others are ignored */

struct bus;
struct bus_conf;

struct bus_conf_spec {
    /* Another host has put this value, which is valid JSON. */
    void (*changed)(void *ctx, const char *key, const char *host, struct str value);
    /* All values that are stored have been told. */
    void (*known)(void *ctx);
    void *ctx;
};

/* One of each bus. Copies spec. */
struct bus_conf *bus_conf_join(struct bus *b, const struct bus_conf_spec *spec);
/* Nothing is told any more. Before bus_free. NULL is fine. */
void bus_conf_leave(struct bus_conf *c);
/* Tells again all values that are stored. */
void bus_conf_read(struct bus_conf *c);
/* The bucket has a value of the key, or will have one; right behind `known`. */
bool bus_conf_has(const struct bus_conf *c, const char *key);
/* Stores this JSON value in the place of what there is. The key is made of tokens (bus_kv.h). */
void bus_conf_put(struct bus_conf *c, const char *key, const char *json);

#endif
