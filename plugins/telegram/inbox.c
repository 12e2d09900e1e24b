/* SPDX-License-Identifier: MIT
 * Owns the messages that come with files: an album is one message, files are fetched before the
 * agent gets it. Until then its updates are not confirmed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "telegram.h"

#define FILE_BYTES_MAX (20 << 20) /* what getFile gives */

#define ALBUM_MS 1000 /* the parts of an album come as fast as this */
#define AGAIN_MS 5000
#define FETCH_MS 60000
#define PARCELS_MAX 200
#define WAITING_MAX 10 /* of one person */

/* One message, or one album. */
struct parcel {
    struct parcel *next;
    char *album;     /* or NULL */
    json_t *updates; /* at least one */
    json_t *files;   /* {id, name, path}: without path it is not there */
    size_t open;     /* files that are being fetched */
    int64_t due_ms;  /* it is looked at then; 0: not */
    bool fetched, done;
    char note[400];
};

struct inbox {
    struct parcel *first;
    size_t count;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct parcel *parcels(const struct telegram *s)
{
    return s->inbox ? s->inbox->first : NULL;
}

static int64_t id_at(const struct parcel *p, size_t i)
{
    return telegram_int(json_array_get(p->updates, i), "update_id");
}

static struct parcel *parcel_of(const struct telegram *s, int64_t update_id)
{
    for (struct parcel *p = parcels(s); p; p = p->next)
        for (size_t i = 0; i < json_array_size(p->updates); i++)
            if (id_at(p, i) == update_id)
                return p;
    return NULL;
}

static void free_parcel(struct parcel *p)
{
    json_decref(p->updates);
    json_decref(p->files);
    free(p->album);
    free(p);
}

/* When a parcel is to be looked at next. */
static void schedule(struct tc_turn *lobby)
{
    int64_t due = 0;
    for (const struct parcel *p = parcels(state_of(lobby)); p; p = p->next)
        if (p->due_ms && (!due || p->due_ms < due))
            due = p->due_ms;
    const int64_t now = now_ms();
    tc_wake(lobby, !due ? -1 : due > now ? due - now : 1);
}

/* One that is done only remembers its updates: room for one that waits. */
static void make_room(struct inbox *inbox)
{
    struct parcel **oldest = NULL;
    for (struct parcel **at = &inbox->first; *at; at = &(*at)->next)
        if ((*at)->done)
            oldest = at;
    if (!oldest || inbox->count < PARCELS_MAX)
        return;
    struct parcel *const p = *oldest;
    *oldest = p->next;
    inbox->count--;
    free_parcel(p);
}

static struct parcel *new_parcel(struct telegram *s)
{
    struct parcel *const p = calloc(1, sizeof *p);
    if (!s->inbox)
        s->inbox = calloc(1, sizeof *s->inbox);
    if (s->inbox)
        make_room(s->inbox);
    if (!p || !s->inbox || s->inbox->count >= PARCELS_MAX) {
        free(p);
        return NULL;
    }
    p->updates = json_array();
    p->files = json_array();
    p->next = s->inbox->first;
    s->inbox->first = p;
    s->inbox->count++;
    return p;
}

bool inbox_has(const struct telegram *s, int64_t update_id, bool *done)
{
    const struct parcel *const p = parcel_of(s, update_id);
    *done = p && p->done;
    return p != NULL;
}

int64_t inbox_lowest(const struct telegram *s)
{
    int64_t lowest = 0;
    for (const struct parcel *p = parcels(s); p; p = p->next)
        for (size_t i = 0; !p->done && i < json_array_size(p->updates); i++)
            if (lowest == 0 || id_at(p, i) < lowest)
                lowest = id_at(p, i);
    return lowest;
}

void inbox_note(struct telegram *s, int64_t update_id)
{
    const int64_t lowest = inbox_lowest(s);
    if (!lowest || lowest > update_id || parcel_of(s, update_id))
        return;
    struct parcel *const p = new_parcel(s);
    if (!p)
        return;
    p->done = true;
    json_array_append_new(p->updates, json_pack("{s:I}", "update_id", (json_int_t)update_id));
}

static bool is_below(const struct parcel *p, int64_t offset)
{
    for (size_t i = 0; i < json_array_size(p->updates); i++)
        if (id_at(p, i) >= offset)
            return false;
    return true;
}

void inbox_forget_below(struct telegram *s, int64_t offset)
{
    for (struct parcel **at = s->inbox ? &s->inbox->first : NULL; at && *at;) {
        struct parcel *const p = *at;
        if (!p->done || !is_below(p, offset)) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        s->inbox->count--;
        free_parcel(p);
    }
}

/* ---- files of a message ---- */

/* Kinds of attachment, and what they are called when they have no name. */
static const struct {
    const char *key, *name;
} kinds[] = {{"document", "file"},   {"audio", "audio.mp3"},      {"voice", "voice.ogg"},
             {"video", "video.mp4"}, {"video_note", "video.mp4"}, {"animation", "animation.mp4"}};

/* Of UTF-8 that was cut somewhere: without the beginning of a character at its end. */
static void cut_character(char *text)
{
    size_t n = strlen(text), rest = 0;
    while (rest < n && rest < 3 && ((unsigned char)text[n - rest - 1] & 0xc0) == 0x80)
        rest++;
    const unsigned char lead = rest < n ? (unsigned char)text[n - rest - 1] : 0;
    const size_t wants = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    if (wants > rest)
        text[n - rest - 1] = '\0';
}

/* Nothing that a path, a shell or a log reads: no folders, no control characters, no dot first. */
static void safe_name(char *out, size_t cap, const char *given, const char *otherwise)
{
    const char *const slash = given ? strrchr(given, '/') : NULL;
    char name[120];
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : given ? given : otherwise);
    cut_character(name);
    for (char *p = name; *p; p++)
        if (strchr("\\/:*?\"<>|`$;&'", *p) || (unsigned char)*p < ' ' || *p == 0x7f)
            *p = (unsigned char)*p < ' ' || *p == 0x7f ? ' ' : '_';
    const size_t dots = strspn(name, ". ");
    snprintf(out, cap, "%s", name[dots] ? name + dots : otherwise);
}

static const json_t *largest(const json_t *photos)
{
    const json_t *best = NULL, *photo;
    size_t i;
    json_array_foreach(photos, i, photo) if (!best || telegram_int(photo, "width") >=
                                                          telegram_int(best, "width")) best = photo;
    return best;
}

static const json_t *file_of(const json_t *message, const char **otherwise)
{
    const json_t *const photos = json_object_get(message, "photo");
    *otherwise = "photo.jpg";
    if (json_array_size(photos) > 0)
        return largest(photos);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const json_t *const file = json_object_get(message, kinds[i].key);
        *otherwise = kinds[i].name;
        if (file)
            return file;
    }
    return NULL;
}

bool inbox_wants(const json_t *message)
{
    const char *otherwise;
    return file_of(message, &otherwise) != NULL;
}

static void add_note(struct parcel *p, const char *name, const char *why)
{
    const size_t n = strlen(p->note);
    snprintf(p->note + n, sizeof p->note - n, "%s[%s: %s]", n ? "\n" : "", name, why);
}

static void add_file(struct parcel *p, const json_t *message)
{
    const char *otherwise;
    char name[128];
    const json_t *const file = file_of(message, &otherwise);
    const char *const id = telegram_str(file, "file_id");
    if (!file || !id)
        return;
    safe_name(name, sizeof name, telegram_str(file, "file_name"), otherwise);
    if (telegram_int(file, "file_size") > FILE_BYTES_MAX)
        add_note(p, name, "not downloaded: larger than Telegram's limit of 20 MB");
    else
        json_array_append_new(p->files, json_pack("{s:s, s:s}", "id", id, "name", name));
}

static int64_t user_of(const json_t *update)
{
    const json_t *const message = json_object_get(update, "message");
    return telegram_int(json_object_get(message, "from"), "id");
}

static bool is_stranger(struct tc_turn *lobby, const json_t *update)
{
    const json_t *const chat = json_object_get(json_object_get(update, "message"), "chat");
    const char *const user = tc_sprint(lobby, "%" PRId64, user_of(update));
    return !tc_may_submit(lobby, user, tc_sprint(lobby, "%" PRId64, telegram_int(chat, "id")));
}

/* One person must not fill the inbox. */
static unsigned waiting_of(const struct telegram *s, int64_t user)
{
    unsigned n = 0;
    for (const struct parcel *p = parcels(s); p; p = p->next)
        n += !p->done && user_of(json_array_get(p->updates, 0)) == user;
    return n;
}

enum taken inbox_add(struct tc_turn *lobby, const json_t *update)
{
    struct telegram *const s = state_of(lobby);
    const json_t *const message = json_object_get(update, "message");
    const char *const album = telegram_str(message, "media_group_id");
    struct parcel *p = parcels(s);
    while (p && (!album || p->fetched || !p->album || strcmp(p->album, album) != 0))
        p = p->next;
    if ((!album && !update_is_addressed(lobby, message)) || is_stranger(lobby, update))
        return TAKEN;
    if (!p && (waiting_of(s, user_of(update)) >= WAITING_MAX || !(p = new_parcel(s))))
        return update_submit(lobby, update, NULL,
                             "[file not downloaded: too many files are pending]");
    if (album && !p->album)
        p->album = strdup(album);
    json_array_append(p->updates, (json_t *)(void *)(uintptr_t)update);
    add_file(p, message);
    p->due_ms = now_ms() + (album ? ALBUM_MS : 0);
    if (album)
        schedule(lobby);
    else
        inbox_wake(lobby);
    return TAKEN_LATER;
}

/* ---- fetching ---- */

/* The message that speaks for an album: the one with words to us. */
static const json_t *speaker(struct tc_turn *lobby, const struct parcel *p)
{
    const json_t *first = NULL, *update;
    size_t i;
    json_array_foreach(p->updates, i, update)
    {
        const json_t *const message = json_object_get(update, "message");
        if (!update_is_addressed(lobby, message))
            continue;
        if (telegram_str(message, "caption"))
            return update;
        first = first ? first : update;
    }
    return first;
}

static json_t *file_tag(const char *kind, const struct parcel *p, size_t i)
{
    return json_pack("{s:s, s:I, s:I}", "k", kind, "u", (json_int_t)id_at(p, 0), "i",
                     (json_int_t)i);
}

static void ask_for_files(struct tc_turn *lobby, struct parcel *p)
{
    for (size_t i = 0; i < json_array_size(p->files); i++) {
        const char *const id = telegram_str(json_array_get(p->files, i), "id");
        if (tc_http(lobby, TC_HTTP(.url = telegram_url(lobby, "getFile"),
                                   .body = tc_json(lobby, "{s:s}", "file_id", id),
                                   .tag = telegram_text(lobby, file_tag("file", p, i)),
                                   .priority = TC_P_NOTICE, .flags = TC_IDEMPOTENT,
                                   .max_age_ms = FETCH_MS)) == 0)
            p->open++;
    }
}

static json_t *fetched_files(const struct parcel *p)
{
    json_t *const files = json_array();
    json_t *file;
    size_t i;
    json_array_foreach(p->files, i, file) if (telegram_str(file, "path"))
        json_array_append(files, file);
    return files;
}

static void hand_over(struct tc_turn *lobby, struct parcel *p)
{
    const json_t *const update = speaker(lobby, p);
    json_t *const files = fetched_files(p);
    if (!update || update_submit(lobby, update, files, p->note) != TAKEN_NOT)
        p->done = true;
    p->due_ms = p->done ? 0 : now_ms() + AGAIN_MS;
    json_decref(files);
}

static void look_at(struct tc_turn *lobby, struct parcel *p)
{
    p->due_ms = 0;
    if (!p->fetched && speaker(lobby, p))
        ask_for_files(lobby, p);
    p->fetched = true;
    if (p->open == 0)
        hand_over(lobby, p);
}

int inbox_wake(struct tc_turn *lobby)
{
    const int64_t now = now_ms();
    for (struct parcel *p = parcels(state_of(lobby)); p; p = p->next)
        if (p->due_ms && p->due_ms <= now)
            look_at(lobby, p);
    schedule(lobby);
    return 0;
}

static void end_file(struct tc_turn *lobby, struct parcel *p, size_t i, const char *path)
{
    json_t *const file = json_array_get(p->files, i);
    if (path)
        json_object_set_new(file, "path", json_string(path));
    else
        add_note(p, telegram_str(file, "name"), "download failed");
    if (--p->open == 0)
        hand_over(lobby, p);
    schedule(lobby);
}

/* Of a file_path; the service's own are plain. */
static bool is_plain_path(const char *path)
{
    return path && !strstr(path, "..") &&
           path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
                             "KLMNOPQRSTUVWXYZ0123456789._-/")] == 0;
}

static int download(struct tc_turn *lobby, const struct parcel *p, size_t i, const char *path)
{
    return tc_http(
        lobby,
        TC_HTTP(.method = "GET",
                .url = tc_sprint(lobby, "{option:api_base}/file/bot{option:token}/%s", path),
                .priority = TC_P_NOTICE, .flags = TC_IDEMPOTENT | TC_SAVE, .timeout_ms = FETCH_MS,
                .max_age_ms = FETCH_MS, .tag = telegram_text(lobby, file_tag("save", p, i))));
}

static void take_place(struct tc_turn *lobby, struct parcel *p, size_t i,
                       const struct tc_reply *reply)
{
    const char *const path = tc_json_get(lobby, reply->body, "/result/file_path");
    if (reply->outcome != TC_OK || !is_plain_path(path) || download(lobby, p, i, path))
        end_file(lobby, p, i, NULL);
}

void inbox_take_reply(struct tc_turn *lobby, const struct tc_reply *reply, const json_t *tag,
                      struct tc_verdict *v)
{
    struct parcel *const p = parcel_of(state_of(lobby), telegram_int(tag, "u"));
    const size_t i = (size_t)telegram_int(tag, "i");
    if (!p || v->next == TC_NEXT_AGAIN)
        return;
    if (strcmp(telegram_str(tag, "k"), "file") == 0)
        take_place(lobby, p, i, reply);
    else
        end_file(lobby, p, i, reply->path);
}

void inbox_free(struct telegram *s)
{
    for (struct parcel *p = parcels(s), *next; p; p = next) {
        next = p->next;
        free_parcel(p);
    }
    free(s->inbox);
    s->inbox = NULL;
}
