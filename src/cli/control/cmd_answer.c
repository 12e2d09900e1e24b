/* SPDX-License-Identifier: MIT
 * `turncast answer`: lists open requests and answers one. */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/utf8.h"
#include "base/plural.h"
#include "base/sys/clock.h"
#include "cli/command_table.h"
#include "cli/control/print_table.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"
#include "event/json/json_value.h"
#include "text/text_reveal.h"

static const struct args_option rows[] = {
    {0, ARG_FLAG, "list", NULL, offsetof(struct args, list), "list the open requests"},
    {'s', ARG_FLAG, "show", NULL, offsetof(struct args, show), "show one request completely"},
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json),
     "list the open requests as one JSON object"},
    {'r', ARG_TEXT, "reason", "TEXT", offsetof(struct args, reason),
     "reason of a denial, passed to the agent"},
    {'A', ARG_REPEATED, "answer", "[QUESTION=]TEXT", offsetof(struct args, repeated),
     "answer to a question; can be repeated"},
    {0, ARG_TEXT, "input", "JSON", offsetof(struct args, input),
     "allow: other arguments for the tool;\nanswer: the complete answer"},
    {'t', ARG_TEXT, "turn", "TURN", offsetof(struct args, turn), "select the request of this turn"},
    ARG_CONFIG,
    {0},
};

static const char *cmd_answer_text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

/* ---- the list ---- */

#define LIST_LINES 12 /* position of a request in the list */

/* The host escapes invisible characters (text/text_reveal.h), but a host of another version may
 * not. */
static void print_quoted(const char *text)
{
    CLEANUP_BUF struct buf shown = {0};
    text_reveal_line(&shown, text ? text : "", text ? strlen(text) : 0);
    printf("\"%s\"", shown.p ? shown.p : "");
}

/* Marks each line with a bar, so that no line looks like output of turncast; prints at most `most`
 * lines, 0: all. */
static void print_block(const char *text, size_t most, const char *id)
{
    CLEANUP_BUF struct buf shown = {0};
    text_reveal_text(&shown, text, strlen(text));
    const char *at = shown.p ? shown.p : "";
    for (size_t n = 0; *at && (!most || n < most); n++) {
        const size_t len = strcspn(at, "\n");
        printf("\n  | %.*s", (int)len, at);
        at += len + (at[len] == '\n');
    }
    if (!*at)
        return;
    const size_t left = text_reveal_lines(at, strlen(at));
    printf("\n  [%zu more line%s; see turncast answer --show ", left, PLURAL(left, "", "s"));
    print_table_cell(id, 0);
    putchar(']');
}

static void cmd_answer_print_text(const json_t *r, const char *key, size_t most)
{
    const char *const text = cmd_answer_text_of(r, key);
    if (text && *text)
        print_block(text, most, cmd_answer_text_of(r, "id"));
}

static void cmd_answer_print_question(const json_t *q)
{
    size_t i;
    const json_t *option;
    printf("    ");
    print_table_string(q, "id", 0);
    printf(": ");
    print_quoted(cmd_answer_text_of(q, "prompt"));
    json_array_foreach(json_object_get(q, "options"), i, option)
    {
        printf(i ? " | " : " [");
        print_quoted(json_is_string(option) ? json_string_value(option)
                                            : cmd_answer_text_of(option, "label"));
    }
    puts(i ? "]" : "");
}

/* most: printed lines of each text, 0: all. */
static void print_request(const json_t *r, int64_t now_ms, size_t most)
{
    const int64_t expires_ms = print_table_get_int(r, "expires_ms");
    const char *const tool = cmd_answer_text_of(r, "tool");
    size_t i;
    const json_t *q;
    print_table_string(r, "id", 0);
    printf("\n  turn ");
    print_table_string(r, "turn", 0);
    printf(" of ");
    print_table_string(r, "agent", 0);
    printf(", for ");
    print_table_duration(now_ms - print_table_get_int(r, "opened_ms"), 0);
    if (expires_ms) {
        printf(", expires in ");
        print_table_duration(expires_ms > now_ms ? expires_ms - now_ms : 0, 0);
    }
    printf("\n  ");
    print_table_cell(tool ? tool : cmd_answer_text_of(r, "kind"), 0);
    putchar(':');
    cmd_answer_print_text(r, "preview", most);
    cmd_answer_print_text(r, "message", most);
    cmd_answer_print_text(r, "reason", most);
    putchar('\n');
    json_array_foreach(json_object_get(r, "questions"), i, q)
    {
        cmd_answer_print_question(q);
    }
}

static int cmd_answer_list(const json_t *whole, bool json)
{
    const json_t *const all = json_object_get(whole, "requests");
    const int64_t now_ms = (int64_t)(clock_wall_s() * 1000);
    size_t i;
    const json_t *r;
    if (json) {
        json_value_print(whole);
        return 0;
    }
    if (!json_array_size(all))
        puts("No open requests.");
    json_array_foreach(all, i, r)
    {
        print_request(r, now_ms, LIST_LINES);
    }
    return 0;
}

/* ---- selection of a request ---- */

static bool cmd_answer_belongs_to_turn(const json_t *r, const char *turn)
{
    const char *const of = cmd_answer_text_of(r, "turn");
    return !turn || (of && strncmp(of, turn, strlen(turn)) == 0);
}

/* Number of requests of the turn whose id begins with the prefix, or (whole) equals it; *found is
 * the last of them. id NULL: any. */
static size_t cmd_answer_count(const json_t *all, const char *id, bool whole, const char *turn,
                               const json_t **found)
{
    size_t i, n = 0;
    const json_t *r;
    json_array_foreach(all, i, r)
    {
        const char *const is = cmd_answer_text_of(r, "id");
        if (!is || !cmd_answer_belongs_to_turn(r, turn))
            continue;
        if (id && (whole ? strcmp(is, id) : strncmp(is, id, strlen(id))) != 0)
            continue;
        *found = r;
        n++;
    }
    return n;
}

static const json_t *cmd_answer_pick(const json_t *all, const char *id, const char *turn)
{
    const json_t *found = NULL;
    size_t n = id ? cmd_answer_count(all, id, true, turn, &found) : 0;
    if (!n)
        n = cmd_answer_count(all, id, false, turn, &found);
    if (n == 1)
        return found;
    if (!n && id)
        fprintf(stderr, "turncast: no open request \"%s\"%s; see turncast answer --list\n", id,
                turn ? " in that turn" : "");
    else if (!n)
        fprintf(stderr, "turncast: no open requests\n");
    else
        fprintf(stderr, "turncast: several requests %s (%zu); see turncast answer --list\n",
                id ? "match this ID" : "are open; select one by its ID", n);
    return NULL;
}

static int cmd_answer_show(const json_t *whole, const char *id, const char *turn)
{
    const json_t *const r = cmd_answer_pick(json_object_get(whole, "requests"), id, turn);
    if (!r)
        return EXIT_TURN_ERROR;
    print_request(r, (int64_t)(clock_wall_s() * 1000), 0);
    return 0;
}

/* ---- the answer ---- */

static const char *const choices[] = {"allow",       "allow_turn", "allow_session", "allow_always",
                                      "allow_agent", "deny",       "deny_stop",     "answer"};

/* Id of a choice as typed: with - for _. NULL: unknown choice. */
static const char *cmd_answer_find_choice(const char *word)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const char *id = choices[i], *at = word;
        while (*id && (*at == *id || (*at == '-' && *id == '_'))) {
            id++;
            at++;
        }
        if (!*id && !*at)
            return choices[i];
    }
    return NULL;
}

struct meant {
    const char *id, *choice; /* id NULL: the only choice */
};

/* 0, or the exit status. */
static int cmd_answer_read_words(const struct args *args, struct meant *m)
{
    const int n = args->n_operands;
    const char *const last = n ? args->operands[n - 1] : NULL;
    m->choice = last ? cmd_answer_find_choice(last) : NULL;
    m->id = n == 2 ? args->operands[0] : NULL;
    if (!m->choice && args->n_repeated && n < 2) {
        m->choice = "answer";
        m->id = last;
    }
    if (!m->choice && n == 2)
        return args_usage_error(&cmd_answer,
                                "invalid choice \"%s\"; use allow, allow-turn, allow-session, "
                                "allow-always, allow-agent, deny, deny-stop or answer",
                                last);
    return m->choice ? 0
                     : args_usage_error(&cmd_answer, "missing operand: CHOICE (allow, deny, ...)");
}

/* Finds the question that "QUESTION=TEXT" names by its id or header, or the only question; *text is
 * the text. NULL: unknown name. */
static const json_t *find_question(const json_t *questions, const char *word, const char **text)
{
    const char *const equals = strchr(word, '=');
    const size_t len = equals ? (size_t)(equals - word) : 0;
    size_t i;
    const json_t *q;
    json_array_foreach(questions, i, q)
    {
        const char *const names[] = {cmd_answer_text_of(q, "id"), cmd_answer_text_of(q, "header")};
        for (size_t k = 0; equals && k < 2; k++)
            if (names[k] && strlen(names[k]) == len && strncmp(names[k], word, len) == 0) {
                *text = equals + 1;
                return q;
            }
    }
    *text = word;
    return json_array_size(questions) == 1 ? json_array_get(questions, 0) : NULL;
}

static int add_answer(json_t *answers, const json_t *questions, const char *word)
{
    const char *text = NULL;
    const json_t *const q = find_question(questions, word, &text);
    const char *const id = q ? cmd_answer_text_of(q, "id") : NULL;
    json_t *many = id ? json_object_get(answers, id) : NULL;
    if (!id)
        return args_usage_error(
            &cmd_answer, "--answer \"%s\": several questions are open; use QUESTION=TEXT", word);
    if (!json_is_true(json_object_get(q, "multi"))) {
        if (many)
            return args_usage_error(&cmd_answer,
                                    "--answer \"%s\": this question accepts only one answer", word);
        json_object_set_new(answers, id, json_string(text));
        return 0;
    }
    if (!many)
        json_object_set_new(answers, id, many = json_array());
    json_array_append_new(many, json_string(text));
    return 0;
}

static int cmd_answer_add_answers(json_t *body, const json_t *request, const struct args *args)
{
    const json_t *const questions = json_object_get(request, "questions");
    if (!json_array_size(questions)) { /* the choice accepts a text */
        if (args->n_repeated > 1)
            return args_usage_error(&cmd_answer, "this request accepts only one --answer");
        json_object_set_new(body, "reason", json_string(args->repeated[0]));
        return 0;
    }
    json_t *const answers = json_object();
    json_object_set_new(body, "answers", answers);
    for (size_t i = 0; i < args->n_repeated; i++) {
        const int status = add_answer(answers, questions, args->repeated[i]);
        if (status)
            return status;
    }
    return 0;
}

static int cmd_answer_add_input(json_t *body, const char *choice, const char *text)
{
    json_error_t why;
    json_t *const input = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(input)) {
        json_decref(input);
        return args_usage_error(&cmd_answer, "--input is not a JSON object");
    }
    json_object_set_new(body, strcmp(choice, "answer") == 0 ? "answers" : "input", input);
    return 0;
}

/* The operator's name is that of the user who runs the command. */
static json_t *user_name(void)
{
    const struct passwd *const me = getpwuid(getuid());
    return me ? json_string(me->pw_name) : json_sprintf("%u", (unsigned)getuid());
}

static int cmd_answer_fill(json_t *body, const json_t *request, const char *choice,
                           const struct args *args)
{
    json_object_set_new(body, "id", json_string(cmd_answer_text_of(request, "id")));
    json_object_set_new(body, "turn", json_string(cmd_answer_text_of(request, "turn")));
    json_object_set_new(body, "choice", json_string(choice));
    json_object_set_new(body, "user", user_name());
    if (args->reason)
        json_object_set_new(body, "reason", json_string(args->reason));
    int status = args->n_repeated ? cmd_answer_add_answers(body, request, args) : 0;
    if (!status && args->input)
        status = cmd_answer_add_input(body, choice, args->input);
    return status;
}

/* ---- request to the host ---- */

static int send_answer(const struct conf *conf, const json_t *body)
{
    struct control_response c;
    if (control_client_call(&c, conf, "POST", "/requests", body) < 0)
        return EXIT_TURN_ERROR;
    const int status = control_client_check(&c, conf);
    if (!status) {
        print_table_string(c.body, "text", 0);
        putchar('\n');
    }
    control_client_fini(&c);
    return status;
}

static int cmd_answer_answer(const struct conf *conf, const json_t *whole, const struct args *args,
                             const struct meant *m)
{
    const json_t *const request =
        cmd_answer_pick(json_object_get(whole, "requests"), m->id, args->turn);
    if (!request)
        return EXIT_TURN_ERROR;
    json_t *const body = json_object();
    int status = cmd_answer_fill(body, request, m->choice, args);
    if (!status)
        status = send_answer(conf, body);
    json_decref(body);
    return status;
}

/* m NULL: lists open requests, or shows one. */
static int cmd_answer_run_on_host(const struct conf *conf, const struct args *args,
                                  const struct meant *m)
{
    struct control_response c;
    if (control_client_call(&c, conf, "GET", "/requests", NULL) < 0)
        return EXIT_TURN_ERROR;
    int status = control_client_check(&c, conf);
    if (!status)
        status = m            ? cmd_answer_answer(conf, c.body, args, m)
                 : args->show ? cmd_answer_show(c.body, args->operands[0], args->turn)
                              : cmd_answer_list(c.body, args->json);
    control_client_fini(&c);
    return status;
}

/* The request body is JSON, hence UTF-8. */
static int cmd_answer_check_texts(const struct args *args)
{
    const char *const texts[] = {args->reason, args->turn, args->input};
    bool valid = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        valid = valid && (!texts[i] || utf8_is_valid(texts[i], strlen(texts[i])));
    for (size_t i = 0; i < args->n_repeated; i++)
        valid = valid && utf8_is_valid(args->repeated[i], strlen(args->repeated[i]));
    return valid ? 0 : args_usage_error(&cmd_answer, "an argument is not valid UTF-8");
}

static int cmd_answer_run(const struct args *args)
{
    struct meant m = {0};
    const bool lists = args->list || args->json || (!args->n_operands && !args->n_repeated);
    int status = cmd_answer_check_texts(args);
    if (!status && args->show && args->n_operands > 1)
        status = args_usage_error(&cmd_answer, "--show accepts one request and no choice");
    else if (!status && !lists && !args->show)
        status = cmd_answer_read_words(args, &m);
    struct conf *const conf = status ? NULL : command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    status = cmd_answer_run_on_host(conf, args, lists || args->show ? NULL : &m);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_answer = {
    .name = "answer",
    .operands = "[REQUEST] [CHOICE]",
    .summary = "Answers an approval or a question of an agent",
    .about =
        "Without arguments, lists the open requests. REQUEST is an id or a unique prefix of one;\n"
        "it can be omitted if only one request is open. CHOICE is allow, allow-turn,\n"
        "allow-session, allow-always, allow-agent (as the agent suggests), deny, deny-stop (also\n"
        "ends the turn) or answer. Exit status: 1 the answer does not count, because the request\n"
        "is not open or was answered before, or no host is running.",
    .args = rows,
    .max = 2,
    .run = cmd_answer_run,
};
