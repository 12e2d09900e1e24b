/* SPDX-License-Identifier: MIT
 * tc_encode: the current event in the format of another dialect. */
#include "base/sys/log.h"
#include "plugin/instance/instance_internal.h"

static const char *refuse_format(struct instance_turn *t, const char *name, const char *why)
{
    log_write(LOG_ERR, t->in->label, "tc_encode(\"%s\"): %s", name ? name : "", why);
    return NULL;
}

static bool instance_encode_open_writer(struct instance_turn *t, const struct tc_format *format)
{
    const struct writer *const writer = writer_find(format->name);
    if (!writer)
        return false;
    const bool has_settings = format->size > offsetof(struct tc_format, settings);
    writer_stream_init(
        &t->writing, writer,
        &(struct writer_conf){.framing = format->frames ? FRAMING_SSE : FRAMING_LINES,
                              .protocol = arena_strdup(&t->arena, format->protocol),
                              .agent = t->handle.agent,
                              .conversation = t->handle.conversation,
                              .settings =
                                  arena_strdup(&t->arena, has_settings ? format->settings : NULL)});
    return true;
}

const char *instance_encode_event(struct instance_turn *t, const struct tc_format *format,
                                  size_t *len)
{
    *len = 0;
    if (!t->delivering)
        return refuse_format(t, format->name, "no event is being delivered");
    if (!t->writing.writer && !instance_encode_open_writer(t, format))
        return refuse_format(t, format->name, "unknown format");
    if (strcmp(t->writing.writer->name, format->name) != 0)
        return refuse_format(t, format->name, "the turn is already written in another format");
    buf_reset(&t->encoded);
    buf_reserve(&t->encoded, 0);
    writer_stream_write(&t->writing, &t->encoded, t->delivering);
    *len = t->encoded.len;
    return t->encoded.p;
}
