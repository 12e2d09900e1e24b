/* SPDX-License-Identifier: MIT
 * Persistent texts of an instance: tc_store, tc_load. Loads use a copy; changes are passed to the
 * host after the batch of the callback. */
#include "plugin/instance/services_internal.h"

static int instance_store(struct instance *in, const char *key, const char *text)
{
    if (text && stored_texts_set(&in->memory.stored, STORED_TEXTS_MAX, key, text) < 0)
        return -1;
    if (!text)
        stored_texts_remove(&in->memory.stored, key);
    return 0;
}

int service_store(struct tc_instance *inst, const char *key, const char *text)
{
    struct instance *const in = instance_check_thread(inst, "tc_store");
    if (!in || !services_check_offered(in, "tc_store", in->host.store, OFFER_STORE))
        return -1;
    const char *const fault = validate_stored(key, text);
    if (fault)
        return services_refuse(in, "tc_store", fault);
    const struct stored_text *const old = stored_texts_find(&in->memory.stored, key);
    if (text && old && strcmp(old->text, text) == 0)
        return 0;
    if (!stored_texts_find(&in->memory.changed, key) &&
        in->memory.changed.count == STORED_CHANGES_MAX)
        return services_refuse(in, "tc_store", "too many keys in one callback");
    if (instance_store(in, key, text) < 0)
        return services_refuse(in, "tc_store", "too many keys are stored (limit 64)");
    return stored_texts_set(&in->memory.changed, STORED_CHANGES_MAX, key, text);
}

char *service_load(struct tc_instance *inst, const char *key)
{
    struct instance *const in = instance_check_thread(inst, "tc_load");
    const struct stored_text *const s =
        in && key ? stored_texts_find(&in->memory.stored, key) : NULL;
    struct arena *const arena =
        s ? services_get_scratch(inst->lobby, strlen(s->text), "tc_load") : NULL;
    return arena ? arena_strdup(arena, s->text) : NULL;
}

void instance_load_stored(struct instance *in, const char *key, const char *text)
{
    stored_texts_set(&in->memory.stored, STORED_TEXTS_MAX, key, text);
}
