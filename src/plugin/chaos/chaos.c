/* SPDX-License-Identifier: MIT
 * Chooses the callbacks of an instance that fail. */
#include "plugin/chaos/chaos.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"

struct chaos_rule {
    struct conf_chaos spec;
    uint64_t seen; /* callbacks to which it applies */
    uint64_t random;
};

struct chaos {
    struct arena arena; /* owns the strings of the rules */
    uint64_t random;    /* for random decisions */
    size_t n;
    struct chaos_rule rules[];
};

static struct conf_chaos copy_rule(struct arena *a, const struct conf_chaos *rule)
{
    struct conf_chaos copy = *rule;
    copy.callback = arena_strdup(a, rule->callback);
    copy.text = arena_strdup(a, rule->text);
    copy.trigger = arena_strdup(a, rule->trigger);
    return copy;
}

struct chaos *chaos_new(const struct conf_chaos *rules)
{
    size_t n = 0;
    while (rules && rules[n].what != CHAOS_NOTHING)
        n++;
    if (!n)
        return NULL;
    struct chaos *const c = xcalloc(1, sizeof *c + n * sizeof *c->rules);
    c->n = n;
    c->random = (uint64_t)rules->seed;
    for (size_t i = 0; i < n; i++)
        c->rules[i] = (struct chaos_rule){
            .spec = copy_rule(&c->arena, &rules[i]),
            .random = (uint64_t)rules[i].seed,
        };
    return c;
}

void chaos_free(struct chaos *c)
{
    if (!c)
        return;
    arena_fini(&c->arena);
    free(c);
}

/* splitmix64: a good sequence from any seed. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t chaos_next_random(struct chaos *c)
{
    return next_random(&c->random);
}

static bool chaos_rule_matches(const struct conf_chaos *spec, const char *callback, struct str line)
{
    const bool is_frame = strcmp(callback, "init") == 0 || strcmp(callback, "teardown") == 0;
    if (spec->callback ? strcmp(spec->callback, callback) != 0 : is_frame)
        return false;
    return !spec->text || (line.len && memmem(line.p, line.len, spec->text, strlen(spec->text)));
}

static bool chaos_rule_is_due(struct chaos_rule *r)
{
    r->seen++;
    if (r->spec.every)
        return r->seen % (uint64_t)r->spec.every == 0;
    /* 53 bits, the precision of a double. */
    return r->spec.rate < 0 || (double)(next_random(&r->random) >> 11) * 0x1p-53 < r->spec.rate;
}

const struct conf_chaos *chaos_select_fault(struct chaos *c, const char *callback, struct str line,
                                            bool (*is_there)(const char *path))
{
    const struct conf_chaos *decided = NULL;
    for (size_t i = 0; i < c->n; i++) {
        struct chaos_rule *const r = &c->rules[i];
        if (!chaos_rule_matches(&r->spec, callback, line) ||
            (r->spec.trigger && !is_there(r->spec.trigger)) || !chaos_rule_is_due(r))
            continue;
        decided = decided ? decided : &r->spec;
    }
    return decided;
}
