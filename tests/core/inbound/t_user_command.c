/* SPDX-License-Identifier: MIT
 * What a message means to the host, what an agent gets of it, and who may send one. */
#include "core/inbound/user_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/conversation/prompt.h"
#include "core/inbound/access_control.h"
#include "tap/tap.h"
#include "turn/visibility/slash_tokens.h"

static void test_commands(void)
{
    static const struct {
        const char *text;
        enum user_command command;
    } rows[] = {
        {"/stop", COMMAND_STOP},
        {" /stop", COMMAND_STOP},
        {"/stop\n", COMMAND_STOP},
        {"stop", COMMAND_STOP},
        {"Stop", COMMAND_STOP},
        {"STOP", COMMAND_STOP},
        {"!stop", COMMAND_STOP},
        {" stop ", COMMAND_STOP},
        {"/stop@turncast_bot", COMMAND_STOP},
        {" /Stop@Turncast_Bot ", COMMAND_STOP},
        {"/new", COMMAND_NEW},
        {"!new", COMMAND_NEW},
        {"/status", COMMAND_STATUS},
        {"/status@bot", COMMAND_STATUS},
        {"/queue", COMMAND_QUEUE},
        {"/queue  clear", COMMAND_QUEUE_CLEAR},
        {"/queue@bot clear", COMMAND_QUEUE_CLEAR},
        {"!queue clear", COMMAND_QUEUE_CLEAR},
        {"/help", COMMAND_HELP},
        {"!help", COMMAND_HELP},
        {"/start", COMMAND_START},
        {"!START", COMMAND_START},
        {"/start@bot", COMMAND_START},
        {"/help@bot", COMMAND_HELP},
        {"/help me", COMMAND_NONE},
        {"help", COMMAND_NONE},
        {"start", COMMAND_NONE},
        {"", COMMAND_NONE},
        {"/", COMMAND_NONE},
        {"/stop now", COMMAND_NONE},
        {"stop it", COMMAND_NONE},
        {"stop.", COMMAND_NONE},
        {"please stop", COMMAND_NONE},
        {"stops", COMMAND_NONE},
        {"/stopped", COMMAND_NONE},
        {"/stop@", COMMAND_NONE},
        {"/stop@bot!", COMMAND_NONE},
        {"stop@bot", COMMAND_NONE},
        {"new", COMMAND_NONE},
        {"status", COMMAND_NONE},
        {"queue", COMMAND_NONE},
        {"/queue clear all", COMMAND_NONE},
        {"/queue\nclear", COMMAND_QUEUE_CLEAR},
        {"/compact", COMMAND_NONE},
        {"//stop", COMMAND_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP_BUF struct buf argument = {0};
        is_int(user_command_parse(rows[i].text, &argument), rows[i].command, "R19: \"%s\"",
               rows[i].text);
        ok(!argument.len, "the command has no argument");
    }
}

/* Each command of the table, with each sign, also in a group and in capitals. */
static void test_table(void)
{
#define CHAT_COMMAND(id, words, arguments, en, de) {words, COMMAND_##id},
#define CHAT_WORD(word, en, de)
    static const struct {
        const char *words;
        enum user_command command;
    } rows[] = {
#include "text/sentence/commands.def"
    };
#undef CHAT_COMMAND
#undef CHAT_WORD
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const char *sign = "/!"; *sign; sign++) {
            CLEANUP_BUF struct buf text = {0}, argument = {0};
            buf_printf(&text, " %c%s\n", *sign, rows[i].words);
            is_int(user_command_parse(text.p, &argument), rows[i].command, "B4: \"%c%s\"", *sign,
                   rows[i].words);
        }
}

/* What the table calls a word for what is shown is one, with each sign. */
static void test_table_words(void)
{
#define CHAT_COMMAND(id, words, arguments, en, de)
#define CHAT_WORD(word, en, de) word,
    static const char *const words[] = {
#include "text/sentence/commands.def"
    };
#undef CHAT_COMMAND
#undef CHAT_WORD
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (const char *sign = "/!"; *sign; sign++) {
            CLEANUP_BUF struct buf text = {0}, rest = {0};
            struct visibility v = visibility_default();
            buf_printf(&text, "%c%s", *sign, words[i]);
            ok(slash_tokens_parse(text.p, text.len, &v, &rest).found, "B4: %s", text.p);
        }
}

static void test_help(void)
{
    CLEANUP_BUF struct buf text = {0};
    user_command_append_help(&text, '!');
    ok(strstr(text.p, "\n- !queue clear: Drop the queued messages\n"), "B5: /help has a command");
    ok(strstr(text.p, "\n- !show-tools: Show tool calls\n"), "B5: /help has a visibility word");
}

static void test_prefix(void)
{
    is_int(user_command_prefix("!queue"), '!',
           "the answer to a command with ! has commands with !");
    is_int(user_command_prefix(" !queue"), '!', "leading blanks do not change the sign");
    is_int(user_command_prefix("/queue"), '/',
           "the answer to a command with / has commands with /");
    is_int(user_command_prefix(""), '/', "the answer to an empty message has commands with /");
}

static void test_unaddress(void)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"/show-tools@my_bot", "/show-tools"},
        {"/ask@bot what is this?", "/ask what is this?"},
        {" a  b ", " a  b "},
        {"mail me@home", "mail me@home"},
        {"/path/to@x", "/path/to@x"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP_BUF struct buf out = {0};
        user_command_strip_mention(&out, rows[i].text);
        is_str(out.p ? out.p : "", rows[i].wanted, "without the bot: \"%s\"", rows[i].text);
    }
}

static void test_prompt(void)
{
    CLEANUP_BUF struct buf out = {0};
    prompt_append_message(&out, TC_INBOUND(.text = "hi"), STR("hi"));
    is_str(out.p, "hi", "a message without quote and files is unchanged");
    prompt_append_prompt(&out, STR("and then"));
    is_str(out.p, "hi\n\nand then", "R26: two messages are joined by a blank line");
    buf_reset(&out);
    static const char *const files[] = {"/a/1", "/a/2"};
    static const char *const names[] = {"re\nport.pdf", NULL};
    prompt_append_message(
        &out,
        TC_INBOUND(.quote = "one\ntwo\n", .files = files, .file_names = names, .file_count = 2),
        STR("what is it?"));
    is_str(out.p, "> one\n> two\n\nwhat is it?\n\n[file: /a/1 (re_port.pdf)]\n[file: /a/2]",
           "R28: a message has its quote and its files");
    buf_reset(&out);
    prompt_append_message(&out, TC_INBOUND(.files = files, .file_count = 1), (struct str){"", 0});
    is_str(out.p, "[file: /a/1]", "R28: a file without text");
}

/* --- who may ---------------------------------------------------------------------------------- */

static char name[] = "tg", ann[] = "1", bob[] = "2", chat[] = "-7";
static char *people[] = {ann, bob, NULL}, *chats[] = {chat, NULL}, *nobody[] = {NULL};

static size_t log_lines(const char *path)
{
    size_t len, n = 0;
    char *const text = tap_slurp(path, &len);
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    free(text);
    return n;
}

static void test_permit(void)
{
    struct access_control p = {0};
    struct conf_instance inst = {.name = name};
    ok(!access_control_allows(&p, &inst, CONF_SUBMIT, "1", "-7"),
       "R21: without the key allow nobody may write");
    inst.allow = people;
    ok(!access_control_allows(&p, &inst, CONF_SUBMIT, "1", "-7"),
       "R21: a listed user may not write without the grant");
    inst.grants = CONF_SUBMIT;
    ok(access_control_allows(&p, &inst, CONF_SUBMIT, "1", "-7"),
       "R21: a listed user may write in any chat");
    ok(!access_control_allows(&p, &inst, CONF_CANCEL, "1", "-7"),
       "R21: the grant submit does not permit cancel");
    ok(!access_control_allows(&p, &inst, CONF_SUBMIT, "3", "-7"),
       "R21: a user who is not listed may not write");
    ok(!access_control_allows(&p, &inst, CONF_SUBMIT, "", "-7"),
       "R21: a user with an empty id may not write");
    ok(!access_control_allows(&p, &inst, CONF_SUBMIT, NULL, "-7"),
       "R21: a user without an id may not write");
    ok(!access_control_allows(&p, &inst, CONF_SUBMIT, "12", "-7"),
       "R21: a prefix of a listed id does not match");
    inst.allow_chats = chats;
    ok(access_control_allows(&p, &inst, CONF_SUBMIT, "2", "-7"),
       "R21: a listed user may write in a listed chat");
    ok(!access_control_allows(&p, &inst, CONF_SUBMIT, "2", "-8"),
       "R21: a listed user may not write in a chat that is not listed");
    inst.allow_chats = nobody;
    ok(!access_control_allows(&p, &inst, CONF_SUBMIT, "2", "-7"),
       "R21: an empty list allow_chats permits no chat");
    inst.allow = nobody;
    inst.allow_chats = NULL;
    ok(!access_control_allows(&p, &inst, CONF_SUBMIT, "1", "-7"),
       "R21: an empty list allow permits nobody");
    is_int(p.denied, 10, "R21: refused messages are counted");
}

static void test_answers(void)
{
    struct access_control p = {0};
    struct conf_instance inst = {
        .name = name, .allow = people, .grants = CONF_SUBMIT | CONF_CANCEL};
    char *only_bob[] = {bob, NULL}, *stranger[] = {chat, NULL};
    ok(!access_control_allows_answer(&p, &inst, "1", "-7"),
       "a listed user may not answer without the grant");
    inst.grants = CONF_ANSWER;
    ok(access_control_allows_answer(&p, &inst, "1", "-7"), "a listed user may answer");
    ok(!access_control_allows_answer(&p, &inst, "3", "-7"),
       "a user who is not listed may not answer");
    ok(!access_control_allows_answer(&p, &inst, NULL, "-7"), "a user without an id may not answer");
    inst.approvers = only_bob;
    ok(access_control_allows_answer(&p, &inst, "2", "-7"), "an approver may answer");
    ok(!access_control_allows_answer(&p, &inst, "1", "-7"),
       "a listed user who is not an approver may not answer");
    inst.allow_chats = nobody;
    ok(!access_control_allows_answer(&p, &inst, "2", "-7"),
       "an approver may not answer in a chat that is not listed");
    inst.allow_chats = NULL;
    inst.approvers = stranger;
    ok(!access_control_allows_answer(&p, &inst, "-7", "-7"),
       "an approver who is not listed may not answer");
    inst.approvers = nobody;
    ok(!access_control_allows_answer(&p, &inst, "2", "-7"),
       "with an empty list approvers nobody may answer");
    is_int(p.denied, 7, "refused answers are counted");
}

static void test_permit_log(void)
{
    char path[512], user[20];
    snprintf(path, sizeof path, "%s/log", tap_tmpdir());
    FILE *const f = fopen(path, "we");
    log_setup(LOG_TEXT, LOG_WARN, dup(fileno(f)));
    fclose(f);
    clock_fake(1000000, 1e9);
    struct access_control p = {0};
    const struct conf_instance inst = {.name = name, .grants = CONF_SUBMIT, .allow = people};
    for (int i = 0; i < 5; i++)
        access_control_allows(&p, &inst, CONF_SUBMIT, "9", "-7");
    is_int(log_lines(path), 1, "R21: a refused user is logged once");
    for (int i = 0; i < 200; i++) {
        snprintf(user, sizeof user, "u%d", i);
        access_control_allows(&p, &inst, CONF_SUBMIT, user, "-7");
    }
    is_int(log_lines(path), PERMIT_LINES,
           "R21: at most a fixed number of refused users is logged per minute");
    clock_fake_advance(PERMIT_LINES_MS);
    access_control_allows(&p, &inst, CONF_SUBMIT, "late", "-7");
    is_int(log_lines(path), PERMIT_LINES + 1, "R21: after a minute refused users are logged again");
    clock_fake_advance(PERMIT_AGAIN_MS);
    access_control_allows(&p, &inst, CONF_SUBMIT, "late", "-7");
    is_int(log_lines(path), PERMIT_LINES + 2, "R21: after an hour a refused user is logged again");
    is_int(p.denied, 207, "R21: all refusals are counted");
    clock_fake_end();
    log_setup(LOG_TEXT, LOG_WARN, 2);
}

int main(void)
{
    plan_lazy();
    test_commands();
    test_table();
    test_table_words();
    test_help();
    test_prefix();
    test_unaddress();
    test_prompt();
    test_permit();
    test_answers();
    test_permit_log();
    return 0;
}
