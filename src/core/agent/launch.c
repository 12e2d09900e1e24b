/* SPDX-License-Identifier: MIT
 * Builds the arguments and the environment of an agent. */
#include "core/agent/launch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/uuid.h"
#include "io/process/libexec.h"

#define ID_MAX 128
#define CONVERSATION_MAX 1024
#define OWNER_VARIABLE "TURNCAST_OWNER"

struct words {
    char **v; /* NULL-terminated */
    size_t n;
};

static void launch_add(struct words *w, char *word)
{
    w->v = xrealloc(w->v, (w->n + 2) * sizeof *w->v);
    w->v[w->n++] = word;
    w->v[w->n] = NULL;
}

void launch_free(char **words)
{
    for (char **p = words; p && *p; p++)
        free(*p);
    free(words);
}

/* --- arguments ---------------------------------------------------------------------------- */

bool launch_is_session_id(const char *id)
{
    const size_t len = strlen(id);
    if (!len || len > ID_MAX || id[0] == '-')
        return false;
    return strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

static bool is_conversation(const char *id)
{
    const size_t len = strlen(id);
    if (!len || len > CONVERSATION_MAX || id[0] == '-' || !utf8_is_valid(id, len))
        return false;
    for (const char *p = id; *p; p++)
        if (iscntrl((unsigned char)*p))
            return false;
    return true;
}

struct values {
    char session_id[ID_MAX + 1];
    const char *conversation;
};

/* Without a model, its argument is left out, together with an option in front of it. */
static void drop_model(struct words *w, const char *arg)
{
    if (*arg == '-' || !w->n || *w->v[w->n - 1] != '-')
        return;
    free(w->v[--w->n]);
    w->v[w->n] = NULL;
}

static int add_arg(struct words *w, const char *arg, const struct values *v,
                   const struct conf_agent *agent, struct tc_err *err)
{
    const char *const word = conf_find_placeholder(arg), *value = NULL;
    if (word && strcmp(word, CONF_MODEL) == 0) {
        value = agent->variant.model;
        if (!value) {
            drop_model(w, arg);
            return 0;
        }
    } else if (word && strcmp(word, "{session_id}") == 0) {
        value = v->session_id;
    } else if (word && strcmp(word, "{conversation}") == 0) {
        value = v->conversation;
        if (!value)
            return err_set(
                err, agent->name,
                "command contains {conversation}, but the turn has none; use --conversation NAME");
    }
    launch_add(w, value ? xasprintf("%.*s%s", (int)(word - arg), arg, value) : xstrdup(arg));
    return 0;
}

static int add_args(struct words *w, char *const *args, const struct values *v,
                    const struct conf_agent *agent, struct tc_err *err)
{
    for (; *args; args++)
        if (add_arg(w, *args, v, agent, err) < 0)
            return -1;
    return 0;
}

static int check_values(const struct conf_agent *agent, const char *session_id,
                        const char *conversation, struct tc_err *err)
{
    if (session_id && !launch_is_session_id(session_id))
        return err_set(
            err, agent->name,
            "invalid session ID: use letters, digits, \"-\" and \"_\", at most %d characters",
            ID_MAX);
    if (conversation && !is_conversation(conversation))
        return err_set(
            err, agent->name,
            "invalid conversation name: no control characters, no leading \"-\", at most %d bytes",
            CONVERSATION_MAX);
    return 0;
}

static void launch_add_redis(struct words *w, const struct conf_store *server)
{
    launch_add(w, xstrdup("redis"));
    launch_add(w, server->path ? xasprintf("path=%s", server->path)
                               : xasprintf("host=%s", server->host));
    launch_add(w, xasprintf("port=%lld", (long long)server->port));
    launch_add(w, xasprintf("database=%lld", (long long)server->database));
    launch_add(w, xasprintf("prefix=%s", server->prefix));
    launch_add(w, xstrdup("--"));
}

static void launch_add_setting(struct words *w, const char *name, const char *value)
{
    if (value)
        launch_add(w, xasprintf("%s=%s", name, value));
}

static void launch_add_tls(struct words *w, const struct conf_tls *tls)
{
    launch_add_setting(w, "ca", tls->ca);
    launch_add_setting(w, "cert", tls->cert);
    launch_add_setting(w, "key", tls->key);
}

static void launch_add_service(struct words *w, const struct conf_service *s)
{
    launch_add(w, xstrdup("sse"));
    launch_add(w, xasprintf("agent=%s", s->agent));
    launch_add(w, xasprintf("url=%s", s->url));
    launch_add(w, xasprintf("outage_ms=%lld", (long long)s->outage_ms));
    launch_add_setting(w, "remote_agent", s->remote_agent);
    launch_add_tls(w, &s->tls);
}

static void launch_add_nats(struct words *w, const struct conf_nats *nats)
{
    const struct conf_bus *const servers = &nats->servers;
    CLEANUP_BUF struct buf urls = {0};
    for (char **url = servers->urls; *url; url++)
        buf_printf(&urls, "%s%s", urls.len ? "," : "", *url);
    launch_add(w, xstrdup("nats"));
    launch_add_setting(w, "url", urls.p);
    launch_add_setting(w, "subject", nats->subject);
    launch_add_setting(w, "agent", nats->agent);
    launch_add_setting(w, "credentials_file", servers->creds_file);
    launch_add_setting(w, "proof", servers->token ? "token" : NULL);
    launch_add_tls(w, &servers->tls);
    launch_add_setting(w, "tls", servers->is_encrypted ? "yes" : NULL);
}

/* Secret for the environment of turncast-remote; NULL: none. */
static const char *launch_transport_secret(const struct conf_transport *t)
{
    switch (t->kind) {
    case CONF_TRANSPORT_SSE:
        return t->service.secret;
    case CONF_TRANSPORT_NATS:
        return t->nats->servers.token ? t->nats->servers.token : t->nats->servers.credentials;
    case CONF_TRANSPORT_NONE:
    case CONF_TRANSPORT_REDIS:
        break;
    }
    return t->redis.password;
}

/* Arguments of turncast-remote, if the agent's events do not come from its standard output. */
static int add_transport(struct words *w, const struct conf_agent *agent, struct tc_err *err)
{
    if (!agent->transport.kind)
        return 0;
    char *const program = libexec_find("turncast-remote", "TURNCAST_REMOTE", agent->name, err);
    if (!program)
        return -1;
    launch_add(w, program);
    if (agent->transport.kind == CONF_TRANSPORT_REDIS)
        launch_add_redis(w, &agent->transport.redis);
    else if (agent->transport.kind == CONF_TRANSPORT_NATS)
        launch_add_nats(w, agent->transport.nats);
    else
        launch_add_service(w, &agent->transport.service);
    return 0;
}

char **launch_build_argv(const struct conf_agent *agent, const char *session_id,
                         const char *conversation, struct tc_err *err)
{
    if (check_values(agent, session_id, conversation, err) < 0)
        return NULL;
    struct values v = {.conversation = conversation};
    if (session_id)
        memcpy(v.session_id, session_id, strlen(session_id) + 1);
    else
        uuid_make(v.session_id);
    struct words w = {0};
    if (add_args(&w, agent->prefix, &v, agent, err) < 0 || add_transport(&w, agent, err) < 0 ||
        add_args(&w, agent->command, &v, agent, err) < 0 ||
        (session_id && add_args(&w, agent->resume, &v, agent, err) < 0)) {
        launch_free(w.v);
        return NULL;
    }
    return w.v;
}

/* --- environment -------------------------------------------------------------------------- */

static const char *const basic[] = {
    "PATH", "HOME", "LANG", "LC_*", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR", NULL,
};

static const char *const never[] = {
    "TURNCAST_*",    "LD_*",         "CLAUDECODE", "CLAUDE_CODE_*",
    "ANTHROPIC_LOG", "NODE_OPTIONS", "DEBUG",      NULL,
};

static const char *const credential = "CLAUDE_CODE_OAUTH_TOKEN";

static size_t launch_name_len(const char *var)
{
    return strcspn(var, "=");
}

static bool launch_is_name(const char *name, const char *var)
{
    return strlen(name) == launch_name_len(var) && strncmp(name, var, launch_name_len(var)) == 0;
}

/* Matches a name, or a prefix and '*'. */
static bool is_match(const char *pattern, const char *var)
{
    const size_t len = strlen(pattern);
    if (len && pattern[len - 1] == '*')
        return launch_name_len(var) >= len - 1 && strncmp(pattern, var, len - 1) == 0;
    return launch_is_name(pattern, var);
}

static bool launch_is_listed(const char *const *patterns, const char *var)
{
    for (; *patterns; patterns++)
        if (is_match(*patterns, var))
            return true;
    return false;
}

static bool is_passed(const struct conf_agent *agent, const char *var)
{
    if (launch_is_listed(never, var) && !launch_is_name(credential, var))
        return false;
    if (launch_is_listed(basic, var))
        return true;
    for (char *const *pass = agent->env_pass; *pass; pass++)
        if (launch_is_name(*pass, var) || (is_match(*pass, var) && !launch_is_listed(never, var)))
            return true;
    return false;
}

static void launch_set(struct words *w, const char *var)
{
    for (size_t i = 0; i < w->n; i++)
        if (launch_name_len(w->v[i]) == launch_name_len(var) &&
            strncmp(w->v[i], var, launch_name_len(var)) == 0) {
            free(w->v[i]);
            w->v[i] = xstrdup(var);
            return;
        }
    launch_add(w, xstrdup(var));
}

/* HOME follows the agent's user, not the user of the host. */
static void launch_set_user(struct words *w, const struct conf_user *u)
{
    const char *const names[] = {"HOME", "USER", "LOGNAME", "SHELL"};
    const char *const values[] = {u->home, u->name, u->name, u->shell};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CLEANUP_FREE char *var = xasprintf("%s=%s", names[i], values[i]);
        launch_set(w, var);
    }
}

void launch_set_owner(const char *state_dir)
{
    struct stat st;
    if (stat(state_dir, &st) < 0)
        return;
    CLEANUP_FREE char *owner = xasprintf("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    setenv(OWNER_VARIABLE, owner, 1);
}

char *launch_process_mark(const char *turn)
{
    const char *const owner = getenv(OWNER_VARIABLE);
    return xasprintf("TURNCAST_PROCESS=%s/%s", owner ? owner : "", turn);
}

char **launch_build_env(const struct conf_agent *agent, char *const *host, const char *turn)
{
    struct words w = {0};
    launch_set(&w, "TERM=dumb");
    for (; *host; host++)
        if (strchr(*host, '=') && is_passed(agent, *host))
            launch_set(&w, *host);
    if (agent->user)
        launch_set_user(&w, agent->user);
    for (char *const *var = agent->env_set; *var; var++)
        launch_set(&w, *var);
    if (turn) {
        CLEANUP_FREE char *variable = xasprintf("TURNCAST_TURN=%s", turn);
        CLEANUP_FREE char *mark = launch_process_mark(turn);
        launch_set(&w, variable);
        launch_set(&w, mark);
    }
    const char *const secret = launch_transport_secret(&agent->transport);
    if (secret) {
        CLEANUP_FREE char *variable = xasprintf(LAUNCH_SECRET_VARIABLE "=%s", secret);
        launch_set(&w, variable);
    }
    return w.v;
}
