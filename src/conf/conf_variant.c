/* SPDX-License-Identifier: MIT
 * Variants of agents with another model or working directory: one for each choice that the lists of
 * an agent allow, created at load time so that it lives as long as the configuration. */
#include <string.h>

#include "conf/conf_internal.h"

#define MODEL_MAX 100 /* bytes */

/* A model becomes an argument of the agent, and a line of a stored choice. */
static bool is_model(const char *name)
{
    const size_t len = strlen(name);
    if (!len || len > MODEL_MAX || *name == '-')
        return false;
    for (; (unsigned char)*name > ' ' && *name != 0x7f; name++)
        ;
    return !*name;
}

int conf_variant_read(const struct conf_row_ctx *r, const struct conf_node *n,
                      const struct conf_row *row, void *target)
{
    if (conf_row_strings(r, n, row, target) < 0)
        return -1;
    for (size_t i = 0; i < n->n; i++)
        if (!is_model(n->items[i].value.string))
            return conf_row_error(r, &n->items[i],
                                  "invalid name \"%s\"; use no blanks, no leading \"-\", at most "
                                  "%d bytes",
                                  n->items[i].value.string, MODEL_MAX);
    return 0;
}

static size_t count_list(char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* Creates a variant for each pair of choices; index 0 means no choice. */
static char *choice_at(char *const *list, size_t i)
{
    return i ? list[i - 1] : NULL;
}

static struct conf_agent make_variant(struct arena *a, const struct conf_agent *agent, char *model,
                                      char *cwd)
{
    struct conf_agent v = *agent;
    v.variant.model = model;
    if (!cwd)
        return v;
    v.cwd = cwd;
    v.variant.sessions = arena_sprintf(a, "%s@%s", agent->name, cwd);
    return v;
}

void conf_variant_make_all(struct arena *a, struct conf *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_agents; i++)
        n += (count_list(c->agents[i].choices.models) + 1) *
                 (count_list(c->agents[i].choices.cwds) + 1) -
             1;
    struct conf_agent *const all = arena_alloc(a, n * sizeof *all);
    for (size_t i = 0; i < c->n_agents; i++) {
        const struct conf_agent *const agent = &c->agents[i];
        const size_t models = count_list(agent->choices.models) + 1,
                     cwds = count_list(agent->choices.cwds) + 1;
        for (size_t k = 1; k < models * cwds; k++)
            all[c->n_variants++] =
                make_variant(a, agent, choice_at(agent->choices.models, k / cwds),
                             choice_at(agent->choices.cwds, k % cwds));
    }
    c->variants = all;
}

static bool conf_variant_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

const struct conf_agent *conf_agent_choose(const struct conf *c, const struct conf_agent *agent,
                                           const char *model, const char *cwd)
{
    if (!model && !cwd)
        return conf_agent_find(c, agent->name);
    for (size_t i = 0; i < c->n_variants; i++) {
        const struct conf_agent *const v = &c->variants[i];
        if (strcmp(v->name, agent->name) == 0 && conf_variant_same_text(v->variant.model, model) &&
            conf_variant_same_text(v->variant.sessions ? v->cwd : NULL, cwd))
            return v;
    }
    return NULL;
}

const struct conf_agent *conf_agent_find_again(const struct conf *c, const struct conf_agent *agent)
{
    const char *const cwd = agent->variant.sessions ? agent->cwd : NULL;
    const struct conf_agent *found = conf_agent_choose(c, agent, agent->variant.model, cwd);
    found = found || !cwd ? found : conf_agent_choose(c, agent, NULL, cwd);
    return found ? found : conf_agent_find(c, agent->name);
}

const char *conf_agent_session_name(const struct conf_agent *agent)
{
    return agent->variant.sessions ? agent->variant.sessions : agent->name;
}
