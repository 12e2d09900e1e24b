/* SPDX-License-Identifier: MIT
 * The table of sentences: placeholders, plural forms, and checks of each sentence. */
#include "text/sentence/texts.h"

#include <ctype.h>
#include <string.h>

#include "tap/tap.h"

static void test_append(void)
{
    CLEANUP_BUF struct buf out = {0};
    texts_append(&out, TEXT_START_HELP, TEXT_VALUES(TEXT_STR("prefix", "!")));
    is_str(out.p, "Send !help for the list of commands.", "a text replaces its placeholder");
    buf_reset(&out);
    texts_append(&out, TEXT_START_AGENT, TEXT_VALUES(TEXT_STR("agent", "{cwd}")));
    is_str(out.p, "Messages in this chat go to the agent {cwd}, and it answers here.",
           "a value is not searched for placeholders");
}

static const char *translated(struct buf *out, const char *english, const char *value)
{
    buf_reset(out);
    texts_append_english(out, english, value);
    return out->p;
}

static void test_english(void)
{
    CLEANUP_BUF struct buf out = {0};
    is_str(translated(&out, "Allowed by {by}", "{by}"), "Allowed by {by}",
           "an English sentence is not changed");
    TEXTS_IN(LANGUAGE_DE);
    is_str(translated(&out, "Allowed by {by}", "Ann"), "Von Ann erlaubt",
           "a sentence is translated by its English text");
    is_str(translated(&out, "Allow", NULL), "Erlauben",
           "a sentence without a placeholder is translated");
    is_str(translated(&out, "Allow", "Ann"), "Erlauben",
           "a value without a placeholder is ignored");
    is_str(translated(&out, "Allowed by {by}", NULL), "Von {by} erlaubt",
           "a placeholder without a value is kept");
    is_str(translated(&out, "Blue {by}", "Ann"), "Blue Ann",
           "an unknown sentence is not translated");
}

/* Appends each placeholder of the text once. */
static void add_placeholders(struct buf *out, const char *text)
{
    for (; (text = strchr(text, '{')); text++) {
        const size_t len = strcspn(text, "}") + 1;
        CLEANUP_BUF struct buf name = {0};
        buf_add(&name, text, len);
        ok(len > 2 && text[len - 1] == '}' && islower((unsigned char)text[1]), "a placeholder: %s",
           name.p);
        if (!out->p || !strstr(out->p, name.p))
            buf_add(out, name.p, name.len);
    }
}

static void test_row(const struct text_forms *row)
{
    CLEANUP_BUF struct buf other = {0}, one = {0};
    ok(*row->other, "%s has a text", row->id);
    add_placeholders(&other, row->other);
    if (!row->count)
        return;
    CLEANUP_BUF struct buf count = {0};
    buf_printf(&count, "{%s}", row->count);
    add_placeholders(&one, row->one);
    ok(other.p && strstr(other.p, count.p), "%s: the number is in the form for many", row->id);
    for (const char *at = one.p; at && *at; at = strchr(at, '}') + 1) {
        CLEANUP_BUF struct buf name = {0};
        buf_add(&name, at, strcspn(at, "}") + 1);
        ok(strstr(other.p, name.p), "%s: %s of the form for one is in the other", row->id, name.p);
    }
}

/* Checks that the forms of a language match those of English. */
static void test_translation(const struct text_forms *en, const struct text_forms *other)
{
    CLEANUP_BUF struct buf ours = {0}, theirs = {0};
    is_str(other->id, en->id, "both languages have the sentence");
    ok(en->count ? other->count && strcmp(other->count, en->count) == 0 : !other->count,
       "%s: the plural form is chosen by the same number", en->id);
    add_placeholders(&ours, en->other);
    add_placeholders(&theirs, other->other);
    is_int((int64_t)theirs.len, (int64_t)ours.len,
           "%s: both languages have the same number of placeholders", en->id);
    for (const char *at = ours.p; at && *at; at = strchr(at, '}') + 1) {
        CLEANUP_BUF struct buf name = {0};
        buf_add(&name, at, strcspn(at, "}") + 1);
        ok(theirs.p && strstr(theirs.p, name.p), "%s: %s is in the translation", en->id, name.p);
    }
    is_int(*other->other == ' ', *en->other == ' ',
           "%s: both languages have the same leading blank", en->id);
}

static void speak_english(void)
{
    TEXTS_IN(LANGUAGE_EN);
    is_str(texts_get(TEXT_NOTHING_RUNS), "Nothing is running.",
           "an inner function uses its own language");
}

static void speak_german(void)
{
    TEXTS_IN(LANGUAGE_DE);
    is_str(texts_get(TEXT_NOTHING_RUNS), "Derzeit läuft kein Auftrag.",
           "a sentence in the current language");
    speak_english();
    CLEANUP_BUF struct buf out = {0};
    texts_append(&out, TEXT_DROPPED, TEXT_VALUES(TEXT_INT("n", 1)));
    is_str(out.p, "1 wartende Nachricht verworfen.",
           "after the inner function the outer language is current");
    is_str(texts_get_in(LANGUAGE_EN, TEXT_DENIED), "Denied.", "a sentence in a given language");
    buf_reset(&out);
    buf_add_str(&out, "v1.5: ");
    texts_append_decimal(&out, 0.125, 3);
    is_str(out.p, "v1.5: 0,125", "a number has a decimal comma, other text is unchanged");
}

static void test_languages(void)
{
    is_int(texts_language(), LANGUAGE_EN, "English is the default language");
    speak_german();
    is_int(texts_language(), LANGUAGE_EN, "the language is restored when the function returns");
    is_str(texts_get(TEXT_NOTHING_RUNS), "Nothing is running.", "the sentences are restored, too");
    CLEANUP_BUF struct buf out = {0};
    texts_append_decimal(&out, 1.5, 2);
    is_str(out.p, "1.50", "an English number has a decimal point");
}

/* Each command has one row with its words, and help in each language. */
static void test_commands(void)
{
#define CHAT_COMMAND(id, words, arguments, en, de) {words, en, de},
#define CHAT_WORD(word, en, de) {word, en, de},
    static const struct {
        const char *words, *en, *de;
    } rows[] = {
#include "text/sentence/commands.def"
    };
#undef CHAT_COMMAND
#undef CHAT_WORD
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ok(*rows[i].en && *rows[i].de && strcmp(rows[i].en, rows[i].de) != 0,
           "%s: help in both languages", rows[i].words);
}

int main(void)
{
    plan_lazy();
    test_append();
    test_english();
    test_languages();
    test_commands();
    for (int i = 0; i < TEXT_COUNT; i++) {
        const struct text_forms *const en = texts_find_forms(LANGUAGE_EN, (enum text_id)i);
        const struct text_forms *const de = texts_find_forms(LANGUAGE_DE, (enum text_id)i);
        test_row(en);
        test_row(de);
        test_translation(en, de);
    }
    return 0;
}
