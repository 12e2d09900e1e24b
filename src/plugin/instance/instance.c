/* SPDX-License-Identifier: MIT
 * An instance: its parts, and accessors. */
#include "plugin/instance/instance.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "conf/options/plugin_options.h"
#include "plugin/instance/instance_internal.h"
#include "plugin/instance/services.h"
#include "text/sentence/texts.h"

#define INSTANCE_MAGIC 0x74634931u

void instance_find_handled_kinds(struct instance *in)
{
    const struct tc_sink *const s = &in->loaded->sink;
#define WANTED(lower, UPPER, gate, pressure) in->wanted[TC_##UPPER] = s->on_##lower;
    EVENT_KINDS(WANTED)
}

struct instance *instance_new(const struct conf *conf, const struct conf_instance *spec,
                              const struct loaded_plugin *loaded,
                              const struct channel_callbacks *host, struct status_page *status,
                              struct tc_err *err)
{
    const struct tc_plugin *const plugin = &loaded->plugin;
    struct instance *const in = xcalloc(1, sizeof *in);
    in->magic = INSTANCE_MAGIC;
    in->thread = pthread_self(); /* until init */
    in->status = status ? status : &in->own_status;
    in->loaded = loaded;
    in->host = host ? *host : (struct channel_callbacks){0};
    in->name = xstrdup(spec->name);
    in->label = xasprintf("instance %s", spec->name);
    in->language = spec->chat.language;
    in->conf = plugin->options ? xcalloc(1, plugin->conf_size + 1) : NULL;
    if (plugin_options_fill_instance(in->conf, plugin, spec, conf->file, &in->arena, err) < 0) {
        instance_free(in);
        return NULL;
    }
    in->state = plugin->state_size ? xcalloc(1, plugin->state_size) : NULL;
    in->handle = (struct tc_instance){.host = services_table(),
                                      .name = in->name,
                                      .conf = in->conf,
                                      .state = in->state,
                                      .language = language_name(in->language)};
    instance_context_init(in);
    in->chaos = chaos_new(spec->chaos);
    instance_find_handled_kinds(in);
    return in;
}

void instance_free(struct instance *in)
{
    if (!in)
        return;
    TEXTS_IN(in->language);
    while (in->turns)
        instance_turn_free(in->turns);
    for (struct instance_turn *t = in->over.list, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    instance_context_fini(in);
    chat_free(in->chat);
    callback_batch_free(in->sending);
    chaos_free(in->chaos);
    wake_heap_fini(&in->wakes.plugin);
    wake_heap_fini(&in->wakes.chat);
    free(in->holds.held);
    instance_issuers_free(in);
    instance_link_free(in);
    runtime_secrets_fini(&in->secrets);
    stored_texts_fini(&in->memory.stored);
    stored_texts_fini(&in->memory.changed);
    arena_fini(&in->scratch);
    arena_fini(&in->arena);
    free(in->conf);
    free(in->state);
    free(in->name);
    free(in->label);
    in->magic = 0;
    free(in);
}

struct instance *instance_check(struct tc_instance *inst)
{
    struct instance *const in = inst ? CONTAINER(inst, struct instance, handle) : NULL;
    return in && in->magic == INSTANCE_MAGIC ? in : NULL;
}

bool instance_has_on_event(const struct instance *in)
{
    return in->loaded->sink.on_event != NULL;
}

void instance_begin_series(struct instance *in)
{
    status_page_begin_series(in->status);
}

void instance_end_series(struct instance *in)
{
    status_page_end_series(in->status);
}

const char *instance_label(const struct instance *in)
{
    return in->label;
}

const struct status_page *instance_status_page(const struct instance *in)
{
    return in->status;
}
