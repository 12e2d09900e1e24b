/* SPDX-License-Identifier: MIT
 * Attachments of a message, as the service lists them: chooses the files that the host fetches, and
 * writes a note for the agent about each other file. */
#include <string.h>

#include "chat/chat_internal.h"

/* Returns the first existing member of these names, which are separated by blanks; or NULL. */
static const json_t *chat_attachments_find_member(struct chat *c, const json_t *one,
                                                  const char *names)
{
    const json_t *value = NULL;
    while (names && *names && !value) {
        const size_t n = strcspn(names, " ");
        value = json_object_get(one, arena_strndup(&c->scratch, names, n));
        value = json_is_null(value) ? NULL : value;
        names += n + strspn(names + n, " ");
    }
    return value;
}

static const char *chat_attachments_copy_text(struct chat *c, const json_t *one, const char *names)
{
    const char *const text = json_string_value(chat_attachments_find_member(c, one, names));
    return text ? arena_strdup(&c->scratch, text) : NULL;
}

/* Whether the connector accepts this address for a download. */
static bool chat_attachments_is_downloadable(struct chat *c, const struct tc_chat_file *file)
{
    const struct tc_op op = {.size = sizeof op,
                             .kind = TC_OP_FETCH,
                             .key = "",
                             .turn = "",
                             .text = "",
                             .plain = "",
                             .file = file};
    struct tc_http http = {.size = sizeof http};
    return file->ref && c->table.request(c->inst->lobby, &op, &http) == 0;
}

static const char *chat_attachments_find_fault(struct chat *c, const json_t *one,
                                               const struct tc_chat_file *file, size_t before)
{
    const struct tc_attachment_map *const map = &c->table.attachments;
    if (before == CHAT_ATTACHMENTS_MAX)
        return "too many files";
    if (map->bytes_max &&
        json_integer_value(chat_attachments_find_member(c, one, map->bytes)) > map->bytes_max)
        return "too large";
    return chat_attachments_is_downloadable(c, file) ? NULL : "not at the service";
}

size_t chat_attachments_read(struct chat *c, struct tc_chat_message *m, struct tc_chat_file *files)
{
    const struct tc_attachment_map *const map = &c->table.attachments;
    json_t *const list = json_loads(m->attachments, 0, NULL);
    const json_t *one;
    size_t i, n = 0;
    json_array_foreach(list, i, one)
    {
        const struct tc_chat_file file = {.name = chat_attachments_copy_text(c, one, map->name),
                                          .type = chat_attachments_copy_text(c, one, map->type),
                                          .ref = chat_attachments_copy_text(c, one, map->ref)};
        const char *const fault = chat_attachments_find_fault(c, one, &file, n);
        if (fault)
            m->text = arena_sprintf(&c->scratch, "%s%s[%s: not available: %s]", m->text,
                                    *m->text ? "\n" : "", file.name ? file.name : "file", fault);
        else
            files[n++] = file;
    }
    json_decref(list);
    return n;
}
