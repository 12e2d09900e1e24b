/* SPDX-License-Identifier: MIT
 * Lists choices, finds them by name, and applies them. */
#include "core/inbound/chat_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "core/inbound/inbound_internal.h"
#include "core/inbound/user_command.h"
#include "text/sentence/texts.h"

#define NAME_SHOWN ((size_t)80) /* bytes of an unknown name in the reply */

/* Values in the order of the list; the first is the default, stored as NULL. */
struct choice_list {
    const char *names[CONF_CHOICES_MAX + 1];
    size_t n, current;
};

static const struct {
    enum text_id head, hint, alone, chosen;
} sentences[BINDINGS_KINDS] = {
    [BINDING_AGENT] = {TEXT_AGENTS_HEAD, TEXT_AGENTS_HINT, TEXT_AGENTS_ONE, TEXT_AGENT_CHOSEN},
    [BINDING_MODEL] = {TEXT_MODELS_HEAD, TEXT_MODELS_HINT, TEXT_MODELS_ONE, TEXT_MODEL_CHOSEN},
    [BINDING_CWD] = {TEXT_CWDS_HEAD, TEXT_CWDS_HINT, TEXT_CWDS_ONE, TEXT_CWD_CHOSEN},
};

static void choice_list_add(struct choice_list *l, const char *name, const char *current)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->names[i], name) == 0)
            return;
    if (current && strcmp(name, current) == 0)
        l->current = l->n;
    l->names[l->n++] = name;
}

static void choice_list_add_all(struct choice_list *l, char *const *names, const char *current)
{
    for (; names && *names && l->n <= CONF_CHOICES_MAX; names++)
        choice_list_add(l, *names, current);
}

/* `own`: the default of the conversation; `now`: its current choice. */
static struct choice_list choice_list_make(const struct conf_instance *inst,
                                           const struct conf_agent *own,
                                           const struct conf_agent *now, enum bindings_kind kind)
{
    struct choice_list l = {0};
    switch (kind) {
    case BINDING_AGENT:
        choice_list_add(&l, own->name, now->name);
        choice_list_add_all(&l, inst->chat.agents, now->name);
        break;
    case BINDING_MODEL:
        choice_list_add(&l,
                        own->variant.model ? own->variant.model : texts_get(TEXT_CHOICE_DEFAULT),
                        now->variant.model);
        choice_list_add_all(&l, now->choices.models, now->variant.model);
        break;
    case BINDING_CWD:
        choice_list_add(&l, own->cwd ? own->cwd : texts_get(TEXT_CHOICE_DEFAULT), now->cwd);
        choice_list_add_all(&l, now->choices.cwds, now->cwd);
        break;
    }
    return l;
}

static const char *last_part(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Finds by name, by the last part of a path, or by number; l->n: none. */
static size_t choice_list_find(const struct choice_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->names[i], name) == 0)
            return i;
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(last_part(l->names[i]), name) == 0)
            return i;
    char *end;
    const unsigned long number = strtoul(name, &end, 10);
    if (!*end && number >= 1 && number <= l->n)
        return number - 1;
    const bool is_default = strcmp(name, texts_get(TEXT_CHOICE_DEFAULT)) == 0 ||
                            strcmp(name, texts_get_in(LANGUAGE_EN, TEXT_CHOICE_DEFAULT)) == 0;
    return is_default ? 0 : l->n;
}

static void choice_list_append(struct buf *out, const struct choice_list *l,
                               enum bindings_kind kind, char prefix)
{
    const char sign[] = {prefix, 0};
    texts_append(out, sentences[kind].head, NULL);
    for (size_t i = 0; i < l->n; i++) {
        buf_printf(out, "\n%zu. ", i + 1);
        if (i == l->current)
            texts_append(out, TEXT_CHOICE_CURRENT, TEXT_VALUES(TEXT_STR("name", l->names[i])));
        else
            buf_add_str(out, l->names[i]);
    }
    buf_add_str(out, "\n");
    texts_append(out, sentences[kind].hint, TEXT_VALUES(TEXT_STR("prefix", sign)));
}

static void choice_list_reply(struct host_call *a, const struct choice_list *l,
                              const struct conf_agent *now, enum bindings_kind kind,
                              const char *unknown)
{
    CLEANUP_BUF struct buf text = {0};
    if (unknown) {
        char name[NAME_SHOWN + 1];
        utf8_copy_truncated(name, sizeof name, unknown);
        texts_append(&text, TEXT_CHOICE_UNKNOWN, TEXT_VALUES(TEXT_STR("name", name)));
        buf_add_str(&text, "\n");
    }
    if (l->n > 1)
        choice_list_append(&text, l, kind, user_command_prefix(a->inbound->text));
    else
        texts_append(&text, sentences[kind].alone, TEXT_VALUES(TEXT_STR("agent", now->name)));
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

static void chat_choice_apply(struct inbound *r, struct host_call *a,
                              const struct conf_instance *inst, const char *key,
                              enum bindings_kind kind, const struct choice_list *l, size_t i)
{
    CLEANUP_BUF struct buf text = {0};
    const struct conversation *const c = turn_scheduler_find(r->spec.conversations, key);
    if (bindings_set(r->spec.bindings, key, kind, i ? l->names[i] : NULL) < 0) {
        host_call_complete(a, TC_COMMAND, NULL, texts_get(TEXT_CHOICE_FULL));
        return;
    }
    turn_scheduler_rebind(r->spec.conversations, key,
                          bindings_find_agent(r->spec.bindings, r->spec.conf, inst, key));
    texts_append(&text, sentences[kind].chosen, TEXT_VALUES(TEXT_STR("name", l->names[i])));
    if (c && c->job)
        texts_append(&text, TEXT_CHOICE_RUNNING, NULL);
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

void chat_choice_run(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                     enum bindings_kind kind, const char *name)
{
    CLEANUP_FREE char *key = inbound_make_key(inst->name, a->inbound->chat, a->inbound->thread);
    const struct conf *const conf = r->spec.conf;
    const struct conf_agent *own = bindings_find_agent(NULL, conf, inst, key);
    const struct conf_agent *const now = bindings_find_agent(r->spec.bindings, conf, inst, key);
    if (!own || !now) { /* removed in the meantime */
        host_call_complete(a, TC_DENIED, NULL, NULL);
        return;
    }
    if (kind != BINDING_AGENT && strcmp(own->name, now->name) != 0)
        own = conf_agent_choose(conf, now, NULL, NULL);
    const struct choice_list l = choice_list_make(inst, own, now, kind);
    const size_t i = *name ? choice_list_find(&l, name) : l.n;
    if (i < l.n)
        chat_choice_apply(r, a, inst, key, kind, &l, i);
    else
        choice_list_reply(a, &l, now, kind, *name ? name : NULL);
}

void chat_choice_append_status(struct buf *out, const struct conf_instance *inst,
                               const struct conf_agent *agent)
{
    if (!inst->chat.agents && !agent->choices.models && !agent->choices.cwds)
        return;
    texts_append(out, TEXT_STATUS_AGENT, TEXT_VALUES(TEXT_STR("agent", agent->name)));
    if (agent->variant.model)
        texts_append(out, TEXT_STATUS_MODEL, TEXT_VALUES(TEXT_STR("model", agent->variant.model)));
    if (agent->cwd)
        texts_append(out, TEXT_STATUS_CWD, TEXT_VALUES(TEXT_STR("cwd", agent->cwd)));
    buf_add_str(out, "\n");
}
