/* SPDX-License-Identifier: MIT
 * The file of a message, and its download by the host: getFile returns the path of the content. */
#include <string.h>

#include "telegram.h"

#define FILE_BYTES_MAX (20 << 20) /* limit of getFile */

/* Kinds of attachments, and default names. */
static const struct {
    const char *key, *name;
} kinds[] = {{"document", "file"},   {"audio", "audio.mp3"},      {"voice", "voice.ogg"},
             {"video", "video.mp4"}, {"video_note", "video.mp4"}, {"animation", "animation.mp4"}};

static const json_t *largest(const json_t *photos)
{
    const json_t *best = NULL, *photo;
    size_t i;
    json_array_foreach(photos, i, photo) if (!best || tc_member_number(photo, "width") >=
                                                          tc_member_number(best, "width")) best =
        photo;
    return best;
}

static const json_t *find(const json_t *message, const char **name)
{
    const json_t *const photos = json_object_get(message, "photo");
    *name = "photo.jpg";
    if (json_array_size(photos) > 0)
        return largest(photos);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const json_t *const file = json_object_get(message, kinds[i].key);
        *name = kinds[i].name;
        if (file)
            return file;
    }
    return NULL;
}

bool file_read(struct tc_turn *lobby, const json_t *message, struct tc_chat_file *file,
               const char **note)
{
    const char *otherwise;
    const json_t *const found = find(message, &otherwise);
    const char *const name = tc_member_text(found, "file_name");
    *file = (struct tc_chat_file){.name = name ? name : otherwise,
                                  .type = tc_member_text(found, "mime_type"),
                                  .ref = tc_member_text(found, "file_id")};
    if (!file->ref)
        return false;
    *note = NULL;
    if (tc_member_number(found, "file_size") > FILE_BYTES_MAX)
        *note = tc_sprint(lobby, "[%s: not downloaded: larger than Telegram's limit of 20 MB]",
                          file->name);
    return true;
}

int file_request(struct tc_turn *lobby, const struct tc_op *op, struct tc_http *http)
{
    if (op->step > 0) {
        http->method = "GET";
        http->url = tc_sprint(lobby, "{option:api_base}/file/bot{option:token}/%s", op->cursor);
        http->flags |= TC_SAVE;
    } else {
        http->url = telegram_url(lobby, "getFile");
        http->body = tc_json(lobby, "{s:s}", "file_id", op->file->ref);
    }
    return 0;
}

/* Accepts only plain characters, which the service's paths consist of. */
static bool is_plain_path(const char *path)
{
    return path && !strstr(path, "..") &&
           path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
                             "KLMNOPQRSTUVWXYZ0123456789._-/")] == 0;
}

void file_read_place(struct tc_turn *lobby, const struct tc_reply *reply, struct tc_result *result)
{
    result->cursor = tc_json_get(lobby, reply->body, "/result/file_path");
    result->kind = is_plain_path(result->cursor) ? TC_RESULT_NEXT_STEP : TC_RESULT_REFUSED;
}
