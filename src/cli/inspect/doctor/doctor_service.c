/* SPDX-License-Identifier: MIT
 * Asks the service of an instance whether it accepts the credentials, as the plugin's probe says.
 * One short request; nothing of the answer is believed but for being shown. */
#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/inspect/doctor/doctor.h"
#include "conf/options/plugin_options.h"
#include "core/host/network_clients.h"
#include "plugin/outbox/outbox_expand.h"
#include "text/text_clean.h"

#define PROBE_MS 5000
#define SHOWN_MAX ((size_t)200) /* bytes of a text of the service */
#define SECRET_OPTION "{option:"

/* One question and what came of it. */
struct service_probe {
    const struct tc_probe *probe;
    const struct conf_instance *inst;
    const struct tc_option *options;
    void *values; /* of the options */
    struct arena arena;
    char *host;         /* that is asked, with its port */
    bool done, is_json; /* a reply came; it has an object */
    bool is_proved;     /* which says that the credentials are valid */
    enum httpc_outcome outcome;
    int status;
    char *error;            /* of the connection; "" if there is none */
    char *account, *reason; /* or NULL */
};

/* ---- what is asked ---- */

static const char *service_probe_find_option(void *ctx, const char *name)
{
    struct service_probe *const p = ctx;
    for (const struct tc_option *o = p->options; o && o->key; o++) {
        const char *text;
        if (strcmp(o->key, name) != 0 || o->type != TC_T_STR)
            continue;
        memcpy(&text, (char *)p->values + o->offset, sizeof text);
        return text;
    }
    return NULL;
}

/* The option whose value the service judges: the first secret of the request. NULL: none. */
static const char *service_probe_find_secret(const struct service_probe *p)
{
    const char *const texts[] = {p->probe->url,
                                 p->probe->header_count ? p->probe->headers[0].value : ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (const char *at = texts[i]; (at = strstr(at, SECRET_OPTION));) {
            at += strlen(SECRET_OPTION);
            for (const struct tc_option *o = p->options; o && o->key; o++)
                if ((o->flags & TC_SECRET) && strncmp(at, o->key, strlen(o->key)) == 0 &&
                    at[strlen(o->key)] == '}')
                    return o->key;
        }
    return NULL;
}

static void service_probe_set_host(struct service_probe *p, const char *url)
{
    const char *const begin = strstr(url, "://");
    const char *const host = begin ? begin + 3 : url;
    p->host = arena_strndup(&p->arena, host, strcspn(host, "/?#"));
}

/* ---- what is answered ---- */

/* The member at a pointer; only objects are walked through. Borrowed. */
static json_t *service_probe_find_member(json_t *value, const char *pointer)
{
    CLEANUP_FREE char *path = xstrdup(pointer ? pointer : "");
    char *rest = path;
    if (!pointer || *strsep(&rest, "/"))
        return NULL;
    for (const char *name; value && (name = strsep(&rest, "/"));)
        value = json_object_get(value, name);
    return value;
}

static char *service_probe_read_text(struct service_probe *p, json_t *answer, const char *pointer)
{
    const char *const text = json_string_value(service_probe_find_member(answer, pointer));
    CLEANUP_BUF struct buf clean = {0};
    if (!text)
        return NULL;
    text_clean_append(&clean, text, strnlen(text, SHOWN_MAX));
    return arena_strndup(&p->arena, clean.p ? clean.p : "", clean.len);
}

static void service_probe_on_reply(void *arg, const struct httpc_reply *reply)
{
    struct service_probe *const p = arg;
    json_t *const answer = json_loadb(reply->body.p ? reply->body.p : "", reply->body.len, 0, NULL);
    p->done = true;
    p->is_json = json_is_object(answer);
    p->outcome = reply->outcome;
    p->status = reply->status;
    p->error = arena_strdup(&p->arena, reply->error ? reply->error : "");
    p->is_proved = reply->outcome == HTTPC_OK &&
                   (!p->probe->ok || json_is_true(service_probe_find_member(answer, p->probe->ok)));
    p->account = service_probe_read_text(p, answer, p->probe->account);
    p->reason = service_probe_read_text(p, answer, p->probe->reason);
    json_decref(answer);
}

/* NULL, or why it cannot be sent. */
static const char *service_probe_send(struct service_probe *p, const struct conf *conf)
{
    const struct tc_http http = {.size = sizeof http,
                                 .method = p->probe->method ? p->probe->method : "GET",
                                 .url = p->probe->url,
                                 .headers = p->probe->headers,
                                 .header_count = p->probe->header_count,
                                 .timeout_ms = PROBE_MS};
    const char *why = NULL;
    struct outbound_request *const request = outbound_request_new(1, "", &http, &why);
    struct expanded_request expanded;
    if (!request)
        return why;
    why = outbox_expand_request(&expanded, request, NULL,
                                &(struct expand_source){service_probe_find_option, p, NULL});
    if (!why) {
        struct loop *const loop = loop_new();
        struct httpc *const httpc = network_clients_new_http(loop, conf);
        service_probe_set_host(p, expanded.http.url);
        httpc_start(httpc, &expanded.http, service_probe_on_reply, p);
        while (!p->done)
            loop_run_once(loop, -1);
        httpc_free(httpc);
        loop_free(loop);
    } else {
        why = arena_strdup(&p->arena, why);
    }
    outbox_expand_fini(&expanded);
    outbound_request_unref(request);
    return why;
}

/* ---- what is told ---- */

static int service_probe_find_line(const struct conf_instance *inst, const char *key,
                                   const char **file)
{
    const struct conf_option *const o = key ? conf_option_find(inst->options, key) : NULL;
    *file = o ? o->file : inst->file;
    return o ? o->line : inst->line;
}

static void service_probe_tell_refusal(struct doctor *d, const char *name,
                                       const struct service_probe *p)
{
    const char *const key = service_probe_find_secret(p);
    const char *file;
    const int line = service_probe_find_line(p->inst, key, &file);
    CLEANUP_FREE char *status = xasprintf("status %d", p->status);
    CLEANUP_FREE char *remedy = xasprintf("set a valid %s", key ? key : "value");
    CLEANUP_FREE char *text =
        xasprintf("%s does not accept %s (%s)", p->host, key ? key : "the credentials",
                  p->reason ? p->reason : status);
    CLEANUP_FREE char *path = key ? xasprintf("plugins.instances.%s.%s", p->inst->name, key)
                                  : xasprintf("plugins.instances.%s", p->inst->name);
    doctor_report_finding(d, name,
                          &(struct finding){FINDING_ERROR,
                                            line ? (file ? file : d->conf->file) : NULL, line, path,
                                            text, NULL},
                          remedy);
}

static void service_probe_tell(struct doctor *d, const char *name, const struct service_probe *p)
{
    if (p->is_proved) {
        doctor_report(d, FINDING_OK, name, "%s accepts the credentials%s%s%s", p->host,
                      p->account ? " (account " : "", p->account ? p->account : "",
                      p->account ? ")" : "");
    } else if (!p->status && p->outcome == HTTPC_REJECTED) {
        doctor_report(d, FINDING_ERROR, name, "cannot ask %s: %s", p->host, p->error);
        doctor_suggest(d, "change the URL of the service in the options of the instance");
    } else if (!p->status) {
        doctor_report(d, FINDING_WARNING, name, "cannot reach %s: %s", p->host, p->error);
        doctor_suggest(d, "check the network, the proxy and the URL of the service");
    } else if (p->status == 429 || p->status >= 500 || !p->is_json) {
        doctor_report(d, FINDING_WARNING, name, "%s answers with status %d%s: not checked", p->host,
                      p->status, p->is_json ? "" : " and no JSON");
        doctor_suggest(d, "run turncast doctor again later");
    } else {
        service_probe_tell_refusal(d, name, p);
    }
}

void doctor_look_at_service(struct doctor *d, const char *name, const struct conf_instance *inst,
                            const struct loaded_plugin *l)
{
    struct tc_err err = {0};
    CLEANUP_FREE void *values = xcalloc(1, l->plugin.conf_size + 1);
    struct service_probe p = {
        .probe = l->plugin.probe, .inst = inst, .options = l->plugin.options, .values = values};
    if (!p.probe || httpc_check_available(&err) < 0)
        return;
    const char *why =
        plugin_options_fill_instance(values, &l->plugin, inst, d->conf->file, &p.arena, &err) < 0
            ? err.text
            : service_probe_send(&p, d->conf);
    if (why) {
        doctor_report(d, FINDING_WARNING, name, "cannot ask the service: %s", why);
        doctor_suggest(d, "the plugin's probe is wrong");
    } else {
        service_probe_tell(d, name, &p);
    }
    arena_fini(&p.arena);
}
