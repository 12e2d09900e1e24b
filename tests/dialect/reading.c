/* SPDX-License-Identifier: MIT
 * Reads the stream of a test. */
#include "dialect/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "event/codec.h"
#include "tap/tap.h"

static void see(void *ctx, struct event *ev)
{
    struct reading *const r = ctx;
    r->counts[ev->kind]++;
    buf_printf(&r->told, "%s ", kind_name(ev->kind));
    codec_encode_payload(&r->told, ev);
    buf_add_char(&r->told, '\n');
}

void reading_init(struct reading *r, const char *dialect)
{
    *r = (struct reading){0};
    const struct dialect *const found = dialect_find(dialect);
    if (!found)
        bail("no dialect %s", dialect);
    translator_init(&r->t, found, see, r);
    buf_add_str(&r->told, "");
}

void reading_fini(struct reading *r)
{
    translator_fini(&r->t);
    buf_fini(&r->told);
}

void reading_feed_raw(struct reading *r, const char *lines, size_t len)
{
    const char *const end = lines + len;
    for (const char *p = lines; p < end;) {
        const char *const newline = memchr(p, '\n', (size_t)(end - p));
        const char *const stop = newline ? newline : end;
        translator_feed_line(&r->t, p, (size_t)(stop - p), newline != NULL);
        p = stop + 1;
    }
}

void reading_feed(struct reading *r, const char *lines)
{
    char *const text = xstrdup(lines);
    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    reading_feed_raw(r, text, strlen(text));
    free(text);
}

void reading_end(struct reading *r)
{
    translator_end(&r->t, &r->end);
}

const char *reading_of(struct reading *r, const char *dialect, const char *lines)
{
    reading_init(r, dialect);
    reading_feed(r, lines);
    reading_end(r);
    return r->told.p;
}

const char *reading_last(const struct reading *r, const char *kind)
{
    static char payload[65536];
    char start[32];
    snprintf(start, sizeof(start), "%s {", kind);
    payload[0] = '\0';
    for (const char *p = r->told.p; p && *p; p = strchr(p, '\n') + 1)
        if (strncmp(p, start, strlen(start)) == 0)
            snprintf(payload, sizeof(payload), "%.*s", (int)strcspn(p, "\n"),
                     p + strlen(start) - 1);
    payload[strcspn(payload, "\n")] = '\0';
    return payload;
}

size_t reading_count(const struct reading *r, const char *text)
{
    size_t count = 0;
    for (const char *p = r->told.p; (p = strstr(p, text)); p += strlen(text))
        count++;
    return count;
}

/* Processes the events like a connector that stores each text by its id. */
const char *reading_text(const struct reading *r)
{
    static char text[65536];
    json_t *const shown = json_array();
    for (const char *p = r->told.p; p && *p; p = strchr(p, '\n') + 1) {
        const char *const payload = strchr(p, ' ') + 1;
        json_t *const o = json_loadb(payload, strcspn(payload, "\n"), 0, NULL);
        const char *const id = json_string_value(json_object_get(o, "message_id"));
        const char *const code = json_string_value(json_object_get(o, "code"));
        if (strncmp(p, "narration ", 10) == 0)
            json_array_append(shown, o);
        else if (code && strcmp(code, "retracted") == 0)
            for (size_t i = json_array_size(shown); i-- > 0;)
                if (strcmp(
                        json_string_value(json_object_get(json_array_get(shown, i), "message_id")),
                        id) == 0)
                    json_array_remove(shown, i);
        json_decref(o);
    }
    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(shown); i++)
        strncat(text, json_string_value(json_object_get(json_array_get(shown, i), "text")),
                sizeof(text) - strlen(text) - 1);
    json_decref(shown);
    return text;
}
