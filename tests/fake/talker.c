/* SPDX-License-Identifier: MIT
 * An agent to talk to: reads messages and answers each as its words ask, in the claude dialect,
 * until its input ends.
 *
 *   talker [-g FOLDER] [SESSION]
 *
 * Words of the message: id=WORD names the answer (else "-"); tools=N calls so many tools; ms=N
 * waits so long in each; gated waits in the n-th until the file FOLDER/ID has n bytes, or its host
 * is gone; behind ends the turn with a task in the background, which ends when the file
 * FOLDER/ID.behind has a byte: then it begins a turn and says "Later ID"; behind-silently says
 * nothing in it; flood writes lines that say nothing, without a pause, until the file FOLDER/ID has
 * a byte; chars=N makes the answer at least so long; echo=TEXT, to the end of its line, is in all
 * that is said; fail ends in an error; hang never ends. The answer tells the id, the session, and
 * how long the files of the message are. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct wish {
    char id[64], echo[256]; /* of JSON, and for JSON */
    long tools, ms, chars, files, bytes;
    int fail, hang, gated, flood, behind, silent;
};

#define GATE_S 600 /* nothing waits for ever, whatever became of the test */
#define LOOK_MS 20

static char session[64];
static double cost;         /* of all turns so far */
static struct wish working; /* what the task in the background is of; no `behind`: there is none */
static const char *gates = "."; /* a folder */

static long number(const char *message, const char *word)
{
    const char *const at = strstr(message, word);
    return at ? strtol(at + strlen(word), NULL, 10) : 0;
}

/* A file stands in the message as "[file: PATH (NAME)]", the name left out if there is none. */
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
    const char *const id = strstr(message, "id=");
    if (id) {
        const size_t len = strspn(id + 3, "abcdefghijklmnopqrstuvwxyz0123456789-");
        snprintf(w.id, sizeof w.id, "%.*s", (int)(len < 60 ? len : 60), id + 3);
    }
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
    w.flood = strstr(message, "flood") != NULL;
    read_files(&w, message);
    return w;
}

static int is_open(const char *gate, long place)
{
    struct stat st;
    return stat(gate, &st) == 0 && st.st_size >= place;
}

static void pass_gate(const struct wish *w, long place)
{
    char gate[4096];
    snprintf(gate, sizeof gate, "%s/%s", gates, w->id);
    for (long ms = 0; !is_open(gate, place) && ms < GATE_S * 1000; ms += LOOK_MS) {
        struct pollfd out = {.fd = STDOUT_FILENO}; /* tells only that nobody reads it any more */
        if (poll(&out, 1, LOOK_MS) > 0)
            exit(1);
    }
}

/* In the n-th place where it can be made to wait. */
static void rest(const struct wish *w, long place)
{
    if (w->ms > 0)
        nanosleep(&(struct timespec){w->ms / 1000, w->ms % 1000 * 1000000}, NULL);
    if (w->gated)
        pass_gate(w, place);
}

static void say(const char *id, const char *content)
{
    printf("{\"type\":\"assistant\",\"message\":{\"id\":\"%s\",\"role\":\"assistant\","
           "\"model\":\"talker-1\",\"content\":[%s],\"stop_reason\":null},"
           "\"parent_tool_use_id\":null,\"session_id\":\"%s\"}\n",
           id, content, session);
}

static void use_tool(long i, const struct wish *w)
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
}

static void print_answer(const struct wish *w)
{
    printf("Answer %s of %s: **%ld** parts looked at.%s", w->id, session, w->tools, w->echo);
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

static void tell_tasks(const char *list)
{
    printf("{\"type\":\"system\",\"subtype\":\"background_tasks_changed\",\"session_id\":\"%s\","
           "\"tasks\":[%s]}\n",
           session, list);
}

static int take_message(const char *message)
{
    const struct wish w = read_wish(message);
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
        tell_tasks("{\"task_id\":\"t1\",\"description\":\"a look at what is behind\"}");
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

/* The task has ended: a turn that nobody asked for tells of it. */
static void report(void)
{
    char text[200] = "";
    tell_tasks("");
    printf("{\"type\":\"system\",\"subtype\":\"task_notification\",\"session_id\":\"%s\","
           "\"task_id\":\"t1\",\"status\":\"completed\",\"summary\":\"seen\"}\n",
           session);
    begin_turn();
    if (!working.silent) {
        snprintf(text, sizeof text, "Later %s of %s.", working.id, session);
        char content[300];
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
    static char message[1 << 20];
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
    setvbuf(stdin, NULL, _IONBF, 0); /* what has come is seen by poll */
    for (;;) {
        struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
        if (has_ended())
            report();
        if (poll(&in, 1, working.behind ? LOOK_MS : -1) <= 0)
            continue;
        if (!fgets(message, sizeof message, stdin))
            return status;
        status = take_message(message);
    }
}
