/* SPDX-License-Identifier: MIT
 * Redacts the strings of JSON text; copies everything else. */
#include "event/json/json_redact.h"

#include "base/arena.h"
#include "base/sys/log.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

static void redact_escaped(struct buf *out, struct str raw)
{
    struct arena scratch = {0};
    CLEANUP_BUF struct buf masked = {0};
    size_t len;
    const char *text = json_reader_unescape(&scratch, raw, &len);
    log_redact(&masked, (struct str){text, len});
    jsonw_string(out, masked.p ? masked.p : "", masked.len);
    arena_fini(&scratch);
}

/* A string with its quotes; most have no escape. */
static void redact_string(struct buf *out, struct str raw, bool escaped)
{
    if (escaped) {
        redact_escaped(out, raw);
        return;
    }
    buf_add_char(out, '"');
    log_redact(out, raw);
    buf_add_char(out, '"');
}

/* Length of the string's contents; `p` is behind its opening quote. */
static size_t string_length(const char *p, size_t n, bool *escaped)
{
    size_t i = 0;
    *escaped = false;
    while (i < n && p[i] != '"') {
        if (p[i] == '\\') {
            *escaped = true;
            i++;
        }
        i++;
    }
    return i < n ? i : n;
}

void json_redact(struct buf *out, struct str json)
{
    while (json.len > 0) {
        const char *quote = memchr(json.p, '"', json.len);
        const size_t before = quote ? (size_t)(quote - json.p) : json.len;
        buf_add(out, json.p, before);
        if (!quote)
            return;
        bool escaped;
        const char *inside = quote + 1;
        const size_t room = json.len - before - 1;
        const size_t len = string_length(inside, room, &escaped);
        redact_string(out, (struct str){inside, len}, escaped);
        const size_t used = before + 1 + (len < room ? len + 1 : len);
        json = (struct str){json.p + used, json.len - used};
    }
}
