/* SPDX-License-Identifier: MIT
 * Lines of the program: each is checked, executed with a service of the host, and answered if it
 * has an id. Unknown members and unknown values of "tc" are ignored, for later versions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "exec.h"

#define BAD_LINES 3 /* consecutive invalid lines that end the program */
#define WHY_MAX 256

/* A member that is an object or array, as text freed by the caller. NULL: none. */
static char *command_json(const json_t *m, const char *key)
{
    const json_t *const value = json_object_get(m, key);
    return json_is_object(value) || json_is_array(value) ? json_dumps(value, JSON_COMPACT) : NULL;
}

/* A member that is a list of strings, ending with NULL, and their number; freed by the caller.
 * NULL: invalid. */
static const char **command_list(const json_t *m, const char *key, size_t *count)
{
    const json_t *const list = json_object_get(m, key);
    const size_t n = json_array_size(list);
    const char **const texts = calloc(n + 1, sizeof *texts);
    bool valid = texts && (!list || json_is_array(list));
    for (*count = 0; valid && *count < n; valid = valid && texts[(*count)++])
        texts[*count] = json_string_value(json_array_get(list, *count));
    if (valid)
        return texts;
    free(texts);
    return NULL;
}

static void command_refuse(struct exec *e, const json_t *m, const char *why)
{
    const char *const name = tc_member_text(m, "tc"), *const id = tc_member_text(m, "id");
    tc_log(e->inst, TC_WARN, "the program's %s is refused: %s", name, why);
    if (id)
        exec_message_refusal(e, id, why);
}

/* ---- acknowledgements ---- */

static void command_ack(struct exec *e, const json_t *m)
{
    const json_t *const only = json_object_get(m, "only");
    const int64_t n = tc_member_number(m, only ? "only" : "n");
    if (n < 1 || !exec_window_ack(e, (uint64_t)n, only != NULL))
        exec_program_fail(e, "acknowledged event %lld, which it was not sent", (long long)n);
}

/* A second acknowledgement is no error: the program may have sent it before it received the event
 * again. */
static void command_nack(struct exec *e, const json_t *m)
{
    const int64_t n = tc_member_number(m, "n");
    const int64_t ms = tc_member_number(m, "retry_ms");
    if (n > 0)
        exec_window_nack(e, (uint64_t)n, ms);
    exec_connector_set_timer(e);
}

static void command_reject(struct exec *e, const json_t *m)
{
    const int64_t n = tc_member_number(m, "n");
    const char *const given = tc_member_text(m, "why");
    char why[WHY_MAX];
    strncpy(why, given && *given ? given : "rejected by the program", sizeof why - 1);
    why[sizeof why - 1] = '\0';
    if (n > 0 && exec_window_reject(e, (uint64_t)n, why))
        tc_log(e->inst, TC_WARN, "the program rejected event %lld: %s", (long long)n, why);
}

/* ---- people ---- */

/* The host accepts each key once, also after a restart. A program without keys restarts its
 * numbering, so such a message gets a unique key. */
static const char *command_key(const struct exec *e, const json_t *m)
{
    const char *const key = tc_member_text(m, "key");
    uint64_t random[2];
    if (key)
        return key;
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return NULL;
    return tc_sprint(e->inst->lobby, "exec-%016llx%016llx", (unsigned long long)random[0],
                     (unsigned long long)random[1]);
}

static void command_submit(struct exec *e, const json_t *m)
{
    const char *const id = tc_member_text(m, "id");
    char *const route = command_json(m, "route");
    size_t n;
    const char **const instances = command_list(m, "instances", &n);
    struct tc_receipt receipt = {0};
    if (!instances)
        command_refuse(e, m, "instances must be a list of strings");
    else if (!id || !tc_member_text(m, "chat") || !tc_member_text(m, "user") ||
             !tc_member_text(m, "text"))
        command_refuse(e, m, "id, chat, user and text must be strings");
    else
        exec_message_reply(
            e, id,
            tc_submit(
                e->inst->lobby,
                TC_INBOUND(.id = command_key(e, m), .chat = tc_member_text(m, "chat"),
                           .thread = tc_member_text(m, "thread"), .user = tc_member_text(m, "user"),
                           .name = tc_member_text(m, "name"), .text = tc_member_text(m, "text"),
                           .quote = tc_member_text(m, "quote"), .route = route,
                           .instances = instances, .instance_count = n,
                           .direct = json_is_true(json_object_get(m, "direct")),
                           .kind = tc_member_text(m, "kind")),
                &receipt),
            &receipt);
    free(instances);
    free(route);
}

static void command_cancel(struct exec *e, const json_t *m)
{
    struct tc_receipt receipt = {0};
    const char *const id = tc_member_text(m, "id");
    const char *const turn = tc_member_text(m, "turn"), *const user = tc_member_text(m, "user");
    if (!id || !turn || !user) {
        command_refuse(e, m, "id, turn and user must be strings");
        return;
    }
    exec_message_reply(e, id, tc_cancel(e->inst->lobby, turn, user, &receipt), &receipt);
}

static void command_answer(struct exec *e, const json_t *m)
{
    const char *const id = tc_member_text(m, "id"), *const choice = tc_member_text(m, "choice");
    char *const answers = command_json(m, "answers");
    struct tc_receipt receipt = {0};
    if (!id || !choice || !tc_member_text(m, "ticket") || !tc_member_text(m, "user") ||
        !tc_member_text(m, "chat"))
        command_refuse(e, m, "id, ticket, choice, user and chat must be strings");
    else
        exec_message_reply(
            e, id,
            tc_answer(e->inst->lobby,
                      TC_DECISION(.ticket = tc_member_text(m, "ticket"), .choice = choice,
                                  .text = tc_member_text(m, "text"), .answers = answers,
                                  .user = tc_member_text(m, "user"),
                                  .name = tc_member_text(m, "name"),
                                  .chat = tc_member_text(m, "chat"),
                                  .thread = tc_member_text(m, "thread")),
                      &receipt),
            &receipt);
    free(answers);
}

/* ---- turns ---- */

static struct tc_turn *command_turn(const struct exec *e, const json_t *m)
{
    const char *const id = tc_member_text(m, "turn");
    return id ? exec_window_find_turn(e, id) : NULL;
}

/* A turn that has ended meanwhile needs neither memory nor timer. */
static void command_remember(struct exec *e, const json_t *m)
{
    struct tc_turn *const turn = command_turn(e, m);
    if (turn && tc_remember(turn, tc_member_text(m, "text")) < 0)
        command_refuse(e, m, "text must have at most 4096 bytes");
}

static void command_wake(struct exec *e, const json_t *m)
{
    struct tc_turn *const turn = command_turn(e, m);
    const json_t *const ms = json_object_get(m, "ms");
    if (turn)
        tc_wake(turn, json_is_integer(ms) ? json_integer_value(ms) : -1);
}

/* ---- HTTP ---- */

static void command_answer_hit(struct exec *e, const json_t *m)
{
    const char *const id = tc_member_text(m, "id");
    const json_t *const status = json_object_get(m, "status");
    if (!id || !e->hit || strtoull(id, NULL, 10) != e->hit)
        return; /* too late */
    *e->answer = (struct tc_answer){
        .status = status ? (int)json_integer_value(status) : 200,
        .content_type = tc_sprint(e->inst->lobby, "%s", tc_member_text(m, "content_type") ?: ""),
        .body = tc_sprint(e->inst->lobby, "%s", tc_member_text(m, "body") ?: ""),
    };
    if (e->answer->content_type && !*e->answer->content_type)
        e->answer->content_type = NULL;
    e->is_answered = true;
}

static void command_http(struct exec *e, const json_t *m)
{
    const char *const why = exec_http_send(e, m);
    if (why)
        command_refuse(e, m, why);
}

static void command_chat(struct exec *e, const json_t *m)
{
    const char *const name = tc_member_text(m, "tc");
    const char *const why = strcmp(name, "message") == 0  ? exec_chat_handle_message(e, m)
                            : strcmp(name, "action") == 0 ? exec_chat_handle_action(e, m)
                                                          : exec_chat_handle_result(e, m);
    if (why)
        command_refuse(e, m, why);
}

static void command_pong(struct exec *e, const json_t *m)
{
    (void)m;
    e->pinged_ms = 0;
}

/* ---- lines ---- */

static const struct command_row {
    const char *name;
    void (*run)(struct exec *e, const json_t *m);
    unsigned needs; /* EXEC_MAY_…; 0: needs no permission */
} commands[] = {
    {"ack", command_ack, 0},
    {"nack", command_nack, 0},
    {"reject", command_reject, 0},
    {"submit", command_submit, EXEC_MAY_SUBMIT},
    {"cancel", command_cancel, EXEC_MAY_CANCEL},
    {"answer", command_answer, EXEC_MAY_ANSWER},
    {"remember", command_remember, 0},
    {"wake", command_wake, 0},
    {"answer_hit", command_answer_hit, 0},
    {"http", command_http, 0},
    {"result", command_chat, 0},
    {"message", command_chat, EXEC_MAY_SUBMIT},
    {"action", command_chat, 0},
    {"pong", command_pong, 0},
};

static void command_run_row(struct exec *e, const struct command_row *row, const json_t *m)
{
    const char *const permission = row->needs == EXEC_MAY_SUBMIT ? "submit" : row->name;
    char why[96];
    if ((row->needs & ~e->hello.may) == 0) {
        row->run(e, m);
        return;
    }
    snprintf(why, sizeof why, "hello did not ask for the permission \"%s\" in may", permission);
    command_refuse(e, m, why);
}

static void command_dispatch(struct exec *e, const json_t *m)
{
    const char *const name = tc_member_text(m, "tc");
    if (!e->hello.is_known) {
        if (!name || strcmp(name, "hello") != 0 || exec_hello_read(e, m) < 0)
            exec_program_fail(e, "did not begin with a valid hello");
        if (!e->is_starting) {
            exec_message_init(e);
            exec_window_resume(e);
        }
        return;
    }
    for (size_t i = 0; name && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            command_run_row(e, &commands[i], m);
}

void exec_command_run(struct exec *e, const char *line, size_t len)
{
    json_error_t error;
    json_t *const m = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
    e->heard_ms = exec_now_ms();
    if (json_is_object(m)) {
        e->bad_lines = 0;
        command_dispatch(e, m);
    } else if (++e->bad_lines == BAD_LINES) {
        exec_program_fail(e, "wrote %d lines in a row that are not JSON objects", BAD_LINES);
    } else {
        tc_log(e->inst, TC_WARN, "the program wrote a line that is not a JSON object: %.80s",
               m ? "" : error.text);
    }
    json_decref(m);
}
