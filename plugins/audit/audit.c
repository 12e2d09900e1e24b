/* SPDX-License-Identifier: MIT
 * The audit connector: writes every event of every turn, including hidden ones, as one line of a
 * hash-chained log. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <turncast/plugin.h>

#include "audit_chain.h"
#include "audit_record.h"

#define AUDIT_VERSION "1.0"
#define SCHEMA 1

struct audit_conf {
    const char *path, *sync;
    int64_t max_bytes, keep, max_event;
};

static const struct tc_option options[] = {
    TC_OPTION(struct audit_conf, path, NULL, TC_REQUIRED, "path of the log file"),
    TC_OPTION(struct audit_conf, max_bytes, "52428800", 0,
              "rotate before the file exceeds this size in bytes; 0: never"),
    TC_OPTION(struct audit_conf, keep, "5", 0, "number of rotated files to keep"),
    TC_OPTION(struct audit_conf, max_event, "65536", 0,
              "maximum bytes per event; the middle of longer ones is omitted"),
    TC_OPTION(struct audit_conf, sync, "terminal", 0,
              "when to fsync: never, terminal (after done) or always"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "path", .kind = TC_RULE_WRITES},
    {.key = "max_bytes", .kind = TC_RULE_SIZE, .text = "B"},
    {.key = "max_bytes", .kind = TC_RULE_RANGE, .min = 0, .max = INT64_MAX},
    {.key = "keep", .kind = TC_RULE_RANGE, .min = 0, .max = 999},
    {.key = "max_event", .kind = TC_RULE_SIZE, .text = "B"},
    {.key = "max_event", .kind = TC_RULE_RANGE, .min = 256, .max = 1 << 20},
    {.key = "sync", .kind = TC_RULE_ONE_OF, .text = "never terminal always"},
    {0},
};

struct audit_state {
    struct chain chain;
    struct out record, masked;
    bool failing;      /* the current failure was logged */
    uint64_t told;     /* number of logged repairs */
    uint64_t lost_all; /* records lost since the start */
};

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Records of the log about itself: `detail` is why the file begins, or the number of lost
 * records. */
static void describe(void *ctx, struct out *rec, const char *event_type, const char *detail)
{
    const struct tc_instance *inst = ctx;
    const struct audit_state *s = inst->state;
    struct out text = {0};
    char host[256] = "";
    if (strcmp(event_type, "turncast.audit.lost") == 0) {
        out_printf(&text, "{\"count\":%s,\"error\":", detail);
        out_string(&text, s->chain.why);
    } else {
        gethostname(host, sizeof host - 1);
        out_printf(&text, "{\"schema\":%d,\"why\":\"%s\",\"pid\":%ld,\"host\":", SCHEMA, detail,
                   (long)getpid());
        out_string(&text, host);
        out_printf(&text, ",\"instance\":");
        out_string(&text, inst->name);
        out_printf(&text, ",\"plugin\":\"audit %s\"", AUDIT_VERSION);
    }
    out_add(&text, "}", 1);
    record_own_head(rec, now(), event_type, text.failed ? "{}" : text.p);
    out_fini(&text);
}

/* `to` becomes JSON text with masked secrets. */
static void mask(struct tc_instance *inst, struct out *to, const char *json, size_t len)
{
    out_reset(to);
    size_t room = len + 64;
    while (out_reserve(to, room)) {
        const size_t need = tc_redact(inst, json, len, to->p, to->cap);
        if (need < to->cap) {
            to->len = need;
            return;
        }
        room = need + 1;
    }
}

static void audit_log_state(struct tc_instance *inst, int rc)
{
    struct audit_state *s = inst->state;
    if (s->chain.repaired > s->told)
        tc_log(inst, TC_WARN, "%s: removed an incomplete last line", s->chain.path);
    s->told = s->chain.repaired;
    if (rc && !s->failing)
        tc_log(inst, TC_ERR, "%s; records are being lost", s->chain.why);
    else if (!rc && s->failing)
        tc_log(inst, TC_WARN, "%s: writing resumed; records lost: %" PRIu64, s->chain.path,
               s->lost_all);
    s->failing = rc != 0;
}

static int on_event(struct tc_turn *turn, const struct tc_event *ev)
{
    struct tc_instance *inst = turn->inst;
    const struct audit_conf *conf = inst->conf;
    struct audit_state *s = inst->state;
    struct out head = {0};
    record_head(&head, turn, ev);
    mask(inst, &s->record, head.p ? head.p : "", head.len);
    mask(inst, &s->masked, ev->line, ev->line_len);
    record_event(&s->record, s->masked.p, s->masked.len, (size_t)conf->max_event);
    s->record.failed |= head.failed || s->masked.failed;
    out_fini(&head);
    const uint64_t lost = s->chain.lost;
    const int rc = chain_append(&s->chain, &s->record, ev->kind == TC_DONE);
    s->lost_all += rc && s->chain.lost != lost;
    audit_log_state(inst, rc);
    return rc;
}

static enum chain_sync sync_of(const struct audit_conf *conf)
{
    return strcmp(conf->sync, "never") == 0    ? CHAIN_SYNC_NEVER
           : strcmp(conf->sync, "always") == 0 ? CHAIN_SYNC_ALWAYS
                                               : CHAIN_SYNC_TERMINAL;
}

static int init(struct tc_instance *inst)
{
    const struct audit_conf *conf = inst->conf;
    struct audit_state *s = inst->state;
    s->chain = (struct chain){.path = conf->path,
                              .max_bytes = conf->max_bytes,
                              .keep = conf->keep,
                              .sync = sync_of(conf),
                              .describe = describe,
                              .ctx = inst,
                              .fd = -1,
                              .lock_fd = -1};
    if (chain_open(&s->chain)) {
        tc_log(inst, TC_ERR, "%s", s->chain.why);
        return -1;
    }
    audit_log_state(inst, 0);
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    struct audit_state *s = inst->state;
    if (s->lost_all > 0)
        tc_log(inst, TC_ERR, "%s: records lost: %" PRIu64, s->chain.path, s->lost_all);
    chain_close(&s->chain);
    out_fini(&s->record);
    out_fini(&s->masked);
}

TURNCAST_PLUGIN(.name = "audit", .version = AUDIT_VERSION,
                .summary = "tamper-evident log of every event, including hidden ones",
                .flags = TC_SEES_ALL, .conf_size = sizeof(struct audit_conf),
                .state_size = sizeof(struct audit_state), .options = options, .rules = rules,
                .init = init, .teardown = teardown, .sink = TC_SINK(.on_event = on_event));
