/* SPDX-License-Identifier: MIT
 * Messages that wait for their files. A message with references to files is stored, so that it can
 * be acknowledged; then its files are fetched, and the message is passed to the agent when the
 * files have arrived or failed. The parts of an album become one message, which is addressed to the
 * bot if one part is. Messages of one conversation keep their order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/sound_name.h"
#include "base/sys/clock.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_target.h"
#include "text/sentence/texts.h"

#define STORE_KEY "chat.waiting"
#define STORE_BYTES ((size_t)60 << 10) /* all waiting messages */
#define ALBUM_MS 1000                  /* maximum interval between the parts of an album */
#define FETCH_MS 60000                 /* for all files of a message */
#define AGAIN_MS 5000
#define FILES_MAX 32
#define WAITING_MAX 10 /* messages of one person */
#define NAME_MAX_BYTES 120
#define DONE_MAX 200 /* ids of messages that were handed over */

struct chat_parcel {
    TAILQ_ENTRY(chat_parcel) entry;
    json_t *message;  /* as pack() writes it; files without "path" have not arrived yet */
    size_t open;      /* files that are being fetched */
    int64_t due_ms;   /* monotonic: time at which fetching the files of an album begins; 0: begun */
    int64_t until_ms; /* monotonic: deadline of the files */
    unsigned number;
};

/* ---- as JSON ---- */

/* Returns the file name for the agent: without directories, without characters that a shell
 * interprets, and without a dot at the beginning. */
static const char *clean_name(struct chat *c, const char *given)
{
    const char *const slash = given ? strrchr(given, '/') : NULL;
    const char *const last = slash ? slash + 1 : given ? given : "";
    const char *const begin = last + strspn(last, ". ");
    char *const name =
        arena_strndup(&c->scratch, begin, utf8_truncated_len(begin, strlen(begin), NAME_MAX_BYTES));
    for (char *p = name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
        else if (strchr("\\/:*?\"<>|`$;&'", *p))
            *p = '_';
    return *name ? name : "file";
}

/* The agent and `transcribe` (turncast.conf(5)) know the format of a file by its name: the host
 * saves it under a random one without an extension. */
static const char *name_for_agent(struct chat *c, const struct tc_chat_file *f)
{
    const char *const name = clean_name(c, f->name);
    const char *const extension = sound_name_extension(f->type);
    return extension && !sound_name_is(name) ? arena_sprintf(&c->scratch, "%s.%s", name, extension)
                                             : name;
}

static json_t *chat_files_pack_files(struct chat *c, const struct tc_chat_message *m)
{
    json_t *const files = json_array();
    for (size_t i = 0; i < m->file_count && i < FILES_MAX; i++) {
        const struct tc_chat_file *const f = &m->files[i];
        json_t *const file = json_object();
        chat_json_set_text(file, "name", name_for_agent(c, f));
        chat_json_set_text(file, "type", f->type);
        chat_json_set_text(file, "ref", f->ref);
        chat_json_set_text(file, "path", f->path);
        json_array_append_new(files, file);
    }
    return files;
}

static json_t *chat_files_pack_message(struct chat *c, const struct tc_chat_message *m)
{
    json_t *const json = json_pack("{s:o, s:o}", "to", chat_target_to_json(&m->target), "files",
                                   chat_files_pack_files(c, m));
    chat_json_set_text(json, "id", m->id);
    chat_json_set_text(json, "also", m->also);
    chat_json_set_text(json, "topic", m->topic);
    chat_json_set_text(json, "user", m->user);
    chat_json_set_text(json, "name", m->name);
    chat_json_set_text(json, "text", m->text);
    chat_json_set_text(json, "quote", m->quote);
    chat_json_set_text(json, "group", m->group);
    chat_json_set_text(json, "kind", m->kind);
    return json;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_of_conversation(const struct chat_parcel *p, const struct tc_chat_message *m)
{
    const struct tc_target to = chat_target_from_json(json_object_get(p->message, "to"));
    return is_same(to.chat, m->target.chat) &&
           is_same(chat_json_text(p->message, "topic"), m->topic);
}

/* ---- messages that wait ---- */

static void free_parcel(struct chat *c, struct chat_parcel *p)
{
    TAILQ_REMOVE(&c->parcels.list, p, entry);
    json_decref(p->message);
    free(p);
}

void chat_files_free(struct chat *c)
{
    while (!TAILQ_EMPTY(&c->parcels.list))
        free_parcel(c, TAILQ_FIRST(&c->parcels.list));
    json_decref(c->parcels.done);
}

/* Without the paths of fetched files, which other hosts do not have. */
static json_t *write_parcel(const struct chat_parcel *p)
{
    json_t *const message = alloc_check(json_deep_copy(p->message), 1);
    json_t *file;
    size_t i;
    json_array_foreach(json_object_get(message, "files"), i, file) json_object_del(file, "path");
    return message;
}

static char *write_parcels(const struct chat *c)
{
    json_t *const list = json_array();
    const struct chat_parcel *p;
    TAILQ_FOREACH(p, &c->parcels.list, entry)
    json_array_append_new(list, write_parcel(p));
    char *const text = alloc_check(json_dumps(list, JSON_COMPACT), 1);
    json_decref(list);
    return text;
}

/* False: the messages need more than STORE_BYTES. */
static bool store_parcels(struct chat *c)
{
    char *const text = write_parcels(c);
    const bool fits = strlen(text) <= STORE_BYTES;
    const bool stored =
        fits && tc_store(c->inst, STORE_KEY, TAILQ_EMPTY(&c->parcels.list) ? NULL : text) == 0;
    free(text);
    return stored;
}

static struct chat_parcel *chat_files_add_parcel(struct chat *c, json_t *message)
{
    struct chat_parcel *const p = xcalloc(1, sizeof *p);
    const bool album = chat_json_text(message, "group") != NULL;
    p->message = message;
    p->number = ++c->parcels.last;
    p->due_ms = album ? clock_mono_ms() + ALBUM_MS : 0;
    TAILQ_INSERT_TAIL(&c->parcels.list, p, entry);
    return p;
}

/* Whether the message was written in a group, and no part of it is addressed to the bot so far. */
static bool chat_files_is_unaddressed(const struct chat_parcel *p)
{
    return chat_json_true(p->message, "for_others");
}

/* Finds an album whose parts are still arriving. */
static struct chat_parcel *find_album(const struct chat *c, const struct tc_chat_message *m)
{
    struct chat_parcel *p;
    TAILQ_FOREACH(p, &c->parcels.list, entry)
    if (m->group && p->due_ms && is_of_conversation(p, m) &&
        is_same(chat_json_text(p->message, "group"), m->group))
        break;
    return p;
}

static bool has_id(const json_t *ids, const char *id)
{
    const json_t *one;
    size_t i;
    json_array_foreach(ids, i, one) if (is_same(json_string_value(one), id)) return true;
    return false;
}

/* Whether the message waits, alone or as a part of an album, or has already been passed on. */
static bool is_known(const struct chat *c, const struct tc_chat_message *m)
{
    const struct chat_parcel *p;
    TAILQ_FOREACH(p, &c->parcels.list, entry)
    if (is_same(chat_json_text(p->message, "id"), m->id) ||
        (m->also && is_same(chat_json_text(p->message, "also"), m->also)) ||
        has_id(json_object_get(p->message, "ids"), m->id))
        return true;
    return has_id(c->parcels.done, m->id);
}

static size_t count_of_person(const struct chat *c, const char *user)
{
    size_t n = 0;
    const struct chat_parcel *p;
    TAILQ_FOREACH(p, &c->parcels.list, entry)
    n += is_same(chat_json_text(p->message, "user"), user);
    return n;
}

static bool is_blocked(const struct chat *c, const struct tc_chat_message *m)
{
    const struct chat_parcel *p;
    TAILQ_FOREACH(p, &c->parcels.list, entry)
    if (is_of_conversation(p, m))
        return true;
    return false;
}

/* ---- fetching ---- */

static int64_t next_due(const struct chat *c)
{
    int64_t due = INT64_MAX;
    const struct chat_parcel *p;
    TAILQ_FOREACH(p, &c->parcels.list, entry)
    {
        const int64_t at = p->due_ms ? p->due_ms : p->until_ms ? p->until_ms : INT64_MAX;
        due = at < due ? at : due;
    }
    return due;
}

static void chat_files_schedule(struct chat *c)
{
    const int64_t due = next_due(c), now = clock_mono_ms();
    c->hooks.wake(c->hooks.ctx, c->inst->lobby, due == INT64_MAX ? -1 : due > now ? due - now : 1);
}

static void chat_files_fetch(struct chat *c, struct chat_parcel *p, size_t i, unsigned step,
                             const char *cursor, int64_t delay_ms)
{
    const json_t *const file = json_array_get(json_object_get(p->message, "files"), i);
    const struct chat_record r = {
        .op = TC_OP_FETCH,
        .slot = arena_sprintf(&c->scratch, CHAT_SLOT_FETCH ":%u:%zu", p->number, i),
        .file.ref = chat_json_text(file, "ref"),
        .file.name = chat_json_text(file, "name"),
        .file.type = chat_json_text(file, "type"),
        .step = step,
        .cursor = cursor,
    };
    p->open++;
    if (chat_send(c, c->inst->lobby, &r, &(struct chat_send_extra){.delay_ms = delay_ms}) < 0)
        p->open--;
}

static void chat_files_begin_fetching(struct chat *c, struct chat_parcel *p)
{
    const json_t *file;
    size_t i;
    p->due_ms = 0;
    p->until_ms = clock_mono_ms() + FETCH_MS;
    json_array_foreach(json_object_get(p->message, "files"), i,
                       file) if (chat_can(c, TC_OP_FETCH) && chat_json_text(file, "ref") &&
                                 !chat_files_is_unaddressed(p) && !chat_json_text(file, "path"))
        chat_files_fetch(c, p, i, 0, NULL, 0);
}

/* ---- handing over ---- */

static const char *text_with_notes(struct chat *c, const struct chat_parcel *p)
{
    const char *text = chat_json_text(p->message, "text");
    const json_t *file;
    size_t i;
    text = text ? text : "";
    json_array_foreach(json_object_get(p->message, "files"), i,
                       file) if (!chat_json_text(file, "path")) text =
        arena_sprintf(
            &c->scratch, "%s%s[%s: %s]", text, *text ? "\n" : "", chat_json_text(file, "name"),
            chat_json_text(file, "why") ? chat_json_text(file, "why") : "download failed");
    return text;
}

static enum tc_accepted submit_parcel(struct chat *c, const struct chat_parcel *p)
{
    const char *paths[FILES_MAX], *names[FILES_MAX];
    size_t n = 0, i;
    const json_t *file;
    json_array_foreach(json_object_get(p->message, "files"), i,
                       file) if (chat_json_text(file, "path") && n < FILES_MAX)
    {
        paths[n] = chat_json_text(file, "path");
        names[n++] = chat_json_text(file, "name");
    }
    const struct tc_chat_message m = {
        .id = chat_json_text(p->message, "id"),
        .also = chat_json_text(p->message, "also"),
        .target = chat_target_from_json(json_object_get(p->message, "to")),
        .topic = chat_json_text(p->message, "topic"),
        .user = chat_json_text(p->message, "user"),
        .name = chat_json_text(p->message, "name"),
        .text = text_with_notes(c, p),
        .quote = chat_json_text(p->message, "quote"),
        .kind = chat_json_text(p->message, "kind"),
    };
    return chat_submit(c, &m, paths, names, n);
}

/* Stores the ids of a message that was passed on. The service may deliver it again if the
 * acknowledgement was lost, and for an album the host only has the id of the first part. */
static void chat_files_record_passed_on(struct chat *c, const struct chat_parcel *p)
{
    json_array_append(c->parcels.done, json_object_get(p->message, "id"));
    json_array_extend(c->parcels.done, json_object_get(p->message, "ids"));
    while (json_array_size(c->parcels.done) > DONE_MAX)
        json_array_remove(c->parcels.done, 0);
}

/* Passes on each message that is complete and the first of its conversation. */
static void chat_files_pass_on_complete(struct chat *c)
{
    struct chat_parcel *p, *next, *before;
    for (p = TAILQ_FIRST(&c->parcels.list); p; p = next) {
        const struct tc_chat_message m = {
            .target = chat_target_from_json(json_object_get(p->message, "to")),
            .topic = chat_json_text(p->message, "topic")};
        next = TAILQ_NEXT(p, entry);
        TAILQ_FOREACH(before, &c->parcels.list, entry)
        if (before == p || is_of_conversation(before, &m))
            break;
        if (before != p || p->due_ms || p->open)
            continue;
        if (!chat_files_is_unaddressed(p) && submit_parcel(c, p) == TC_NOT_KEPT) {
            p->due_ms = clock_mono_ms() + AGAIN_MS;
            continue;
        }
        chat_files_record_passed_on(c, p);
        free_parcel(c, p);
        store_parcels(c);
    }
    chat_files_schedule(c);
}

void chat_files_wake(struct chat *c)
{
    const int64_t now = clock_mono_ms();
    struct chat_parcel *p;
    TAILQ_FOREACH(p, &c->parcels.list, entry)
    {
        if (p->due_ms && p->due_ms <= now && !p->until_ms)
            chat_files_begin_fetching(c, p);
        else if (p->due_ms && p->due_ms <= now)
            p->due_ms = 0; /* the message could not be stored; it is passed on again later */
        else if (p->until_ms && p->until_ms <= now)
            p->open = 0; /* the remaining files are not fetched */
    }
    chat_files_pass_on_complete(c);
}

/* ---- taking in ---- */

static void chat_files_add_to_album(struct chat *c, struct chat_parcel *p,
                                    const struct tc_chat_message *m)
{
    const char *const text = chat_json_text(p->message, "text");
    json_t *const more = chat_files_pack_files(c, m);
    json_t *ids = json_object_get(p->message, "ids");
    json_array_extend(json_object_get(p->message, "files"), more);
    json_decref(more);
    if ((!text || !*text) && m->text)
        chat_json_set_text(p->message, "text", m->text);
    if (!ids) {
        ids = json_array();
        json_object_set_new(p->message, "ids", ids);
    }
    json_array_append_new(ids, json_string(m->id));
}

bool chat_files_wait(const struct chat *c, const struct tc_chat_message *m)
{
    return m->file_count > 0 || m->group || is_known(c, m) ||
           (is_blocked(c, m) && !(m->text && (m->text[0] == '/' || m->text[0] == '!')));
}

static enum tc_accepted chat_files_refuse_full(struct chat *c, const struct tc_chat_message *m,
                                               bool addressed)
{
    if (addressed)
        chat_reply(c, c->inst->lobby, &m->target, texts_get(TEXT_CHAT_FILES_FULL));
    return TC_FULL;
}

enum tc_accepted chat_files_accept(struct chat *c, const struct tc_chat_message *m, bool addressed)
{
    if (is_known(c, m))
        return TC_KNOWN;
    if (!tc_may_submit(c->inst->lobby, m->user, m->target.chat))
        return TC_DENIED; /* no files are fetched for strangers */
    struct chat_parcel *p = find_album(c, m);
    if (!p && count_of_person(c, m->user) >= WAITING_MAX)
        return chat_files_refuse_full(c, m, addressed);
    const bool is_new = !p;
    if (p)
        chat_files_add_to_album(c, p, m);
    else
        p = chat_files_add_parcel(c, chat_files_pack_message(c, m));
    if (addressed)
        json_object_del(p->message, "for_others");
    else if (is_new)
        json_object_set_new(p->message, "for_others", json_true());
    if (!store_parcels(c)) {
        free_parcel(c, p);
        return chat_files_refuse_full(c, m, addressed);
    }
    if (!p->due_ms)
        chat_files_begin_fetching(c, p);
    chat_files_pass_on_complete(c);
    return TC_ACCEPTED;
}

void chat_files_begin(struct chat *c)
{
    char *const text = xstrdup(tc_load(c->inst, STORE_KEY));
    json_t *const list = text ? json_loads(text, 0, NULL) : NULL;
    json_t *one;
    size_t i;
    free(text);
    json_array_foreach(list, i, one) if (chat_json_text(one, "id") &&
                                         chat_json_text(json_object_get(one, "to"), "chat"))
        chat_files_begin_fetching(c, chat_files_add_parcel(c, json_incref(one)));
    json_decref(list);
    chat_files_pass_on_complete(c);
}

/* ---- results ---- */

static struct chat_parcel *find_record(const struct chat *c, const struct chat_record *r, size_t *i)
{
    unsigned number;
    struct chat_parcel *p;
    if (sscanf(r->slot, CHAT_SLOT_FETCH ":%u:%zu", &number, i) != 2)
        return NULL;
    TAILQ_FOREACH(p, &c->parcels.list, entry)
    if (p->number == number)
        break;
    return p;
}

void chat_files_handle_result(struct chat *c, const struct chat_record *r,
                              const struct chat_result *result, const struct tc_reply *reply,
                              struct tc_verdict *v)
{
    size_t i = 0;
    const enum tc_result_kind kind = result->result.kind;
    const char *const path = reply->path ? reply->path : result->result.path;
    struct chat_parcel *const p = find_record(c, r, &i);
    v->next = TC_NEXT_DONE;
    if (!p || !p->open)
        return; /* the deadline of the message has passed */
    if (kind == TC_RESULT_RETRY || kind == TC_RESULT_IN_DOUBT) {
        v->next = TC_NEXT_AGAIN; /* until the deadline of the message */
        return;
    }
    json_t *const file = json_array_get(json_object_get(p->message, "files"), i);
    p->open--;
    if (kind == TC_RESULT_NEXT_STEP)
        chat_files_fetch(c, p, i, r->step + 1, result->result.cursor, 0);
    else if (kind == TC_RESULT_DONE && path)
        chat_json_set_text(file, "path", path);
    else if (reply->outcome == TC_OK) /* the note for the agent names the reason */
        chat_json_set_text(file, "why", result->result.reason);
    chat_files_pass_on_complete(c);
}

void chat_files_handle_drop(struct chat *c, const struct chat_record *r)
{
    size_t i;
    struct chat_parcel *const p = find_record(c, r, &i);
    if (!p || !p->open)
        return;
    p->open--;
    chat_files_pass_on_complete(c);
}
