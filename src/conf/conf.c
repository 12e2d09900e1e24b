/* SPDX-License-Identifier: MIT
 * Top-level keys, their defaults, and the memory of a configuration. */
#include "conf/conf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "conf/conf_internal.h"
#include "conf/conf_store.h"
#include "conf/default_paths.h"
#include "conf/parse/conf_merge.h"

/* The allocation behind a struct conf: the struct, and the arena with everything that it points
 * to. */
struct conf_box {
    struct conf conf; /* first member */
    struct arena arena;
    bool named_instances;           /* the file has plugins.instances, even if it is empty */
    bool bad_agents, bad_instances; /* the value of plugins.instances is not a group */
    const struct conf_node *default_agent;
};

#define CONF(member) offsetof(struct conf_box, conf.member)

static int read_agents(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target);
static int read_instances(const struct conf_row_ctx *r, const struct conf_node *n,
                          const struct conf_row *row, void *target);
static int read_show(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target);
static int read_default_agent(const struct conf_row_ctx *r, const struct conf_node *n,
                              const struct conf_row *row, void *target);

static const struct conf_row plugin_rows[] = {
    {"directory", conf_row_paths, CONF(plugin_dirs), 1, 100, NULL},
    {"autoload", conf_row_bool, CONF(autoload), 0, 0, NULL},
    {"instances", read_instances, 0, 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const struct conf_row show_rows[] = {
    {"show_thinking", read_show, CONF(show[0]), 0, 0, NULL},
    {"show_tools", read_show, CONF(show[1]), 0, 0, NULL},
    {"show_text", read_show, CONF(show[2]), 0, 0, NULL},
    {"show_narration", read_show, CONF(show[3]), 0, 0, NULL},
    {"show_final", read_show, CONF(show[4]), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const struct conf_choice levels[] = {
    {"error", LOG_ERR}, {"warn", LOG_WARN}, {"info", LOG_INFO}, {"debug", LOG_DEBUG}, {NULL, 0}};
static const struct conf_choice formats[] = {{"text", LOG_TEXT}, {"json", LOG_JSON}, {NULL, 0}};

static const struct conf_row log_rows[] = {
    {"level", conf_row_choice, CONF(log_level), 0, 0, levels},
    {"format", conf_row_choice, CONF(log_format), 0, 0, formats},
    {NULL, NULL, 0, 0, 0, NULL},
};

static const struct conf_row rows[] = {
    {"agents", read_agents, 0, 0, 0, NULL},
    {"default_agent", read_default_agent, CONF(default_agent), 0, 0, NULL},
    {"plugins", conf_row_group, 0, 0, 0, plugin_rows},
    {"visibility", conf_row_group, 0, 0, 0, show_rows},
    {"state_directory", conf_row_path, CONF(state_dir), 0, 0, NULL},
    {"conversations", serve_read_conversations, CONF(conversations), 0, 0, NULL},
    {"budgets", conf_budget_parse_all, CONF(budgets), 0, 0, NULL},
    {"http", serve_read_http, CONF(http), 0, 0, NULL},
    {"store", conf_store_parse, CONF(store), 0, 0, NULL},
    {"proxy", proxy_read, CONF(proxy), 0, 0, NULL},
    {"host", conf_bus_parse_host, CONF(host_name), 0, 0, NULL},
    {"sessions", conf_bus_parse_sessions, CONF(sessions_shared), 0, 0, NULL},
    {"bus", conf_bus_parse, CONF(bus), 0, 0, NULL},
    {"retention", conf_retention_parse, CONF(retention), 0, 0, NULL},
    {"log", conf_row_group, 0, 0, 0, log_rows},
    {NULL, NULL, 0, 0, 0, NULL},
};

static int read_agents(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target)
{
    struct conf_box *box = target;
    struct conf *c = &box->conf;
    int rc = 0;
    (void)row;
    box->bad_agents = conf_row_check_type(r, n, NODE_GROUP) < 0;
    if (box->bad_agents)
        return -1;
    c->agents = arena_alloc(r->arena, n->n * sizeof *c->agents);
    for (; c->n_agents < n->n; c->n_agents++)
        if (conf_agent_parse(r, &n->items[c->n_agents], &c->agents[c->n_agents]) < 0)
            rc = -1;
    return rc;
}

static int read_instances(const struct conf_row_ctx *r, const struct conf_node *n,
                          const struct conf_row *row, void *target)
{
    struct conf_box *box = target;
    struct conf *c = &box->conf;
    int rc = 0;
    (void)row;
    box->named_instances = true;
    box->bad_instances = conf_row_check_type(r, n, NODE_GROUP) < 0;
    if (box->bad_instances)
        return -1;
    c->instances = arena_alloc(r->arena, n->n * sizeof *c->instances);
    for (; c->n_instances < n->n; c->n_instances++)
        if (conf_instance_parse(r, &n->items[c->n_instances], &c->instances[c->n_instances]) < 0)
            rc = -1;
    return rc;
}

static int read_show(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target)
{
    if (conf_row_check_type(r, n, NODE_BOOL) < 0)
        return -1;
    ((signed char *)target)[row->offset] = n->value.boolean;
    return 0;
}

static int read_default_agent(const struct conf_row_ctx *r, const struct conf_node *n,
                              const struct conf_row *row, void *target)
{
    ((struct conf_box *)target)->default_agent = n;
    return conf_row_string(r, n, row, target);
}

/* Services on this machine are reached without the proxy, unless the file says otherwise. */
static char **loopback_names(struct arena *a)
{
    char **const names = arena_alloc(a, 4 * sizeof *names);
    names[0] = arena_strdup(a, "localhost");
    names[1] = arena_strdup(a, "127.0.0.1");
    names[2] = arena_strdup(a, "::1");
    return names;
}

static struct conf_box *box_new(const char *path)
{
    struct conf_box *box = xcalloc(1, sizeof *box);
    struct arena *a = &box->arena;
    box->conf = (struct conf){
        .file = arena_strdup(a, path ? path : "(built in)"),
        .show = {-1, -1, -1, -1, -1},
        .log_level = LOG_WARN,
        .log_format = LOG_TEXT,
        .conversations = {.queue = 20,
                          .debounce_ms = 500,
                          .max_turns = 32,
                          .max_warm = 4,
                          .max_warm_mb = 4096,
                          .per_user = 2,
                          .drain_ms = 30 * 1000},
        .http = {.hosts = arena_alloc(a, sizeof(char *)),
                 .origins = arena_alloc(a, sizeof(char *)),
                 .disconnect_grace_ms = 5000,
                 .max_body = 1 << 20},
        .retention = conf_retention_default,
        .store = conf_store_default(a),
        .proxy = {.no_proxy = loopback_names(a)},
        .bus = conf_bus_default,
    };
    return box;
}

static void conf_add_instance(struct conf_box *box, const struct conf_instance *inst)
{
    struct conf *c = &box->conf;
    struct conf_instance *all = arena_alloc(&box->arena, (c->n_instances + 1) * sizeof *all);
    if (c->n_instances)
        memcpy(all, c->instances, c->n_instances * sizeof *all);
    all[c->n_instances++] = *inst;
    c->instances = all;
}

/* A configuration without instances shows turns on the terminal. */
static void add_cli(struct conf_box *box)
{
    struct arena *a = &box->arena;
    struct conf_instance cli =
        conf_instance_make_default(arena_strdup(a, "cli"), arena_strdup(a, "cli"));
    cli.options = arena_alloc(a, sizeof *cli.options);
    conf_instance_apply_plugin(a, &cli);
    conf_add_instance(box, &cli);
}

static void fill_defaults(struct conf_box *box)
{
    if (!box->conf.state_dir)
        box->conf.state_dir = default_paths_state_dir(&box->arena);
    if (!box->conf.plugin_dirs)
        box->conf.plugin_dirs = default_paths_plugin_dirs(&box->arena);
    if (!box->named_instances)
        add_cli(box);
}

static int conf_fail_agent(const struct conf_row_ctx *r, const struct conf *c,
                           const struct conf_node *at, const char *key, const char *name)
{
    CLEANUP_BUF struct buf hint = {0};
    conf_add_agent_hint(c, name, &hint);
    return conf_row_error(r, at, "%sunknown agent \"%s\"%s", key, name, hint.p);
}

static void check_default_agent(const struct conf_row_ctx *r, const struct conf_box *box)
{
    const char *const name = box->conf.default_agent;
    if (box->default_agent && name && !conf_agent_find(&box->conf, name))
        conf_fail_agent(r, &box->conf, box->default_agent, "", name);
}

static int conf_check_agent_of(const struct conf_row_ctx *r, const struct conf *c,
                               const struct conf_instance *inst)
{
    const struct conf_node at = {.file = inst->file, .line = inst->line};
    CLEANUP_BUF struct buf key = {0};
    if (!inst->agent || conf_agent_find(c, inst->agent))
        return 0;
    buf_printf(&key, "plugins.instances.%s.agent: ", inst->name);
    return conf_fail_agent(r, c, &at, key.p, inst->agent);
}

/* Checks that the `to` of each rule names a configured instance or key. */
static void conf_check_rule(const struct conf_row_ctx *r, const struct conf *c, const char *agent,
                            const struct conf_rule *rule)
{
    const struct conf_node at = {.file = rule->file, .line = rule->line};
    for (const struct conf_place *to = rule->to; to && to->instance; to++) {
        CLEANUP_BUF struct buf hint = {0};
        if (strcmp(to->instance, CONF_PLACE_HTTP) == 0 || conf_instance_find(c, to->instance))
            continue;
        conf_add_instance_hint(c, to->instance, &hint);
        conf_row_error(r, &at, "agents.%s.approvals: to: unknown instance \"%s\"%s", agent,
                       to->instance, hint.p);
    }
}

static void check_rules(const struct conf_row_ctx *r, const struct conf_box *box)
{
    for (size_t i = 0; i < box->conf.n_agents; i++) {
        const struct conf_agent *const agent = &box->conf.agents[i];
        for (size_t k = 0; k < agent->n_rules; k++)
            conf_check_rule(r, &box->conf, agent->name, &agent->rules[k]);
    }
}

/* Checks names that refer to other parts of the configuration. */
static void check_names(const struct conf_row_ctx *r, const struct conf_box *box)
{
    const struct conf *const c = &box->conf;
    for (size_t i = 0; !box->bad_agents && i < c->n_instances; i++) {
        conf_check_agent_of(r, c, &c->instances[i]);
        conf_scope_check(r, c, &c->instances[i]);
        conf_chat_check(r, c, &c->instances[i]);
    }
    if (!box->bad_instances)
        check_rules(r, box);
    if (!box->bad_agents)
        check_default_agent(r, box);
}

struct conf *conf_load_all(const char *path, struct findings *findings)
{
    struct conf_box *box = box_new(path);
    const struct conf_node *const root = path ? conf_merge_read(&box->arena, path, findings) : NULL;
    if (path && !root) {
        conf_unref(&box->conf);
        return NULL;
    }
    const struct conf_row_ctx r = {
        &box->arena, path, path ? default_paths_dirname(&box->arena, path) : NULL, findings};
    const bool broken = root && conf_row_parse_group(&r, root, rows, box) < 0;
    ASSERT(!broken || findings->errors);
    fill_defaults(box);
    conf_variant_make_all(&box->arena, &box->conf);
    check_names(&r, box);
    conf_bus_check(&r, &box->conf);
    return &box->conf;
}

struct conf *conf_load(const char *path, struct tc_err *err)
{
    struct findings findings = {0};
    struct conf *c = conf_load_all(path, &findings);
    if (findings_take_first(&findings, err) < 0) {
        conf_unref(c);
        c = NULL;
    }
    findings_fini(&findings);
    return c;
}

int conf_check_keys(struct conf *c, struct findings *findings)
{
    struct conf_box *const box = (struct conf_box *)c;
    return conf_http_key_resolve_all(&c->http, c->file, &box->arena, findings);
}

int conf_resolve_keys(struct conf *c, struct tc_err *err)
{
    struct findings findings = {0};
    const int rc = conf_check_keys(c, &findings);
    if (rc < 0)
        findings_take_first(&findings, err);
    findings_fini(&findings);
    return rc;
}

const struct conf *conf_ref(const struct conf *c)
{
    if (c)
        ((struct conf *)(uintptr_t)c)->refs++; /* the reference count is not part of the constant
                                                * contents */
    return c;
}

void conf_unref(const struct conf *c)
{
    struct conf_box *const box = (struct conf_box *)(uintptr_t)c;
    if (!box || box->conf.refs-- > 0)
        return;
    arena_fini(&box->arena);
    free(box);
}

char *conf_format_place(const struct conf *c, const char *file, int line)
{
    const char *const name = file ? file : c->file;
    return line > 0 ? xasprintf("%s:%d", name, line) : xstrdup(name);
}

const struct conf_agent *conf_agent_find(const struct conf *c, const char *name)
{
    if (!name)
        name = c->default_agent;
    if (!name && c->n_agents == 1)
        return &c->agents[0];
    for (size_t i = 0; i < c->n_agents; i++)
        if (strcmp(c->agents[i].name, name ? name : "default") == 0)
            return &c->agents[i];
    return NULL;
}

const struct conf_instance *conf_instance_find(const struct conf *c, const char *name)
{
    for (size_t i = 0; i < c->n_instances; i++)
        if (strcmp(c->instances[i].name, name) == 0)
            return &c->instances[i];
    return NULL;
}

int conf_add_plugin(struct conf *c, const char *spec, struct tc_err *err)
{
    struct conf_box *box = (struct conf_box *)c;
    struct findings findings = {0};
    CLEANUP_FREE char *here = getcwd(NULL, 0);
    const char *const dir = here ? arena_strdup(&box->arena, here) : NULL;
    const struct conf_row_ctx r = {&box->arena, "--plugin", dir, &findings};
    struct conf_instance inst;
    const bool bad = conf_instance_parse_spec(&r, spec, &inst) < 0;
    if (bad || conf_check_agent_of(&r, c, &inst) < 0 || conf_scope_check(&r, c, &inst) < 0 ||
        conf_chat_check(&r, c, &inst) < 0) {
        findings_take_first(&findings, err);
        findings_fini(&findings);
        return -1;
    }
    char *name = inst.name;
    for (unsigned n = 2; conf_instance_find(c, name); n++)
        name = arena_sprintf(&box->arena, "%s-%u", inst.name, n);
    inst.name = name;
    conf_add_instance(box, &inst);
    return 0;
}

void conf_remove_instances(struct conf *c)
{
    c->instances = NULL;
    c->n_instances = 0;
}
