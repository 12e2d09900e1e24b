/* SPDX-License-Identifier: MIT
 * Publishes the menu of commands at a service that shows one: after the identification, unless this
 * bot has published the same menu before, or for each person who opens it. After a failure, the
 * next start tries again. */
#include <string.h>

#include "base/sys/clock.h"
#include "chat/chat_internal.h"

#define STORE_KEY "chat.menu"
#define AGAIN_MS 60000 /* minimum interval for one person */

static const struct tc_menu_entry entries_en[] = {
#define CHAT_COMMAND(id, words, arguments, en, de) {words, en},
#define CHAT_WORD(word, en, de) {word, en},
#include "text/sentence/commands.def"
#undef CHAT_COMMAND
#undef CHAT_WORD
};
static const struct tc_menu_entry entries_de[] = {
#define CHAT_COMMAND(id, words, arguments, en, de) {words, de},
#define CHAT_WORD(word, en, de) {word, de},
#include "text/sentence/commands.def"
#undef CHAT_COMMAND
#undef CHAT_WORD
};
#define ENTRY_COUNT (sizeof entries_en / sizeof *entries_en)
static const char *const arguments[ENTRY_COUNT] = {
#define CHAT_COMMAND(id, words, arguments, en, de) arguments,
#define CHAT_WORD(word, en, de) "",
#include "text/sentence/commands.def"
#undef CHAT_COMMAND
#undef CHAT_WORD
};
static const struct tc_menu_entry *const menus[LANGUAGE_COUNT] = {
    [LANGUAGE_EN] = entries_en, [LANGUAGE_DE] = entries_de};

/* Returns a hash of the menu and of the bot's id. */
static const char *chat_menu_hash(struct chat *c)
{
    const char *const self = c->receiving.self ? c->receiving.self : "";
    const struct tc_menu_entry *const entries = menus[texts_language()];
    CLEANUP_BUF struct buf text = {0};
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        buf_printf(&text, "%s\n%s\n", entries[i].name, entries[i].help);
    return tc_hmac_sha256(c->inst->lobby, self, strlen(self), text.p, text.len);
}

void chat_menu_publish(struct chat *c)
{
    if (c->table.personal_menu || !chat_can(c, TC_OP_MENU))
        return;
    const char *const hash = chat_menu_hash(c), *const known = tc_load(c->inst, STORE_KEY);
    if (!hash || !known || strcmp(known, hash) != 0)
        chat_send(c, c->inst->lobby,
                  &(struct chat_record){.op = TC_OP_MENU, .slot = CHAT_SLOT_MENU}, NULL);
}

void chat_menu_open(struct chat *c, const struct tc_chat_action *a)
{
    const uint64_t who = chat_recent_hash("menu", a->user);
    const int64_t now = clock_mono_ms();
    if (!c->table.personal_menu || !chat_can(c, TC_OP_MENU) ||
        chat_recent_has(&c->menued, who, now - AGAIN_MS + 1) ||
        !tc_may_submit(c->inst->lobby, a->user, a->target.chat))
        return;
    chat_recent_add(&c->menued, who, now);
    struct chat_record r = {.op = TC_OP_MENU,
                            .slot = arena_sprintf(&c->scratch, CHAT_SLOT_MENU ":%s", a->user),
                            .target = a->target,
                            .generation = (unsigned)chat_unix_ms() & INT32_MAX};
    r.target.user = a->user;
    chat_send(c, c->inst->lobby, &r, NULL);
}

/* ---- names as the service spells them ---- */

static const char *menu_replace_forbidden(struct chat *c, const char *words)
{
    char *const name = arena_strdup(&c->scratch, words);
    for (char *p = name; (p = strpbrk(p, c->table.command_lacks)); p++)
        *p = '_';
    return name;
}

void chat_menu_fill(struct chat *c, struct tc_op *op)
{
    const struct tc_menu_entry *const entries = menus[texts_language()];
    op->menu = entries;
    op->menu_count = ENTRY_COUNT;
    op->menu_arguments = arguments;
    if (!c->table.command_lacks)
        return;
    struct tc_menu_entry *const spelled = arena_alloc(&c->scratch, sizeof entries_en);
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        spelled[i] =
            (struct tc_menu_entry){menu_replace_forbidden(c, entries[i].name), entries[i].help};
    op->menu = spelled;
}

const char *chat_menu_read(struct chat *c, const char *text)
{
    const bool is_command = c->table.command_lacks && (*text == '/' || *text == '!');
    const size_t n = is_command ? strcspn(text + 1, " \n") : 0;
    for (size_t i = 0; is_command && i < ENTRY_COUNT; i++) {
        const char *const words = entries_en[i].name;
        if (strlen(words) == n && strncmp(menu_replace_forbidden(c, words), text + 1, n) == 0)
            return arena_sprintf(&c->scratch, "%c%s%s", *text, words, text + 1 + n);
    }
    return text;
}

/* ---- what became of it ---- */

void chat_menu_handle_result(struct chat *c, const struct chat_record *record,
                             const struct chat_result *result, struct tc_verdict *v)
{
    const struct tc_result *const r = &result->result;
    if (r->kind == TC_RESULT_IN_DOUBT)
        v->next = TC_NEXT_AGAIN; /* publishing the same menu again has no effect */
    if (v->next == TC_NEXT_AGAIN)
        return;
    v->next = TC_NEXT_DONE;
    if (r->kind == TC_RESULT_DONE) {
        if (!record->target.chat)
            tc_store(c->inst, STORE_KEY, chat_menu_hash(c));
    } else if (r->kind == TC_RESULT_UNSUPPORTED) {
        c->unsupported |= TC_CAN(TC_OP_MENU);
    } else {
        tc_log(c->inst, TC_WARN, "the service does not take the menu of commands: %s",
               r->reason && *r->reason ? r->reason : "no reason given");
    }
}
