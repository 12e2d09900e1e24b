/* SPDX-License-Identifier: MIT
 * Sends the probe requests and evaluates the responses. */
#include "cli/inspect/probe/service_probe.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "conf/options/plugin_options.h"
#include "core/host/network_clients.h"
#include "plugin/outbox/outbox_expand.h"
#include "text/text_clean.h"

#define SHOWN_MAX ((size_t)200) /* longest text of a service that is kept */
#define OPTION "{option:"
#define HEADERS_MAX ((size_t)64)

/* A probe of one instance, and its result. */
struct service_probe {
    struct service_probe *next;
    const struct conf *conf;
    const struct tc_probe *probe;
    const struct conf_instance *inst;
    const struct tc_option *options;
    void *values; /* values of the options */
    struct arena arena;
    const char *why;    /* why no request can be sent; or NULL */
    char *host;         /* requested URL, with its port */
    bool is_mail;       /* the probe is for a mail server */
    bool done, is_json; /* the reply is a JSON object */
    bool is_proved;     /* the reply says that the credentials are valid */
    enum httpc_outcome outcome;
    int status;
    char *error;            /* connection error; "" if none */
    char *account, *reason; /* or NULL */
};

struct service_probes {
    const struct conf *conf;
    struct service_probe *list;
    struct loop *loop;
    struct httpc *httpc;
};

/* ---- requests ---- */

static const struct tc_option *service_probe_find_row(const struct service_probe *p,
                                                      const char *name, enum tc_type type)
{
    const struct tc_option *o = p->options;
    while (o && o->key && (strcmp(o->key, name) != 0 || o->type != type))
        o++;
    return o && o->key ? o : NULL;
}

static const char *service_probe_find_option(void *ctx, const char *name)
{
    struct service_probe *const p = ctx;
    const struct tc_option *const o = service_probe_find_row(p, name, TC_T_STR);
    const char *text = NULL;
    if (!o)
        return NULL;
    memcpy(&text, (char *)p->values + o->offset, sizeof text);
    return text ? text : "";
}

static bool service_probe_has_option(struct service_probe *p, const char *name)
{
    const char *const text = service_probe_find_option(p, name);
    return text && *text;
}

/* The elements of the option with further headers, ending with NULL; or NULL. */
static const char *const *service_probe_find_list(const struct service_probe *p)
{
    const char *const name = p->probe->header_list;
    const struct tc_option *const o = name ? service_probe_find_row(p, name, TC_T_LIST) : NULL;
    const char *const *list = NULL;
    if (o)
        memcpy(&list, (char *)p->values + o->offset, sizeof list);
    return list;
}

/* Number of headers: those of the plugin, of which outbox_expand leaves out unset ones, then those
 * of the operator. */
static size_t service_probe_collect_headers(struct service_probe *p, struct tc_header *to)
{
    size_t n = 0;
    for (; n < p->probe->header_count && n < HEADERS_MAX; n++)
        to[n] = p->probe->headers[n];
    const char *const *list = service_probe_find_list(p);
    for (; list && *list && n < HEADERS_MAX; list++) {
        const size_t len = strcspn(*list, "=");
        if ((*list)[len])
            to[n++] = (struct tc_header){arena_strndup(&p->arena, *list, len), *list + len + 1};
    }
    return n;
}

/* Whether a placeholder of the request ends with the name of this option. */
static bool service_probe_names(struct service_probe *p, const char *key)
{
    const char *const end = arena_sprintf(&p->arena, ":%s}", key);
    bool names = strstr(p->probe->url, end) ||
                 (p->probe->content_type && p->probe->body && strstr(p->probe->body, end));
    for (size_t i = 0; i < p->probe->header_count; i++)
        names |= strstr(p->probe->headers[i].value, end) != NULL;
    return names;
}

/* Returns the first secret in the request that has a value (is_set), or has none. NULL: none. */
static const char *service_probe_find_secret(struct service_probe *p, bool is_set)
{
    const char *const *const list = service_probe_find_list(p);
    if (list && *list)
        return is_set ? p->probe->header_list : NULL;
    for (const struct tc_option *o = p->options; o && o->key; o++)
        if ((o->flags & TC_SECRET) && service_probe_has_option(p, o->key) == is_set &&
            service_probe_names(p, o->key))
            return o->key;
    return is_set ? NULL : p->probe->header_list;
}

static void service_probe_set_host(struct service_probe *p, const char *url)
{
    const char *const begin = strstr(url, "://");
    const char *const host = begin ? begin + 3 : url;
    p->host = arena_strndup(&p->arena, host, strcspn(host, "/?#"));
}

/* ---- responses ---- */

/* The member at a JSON pointer; follows objects only. Borrowed. */
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

/* NULL, or why the request cannot be sent. */
static const char *service_probe_send(struct service_probe *p, struct httpc *httpc)
{
    struct tc_header headers[HEADERS_MAX];
    const struct tc_http http = {.size = sizeof http,
                                 .method = p->probe->method ? p->probe->method : "GET",
                                 .url = p->probe->url,
                                 .headers = headers,
                                 .header_count = service_probe_collect_headers(p, headers),
                                 .content_type = p->probe->content_type,
                                 .body = p->probe->body,
                                 .flags = p->probe->content_type ? TC_FILL_BODY : 0,
                                 .timeout_ms = SERVICE_PROBE_MS};
    const char *why = NULL;
    struct outbound_request *const request = outbound_request_new(1, "", &http, &why);
    struct expanded_request expanded;
    if (!request)
        return why;
    why = outbox_expand_request(&expanded, request, NULL,
                                &(struct expand_source){service_probe_find_option, p, NULL});
    if (!why) {
        service_probe_set_host(p, expanded.http.url);
        p->is_mail = strncmp(expanded.http.url, "smtp", 4) == 0;
        httpc_start(httpc, &expanded.http, service_probe_on_reply, p);
    } else {
        why = arena_strdup(&p->arena, why);
    }
    outbox_expand_fini(&expanded);
    outbound_request_unref(request);
    return why;
}

/* ---- all of them ---- */

struct service_probes *service_probes_new(const struct conf *conf)
{
    struct service_probes *const all = xcalloc(1, sizeof *all);
    all->conf = conf;
    return all;
}

static void service_probe_free(struct service_probe *p)
{
    arena_fini(&p->arena);
    free(p->values);
    free(p);
}

/* False: the instance has no value for an option in the URL, so it uses the plugin without the
 * service. */
static bool service_probe_has_all_options(struct service_probe *p)
{
    for (const char *at = p->probe->url; (at = strstr(at, OPTION));) {
        at += strlen(OPTION);
        if (!service_probe_has_option(p, arena_strndup(&p->arena, at, strcspn(at, "}"))))
            return false;
    }
    return true;
}

struct service_probe *service_probes_add(struct service_probes *all,
                                         const struct conf_instance *inst,
                                         const struct loaded_plugin *plugin)
{
    struct tc_err err = {0};
    if (!plugin->plugin.probe || httpc_check_available(&err) < 0)
        return NULL;
    struct service_probe *const p = xcalloc(1, sizeof *p);
    *p = (struct service_probe){.next = all->list,
                                .conf = all->conf,
                                .probe = plugin->plugin.probe,
                                .inst = inst,
                                .options = plugin->plugin.options,
                                .values = xcalloc(1, plugin->plugin.conf_size + 1)};
    all->list = p;
    if (plugin_options_fill_instance(p->values, &plugin->plugin, inst, all->conf->file, &p->arena,
                                     &err) < 0)
        p->why = arena_strdup(&p->arena, err.text);
    if (p->why || service_probe_has_all_options(p))
        return p;
    all->list = p->next;
    service_probe_free(p);
    return NULL;
}

void service_probes_run(struct service_probes *all)
{
    if (!all->list || all->loop)
        return;
    all->loop = loop_new();
    all->httpc = network_clients_new_http(all->loop, all->conf);
    for (struct service_probe *p = all->list; p; p = p->next)
        if (!p->why)
            p->why = service_probe_send(p, all->httpc);
    for (struct service_probe *p = all->list; p; p = p->next)
        while (!p->why && !p->done)
            loop_run_once(all->loop, -1);
}

void service_probes_free(struct service_probes *all)
{
    if (!all)
        return;
    for (struct service_probe *p; (p = all->list);) {
        all->list = p->next;
        service_probe_free(p);
    }
    if (all->loop) {
        httpc_free(all->httpc);
        loop_free(all->loop);
    }
    free(all);
}

/* ---- results ---- */

/* The secret is wrong, or the service requires one and none is set. */
static struct finding service_probe_describe_refusal(struct service_probe *p)
{
    struct arena *const a = &p->arena;
    const char *const set = service_probe_find_secret(p, true);
    const char *const key = set ? set : service_probe_find_secret(p, false);
    const struct conf_option *const o = key ? conf_option_find(p->inst->options, key) : NULL;
    const char *const file = o ? o->file : p->inst->file;
    const int line = o ? o->line : p->inst->line;
    const char *const reason = p->reason    ? p->reason
                               : p->is_mail ? p->error
                                            : arena_sprintf(a, "status %d", p->status);
    return (struct finding){
        FINDING_ERROR,
        line ? (file ? file : p->conf->file) : NULL,
        line,
        arena_sprintf(a, "plugins.instances.%s%s%s", p->inst->name, key ? "." : "", key ? key : ""),
        set ? arena_sprintf(a, "%s does not accept %s (%s)", p->host, set, reason)
            : arena_sprintf(a, "%s does not accept requests without credentials (%s)", p->host,
                            reason),
        key ? arena_sprintf(a, "set %s%s", set ? "a valid " : "", key)
            : "use an instance of another service"};
}

static struct finding service_probe_describe_silence(struct service_probe *p)
{
    struct arena *const a = &p->arena;
    if (p->outcome == HTTPC_REJECTED)
        return (struct finding){.level = FINDING_ERROR,
                                .text = arena_sprintf(a, "cannot ask %s: %s", p->host, p->error),
                                .remedy =
                                    "change the URL of the service in the options of the instance"};
    return (struct finding){.level = FINDING_WARNING,
                            .text = arena_sprintf(a, "cannot reach %s: %s", p->host, p->error),
                            .remedy = "check the network, the proxy and the URL of the service"};
}

/* Whether the status means wrong credentials, in contrast to a busy service or a wrong address. */
static bool service_probe_is_refusal(const struct service_probe *p)
{
    if (p->is_mail)
        return p->status >= 500;
    if (p->status == 401 || p->status == 403)
        return true;
    return p->status != 429 && p->status < 500 && p->is_json;
}

/* Other statuses depend on the request body, which is not known in advance. */
static struct finding service_probe_check_address(struct service_probe *p)
{
    struct arena *const a = &p->arena;
    const bool is_redirect = p->status >= 300 && p->status < 400;
    if (is_redirect || p->status == 404 || p->status == 410 || p->status >= 500)
        return (struct finding){
            .level = FINDING_WARNING,
            .text = arena_sprintf(a, "%s answers with status %d", p->host, p->status),
            .remedy = "check the URL in the options of the instance, and the server"};
    return (struct finding){.level = FINDING_OK,
                            .text = arena_sprintf(a, "%s answers (status %d)", p->host, p->status)};
}

struct finding service_probe_get_finding(struct service_probe *p)
{
    struct arena *const a = &p->arena;
    if (p->why)
        return (struct finding){.level = FINDING_WARNING,
                                .text = arena_sprintf(a, "cannot ask the service: %s", p->why),
                                .remedy = "the plugin's probe is wrong"};
    if (p->is_proved)
        return (struct finding){.level = FINDING_OK,
                                .text = arena_sprintf(a, "%s accepts %s%s%s%s", p->host,
                                                      service_probe_find_secret(p, true)
                                                          ? "the credentials"
                                                          : "requests without credentials",
                                                      p->account ? " (account " : "",
                                                      p->account ? p->account : "",
                                                      p->account ? ")" : "")};
    if (!p->status)
        return service_probe_describe_silence(p);
    if (p->probe->address)
        return service_probe_check_address(p);
    if (!service_probe_is_refusal(p))
        return (struct finding){
            .level = FINDING_WARNING,
            .text = arena_sprintf(a, "%s answers with status %d%s: not checked", p->host, p->status,
                                  p->is_json || p->is_mail ? "" : " and no JSON"),
            .remedy = "run turncast doctor again later"};
    return service_probe_describe_refusal(p);
}
