/* SPDX-License-Identifier: MIT
 * Reads, checks and evaluates the keys of a scope. */
#include "conf/conf_scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "conf/conf_internal.h"

/* Sources of turns other than instances; `turncast run` uses no prefix for the names of
 * conversations. */
static const char *const conf_scope_sources[] = {"http", "openai", "ag-ui"};
#define CONTROL_SOURCE "http:local"
#define SOURCES (sizeof conf_scope_sources / sizeof *conf_scope_sources)

/* ---- reading ---- */

static int conf_scope_read_text(const struct conf_row_ctx *r, const struct conf_node *n, char **to)
{
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    if (!*n->value.string)
        return conf_row_error(r, n, "must not be empty");
    *to = arena_strdup(r->arena, n->value.string);
    return 0;
}

static int conf_scope_read_texts(const struct conf_row_ctx *r, const struct conf_node *n,
                                 const struct conf_row *row, char ***list)
{
    const bool one = n->type == NODE_STRING;
    const size_t count = one ? 1 : n->n;
    if (!one && n->type != NODE_LIST)
        return conf_row_error(r, n, "expected a list of strings, found %s",
                              conf_node_type_name(n->type));
    if ((int64_t)count < row->min || (int64_t)count > row->max)
        return conf_row_error(r, n, "expected %lld to %lld strings, found %zu", (long long)row->min,
                              (long long)row->max, count);
    *list = arena_alloc(r->arena, (count + 1) * sizeof **list);
    for (size_t i = 0; i < count; i++)
        if (conf_scope_read_text(r, one ? n : &n->items[i], &(*list)[i]) < 0)
            return -1;
    return 0;
}

int conf_scope_read_agents(const struct conf_row_ctx *r, const struct conf_node *n,
                           const struct conf_row *row, void *target)
{
    struct conf_scope *const s = &((struct conf_instance *)target)->scope;
    s->agents_file = n->file;
    s->agents_line = n->line;
    return conf_scope_read_texts(r, n, row, &s->agents);
}

int conf_scope_read_conversations(const struct conf_row_ctx *r, const struct conf_node *n,
                                  const struct conf_row *row, void *target)
{
    struct conf_scope *const s = &((struct conf_instance *)target)->scope;
    s->conversations_file = n->file;
    s->conversations_line = n->line;
    if (conf_scope_read_texts(r, n, row, &s->conversations) < 0)
        return -1;
    for (size_t i = 0; s->conversations[i]; i++) {
        const char *const star = strchr(s->conversations[i], '*');
        if (star && star[1])
            return conf_row_error(r, n, "invalid pattern \"%s\"; use * at its end only",
                                  s->conversations[i]);
    }
    return 0;
}

/* ---- checks ---- */

static int conf_scope_check_agent(const struct conf_row_ctx *r, const struct conf *c,
                                  const struct conf_instance *inst, const char *name)
{
    const struct conf_node at = {.file = inst->scope.agents_file, .line = inst->scope.agents_line};
    CLEANUP_BUF struct buf hint = {0};
    if (conf_agent_find(c, name))
        return 0;
    conf_add_agent_hint(c, name, &hint);
    return conf_row_error(r, &at, "plugins.instances.%s.agents: unknown agent \"%s\"%s", inst->name,
                          name, hint.p);
}

bool conf_scope_is_reserved(const char *name)
{
    for (size_t i = 0; i < SOURCES; i++)
        if (strcmp(conf_scope_sources[i], name) == 0)
            return true;
    return false;
}

/* The instance itself may not be part of c yet. */
static bool conf_scope_is_source(const struct conf *c, const struct conf_instance *inst,
                                 const char *name)
{
    return conf_scope_is_reserved(name) || conf_instance_find(c, name) ||
           strcmp(inst->name, name) == 0;
}

/* A name in front must be followed by a colon, except in a name given with `turncast run`. */
static int conf_scope_check_pattern(const struct conf_row_ctx *r, const struct conf *c,
                                    const struct conf_instance *inst, const char *pattern)
{
    const struct conf_node at = {.file = inst->scope.conversations_file,
                                 .line = inst->scope.conversations_line};
    const size_t len = strcspn(pattern, ":");
    CLEANUP_FREE char *source = xstrndup(pattern, len);
    CLEANUP_BUF struct buf hint = {0};
    const bool known = conf_scope_is_source(c, inst, source);
    if (known && !pattern[len])
        return conf_row_error(r, &at,
                              "plugins.instances.%s.conversations: \"%s\" is no conversation (did "
                              "you mean \"%s:*\"?)",
                              inst->name, pattern, pattern);
    if (known || !pattern[len])
        return 0;
    conf_add_instance_hint(c, source, &hint);
    return conf_row_error(r, &at,
                          "plugins.instances.%s.conversations: unknown instance \"%s\" in \"%s\"%s",
                          inst->name, source, pattern, hint.p);
}

int conf_scope_check(const struct conf_row_ctx *r, const struct conf *c,
                     const struct conf_instance *inst)
{
    int rc = 0;
    for (char *const *name = inst->scope.agents; name && *name; name++)
        rc |= conf_scope_check_agent(r, c, inst, *name);
    for (char *const *pattern = inst->scope.conversations; pattern && *pattern; pattern++)
        rc |= conf_scope_check_pattern(r, c, inst, *pattern);
    return rc;
}

/* ---- evaluation ---- */

static bool conf_scope_has_agent(const struct conf_scope *s, const char *agent)
{
    char *const *name = s->agents;
    while (name && *name && strcmp(*name, agent ? agent : "") != 0)
        name++;
    return !name || *name;
}

static bool conf_scope_fits(const char *pattern, const char *conversation)
{
    const size_t len = strcspn(pattern, "*");
    return strncmp(conversation, pattern, len) == 0 && (pattern[len] || !conversation[len]);
}

static bool conf_scope_has_conversation(const struct conf_scope *s, const char *conversation)
{
    char *const *pattern = s->conversations;
    while (pattern && *pattern && !conf_scope_fits(*pattern, conversation ? conversation : ""))
        pattern++;
    return !pattern || *pattern;
}

/* The first of several names separated by newlines; *rest: the others. */
static struct str conf_scope_take_name(const char *names, const char **rest)
{
    const size_t n = strcspn(names, "\n");
    *rest = names + n + (names[n] != '\0');
    return (struct str){names, n};
}

static bool conf_scope_is_among(const char *names, struct str name)
{
    while (names && *names)
        if (str_equal(conf_scope_take_name(names, &names), name))
            return true;
    return false;
}

static bool conf_scope_is_named(const char *names, const char *instance)
{
    return conf_scope_is_among(names, (struct str){instance, strlen(instance)});
}

void conf_scope_add_names(struct buf *names, const char *more)
{
    while (more && *more) {
        const struct str name = conf_scope_take_name(more, &more);
        if (!conf_scope_is_among(names->p, name))
            buf_printf(names, "%s%.*s", names->len ? "\n" : "", (int)name.len, name.p);
    }
}

bool conf_scope_has_names(const char *names, const char *wanted)
{
    while (wanted && *wanted)
        if (!conf_scope_is_among(names, conf_scope_take_name(wanted, &wanted)))
            return false;
    return true;
}

bool conf_scope_is_own(const struct conf_instance *inst)
{
    return inst->scope.turns == CONF_TURNS_DEFAULT ? (inst->grants & CONF_SUBMIT) != 0
                                                   : inst->scope.turns == CONF_TURNS_OWN;
}

bool conf_scope_admits(const struct conf_instance *inst, const struct conf_scope_turn *t)
{
    if (!conf_scope_has_agent(&inst->scope, t->agent) ||
        !conf_scope_has_conversation(&inst->scope, t->conversation))
        return false;
    return !conf_scope_is_own(inst) || (t->source && strcmp(t->source, inst->name) == 0) ||
           conf_scope_is_named(t->instances, inst->name);
}

/* Whether a pattern matches some conversation of this source. */
static bool conf_scope_has_source(const struct conf_scope *s, const char *source)
{
    const size_t n = strlen(source);
    char *const *pattern = s->conversations;
    for (; pattern && *pattern; pattern++) {
        const size_t len = strcspn(*pattern, "*");
        const bool longer = len > n;
        if (longer ? strncmp(*pattern, source, n) == 0 && (*pattern)[n] == ':'
                   : (*pattern)[len] && strncmp(*pattern, source, len) == 0)
            return true;
    }
    return !s->conversations;
}

/* Whether turns that people start at that instance can match. */
static bool conf_scope_admits_turns_of(const struct conf *c, const struct conf_scope *s,
                                       const struct conf_instance *from)
{
    const struct conf_agent *const agent = conf_agent_find(c, from->agent);
    return from->enabled && (from->grants & CONF_SUBMIT) && agent &&
           conf_scope_has_agent(s, agent->name) && conf_scope_has_source(s, from->name);
}

/* The client of a turn over HTTP, or by `turncast run` or `send`, chooses its agent. The control
 * socket listens even without http.listen. */
static bool conf_scope_admits_others(const struct conf *c, const struct conf_scope *s)
{
    char *const *pattern = s->conversations;
    if (conf_scope_has_source(s, CONTROL_SOURCE))
        return true;
    for (size_t i = 0; i < SOURCES; i++)
        if (c->http.listen && conf_scope_has_source(s, conf_scope_sources[i]))
            return true;
    while (pattern && *pattern && strchr(*pattern, ':'))
        pattern++;
    return !pattern || *pattern;
}

bool conf_scope_admits_any(const struct conf *c, const struct conf_instance *inst)
{
    if (conf_scope_is_own(inst))
        return conf_scope_admits_turns_of(c, &inst->scope, inst);
    for (size_t i = 0; i < c->n_instances; i++)
        if (conf_scope_admits_turns_of(c, &inst->scope, &c->instances[i]))
            return true;
    return conf_scope_admits_others(c, &inst->scope);
}

static void conf_scope_add_list(struct buf *out, const char *word, char *const *list)
{
    for (size_t i = 0; list && list[i]; i++)
        buf_printf(out, "%s%s", i ? ", " : word, list[i]);
}

void conf_scope_describe(const struct conf_instance *inst, struct buf *out)
{
    buf_add_str(out, conf_scope_is_own(inst) ? "own turns" : "all turns");
    conf_scope_add_list(out, " of ", inst->scope.agents);
    conf_scope_add_list(out, " in ", inst->scope.conversations);
}
