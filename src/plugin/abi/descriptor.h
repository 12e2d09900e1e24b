/* SPDX-License-Identifier: MIT
 * Self-description of a connector (its exported constant without code): validated, and serialised
 * so that one process can send it to another. */
#ifndef PLUGIN_ABI_DESCRIPTOR_H
#define PLUGIN_ABI_DESCRIPTOR_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/err.h"

/* The functions that a plugin may have; those for events have the number of their kind. */
enum {
    DESCRIPTOR_ON_EVENT = TC_KINDS,
    DESCRIPTOR_ON_IDLE,
    DESCRIPTOR_ON_REPLY,
    DESCRIPTOR_ON_WAKE,
    DESCRIPTOR_ON_HIT,
    DESCRIPTOR_ON_FRAME,
    DESCRIPTOR_ON_READY,
    DESCRIPTOR_INIT,
    DESCRIPTOR_TEARDOWN,
    DESCRIPTOR_FUNCTIONS,
};

#define DESCRIPTOR_MAX ((size_t)1 << 20) /* limit of a record */
#define DESCRIPTOR_NAME_MAX ((size_t)32) /* limit of a plugin's name */
/* Size of the struct in the oldest published header. */
#define DESCRIPTOR_PLUGIN_MIN offsetof(struct tc_plugin, pace_ms)

struct descriptor {
    struct tc_plugin plugin; /* init, teardown and sink are NULL; version and summary are not */
    uint32_t has;            /* bit n: it has function n */
    struct arena arena;      /* owns the texts and tables */
};

/* Name of a callback as in the header: "on_narration". NULL: no such function. */
const char *descriptor_function_name(size_t function);
/* Bit mask of the callbacks that the plugin has. */
uint32_t descriptor_callback_mask(const struct tc_plugin *plugin, const struct tc_sink *sink);
/* [a-z][a-z0-9_-]*, at most DESCRIPTOR_NAME_MAX bytes. */
bool descriptor_is_name(const char *name);
/* Checks everything except the functions: supported version, name, texts, sizes, options inside
 * conf_size, rules, rates. -1 with err, without a place. */
int descriptor_validate(const struct tc_plugin *plugin, struct tc_err *err) MUST_CHECK;

/* Serialises the descriptor of a checked plugin. */
void descriptor_pack(struct buf *out, const struct tc_plugin *plugin, uint32_t has);
/* Decodes untrusted data: a result passes descriptor_validate. -1 with err, without a place;
 * nothing to free then. */
int descriptor_unpack(struct descriptor *d, struct str record, struct tc_err *err) MUST_CHECK;
void descriptor_fini(struct descriptor *d);

#endif
