/* SPDX-License-Identifier: MIT
 * Section `plugins.instances`: host keys by rows, plugin options as text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf_internal.h"
#include "conf/default_paths.h"
#include "conf/parse/option_list.h"

#define INSTANCE(member) offsetof(struct conf_instance, member)

static int read_plugin(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target);
static int read_sees(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target);
static int read_audience(const struct conf_row_ctx *r, const struct conf_node *n,
                         const struct conf_row *row, void *target);
static int read_wants(const struct conf_row_ctx *r, const struct conf_node *n,
                      const struct conf_row *row, void *target);
static int read_ids(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target);
static int read_ports(const struct conf_row_ctx *r, const struct conf_node *n,
                      const struct conf_row *row, void *target);
static int read_lead(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target);

#define UNSAID (~0u) /* marks grants that the file does not mention */

static const struct conf_choice isolations[] = {
    {"process", CONF_PROCESS}, {"thread", CONF_THREAD}, {NULL, 0}};
#define LANGUAGE_CHOICE(id, name) {(name), LANGUAGE_##id},
static const struct conf_choice languages[] = {LANGUAGES(LANGUAGE_CHOICE){NULL, 0}};
static const struct conf_choice turns[] = {
    {"own", CONF_TURNS_OWN}, {"all", CONF_TURNS_ALL}, {NULL, 0}};
static const struct conf_choice grants[] = {
    {"submit", CONF_SUBMIT}, {"cancel", CONF_CANCEL}, {"answer", CONF_ANSWER}, {NULL, 0}};

static const struct conf_row rows[] = {
    {"plugin", read_plugin, INSTANCE(plugin), 0, 0, NULL},
    {"enabled", conf_row_bool, INSTANCE(enabled), 0, 0, NULL},
    {"visibility", read_sees, 0, 0, 0, NULL},
    {"audience", read_audience, INSTANCE(audience), 0, 0, NULL},
    {"wants", read_wants, 0, 0, 0, NULL},
    {"turns", conf_row_choice, INSTANCE(scope.turns), 0, 0, turns},
    {"agents", conf_scope_read_agents, 0, 1, 100, NULL},
    {"conversations", conf_scope_read_conversations, 0, 1, 1000, NULL},
    {"queue_events", conf_row_int, INSTANCE(queue_events), 16, 1000000, NULL},
    {"queue_bytes", conf_row_int, INSTANCE(queue_bytes), 64 << 10, 1 << 30, NULL},
    {"init_ms", conf_row_int, INSTANCE(init_ms), 1, 600000, NULL},
    {"callback_ms", conf_row_int, INSTANCE(callback_ms), 1, 600000, NULL},
    {"isolation", conf_row_choice, INSTANCE(isolation), 0, 0, isolations},
    {"lead", read_lead, 0, 0, 0, NULL},
    {"ports", read_ports, INSTANCE(ports), 0, 100, NULL},
    {"paths", conf_row_paths, INSTANCE(paths), 0, 100, NULL},
    {"memory_mb", conf_row_int, INSTANCE(memory_mb), 16, 1 << 20, NULL},
    {"cpu_percent", conf_row_int, INSTANCE(cpu_percent), 1, 100000, NULL},
    {"threads", conf_row_int, INSTANCE(threads), 1, 100000, NULL},
    {"disk_mb", conf_row_int, INSTANCE(disk_mb), 1, 1 << 30, NULL},
    {"language", conf_row_choice, INSTANCE(chat.language), 0, 0, languages},
    {"agent", conf_row_string, INSTANCE(agent), 0, 0, NULL},
    {"agent_choices", conf_row_strings, INSTANCE(chat.agents), 1, CONF_CHOICES_MAX, NULL},
    {"pairing", conf_row_bool, INSTANCE(chat.pairing), 0, 0, NULL},
    {"transcribe", conf_row_strings, INSTANCE(chat.transcribe), 1, 100, NULL},
    {"bindings", conf_chat_read_bindings, 0, 0, 1000, NULL},
    {"grants", conf_row_flags, INSTANCE(grants), 0, 0, grants},
    {"allow", read_ids, INSTANCE(allow), 0, 10000, NULL},
    {"allow_chats", read_ids, INSTANCE(allow_chats), 0, 10000, NULL},
    {"approvers", read_ids, INSTANCE(approvers), 0, 10000, NULL},
    {"chaos", conf_chaos_parse, 0, 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

const char *conf_instance_key_at(size_t i)
{
    return i < sizeof rows / sizeof *rows ? rows[i].key : NULL;
}

static bool ends_so(const char *s)
{
    const size_t len = strlen(s);
    return len > 3 && strcmp(s + len - 3, ".so") == 0;
}

/* Resolves the path of a .so; any other text is the name of a plugin. */
static bool is_plugin_path(const char *plugin)
{
    return strchr(plugin, '/') || ends_so(plugin);
}

static int read_plugin(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target)
{
    if (conf_row_check_type(r, n, NODE_STRING) < 0)
        return -1;
    return is_plugin_path(n->value.string) ? conf_row_path(r, n, row, target)
                                           : conf_row_string(r, n, row, target);
}

static int read_sees(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target)
{
    static const struct conf_choice choices[] = {{"agent", 0}, {"all", 1}, {NULL, 0}};
    struct conf_instance *inst = target;
    int all;
    (void)row;
    if (conf_row_check_type(r, n, NODE_STRING) < 0 ||
        conf_row_parse_choice_name(r, n, n->value.string, choices, &all) < 0)
        return -1;
    inst->sees_all = all;
    inst->sees_all_set = true;
    return 0;
}

static int read_audience(const struct conf_row_ctx *r, const struct conf_node *n,
                         const struct conf_row *row, void *target)
{
    static const struct conf_choice choices[] = {
        {"user", 0}, {"internal", 0}, {"dashboard", 0}, {"operator", 0}, {NULL, 0}};
    int ignored;
    if (conf_row_check_type(r, n, NODE_STRING) < 0 ||
        conf_row_parse_choice_name(r, n, n->value.string, choices, &ignored) < 0)
        return -1;
    return conf_row_string(r, n, row, target);
}

static int take_wanted(const struct conf_row_ctx *r, const struct conf_node *n,
                       struct conf_instance *inst)
{
    static const struct conf_choice choices[] = {{"state", 0}, {"raw", 1}, {NULL, 0}};
    int raw;
    if (conf_row_check_type(r, n, NODE_STRING) < 0 ||
        conf_row_parse_choice_name(r, n, n->value.string, choices, &raw) < 0)
        return -1;
    *(raw ? &inst->wants_raw : &inst->wants_state) = true;
    return 0;
}

static int read_wants(const struct conf_row_ctx *r, const struct conf_node *n,
                      const struct conf_row *row, void *target)
{
    (void)row;
    if (n->type == NODE_STRING)
        return take_wanted(r, n, target);
    if (n->type != NODE_LIST)
        return conf_row_error(r, n,
                              "expected a list of strings, found %s; for example [\"a\", \"b\"]",
                              conf_node_type_name(n->type));
    for (size_t i = 0; i < n->n; i++)
        if (take_wanted(r, &n->items[i], target) < 0)
            return -1;
    return 0;
}

static int read_lead(const struct conf_row_ctx *r, const struct conf_node *n,
                     const struct conf_row *row, void *target)
{
    struct conf_instance *inst = target;
    (void)row;
    if (conf_row_check_type(r, n, NODE_BOOL) < 0)
        return -1;
    inst->scope.lead = n->value.boolean ? CONF_LEAD_ONE : CONF_LEAD_EACH;
    return 0;
}

/* Accepts numbers and strings: some services number people and chats, others name them. */
static char *id_text(const struct conf_row_ctx *r, const struct conf_node *n)
{
    if (n->type == NODE_INT)
        return arena_sprintf(r->arena, "%" PRId64, n->value.integer);
    if (n->type == NODE_STRING && *n->value.string)
        return arena_strdup(r->arena, n->value.string);
    conf_row_error(r, n, "expected an ID: an integer or a string");
    return NULL;
}

static int read_ids(const struct conf_row_ctx *r, const struct conf_node *n,
                    const struct conf_row *row, void *target)
{
    if (n->type != NODE_LIST)
        return conf_row_error(r, n, "expected a list of IDs, found %s",
                              conf_node_type_name(n->type));
    if ((int64_t)n->n > row->max)
        return conf_row_error(r, n, "too many IDs (%zu); the maximum is %lld", n->n,
                              (long long)row->max);
    char **const ids = arena_alloc(r->arena, (n->n + 1) * sizeof *ids);
    for (size_t i = 0; i < n->n; i++)
        if (!(ids[i] = id_text(r, &n->items[i])))
            return -1;
    memcpy((char *)target + row->offset, &ids, sizeof ids);
    return 0;
}

static int read_ports(const struct conf_row_ctx *r, const struct conf_node *n,
                      const struct conf_row *row, void *target)
{
    if (n->type != NODE_LIST)
        return conf_row_error(r, n, "expected a list of ports, found %s",
                              conf_node_type_name(n->type));
    if ((int64_t)n->n > row->max)
        return conf_row_error(r, n, "too many ports (%zu); the maximum is %lld", n->n,
                              (long long)row->max);
    int64_t *const ports = arena_alloc(r->arena, (n->n + 1) * sizeof *ports);
    for (size_t i = 0; i < n->n; i++) {
        const struct conf_node *const item = &n->items[i];
        if (item->type != NODE_INT || item->value.integer < 1 || item->value.integer > 65535)
            return conf_row_error(r, item, "expected a TCP port from 1 to 65535");
        ports[i] = item->value.integer;
    }
    memcpy((char *)target + row->offset, &ports, sizeof ports);
    return 0;
}

/* Writes the shortest text that reads back as the same number. */
static char *real_text(struct arena *a, double v)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    return arena_strdup(a, text);
}

/* Encodes an array as list text; the plugin's option table decides later whether a list is
 * allowed. */
static char *list_text(const struct conf_row_ctx *r, const struct conf_node *n)
{
    char *list = arena_strdup(r->arena, "");
    for (size_t i = 0; i < n->n; i++) {
        const struct conf_node *const item = &n->items[i];
        if (item->type != NODE_STRING) {
            conf_row_error(r, item, "expected a string, found %s", conf_node_type_name(item->type));
            return NULL;
        }
        list = option_list_append(r->arena, list, item->value.string);
        if (!list) {
            conf_row_error(r, item, "the string has a control character");
            return NULL;
        }
    }
    return list;
}

static char *option_text(const struct conf_row_ctx *r, const struct conf_node *n)
{
    switch (n->type) {
    case NODE_STRING:
        return arena_strdup(r->arena, n->value.string);
    case NODE_INT:
        return arena_sprintf(r->arena, "%" PRId64, n->value.integer);
    case NODE_REAL:
        return real_text(r->arena, n->value.real);
    case NODE_BOOL:
        return arena_strdup(r->arena, n->value.boolean ? "true" : "false");
    case NODE_LIST:
        return list_text(r, n);
    case NODE_GROUP:
        break;
    }
    conf_row_error(r, n, "expected a string, a list, a number, true or false, found %s",
                   conf_node_type_name(n->type));
    return NULL;
}

static int read_option(const struct conf_row_ctx *r, const struct conf_node *n,
                       struct conf_option *to)
{
    *to = (struct conf_option){.key = arena_strdup(r->arena, n->name),
                               .value = option_text(r, n),
                               .file = n->file,
                               .line = n->line,
                               .dir = r->dir};
    return to->value ? 0 : -1;
}

static bool conf_instance_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

const struct conf_option *conf_option_find(const struct conf_option *pairs, const char *key)
{
    for (; pairs && pairs->key; pairs++)
        if (strcmp(pairs->key, key) == 0)
            return pairs;
    return NULL;
}

/* Whether b contains all elements of a. */
static bool has_pairs(const struct conf_option *a, const struct conf_option *b)
{
    for (; a && a->key; a++) {
        const struct conf_option *const other = conf_option_find(b, a->key);
        if (!other || strcmp(other->value, a->value) != 0)
            return false;
    }
    return true;
}

static bool same_ports(const int64_t *a, const int64_t *b)
{
    static const int64_t none[] = {0};
    a = a ? a : none;
    b = b ? b : none;
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static bool same_paths(char *const *a, char *const *b)
{
    static char *const none[] = {NULL};
    a = a ? a : none;
    b = b ? b : none;
    while (*a && *b && strcmp(*a, *b) == 0) {
        a++;
        b++;
    }
    return !*a && !*b;
}

bool conf_instance_equal(const struct conf_instance *a, const struct conf_instance *b)
{
    return conf_instance_same_text(a->name, b->name) &&
           conf_instance_same_text(a->plugin, b->plugin) && a->enabled == b->enabled &&
           a->sees_all == b->sees_all && a->sees_all_set == b->sees_all_set &&
           conf_instance_same_text(a->audience, b->audience) && a->wants_state == b->wants_state &&
           a->wants_raw == b->wants_raw && a->queue_events == b->queue_events &&
           a->queue_bytes == b->queue_bytes && a->init_ms == b->init_ms &&
           a->callback_ms == b->callback_ms && a->scope.lead == b->scope.lead &&
           a->isolation == b->isolation && a->chat.language == b->chat.language &&
           a->memory_mb == b->memory_mb && a->cpu_percent == b->cpu_percent &&
           a->threads == b->threads && a->disk_mb == b->disk_mb && same_ports(a->ports, b->ports) &&
           same_paths(a->paths, b->paths) && conf_chaos_equal(a->chaos, b->chaos) &&
           has_pairs(a->options, b->options) && has_pairs(b->options, a->options);
}

struct conf_instance conf_instance_make_default(char *name, char *plugin)
{
    return (struct conf_instance){
        .name = name,
        .plugin = plugin,
        .enabled = true,
        .queue_events = 4096,
        .queue_bytes = 8 << 20,
        .memory_mb = 512,
        .cpu_percent = 90,
        .threads = 64,
        .disk_mb = 1024,
        .grants = UNSAID,
    };
}

void conf_instance_apply_plugin(struct arena *a, struct conf_instance *inst)
{
    if (inst->grants != UNSAID)
        return;
    const bool terminal = inst->plugin && strcmp(inst->plugin, "cli") == 0;
    inst->grants = terminal ? CONF_ANSWER : 0;
    if (!terminal || inst->allow)
        return;
    inst->allow = arena_alloc(a, 2 * sizeof *inst->allow);
    inst->allow[0] = arena_strdup(a, "terminal");
    inst->allow[1] = NULL;
}

/* Reads the group; options keep their order. */
static int read_keys(const struct conf_row_ctx *r, const struct conf_node *group,
                     struct conf_instance *inst)
{
    size_t options = 0;
    inst->options = arena_alloc(r->arena, (group->n + 1) * sizeof *inst->options);
    int rc = 0;
    for (size_t i = 0; i < group->n; i++) {
        const struct conf_node *n = &group->items[i];
        const struct conf_row *row = conf_row_find(rows, n->name);
        if ((row ? row->read(r, n, row, inst) : read_option(r, n, &inst->options[options++])) < 0)
            rc = -1;
    }
    return rc;
}

static bool names_plugin(const struct conf_node *group)
{
    for (size_t i = 0; i < group->n; i++)
        if (strcmp(group->items[i].name, "plugin") == 0)
            return true;
    return false;
}

/* Names of sources of turns that are not instances are reserved. */
static int check_name(const struct conf_row_ctx *r, const struct conf_node *n, const char *name)
{
    return conf_scope_is_reserved(name)
               ? conf_row_error(r, n, "instance name \"%s\" is reserved; choose another name", name)
               : 0;
}

int conf_instance_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                        struct conf_instance *inst)
{
    *inst = conf_instance_make_default(arena_strdup(r->arena, n->name), NULL);
    inst->file = n->file;
    inst->line = n->line;
    int rc = conf_check_name(r, n) < 0 || check_name(r, n, n->name) < 0 ? -1 : 0;
    if (conf_row_check_type(r, n, NODE_GROUP) < 0 || read_keys(r, n, inst) < 0)
        rc = -1;
    if (!inst->plugin && n->type == NODE_GROUP && !names_plugin(n))
        inst->plugin = inst->name; /* by default, an instance has the name of its plugin */
    conf_instance_apply_plugin(r->arena, inst);
    return rc;
}

static void spec_scalar(struct conf_node *n, char *text, bool may_be_number)
{
    char *end;
    const long long number = strtoll(text, &end, 10);
    n->type = NODE_STRING;
    n->value.string = text;
    if (may_be_number && *text && !*end) {
        n->type = NODE_INT;
        n->value.integer = number;
    }
}

/* Whether the row expects a list, whose elements are separated by spaces on the command line. */
static bool spec_is_list(const struct conf_row *row)
{
    return row->read == read_ports || row->read == read_ids || row->read == conf_row_paths ||
           row->read == read_wants || row->read == conf_row_flags || row->read == conf_row_strings;
}

static void spec_list(const struct conf_row_ctx *r, const struct conf_row *row, struct conf_node *n,
                      char *text)
{
    n->type = NODE_LIST;
    n->items = arena_alloc(r->arena, (strlen(text) / 2 + 1) * sizeof *n->items);
    for (char *rest = text, *piece; (piece = strsep(&rest, " "));) {
        if (!*piece)
            continue;
        struct conf_node *const item = &n->items[n->n++];
        *item = (struct conf_node){.parent = n};
        spec_scalar(item, piece, row->read == read_ports || row->read == read_ids);
    }
}

/* Converts a command-line value to the type of the host's row; values for the plugin stay text. */
static void spec_value(const struct conf_row_ctx *r, struct conf_node *n, char *text)
{
    const struct conf_row *row = conf_row_find(rows, n->name);
    if (row && spec_is_list(row)) {
        spec_list(r, row, n, text);
        return;
    }
    spec_scalar(n, text, row && row->read == conf_row_int);
    if (row && row->read == conf_row_bool &&
        (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
        n->type = NODE_BOOL;
        n->value.boolean = *text == 't';
    }
}

/* Cuts off the part before the next comma; a comma behind a backslash is kept. */
static char *conf_instance_next_piece(char **rest)
{
    char *piece = *rest, *to = piece, *from = piece;
    for (; *from && *from != ','; from++) {
        if (*from == '\\' && (from[1] == ',' || from[1] == '\\'))
            from++;
        *to++ = *from;
    }
    *rest = *from ? from + 1 : NULL;
    *to = 0;
    return piece;
}

static size_t count_char(const char *s, char c)
{
    size_t n = 0;
    for (; *s; s++)
        n += *s == c;
    return n;
}

/* The default instance name of dir/NAME.so and NAME is NAME. */
static char *spec_name(const struct conf_row_ctx *r, const char *plugin)
{
    const char *slash = strrchr(plugin, '/');
    const char *base = slash ? slash + 1 : plugin;
    return arena_strndup(r->arena, base, strlen(base) - (ends_so(base) ? 3 : 0));
}

int conf_instance_parse_spec(const struct conf_row_ctx *r, const char *spec,
                             struct conf_instance *inst)
{
    char *rest = arena_strdup(r->arena, spec);
    struct conf_node group = {.type = NODE_GROUP};
    group.items = arena_alloc(r->arena, (count_char(spec, ',') + 1) * sizeof *group.items);
    char *const plugin = conf_instance_next_piece(&rest);
    if (!*plugin)
        return conf_row_error(r, &group,
                              "the name of a plugin or the path of a .so file is missing");
    while (rest) {
        struct conf_node *n = &group.items[group.n];
        char *const pair = conf_instance_next_piece(&rest), *const eq = strchr(pair, '=');
        if (!eq || eq == pair)
            return conf_row_error(r, &group, "\"%s\" is not KEY=VALUE", pair);
        *eq = 0;
        *n = (struct conf_node){.parent = &group, .name = pair};
        spec_value(r, n, eq + 1);
        group.n++;
    }
    *inst = conf_instance_make_default(
        spec_name(r, plugin),
        is_plugin_path(plugin) ? default_paths_make_absolute(r->arena, plugin) : plugin);
    if (check_name(r, &group, inst->name) < 0 || read_keys(r, &group, inst) < 0)
        return -1;
    conf_instance_apply_plugin(r->arena, inst);
    return 0;
}
