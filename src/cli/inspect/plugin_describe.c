/* SPDX-License-Identifier: MIT
 * Prints the descriptor exported by a plugin file; runs no code of the plugin. */
#include "cli/inspect/plugin_describe.h"

#include <string.h>

#include "base/bytes/buf.h"
#include "conf/options/option_rules.h"

static void describe_callbacks(FILE *out, const struct loaded_plugin *l)
{
    CLEANUP_BUF struct buf names = {0};
    for (unsigned i = 0; i < DESCRIPTOR_FUNCTIONS; i++)
        if (loader_has_callback(l, i))
            buf_printf(&names, " %s", descriptor_function_name(i));
    fprintf(out, "  callbacks:%s\n", names.len ? names.p : " none");
}

static void describe_option(FILE *out, const struct tc_option *o, const struct tc_rule *rules)
{
    static const char *const types[] = {[TC_T_STR] = "text",
                                        [TC_T_INT] = "integer",
                                        [TC_T_BOOL] = "true or false",
                                        [TC_T_REAL] = "number",
                                        [TC_T_LIST] = "list of strings"};
    fprintf(out, "    %s (%s", o->key, types[o->type]);
    if (o->flags & TC_REQUIRED)
        fputs(", required", out);
    else if (o->dflt)
        fprintf(out, ", default: %s", *o->dflt ? o->dflt : "\"\"");
    if (o->flags & TC_SECRET)
        fputs(", secret", out);
    fprintf(out, ")%s%s\n", o->help ? ": " : "", o->help ? o->help : "");
    for (const struct tc_rule *rule = rules; rule && rule->key; rule++) {
        CLEANUP_BUF struct buf text = {0};
        if (strcmp(rule->key, o->key) != 0)
            continue;
        option_rules_describe(rule, &text);
        fprintf(out, "        %s\n", text.p);
    }
}

void plugin_describe_print(FILE *out, const struct loaded_plugin *l)
{
    const struct tc_plugin *p = &l->plugin;
    fprintf(out, "%s %s: %s\n", p->name, *p->version ? p->version : "(no version)",
            *p->summary ? p->summary : "(no summary)");
    fprintf(out, "  file: %s\n  ABI: %u.%u\n", l->path, p->major, p->minor);
    fprintf(out, "  sees: %s, audience %s\n",
            p->flags & TC_SEES_ALL ? "all events" : "events that visibility allows",
            p->audience ? p->audience : "user");
    if (p->pace_ms)
        fprintf(out, "  pace: at most every %u ms\n", p->pace_ms);
    describe_callbacks(out, l);
    fputs(p->options && p->options->key ? "  options:\n" : "  options: none\n", out);
    for (const struct tc_option *o = p->options; o && o->key; o++)
        describe_option(out, o, p->rules);
}
