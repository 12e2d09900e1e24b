/* SPDX-License-Identifier: MIT
 * A conversational agent in the claude dialect: it reads messages until its input ends, and answers
 * each as its words choose.
 *
 *   talker [-g FOLDER] [SESSION]
 *
 * - id=WORD names the answer (default "-")
 * - tools=N makes N tool calls; ms=N delays each of them
 * - gated waits in the n-th call until the file FOLDER/ID has n bytes, or the host has gone
 * - behind ends the turn with a background task, which ends when the file FOLDER/ID.behind has a
 *   byte. Then the task begins a turn, makes the same number of calls, and answers "Later ID".
 *   behind-silently answers nothing in that turn; behind-held waits in it until the file has two
 *   bytes
 * - flood writes lines without content, and without a pause, until the file FOLDER/ID has a byte
 * - chars=N makes the answer at least N characters long
 * - echo=TEXT, up to the end of its line, is included in all output
 * - fail ends in an error; hang never ends
 *
 * The answer contains the id, the session, and the sizes of the files of the message. If the file
 * FOLDER/begun exists, each turn appends a line with the id of the message that began it, followed
 * by the ids of the further messages in its prompt as "+ID". A turn of a background task appends
 * "later-ID".
 *
 * Like Claude Code, the agent adds a message with a uuid that arrives during a turn after the next
 * tool call. Otherwise the message begins a turn of its own, together with later ones. Both are
 * reported by lines command_lifecycle; cancel_async_message drops the message before. An answer
 * names the ids of all messages but the first as "With ID." */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct wish {
    char id[64], echo[256]; /* from JSON, and for JSON */
    char with[1024];        /* " With ID." of each further message */
    long tools, ms, chars, files, bytes;
    int fail, hang, gated, flood, behind, silent, held;
};

#define VISIBILITY_S 600 /* nothing waits for ever, whatever became of the test */
#define POLL_MS 20
#define WAITING_MAX 16

/* Lines of stdin that arrived during a turn, the oldest first. */
static struct {
    char *line;
    char uuid[64]; /* "": not a message for the running turn */
} waiting[WAITING_MAX];
static int n_waiting;
static int at_end; /* of stdin */

static char session[64];
static double cost;         /* of all turns so far */
static struct wish working; /* the wish of the background task; without `behind` there is none */
static const char *gates = "."; /* a folder */

static long number(const char *message, const char *word)
{
    const char *const at = strstr(message, word);
    return at ? strtol(at + strlen(word), NULL, 10) : 0;
}

/* Returns the n-th "id=WORD" of the message. */
static int read_id(char id[64], const char *message, int n)
{
    while (n-- && (message = strstr(message, "id=")))
        message += 3;
    if (!message)
        return 0;
    const size_t len = strspn(message, "abcdefghijklmnopqrstuvwxyz0123456789-");
    snprintf(id, 64, "%.*s", (int)(len < 60 ? len : 60), message);
    return 1;
}

static void add_with(struct wish *w, const char *id)
{
    const size_t len = strlen(w->with);
    snprintf(w->with + len, sizeof w->with - len, " With %s.", id);
}

/* A file is "[file: PATH (NAME)]" in the message, or without a name "[file: PATH]". */
static void read_files(struct wish *w, const char *message)
{
    static const char mark[] = "[file: ";
    for (const char *at = message; (at = strstr(at, mark)); w->files++) {
        char path[4096];
        struct stat st;
        at += sizeof mark - 1;
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, " ]"), at);
        w->bytes += stat(path, &st) == 0 ? (long)st.st_size : -1;
    }
}

static struct wish read_wish(const char *message)
{
    struct wish w = {.id = "-"};
    char other[64];
    read_id(w.id, message, 1);
    for (int n = 2; read_id(other, message, n); n++)
        add_with(&w, other);
    const char *const echo = strstr(message, "echo=");
    if (echo)
        snprintf(w.echo, sizeof w.echo, "%.*s", (int)strcspn(echo + 5, "\"\\"), echo + 5);
    w.tools = number(message, "tools=");
    w.ms = number(message, "ms=");
    w.chars = number(message, "chars=");
    w.fail = strstr(message, "fail") != NULL;
    w.hang = strstr(message, "hang") != NULL;
    w.gated = strstr(message, "gated") != NULL;
    w.behind = strstr(message, "behind") != NULL;
    w.silent = strstr(message, "behind-silently") != NULL;
    w.held = strstr(message, "behind-held") != NULL;
    w.flood = strstr(message, "flood") != NULL;
    read_files(&w, message);
    return w;
}

/* ---- messages during a turn ---- */

static void print_lifecycle(const char *uuid, const char *state)
{
    printf(
        "{\"type\":\"command_lifecycle\",\"command_uuid\":\"%s\",\"state\":\"%s\",\"session_id\":"
        "\"%s\"}\n",
        uuid, state, session);
    fflush(stdout);
}

/* Reads the quoted string after `key`. */
static void read_text(char text[64], const char *line, const char *key)
{
    const char *const at = strstr(line, key);
    if (at)
        snprintf(text, 64, "%.*s", (int)strcspn(at + strlen(key), "\""), at + strlen(key));
}

static void forget_waiting(int i)
{
    free(waiting[i].line);
    n_waiting--;
    memmove(&waiting[i], &waiting[i + 1], (size_t)(n_waiting - i) * sizeof *waiting);
}

static void withdraw(const char *uuid)
{
    int found = 0;
    for (int i = 0; i < n_waiting && !found; i++)
        if (*uuid && strcmp(waiting[i].uuid, uuid) == 0) {
            found = 1;
            print_lifecycle(uuid, "cancelled");
            forget_waiting(i);
        }
    printf("{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":"
           "\"turncast-withdraw\",\"response\":{\"cancelled\":%s}}}\n",
           found ? "true" : "false");
    fflush(stdout);
}

static void take_line(const char *line)
{
    char uuid[64] = "";
    read_text(uuid, line, "\"message_uuid\":\"");
    if (strstr(line, "cancel_async_message")) {
        withdraw(uuid);
        return;
    }
    if (n_waiting == WAITING_MAX)
        exit(1);
    read_text(uuid, line, "\"uuid\":\"");
    waiting[n_waiting].line = strdup(line);
    strcpy(waiting[n_waiting++].uuid, uuid);
    if (*uuid)
        print_lifecycle(uuid, "queued");
}

/* Waits for a line of stdin up to this time, and reads all that have arrived. */
static void read_input(int ms)
{
    static char line[1 << 20];
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    while (!at_end && poll(&in, 1, ms) > 0) {
        ms = 0;
        if (fgets(line, sizeof line, stdin))
            take_line(line);
        else
            at_end = 1;
    }
}

/* Makes the messages with a uuid that have arrived a part of the turn. */
static void take_waiting(struct wish *w)
{
    char id[64];
    read_input(0);
    for (int i = 0; i < n_waiting;)
        if (*waiting[i].uuid) {
            print_lifecycle(waiting[i].uuid, "started");
            for (int n = 1; read_id(id, waiting[i].line, n); n++)
                add_with(w, id);
            forget_waiting(i);
        } else {
            i++;
        }
}

/* ---- a turn ---- */

static int is_open(const char *gate, long place)
{
    struct stat st;
    return stat(gate, &st) == 0 && st.st_size >= place;
}

static void wait_for_input(int ms)
{
    if (at_end)
        poll(NULL, 0, ms);
    else
        read_input(ms);
}

static void pass_gate(const struct wish *w, const char *ending, long place)
{
    char gate[4096];
    snprintf(gate, sizeof gate, "%s/%s%s", gates, w->id, ending);
    for (long ms = 0; !is_open(gate, place) && ms < VISIBILITY_S * 1000; ms += POLL_MS) {
        struct pollfd out = {.fd = STDOUT_FILENO}; /* reports only that the reader has gone */
        if (poll(&out, 1, 0) > 0)
            exit(1);
        wait_for_input(POLL_MS);
    }
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits at the n-th place where the test can hold the turn. */
static void rest(const struct wish *w, long place)
{
    const long until = now_ms() + w->ms;
    for (long left; (left = until - now_ms()) > 0;)
        wait_for_input((int)left);
    if (w->gated)
        pass_gate(w, "", place);
}

static void say(const char *id, const char *content)
{
    printf("{\"type\":\"assistant\",\"message\":{\"id\":\"%s\",\"role\":\"assistant\","
           "\"model\":\"talker-1\",\"content\":[%s],\"stop_reason\":null},"
           "\"parent_tool_use_id\":null,\"session_id\":\"%s\"}\n",
           id, content, session);
}

static void use_tool(long i, struct wish *w)
{
    char id[32], text[512];
    snprintf(id, sizeof id, "msg_%ld", i);
    snprintf(text, sizeof text, "{\"type\":\"text\",\"text\":\"Looking at part %ld.%s\"}", i,
             w->echo);
    say(id, text);
    snprintf(text, sizeof text,
             "{\"type\":\"tool_use\",\"id\":\"call_%ld\",\"name\":\"Bash\",\"input\":{\"command\":"
             "\"df /part/%ld%s\"}}",
             i, i, w->echo);
    say(id, text);
    fflush(stdout);
    rest(w, i);
    printf("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":"
           "\"tool_result\",\"tool_use_id\":\"call_%ld\",\"content\":\"%ld%% used%s\","
           "\"is_error\":false}]},\"parent_tool_use_id\":null,\"session_id\":\"%s\"}\n",
           i, 50 + i % 50, w->echo, session);
    fflush(stdout);
    take_waiting(w);
}

static void print_answer(const struct wish *w)
{
    printf("Answer %s of %s: **%ld** parts looked at.%s%s", w->id, session, w->tools, w->echo,
           w->with);
    if (w->files)
        printf("\\n\\nThe files have %ld bytes.", w->bytes);
    for (long n = 0; n < w->chars; n += 40)
        printf("\\n\\nLine %06ld tells of the part in words.", n / 40);
}

static void answer(const struct wish *w)
{
    printf("{\"type\":\"assistant\",\"message\":{\"id\":\"msg_end\",\"role\":\"assistant\","
           "\"model\":\"talker-1\",\"content\":[{\"type\":\"text\",\"text\":\"");
    print_answer(w);
    printf(
        "\"}],\"stop_reason\":\"end_turn\"},\"parent_tool_use_id\":null,\"session_id\":\"%s\"}\n",
        session);
    printf("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":%ld,"
           "\"num_turns\":%ld,\"result\":\"",
           w->tools * w->ms, w->tools + 1);
    print_answer(w);
    cost += 0.0125;
    printf("\",\"session_id\":\"%s\",\"total_cost_usd\":%.4f,\"usage\":{\"input_tokens\":12000,"
           "\"output_tokens\":345}}\n",
           session, cost);
    fflush(stdout);
}

static void flood(const struct wish *w)
{
    char gate[4096];
    snprintf(gate, sizeof gate, "%s/%s", gates, w->id);
    while (!is_open(gate, 1) && !ferror(stdout))
        for (int i = 0; i < 10000; i++)
            puts("{\"type\":\"keep_alive\"}");
}

static void fail(const struct wish *w)
{
    printf("{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,"
           "\"duration_ms\":1,\"num_turns\":1,\"session_id\":\"%s\",\"errors\":[\"Part %s is "
           "broken.\"]}\n",
           session, w->id);
    fflush(stdout);
}

static void begin_turn(void)
{
    printf("{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/srv\",\"session_id\":\"%s\","
           "\"tools\":[\"Bash\"],\"model\":\"talker-1\"}\n",
           session);
    fflush(stdout);
}

static void print_tasks(const char *list)
{
    printf("{\"type\":\"system\",\"subtype\":\"background_tasks_changed\",\"session_id\":\"%s\","
           "\"tasks\":[%s]}\n",
           session, list);
}

/* Appends the message that begins a turn to the file "begun" of the folder, if the file exists. */
static void log_begun(const struct wish *w, const char *message)
{
    char id[64];
    char path[4096];
    snprintf(path, sizeof path, "%s/begun", gates);
    const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return;
    if (dprintf(fd, "%s%s\n", message ? "" : "later-", w->id) < 0)
        exit(1);
    for (int n = 2; message && read_id(id, message, n); n++)
        if (dprintf(fd, "+%s\n", id) < 0)
            exit(1);
    close(fd);
}

/* Runs the turn of the oldest waiting message. */
static int answer_message(void)
{
    struct wish w = read_wish(waiting[0].line);
    log_begun(&w, waiting[0].line);
    const int joins = *waiting[0].uuid != 0;
    if (joins)
        print_lifecycle(waiting[0].uuid, "started");
    forget_waiting(0);
    if (joins)
        take_waiting(&w);
    begin_turn();
    for (long i = 1; i <= w.tools; i++)
        use_tool(i, &w);
    if (w.flood)
        flood(&w);
    if (w.tools == 0)
        rest(&w, 1);
    while (w.hang)
        pause();
    if (w.behind) {
        working = w;
        print_tasks("{\"task_id\":\"t1\",\"description\":\"a look at what is behind\"}");
    }
    if (w.fail)
        fail(&w);
    else
        answer(&w);
    return w.fail;
}

static int has_ended(void)
{
    char gate[4096];
    snprintf(gate, sizeof gate, "%s/%s.behind", gates, working.id);
    return working.behind && is_open(gate, 1);
}

/* The background task has ended: begins a turn that reports it. */
static void report(void)
{
    char text[1200] = "";
    print_tasks("");
    printf("{\"type\":\"system\",\"subtype\":\"task_notification\",\"session_id\":\"%s\","
           "\"task_id\":\"t1\",\"status\":\"completed\",\"summary\":\"seen\"}\n",
           session);
    begin_turn();
    working.with[0] = '\0';
    log_begun(&working, NULL);
    for (long i = 1; i <= working.tools; i++)
        use_tool(i, &working);
    if (working.held)
        pass_gate(&working, ".behind", 2);
    if (!working.silent) {
        snprintf(text, sizeof text, "Later %s of %s.%s", working.id, session, working.with);
        char content[1300];
        snprintf(content, sizeof content, "{\"type\":\"text\",\"text\":\"%s\"}", text);
        say("msg_later", content);
    }
    cost += 0.0025;
    printf("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":1,"
           "\"num_turns\":1,\"result\":\"%s\",\"session_id\":\"%s\",\"total_cost_usd\":%.4f,"
           "\"origin\":{\"kind\":\"task-notification\"}}\n",
           text, session, cost);
    fflush(stdout);
    working.behind = 0;
}

int main(int argc, char **argv)
{
    int status = 2;
    if (argc > 2 && strcmp(argv[1], "-g") == 0) {
        gates = argv[2];
        argc -= 2;
        argv += 2;
    }
    if (argc > 1)
        snprintf(session, sizeof session, "%s", argv[1]);
    else
        snprintf(session, sizeof session, "talk-%ld", (long)getpid());
    setvbuf(stdin, NULL, _IONBF, 0); /* so that poll sees all unread input */
    for (;;) {
        if (n_waiting)
            status = answer_message();
        else if (has_ended())
            report();
        else if (at_end)
            return status;
        else
            read_input(working.behind ? POLL_MS : -1);
    }
}
