/* SPDX-License-Identifier: MIT
 * Fault injection rules of an instance (key `chaos`), for tests. */
#include <string.h>

#include "conf/conf_internal.h"
#include "event/kinds.h"

#define RULES_MAX 64

#define RULE(member) offsetof(struct conf_chaos, member)

static int read_rate(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target);
static int read_callback(const struct conf_row_ctx *r, const struct conf_node *n,
                         const struct conf_row *row, void *target);

static const struct conf_choice acts[] = {
    {"error", CHAOS_ERROR},     {"delay", CHAOS_DELAY},
    {"hang", CHAOS_HANG},       {"crash", CHAOS_CRASH},
    {"abort", CHAOS_ABORT},     {"exit", CHAOS_EXIT},
    {"leak", CHAOS_LEAK},       {"close", CHAOS_CLOSE},
    {"garbage", CHAOS_GARBAGE}, {NULL, 0},
};

static const struct conf_row rows[] = {
    {"what", conf_row_choice, RULE(what), 0, 0, acts},
    {"every", conf_row_int, RULE(every), 1, 1000000000, NULL},
    {"rate", read_rate, RULE(rate), 0, 1, NULL},
    {"seed", conf_row_int, RULE(seed), 0, INT64_MAX, NULL},
    {"callback", read_callback, RULE(callback), 0, 0, NULL},
    {"text", conf_row_string, RULE(text), 0, 0, NULL},
    {"trigger", conf_row_path, RULE(trigger), 0, 0, NULL},
    {"delay_ms", conf_row_int, RULE(delay_ms), 1, 600000, NULL},
    {"bytes", conf_row_int, RULE(bytes), 1, 1 << 30, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

#define CALLBACK(lower, UPPER, gate, pressure) {"on_" #lower, 0},
static const struct conf_choice callbacks[] = {
    EVENT_KINDS(CALLBACK){"on_event", 0},
    {"on_reply", 0},
    {"on_hit", 0},
    {"on_frame", 0},
    {"on_ready", 0},
    {"on_wake", 0},
    {"on_idle", 0},
    {"init", 0},
    {"teardown", 0},
    {NULL, 0},
};

static int read_rate(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target)
{
    if (n->type != NODE_INT && n->type != NODE_REAL)
        return conf_row_error(r, n, "expected a number, found %s", conf_node_type_name(n->type));
    const double rate = n->type == NODE_INT ? (double)n->value.integer : n->value.real;
    if (!(rate >= (double)row->min && rate <= (double)row->max))
        return conf_row_error(r, n, "%g is out of range; use 0 to 1", rate);
    ((struct conf_chaos *)target)->rate = rate;
    return 0;
}

static int read_callback(const struct conf_row_ctx *r, const struct conf_node *n,
                         const struct conf_row *row, void *target)
{
    int ignored;
    if (conf_row_check_type(r, n, NODE_STRING) < 0 ||
        conf_row_parse_choice_name(r, n, n->value.string, callbacks, &ignored) < 0)
        return -1;
    return conf_row_string(r, n, row, target);
}

static int read_rule(const struct conf_row_ctx *r, const struct conf_node *n,
                     struct conf_chaos *rule)
{
    *rule = (struct conf_chaos){
        .what = CHAOS_NOTHING, .rate = -1, .seed = 1, .delay_ms = 1000, .bytes = 1 << 20};
    if (conf_row_parse_group(r, n, rows, rule) < 0)
        return -1;
    if (rule->what == CHAOS_NOTHING)
        return conf_row_error(
            r, n, "required key \"what\" is missing; add what = \"error\", for example");
    if (rule->every && rule->rate >= 0)
        return conf_row_error(r, n, "set either every or rate, not both");
    return 0;
}

int conf_chaos_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target)
{
    struct conf_instance *const inst = target;
    const bool is_one = n->type == NODE_GROUP;
    const size_t count = is_one ? 1 : n->n;
    int rc = 0;
    (void)row;
    if (!is_one && n->type != NODE_LIST)
        return conf_row_error(r, n, "expected a group or a list of groups, found %s",
                              conf_node_type_name(n->type));
    if (count > RULES_MAX)
        return conf_row_error(r, n, "too many rules (%zu); the maximum is %d", count, RULES_MAX);
    inst->chaos = arena_alloc(r->arena, (count + 1) * sizeof *inst->chaos);
    for (size_t i = 0; i < count; i++)
        if (read_rule(r, is_one ? n : &n->items[i], &inst->chaos[i]) < 0)
            rc = -1;
    inst->chaos[count] = (struct conf_chaos){.what = CHAOS_NOTHING};
    return rc;
}

static bool conf_chaos_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_rule(const struct conf_chaos *a, const struct conf_chaos *b)
{
    return a->what == b->what && a->every == b->every && !(a->rate < b->rate) &&
           !(a->rate > b->rate) && a->seed == b->seed &&
           conf_chaos_same_text(a->callback, b->callback) &&
           conf_chaos_same_text(a->text, b->text) && conf_chaos_same_text(a->trigger, b->trigger) &&
           a->delay_ms == b->delay_ms && a->bytes == b->bytes;
}

bool conf_chaos_equal(const struct conf_chaos *a, const struct conf_chaos *b)
{
    if (!a || !b)
        return a == b;
    for (; a->what != CHAOS_NOTHING && same_rule(a, b); a++, b++)
        ;
    return a->what == CHAOS_NOTHING && b->what == CHAOS_NOTHING;
}
