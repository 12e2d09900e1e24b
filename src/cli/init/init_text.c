/* SPDX-License-Identifier: MIT
 * Formats the configuration file. */
#include <ctype.h>
#include <string.h>

#include "cli/init/init_plan.h"

#define SEPARATORS ", \t"
#define LISTEN "127.0.0.1:8089"

static void init_text_add_string(struct buf *out, const char *text)
{
    buf_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_printf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ' || *text == 127)
            buf_printf(out, "\\x%02x", (unsigned char)*text);
        else
            buf_add_char(out, *text);
    }
    buf_add_char(out, '"');
}

/* Writes an integer without quotes. */
static void init_text_add_id(struct buf *out, const char *id)
{
    const char *const digits = id + (*id == '-');
    if (*digits && strlen(digits) < 19 && strspn(digits, "0123456789") == strlen(digits))
        buf_add_str(out, id);
    else
        init_text_add_string(out, id);
}

static void init_text_add_grants(struct buf *out, const char *grants)
{
    buf_add_str(out, "            grants = [");
    for (const char *at = grants; *at; at += strcspn(at, " "), at += strspn(at, " "))
        buf_printf(out, "%s\"%.*s\"", at == grants ? "" : ", ", (int)strcspn(at, " "), at);
    buf_add_str(out, "];\n");
}

static void init_text_add_people(struct buf *out, const char *allow, bool writes)
{
    size_t n = 0;
    buf_add_str(out, "            allow = (");
    for (const char *at = allow; at && *(at += strspn(at, SEPARATORS)); n++) {
        char id[256];
        const size_t len = strcspn(at, SEPARATORS);
        snprintf(id, sizeof id, "%.*s", (int)len, at);
        buf_add_str(out, n ? ", " : "");
        init_text_add_id(out, id);
        at += len;
    }
    buf_add_str(out, ");\n");
    if (n == 0 && writes)
        buf_add_str(out, "            pairing = true; # people who write get a code; run: turncast "
                         "pair\n");
}

static void init_text_add_connector(const struct init_plan *plan, struct buf *out)
{
    buf_printf(out, "        %s : {\n", plan->connector->plugin.name);
    for (size_t i = 0; i < plan->n_settings; i++) {
        buf_printf(out, "            %s = ", plan->settings[i].key);
        init_text_add_string(out, plan->settings[i].value);
        buf_add_str(out, ";\n");
    }
    if (plan->args->language)
        buf_printf(out, "            language = \"%s\";\n", plan->args->language);
    if (*plan->grants) {
        init_text_add_grants(out, plan->grants);
        init_text_add_people(out, plan->allow, strncmp(plan->grants, "submit", 6) == 0);
    }
    buf_add_str(out, "        };\n");
}

void init_text_write(const struct init_plan *plan, struct buf *out)
{
    buf_add_str(out,
                "# Written by turncast init; see turncast.conf(5). After a change, run: turncast "
                "check\n\nagents : {\n");
    for (size_t i = 0; i < plan->n_agents; i++)
        buf_add_str(out, plan->agents[i].definition);
    buf_printf(out, "};\ndefault_agent = \"%s\";\n\nplugins : {\n    instances : {\n",
               plan->chosen->kind->name);
    if (plan->args->language)
        buf_printf(out, "        cli : { language = \"%s\"; };\n", plan->args->language);
    else
        buf_add_str(out, "        cli : { };\n");
    if (plan->connector)
        init_text_add_connector(plan, out);
    buf_add_str(out, "    };\n};\n");
    if (plan->serves)
        buf_printf(out,
                   "\n# %s needs it; to be reached from elsewhere, put a reverse proxy with TLS in "
                   "front.\nhttp : { listen = \"" LISTEN "\"; };\n",
                   plan->connector->plugin.name);
}
