/* SPDX-License-Identifier: MIT
 * Prints the constant that a plugin's file exports; runs nothing of it. */
#include "cli/describe.h"

#include <string.h>

#include "base/buf.h"
#include "event/kinds.h"

typedef int (*callback)(void);

static const struct callback_row {
    const char *name;
    size_t offset;
} callbacks[] = {
#define ROW(lower, upper, gate, pressure, terminal)                                                \
    {"on_" #lower, offsetof(struct tc_sink, on_##lower)},
    EVENT_KINDS(ROW)
#undef ROW
        {"on_event", offsetof(struct tc_sink, on_event)},
    {"on_idle", offsetof(struct tc_sink, on_idle)},
};

static void describe_callbacks(FILE *out, const struct tc_sink *sink)
{
    CLEANUP_BUF struct buf names = {0};
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++) {
        callback fn;
        memcpy(&fn, (const char *)sink + callbacks[i].offset, sizeof fn);
        if (fn)
            buf_printf(&names, " %s", callbacks[i].name);
    }
    fprintf(out, "  callbacks:%s\n", names.len ? names.p : " none");
}

static void describe_option(FILE *out, const struct tc_option *o)
{
    static const char *const types[] = {[TC_T_STR] = "text",
                                        [TC_T_INT] = "whole number",
                                        [TC_T_BOOL] = "true or false",
                                        [TC_T_REAL] = "number"};
    fprintf(out, "    %s (%s", o->key, types[o->type]);
    if (o->flags & TC_REQUIRED)
        fputs(", required", out);
    else if (o->dflt)
        fprintf(out, ", default %s", *o->dflt ? o->dflt : "\"\"");
    if (o->flags & TC_SECRET)
        fputs(", secret", out);
    fprintf(out, ")%s%s\n", o->help ? ": " : "", o->help ? o->help : "");
}

void describe_plugin(FILE *out, const struct loaded *l)
{
    const struct tc_plugin *p = &l->plugin;
    fprintf(out, "%s %s: %s\n", p->name, p->version ? p->version : "(no version)",
            p->summary ? p->summary : "(no summary)");
    fprintf(out, "  file: %s\n  ABI: %u.%u\n", l->path, p->major, p->minor);
    fprintf(out, "  sees: %s, audience %s\n",
            p->flags & TC_SEES_ALL ? "all events" : "what the agent's visibility shows",
            p->audience ? p->audience : "user");
    if (p->pace_ms)
        fprintf(out, "  pace: at most every %u ms\n", p->pace_ms);
    describe_callbacks(out, &l->sink);
    fputs(p->options && p->options->key ? "  options:\n" : "  options: none\n", out);
    for (const struct tc_option *o = p->options; o && o->key; o++)
        describe_option(out, o);
}
