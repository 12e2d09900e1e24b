/* SPDX-License-Identifier: MIT
 * Encodes and decodes the stored texts of an instance, and decides whose are newer. */
#include "core/shared/shared_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

/* ---- writing ---- */

static int shared_texts_order(const void *a, const void *b)
{
    const size_t x = strlen((*(const struct stored_text *const *)a)->text),
                 y = strlen((*(const struct stored_text *const *)b)->text);
    return (x > y) - (x < y);
}

static size_t shared_texts_sort(const struct stored_texts *texts,
                                const struct stored_text *sorted[STORED_TEXTS_MAX])
{
    size_t n = 0;
    for (const struct stored_text *t = texts->first; t && n < STORED_TEXTS_MAX; t = t->next)
        if (t->text)
            sorted[n++] = t;
    qsort(sorted, n, sizeof *sorted, shared_texts_order);
    return n;
}

static void shared_texts_write_one(struct buf *out, const struct stored_text *t, bool is_first)
{
    buf_add_str(out, is_first ? "" : ",");
    jsonw_string(out, t->key, strlen(t->key));
    buf_add_char(out, ':');
    jsonw_string(out, t->text, strlen(t->text));
}

size_t shared_texts_write(struct buf *out, const struct stored_texts *texts, const char **left_out)
{
    const struct stored_text *sorted[STORED_TEXTS_MAX];
    const size_t n = shared_texts_sort(texts, sorted);
    CLEANUP_BUF struct buf members = {0};
    size_t written = 0;
    for (; written < n; written++) {
        const size_t before = members.len;
        shared_texts_write_one(&members, sorted[written], written == 0);
        if (members.len + strlen("{}") > SHARED_TEXTS_BYTES) {
            members.len = before;
            break;
        }
    }
    *left_out = written < n ? sorted[n - 1]->key : NULL;
    buf_add_char(out, '{');
    buf_add(out, members.p ? members.p : "", members.len);
    buf_add_char(out, '}');
    return n - written;
}

/* ---- reading ---- */

static int shared_texts_read_one(struct arena *a, struct str key, struct str value,
                                 struct stored_texts *texts)
{
    if (value.len < 2 || *value.p != '"')
        return -1;
    const struct str raw = {value.p + 1, value.len - 2};
    return stored_texts_set(texts, STORED_TEXTS_MAX, json_reader_unescape(a, key, NULL),
                            json_reader_unescape(a, raw, NULL));
}

int shared_texts_read(struct str value, struct stored_texts *texts)
{
    struct arena arena = {0};
    struct json j;
    struct str key, one;
    int rc = value.p && json_reader_open_object(&j, value) ? 0 : -1;
    while (rc == 0 && json_reader_next_member(&j, &key, &one))
        rc = shared_texts_read_one(&arena, key, one, texts);
    if (rc == 0)
        rc = json_reader_finish(&j);
    if (rc < 0)
        stored_texts_fini(texts);
    arena_fini(&arena);
    return rc;
}

/* ---- the choice ---- */

/* If this host has stored the entry, nobody has led since, and the texts in the journal are the
 * same or newer; unless the journal is not the one of that time. */
bool shared_texts_is_ahead(const struct shared_entry *stored, const char *own_host, int64_t own_n)
{
    return strcmp(stored->from.host, own_host) != 0 || stored->n > own_n;
}
