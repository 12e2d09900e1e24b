/* SPDX-License-Identifier: MIT
 * Choices of conversations of an instance, and bindings of conversations. */
#include <string.h>

#include "conf/conf_internal.h"

#define BINDING(member) offsetof(struct conf_binding, member)

static int conf_chat_read_id(const struct conf_row_ctx *r, const struct conf_node *n,
                             const struct conf_row *row, void *target)
{
    if (n->type != NODE_INT)
        return conf_row_string(r, n, row, target);
    const char *const text = arena_sprintf(r->arena, "%lld", (long long)n->value.integer);
    memcpy((char *)target + row->offset, &text, sizeof text);
    return 0;
}

static const struct conf_row rows[] = {
    {"chat", conf_chat_read_id, BINDING(chat), 0, 0, NULL},
    {"thread", conf_chat_read_id, BINDING(thread), 0, 0, NULL},
    {"agent", conf_row_string, BINDING(agent), 0, 0, NULL},
    {"model", conf_row_string, BINDING(model), 0, 0, NULL},
    {"cwd", conf_row_path, BINDING(cwd), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

int conf_chat_read_bindings(const struct conf_row_ctx *r, const struct conf_node *n,
                            const struct conf_row *row, void *target)
{
    int rc = 0;
    if (n->type != NODE_LIST)
        return conf_row_error(r, n, "expected a list of groups, found %s",
                              conf_node_type_name(n->type));
    if ((int64_t)n->n > row->max)
        return conf_row_error(r, n, "too many bindings (%zu); the maximum is %lld", n->n,
                              (long long)row->max);
    struct conf_binding *const all = arena_alloc(r->arena, (n->n + 1) * sizeof *all);
    for (size_t i = 0; i < n->n; i++) {
        const struct conf_node *const item = &n->items[i];
        if (conf_row_check_type(r, item, NODE_GROUP) < 0 ||
            conf_row_parse_group(r, item, rows, &all[i]) < 0)
            rc = -1;
        else if (!all[i].chat)
            rc = conf_row_error(r, item, "required key \"chat\" is missing");
        all[i].file = item->file;
        all[i].line = item->line;
    }
    ((struct conf_instance *)target)->chat.bindings = all;
    return rc;
}

/* ---- checking ---- */

static int check_choice(const struct conf_row_ctx *r, const struct conf *c,
                        const struct conf_instance *inst, const char *name)
{
    const struct conf_node at = {.file = inst->file, .line = inst->line};
    CLEANUP_BUF struct buf hint = {0};
    if (conf_agent_find(c, name))
        return 0;
    conf_add_agent_hint(c, name, &hint);
    return conf_row_error(r, &at, "plugins.instances.%s.agent_choices: unknown agent \"%s\"%s",
                          inst->name, name, hint.p);
}

static int check_binding(const struct conf_row_ctx *r, const struct conf *c,
                         const struct conf_instance *inst, const struct conf_binding *b)
{
    const struct conf_node at = {.file = b->file, .line = b->line};
    const char *const name = b->agent ? b->agent : inst->agent;
    const struct conf_agent *const agent = conf_agent_find(c, name);
    CLEANUP_BUF struct buf hint = {0};
    if (!agent && !b->agent)
        return 0; /* the missing list is reported elsewhere */
    if (!agent) {
        conf_add_agent_hint(c, name, &hint);
        return conf_row_error(r, &at, "plugins.instances.%s.bindings: unknown agent \"%s\"%s",
                              inst->name, name, hint.p);
    }
    if (b->model && !conf_agent_choose(c, agent, b->model, NULL))
        return conf_row_error(r, &at,
                              "plugins.instances.%s.bindings: model \"%s\" is not listed in "
                              "agents.%s.models",
                              inst->name, b->model, agent->name);
    if (b->cwd && !conf_agent_choose(c, agent, NULL, b->cwd))
        return conf_row_error(r, &at,
                              "plugins.instances.%s.bindings: cwd \"%s\" is not listed in "
                              "agents.%s.cwds",
                              inst->name, b->cwd, agent->name);
    return 0;
}

int conf_chat_check(const struct conf_row_ctx *r, const struct conf *c,
                    const struct conf_instance *inst)
{
    int rc = 0;
    for (char *const *name = inst->chat.agents; name && *name; name++)
        rc |= check_choice(r, c, inst, *name);
    for (const struct conf_binding *b = inst->chat.bindings; b && b->line; b++)
        rc |= check_binding(r, c, inst, b);
    return rc;
}

/* ---- lookup ---- */

/* The text behind `word` and a colon; "" if the text is `word` alone; NULL: it begins with another
 * word. */
static const char *conf_chat_skip_word(const char *text, const char *word)
{
    const size_t len = strlen(word);
    if (strncmp(text, word, len) != 0 || (text[len] && text[len] != ':'))
        return NULL;
    return text + len + (text[len] == ':');
}

static bool is_bound(const struct conf_binding *b, const char *chat)
{
    const char *const thread = conf_chat_skip_word(chat, b->chat);
    return thread && (!b->thread || strcmp(thread, b->thread) == 0);
}

const struct conf_binding *conf_binding_find(const struct conf_instance *inst, const char *key)
{
    const char *const chat = conf_chat_skip_word(key, inst->name);
    for (const struct conf_binding *b = inst->chat.bindings; chat && b && b->line; b++)
        if (is_bound(b, chat))
            return b;
    return NULL;
}

bool conf_chat_allows_agent(const struct conf *c, const struct conf_instance *inst,
                            const struct conf_agent *agent)
{
    const struct conf_agent *const own = conf_agent_find(c, inst->agent);
    if (own && strcmp(own->name, agent->name) == 0)
        return true;
    for (char *const *name = inst->chat.agents; name && *name; name++)
        if (strcmp(*name, agent->name) == 0)
            return true;
    return false;
}
