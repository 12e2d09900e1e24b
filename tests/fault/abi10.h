/* SPDX-License-Identifier: MIT
 * The contract as version 1.0 had it, as far as an early plugin used it: frozen for the test that
 * such a plugin stays loadable. Never changed when <turncast/plugin.h> grows. */
#ifndef TESTS_FAULT_ABI10_H
#define TESTS_FAULT_ABI10_H

#include <stddef.h>
#include <stdint.h>

struct tc_meta {
    uint64_t seq;
    double ts;
    const char *src, *correlation_id, *session_id, *id, *agent, *parent_id, *audience, *x;
};

struct tc_narration {
    const struct tc_meta *meta;
    const char *text;
    size_t text_len;
};

struct tc_final {
    const struct tc_meta *meta;
    const char *text;
    size_t text_len;
};

struct tc_turn;
struct tc_host;

struct tc_instance {
    const struct tc_host *host;
    const char *name;
    const void *conf;
    void *state;
};

struct tc_turn {
    struct tc_instance *inst;
    void *state;
};

struct tc_host {
    size_t size;
    uint32_t major, minor;
    void (*log)(struct tc_instance *, int, const char *, ...);
    void *(*alloc)(struct tc_turn *, size_t);
    char *(*sprint)(struct tc_turn *, const char *, ...);
};

struct tc_sink {
    size_t size;
    int (*on_narration)(struct tc_turn *, const struct tc_narration *);
    int (*on_final)(struct tc_turn *, const struct tc_final *);
    int (*others[6])(struct tc_turn *, const void *);
};

struct tc_plugin {
    uint32_t size, major, minor, flags;
    const char *name, *version, *summary;
    size_t conf_size, state_size, turn_size;
    const void *options;
    int (*init)(struct tc_instance *);
    void (*teardown)(struct tc_instance *);
    const struct tc_sink *sink;
};

#endif
