/* SPDX-License-Identifier: MIT
 * Approval rules of an agent; rejects rules that can never match. */
#include <string.h>

#include "conf/conf_internal.h"

#define RULES_MAX 1000
#define PLACES_MAX 20
#define TEXT_MAX 1000 /* longest pattern */

#define RULE(member) offsetof(struct conf_rule, member)

static int read_action(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target);
static int read_pattern(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target);
static int read_places(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target);

static const struct conf_choice actions[] = {
    {"ask", CONF_ASK}, {"allow", CONF_ALLOW}, {"deny", CONF_DENY}, {NULL, 0}};

static const struct conf_row rows[] = {
    {"action", read_action, RULE(action), 0, 0, actions},
    {"tool", conf_row_string, RULE(tool), 0, 0, NULL},
    {"argument", conf_row_string, RULE(argument), 0, 0, NULL},
    {"exact", read_pattern, RULE(pattern), CONF_EXACT, 0, NULL},
    {"prefix", read_pattern, RULE(pattern), CONF_PREFIX, 0, NULL},
    {"glob", read_pattern, RULE(pattern), CONF_GLOB, 0, NULL},
    {"to", read_places, RULE(to), 1, PLACES_MAX, NULL},
    {"four_eyes", conf_row_bool, RULE(four_eyes), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* A rule while it is read, with a flag for whether it has an action. */
struct conf_rule_draft {
    struct conf_rule rule; /* first member, which the rows fill */
    bool acts;
};

static int read_action(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target)
{
    ((struct conf_rule_draft *)target)->acts = true;
    return conf_row_choice(r, n, row, target);
}

static int read_pattern(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target)
{
    struct conf_rule *const rule = target;
    if (rule->match != CONF_ANY)
        return conf_row_error(r, n, "set only one of exact, prefix and glob");
    if (conf_row_string(r, n, row, target) < 0)
        return -1;
    if (strlen(rule->pattern) > TEXT_MAX)
        return conf_row_error(r, n, "pattern is too long (limit: %d bytes)", TEXT_MAX);
    rule->match = (enum conf_match)row->min;
    return 0;
}

/* "instance", "instance:chat" or "instance:chat:thread". */
static int read_place(const struct conf_row_ctx *r, const struct conf_node *n,
                      struct conf_place *place)
{
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    char *rest = arena_strdup(r->arena, n->value.string);
    place->instance = strsep(&rest, ":");
    place->chat = strsep(&rest, ":");
    place->thread = rest;
    if (!*place->instance || (place->chat && !*place->chat) || (place->thread && !*place->thread))
        return conf_row_error(
            r, n, "invalid place \"%s\"; use INSTANCE, INSTANCE:CHAT or INSTANCE:CHAT:THREAD",
            n->value.string);
    return 0;
}

static int read_places(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target)
{
    if (n->type != NODE_LIST)
        return conf_row_error(r, n,
                              "expected a list of strings, found %s; for example [\"a\", \"b\"]",
                              conf_node_type_name(n->type));
    if ((int64_t)n->n < row->min || (int64_t)n->n > row->max)
        return conf_row_error(r, n, "expected 1 to %d places, found %zu", PLACES_MAX, n->n);
    struct conf_place *const places = arena_alloc(r->arena, (n->n + 1) * sizeof *places);
    int rc = 0;
    for (size_t i = 0; i < n->n; i++)
        if (read_place(r, &n->items[i], &places[i]) < 0)
            rc = -1;
    ((struct conf_rule *)target)->to = places;
    return rc;
}

/* ---- a rule that can never match is an error ---- */

static bool is_ascii_text(const char *text)
{
    for (; *text >= ' ' && *text <= '~'; text++)
        ;
    return !*text;
}

/* Start of the address in a URL, or NULL. */
static const char *conf_rule_address_of(const char *pattern)
{
    const char *const slashes = strstr(pattern, "://");
    return slashes && slashes > pattern ? slashes + 3 : NULL;
}

static int check_address(const struct conf_row_ctx *r, const struct conf_node *n,
                         const char *address)
{
    const size_t len = strcspn(address, "/");
    if (!len)
        return conf_row_error(
            r, n, "pattern with a URL must include the host, for example https://example.org");
    return memchr(address, '@', len)
               ? conf_row_error(r, n, "host of the URL must not contain \"@\"")
               : 0;
}

/* A pattern of an allow rule must not contain a shell operator, because the match would never be
 * strict. */
static int check_allow(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_rule *rule)
{
    if (rule->match != CONF_PREFIX && rule->match != CONF_GLOB)
        return 0;
    if (*rule->pattern == ' ')
        return conf_row_error(r, n,
                              "pattern begins with a space and can never match; remove the space");
    if (!is_ascii_text(rule->pattern) || strpbrk(rule->pattern, "\\`$;&|<>\"'"))
        return conf_row_error(r, n,
                              "pattern can never match: prefix and glob do not allow shell "
                              "operators, quotes or non-ASCII characters; use exact");
    const char *const address = conf_rule_address_of(rule->pattern);
    return address ? check_address(r, n, address) : 0;
}

static int conf_rule_check_rule(const struct conf_row_ctx *r, const struct conf_node *n,
                                const struct conf_rule_draft *draft)
{
    const struct conf_rule *const rule = &draft->rule;
    if (!draft->acts)
        return conf_row_error(r, n, "required key \"action\" is missing; values: allow, deny, ask");
    if (!rule->tool)
        return conf_row_error(r, n,
                              "required key \"tool\" is missing; add the name of a tool, or \"*\"");
    if (strlen(rule->tool) > TEXT_MAX)
        return conf_row_error(r, n, "tool is too long (limit: %d bytes)", TEXT_MAX);
    if (rule->argument && rule->match == CONF_ANY)
        return conf_row_error(r, n, "argument requires one of exact, prefix and glob; set one");
    if (rule->to && rule->action != CONF_ASK)
        return conf_row_error(r, n,
                              "to is only valid with action = \"ask\"; remove it or change action");
    if (rule->four_eyes && rule->action != CONF_ASK)
        return conf_row_error(
            r, n, "four_eyes is only valid with action = \"ask\"; remove it or change action");
    return rule->action == CONF_ALLOW ? check_allow(r, n, rule) : 0;
}

int conf_rule_parse_all(const struct conf_row_ctx *r, const struct conf_node *n,
                        const struct conf_row *row, void *target)
{
    struct conf_agent *const agent = target;
    int rc = 0;
    (void)row;
    if (n->type != NODE_LIST)
        return conf_row_error(r, n, "expected a list of groups, found %s",
                              conf_node_type_name(n->type));
    if (n->n > RULES_MAX)
        return conf_row_error(r, n, "too many rules (%zu); the maximum is %d", n->n, RULES_MAX);
    struct conf_rule *const rules = arena_alloc(r->arena, n->n * sizeof *rules);
    for (size_t i = 0; i < n->n; i++) {
        const struct conf_node *const item = &n->items[i];
        struct conf_rule_draft draft = {.rule = {.file = item->file, .line = item->line}};
        if (conf_row_parse_group(r, item, rows, &draft) < 0 ||
            conf_rule_check_rule(r, item, &draft) < 0)
            rc = -1;
        else
            rules[agent->n_rules++] = draft.rule;
    }
    agent->rules = rules;
    return rc;
}
