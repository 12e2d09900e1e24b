/* SPDX-License-Identifier: MIT
 * Lists of agent and instance names for messages, and suggestions for misspelt names. */
#include <string.h>

#include "base/nearest_word.h"
#include "conf/conf.h"

#define NAMES_MAX ((size_t)1000) /* number of compared names */
#define SHORT 3                  /* shorter names are similar to every other */

static void conf_names_add_list(struct buf *out, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%s", i ? ", " : "", names[i]);
    if (!n)
        buf_add_str(out, "none");
}

static void conf_names_add_hint(struct buf *out, const char *name, const char *const *names,
                                size_t n)
{
    const char *const near = strlen(name) < SHORT ? NULL : nearest_word_find(name, names, n);
    if (near) {
        buf_printf(out, " (did you mean \"%s\"?)", near);
        return;
    }
    buf_add_str(out, " (configured: ");
    conf_names_add_list(out, names, n);
    buf_add_str(out, ")");
}

static size_t conf_names_of_agents(const struct conf *c, const char *names[NAMES_MAX])
{
    size_t n = 0;
    for (; n < c->n_agents && n < NAMES_MAX; n++)
        names[n] = c->agents[n].name;
    return n;
}

void conf_add_agent_names(const struct conf *c, struct buf *out)
{
    const char *names[NAMES_MAX];
    conf_names_add_list(out, names, conf_names_of_agents(c, names));
}

void conf_add_agent_hint(const struct conf *c, const char *name, struct buf *out)
{
    const char *names[NAMES_MAX];
    conf_names_add_hint(out, name, names, conf_names_of_agents(c, names));
}

void conf_add_instance_hint(const struct conf *c, const char *name, struct buf *out)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (; n < c->n_instances && n < NAMES_MAX; n++)
        names[n] = c->instances[n].name;
    conf_names_add_hint(out, name, names, n);
}
