/* SPDX-License-Identifier: MIT
 * Messages, presses and reactions of people in the chat service of the program: passes them to the
 * host, which processes them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec_chat.h"

#define FILES_MAX ((size_t)32)

/* ---- files ---- */

/* Resolves links, which must not lead out of the directory. */
const char *exec_chat_find_file(const struct exec *e, const char *path)
{
    char directory[PATH_MAX], real[PATH_MAX];
    if (!getcwd(directory, sizeof directory) || !realpath(path, real))
        return NULL;
    const size_t n = strlen(directory);
    return strncmp(real, directory, n) == 0 && real[n] == '/'
               ? tc_sprint(e->inst->lobby, "%s", real)
               : NULL;
}

/* False: invalid path, or too many files. */
static bool people_read_files(const struct exec *e, const json_t *m,
                              struct tc_chat_file files[FILES_MAX], size_t *count)
{
    const json_t *const list = json_object_get(m, "files");
    const json_t *one;
    size_t i;
    *count = json_array_size(list);
    if (*count > FILES_MAX)
        return false;
    json_array_foreach(list, i, one)
    {
        const char *const path = tc_member_text(one, "path");
        files[i] = (struct tc_chat_file){.name = tc_member_text(one, "name"),
                                         .type = tc_member_text(one, "type"),
                                         .ref = tc_member_text(one, "ref"),
                                         .path = path ? exec_chat_find_file(e, path) : NULL};
        if (path && !files[i].path)
            return false;
    }
    return true;
}

/* ---- members ---- */

/* A member that is an object, as JSON text that is valid until the callback ends; or NULL. */
static const char *people_read_json(const struct exec *e, const json_t *m, const char *key)
{
    const json_t *const value = json_object_get(m, key);
    char *const text = json_is_object(value) ? json_dumps(value, JSON_COMPACT) : NULL;
    const char *const copy = text ? tc_sprint(e->inst->lobby, "%s", text) : NULL;
    free(text);
    return copy;
}

static struct tc_target people_read_target(const struct exec *e, const json_t *m)
{
    const json_t *const t = json_object_get(m, "target");
    return (struct tc_target){
        .chat = tc_member_text(t, "chat"),
        .thread = tc_member_text(t, "thread"),
        .message = tc_member_text(t, "message"),
        .user = tc_member_text(m, "user"),
        .more = people_read_json(e, t, "more"),
        .group = json_is_true(json_object_get(t, "group")),
    };
}

/* ---- messages ---- */

static const char *people_check_message(const struct tc_chat_message *m)
{
    if (m->chat_was && !m->id)
        return m->target.chat ? NULL : "target.chat must be a string";
    if (!m->id || !m->target.chat || !m->target.user)
        return "id, target.chat and user must be strings";
    return m->text || m->kind || m->file_count ? NULL : "a message needs a text, a kind or files";
}

const char *exec_chat_handle_message(struct exec *e, const json_t *m)
{
    static const char *const addressed[] = {"no", "thread", "yes"};
    struct tc_chat_file files[FILES_MAX];
    const struct tc_target target = people_read_target(e, m);
    const int to =
        exec_member_word(m, "addressed", addressed, EXEC_COUNT(addressed), TC_ADDRESSED_YES);
    struct tc_chat_message message = {
        .size = sizeof message,
        .id = tc_member_text(m, "id"),
        .also = tc_member_text(m, "also"),
        .target = target,
        .topic = tc_member_text(m, "topic"),
        .user = target.user,
        .name = tc_member_text(m, "name"),
        .text = tc_member_text(m, "text"),
        .quote = tc_member_text(m, "quote"),
        .reply_to = tc_member_text(m, "reply_to"),
        .reply_text = tc_member_text(m, "reply_text"),
        .reply_data = tc_member_text(m, "reply_data"),
        .addressed = (enum tc_addressed)to,
        .files = files,
        .kind = tc_member_text(m, "kind"),
        .group = tc_member_text(m, "group"),
        .chat_was = tc_member_text(m, "chat_was"),
    };
    if (to < 0)
        return "addressed must be yes, thread or no";
    if (!people_read_files(e, m, files, &message.file_count))
        return "files must be at most 32, and each path a file in the directory of the program";
    const char *const why = people_check_message(&message);
    if (why)
        return why;
    const enum tc_accepted how = tc_chat_receive(e->inst->lobby, &message);
    if (message.id)
        exec_message_reply(e, message.id, how, &(struct tc_receipt){0});
    return NULL;
}

/* ---- presses and reactions ---- */

const char *exec_chat_handle_action(struct exec *e, const json_t *m)
{
    const struct tc_target target = people_read_target(e, m);
    const int reaction =
        exec_member_word(m, "reaction", exec_chat_reactions, EXEC_CHAT_REACTIONS, 0);
    const struct tc_chat_action action = {
        .size = sizeof action,
        .id = tc_member_text(m, "id"),
        .data = tc_member_text(m, "data"),
        .reaction = (enum tc_reaction)reaction,
        .target = target,
        .topic = tc_member_text(m, "topic"),
        .user = target.user,
        .name = tc_member_text(m, "name"),
        .answers = people_read_json(e, m, "answers"),
        .stop = json_is_true(json_object_get(m, "stop")),
        .menu = json_is_true(json_object_get(m, "menu")),
    };
    if (!action.id || !target.chat || !target.user || reaction < 0)
        return "id, target.chat and user must be strings; reaction allow or deny";
    const int rc = tc_chat_act(e->inst->lobby, &action);
    exec_message_reply(e, action.id, rc < 0 ? TC_NOT_KEPT : TC_COMMAND, &(struct tc_receipt){0});
    return NULL;
}
