/* SPDX-License-Identifier: MIT
 * The stored texts of an instance as one entry, and whose are newer. */
#include "core/shared/shared_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "tap/tap.h"

static void set(struct stored_texts *texts, const char *key, const char *text)
{
    if (stored_texts_set(texts, STORED_TEXTS_MAX, key, text) < 0)
        bail("too many texts");
}

static void set_long(struct stored_texts *texts, const char *key, size_t len)
{
    CLEANUP_FREE char *text = xmalloc(len + 1);
    memset(text, 'x', len);
    text[len] = '\0';
    set(texts, key, text);
}

static int read_value(const struct buf *value, struct stored_texts *texts)
{
    return shared_texts_read((struct str){value->p, value->len}, texts);
}

static bool has(const struct stored_texts *texts, const char *key, const char *text)
{
    const struct stored_text *const t = stored_texts_find(texts, key);
    return t && strcmp(t->text, text) == 0;
}

static void test_round_trip(void)
{
    struct stored_texts texts = {0}, back = {0};
    CLEANUP_BUF struct buf value = {0};
    const char *left_out;
    set(&texts, "chat.position", "{\"id\":\"a\\b\n\"}");
    set(&texts, "k\"ey", "");
    set(&texts, "ü", "ä\u2028");
    ok(!shared_texts_write(&value, &texts, &left_out) && !left_out, "texts are written");
    ok(read_value(&value, &back) == 0 && back.count == 3 &&
           has(&back, "chat.position", "{\"id\":\"a\\b\n\"}") && has(&back, "k\"ey", "") &&
           has(&back, "ü", "ä\u2028"),
       "keys and texts with any characters are read");
    stored_texts_fini(&back);
    stored_texts_fini(&texts);
    buf_reset(&value);
    ok(!shared_texts_write(&value, &texts, &left_out) && read_value(&value, &back) == 0 &&
           !back.count,
       "an entry without texts is read");
}

static void test_limit(void)
{
    struct stored_texts texts = {0}, back = {0};
    CLEANUP_BUF struct buf value = {0};
    const char *left_out;
    set_long(&texts, "longest", SHARED_TEXTS_BYTES / 2 + 1);
    set_long(&texts, "long", SHARED_TEXTS_BYTES / 2);
    set(&texts, "chat.position", "7");
    is_int((long long)shared_texts_write(&value, &texts, &left_out), 1, "one text is left out");
    is_str(left_out, "longest", "the longest text is left out");
    ok(value.len <= SHARED_TEXTS_BYTES && read_value(&value, &back) == 0 && back.count == 2 &&
           has(&back, "chat.position", "7"),
       "the value is within the limit and has all other texts");
    stored_texts_fini(&back);
    stored_texts_fini(&texts);
    buf_reset(&value);
    set_long(&texts, "k", SHARED_TEXTS_BYTES - strlen("{\"k\":\"\"}"));
    ok(!shared_texts_write(&value, &texts, &left_out) && value.len == SHARED_TEXTS_BYTES,
       "a text that exactly fits is not left out");
    stored_texts_fini(&texts);
}

static void test_invalid(void)
{
    static const char *const values[] = {"", "[]", "7", "{\"a\":1}", "{\"a\":\"b\",\"c\":null}"};
    CLEANUP_BUF struct buf many = {0};
    struct stored_texts texts = {0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ok(shared_texts_read((struct str){values[i], strlen(values[i])}, &texts) < 0 &&
               !texts.count,
           "an invalid value is refused: %s", values[i]);
    ok(shared_texts_read((struct str){NULL, 0}, &texts) < 0, "a missing value is refused");
    for (size_t i = 0; i <= STORED_TEXTS_MAX; i++)
        buf_printf(&many, "%s\"k%zu\":\"\"", i ? "," : "{", i);
    buf_add_char(&many, '}');
    ok(read_value(&many, &texts) < 0 && !texts.count, "a value with too many texts is refused");
}

static void test_choice(void)
{
    struct shared_entry e = {.from = {"h2", "b", 1}, .n = 3};
    ok(shared_texts_is_ahead(&e, "h1", 3) && shared_texts_is_ahead(&e, "h1", 9),
       "an entry of another leader has priority over any local number");
    e = (struct shared_entry){.from = {"h1", "b", 1}, .n = 3};
    ok(!shared_texts_is_ahead(&e, "h1", 3) && !shared_texts_is_ahead(&e, "h1", 4),
       "an entry of this host has no priority over a journal that is as new");
    ok(shared_texts_is_ahead(&e, "h1", 2),
       "an entry of this host has priority over an older or empty journal");
}

int main(void)
{
    plan_lazy();
    test_round_trip();
    test_limit();
    test_invalid();
    test_choice();
    return 0;
}
