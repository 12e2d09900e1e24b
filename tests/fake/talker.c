/* SPDX-License-Identifier: MIT
 * An agent to talk to: reads one message and answers as its words ask, in the claude dialect.
 *
 *   talker [-g FOLDER] [SESSION]
 *
 * Words of the message: id=WORD names the answer (else "-"); tools=N calls so many tools; ms=N
 * waits so long in each; gated waits in the n-th until the file FOLDER/ID has n bytes, or its host
 * is gone; flood writes lines that say nothing, without a pause, until the file FOLDER/ID has a
 * byte; chars=N makes the answer at least so long; echo=TEXT, to the end of its line, is in all
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
    int fail, hang, gated, flood;
};

#define GATE_S 600 /* nothing waits for ever, whatever became of the test */
#define LOOK_MS 20

static char session[64];
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
    printf("\",\"session_id\":\"%s\",\"total_cost_usd\":0.0125,\"usage\":{\"input_tokens\":12000,"
           "\"output_tokens\":345}}\n",
           session);
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

int main(int argc, char **argv)
{
    static char message[1 << 20];
    if (argc > 2 && strcmp(argv[1], "-g") == 0) {
        gates = argv[2];
        argc -= 2;
        argv += 2;
    }
    if (argc > 1)
        snprintf(session, sizeof session, "%s", argv[1]);
    else
        snprintf(session, sizeof session, "talk-%ld", (long)getpid());
    if (!fgets(message, sizeof message, stdin))
        return 2;
    const struct wish w = read_wish(message);
    printf("{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/srv\",\"session_id\":\"%s\","
           "\"tools\":[\"Bash\"],\"model\":\"talker-1\"}\n",
           session);
    fflush(stdout);
    for (long i = 1; i <= w.tools; i++)
        use_tool(i, &w);
    if (w.flood)
        flood(&w);
    if (w.tools == 0)
        rest(&w, 1);
    while (w.hang)
        pause();
    if (w.fail)
        fail(&w);
    else
        answer(&w);
    return w.fail;
}
