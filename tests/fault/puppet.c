/* SPDX-License-Identifier: MIT
 * A connector on strings: a line of its file for all it is told, and a narration "WORD REST" makes
 * it do what the word says, once in the callback of the event. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <turncast/plugin.h>

struct conf {
    const char *path, *key, *at_start, *at_end;
};

struct turn {
    int resumed;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, path, NULL, TC_REQUIRED, "file to write"),
    TC_OPTION(struct conf, key, "", TC_SECRET, "some secret"),
    TC_OPTION(struct conf, at_start, "", 0, "a word for init"),
    TC_OPTION(struct conf, at_end, "", 0, "a word for teardown"),
    {0},
};

static int tell(struct tc_instance *inst, const char *line)
{
    const int fd = *(const int *)inst->state;
    return line && write(fd, line, strlen(line)) == (ssize_t)strlen(line) ? 0 : -1;
}

/* ---- what it can do: 0, or -1 of the callback */

static int do_crash(struct tc_turn *turn, const char *rest)
{
    (void)turn;
    (void)rest;
    signal(SIGSEGV, SIG_DFL);
    return raise(SIGSEGV);
}

static int do_crash_once(struct tc_turn *turn, const char *rest)
{
    const struct turn *t = turn->state;
    return t->resumed ? 0 : do_crash(turn, rest);
}

/* As ASSERT does. */
static int do_violate(struct tc_turn *turn, const char *rest)
{
    static const char line[] =
        "turncast: invariant violated at src/x.c:1: all is well (process 1)\n";
    const struct turn *t = turn->state;
    (void)rest;
    if (t->resumed || write(STDERR_FILENO, line, sizeof line - 1) < 0)
        return 0;
    signal(SIGABRT, SIG_DFL);
    return raise(SIGABRT);
}

static int do_exit(struct tc_turn *turn, const char *rest)
{
    (void)turn;
    _exit(atoi(rest));
}

__attribute__((__noreturn__)) static void hang(void)
{
    for (;;)
        pause();
}

static int do_hang(struct tc_turn *turn, const char *rest)
{
    (void)turn;
    (void)rest;
    hang();
}

static int do_fail(struct tc_turn *turn, const char *rest)
{
    (void)turn;
    (void)rest;
    return -1;
}

/* A process that has all its descriptors, and outlives it. */
static int do_fork(struct tc_turn *turn, const char *rest)
{
    const pid_t pid = fork();
    if (pid == 0)
        hang();
    return pid < 0 ? tell(turn->inst, "no fork\n") : do_exit(turn, rest);
}

static int do_take(struct tc_turn *turn, const char *rest)
{
    (void)turn;
    const size_t n = (size_t)atoi(rest) << 20;
    char *const p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return -1;
    memset(p, 1, n);
    return 0;
}

static int do_send(struct tc_turn *turn, const char *rest)
{
    return tc_http(turn, TC_HTTP(.url = "https://example.org/", .body = rest, .tag = "t"));
}

/* To the last member. */
static int do_send_all(struct tc_turn *turn, const char *rest)
{
    static const struct tc_header headers[] = {{"X-A", "1"}, {"X-B", "\xc3\xa9"}};
    return tc_http(turn,
                   TC_HTTP(.method = "PUT", .url = "https://example.org/{option:key}",
                           .headers = headers, .header_count = 2, .content_type = "a/b",
                           .body = "a\0b", .body_len = 3, .lane = "lane", .key = rest,
                           .priority = TC_P_NOTICE, .rates = 3, .flags = TC_DURABLE | TC_IDEMPOTENT,
                           .timeout_ms = 5, .max_age_ms = 6, .delay_ms = 7, .tag = "all"));
}

static int do_remember(struct tc_turn *turn, const char *rest)
{
    return tc_remember(turn, rest);
}

static int do_submit(struct tc_turn *turn, const char *rest)
{
    static const char *const files[] = {"/a", "/b"}, *const names[] = {"x", NULL};
    static const char *const instances[] = {"log", "tg"};
    struct tc_receipt r = {0};
    const enum tc_accepted accepted =
        tc_submit(turn->inst->lobby,
                  TC_INBOUND(.id = "m1", .also = "m2", .chat = "c", .thread = "th", .user = "u",
                             .name = "n", .text = rest, .quote = "q", .route = "{\"to\":1}",
                             .files = files, .file_names = names, .file_count = 2,
                             .instances = instances, .instance_count = 2),
                  &r);
    return tell(turn->inst, tc_sprint(turn, "submitted %d %s %s\n", (int)accepted,
                                      r.turn ? r.turn : "-", r.answer ? r.answer : "-"));
}

static int do_cancel(struct tc_turn *turn, const char *rest)
{
    struct tc_receipt r = {0};
    return tell(turn->inst, tc_sprint(turn, "cancelled %d\n",
                                      (int)tc_cancel(turn->inst->lobby, rest, "u", &r)));
}

static int do_route(struct tc_turn *turn, const char *rest)
{
    return tc_route(turn->inst, rest);
}

static int do_socket(struct tc_turn *turn, const char *rest)
{
    static const struct tc_header header = {"X-Bot", "{option:key}"};
    const int64_t n =
        tc_socket_open(turn->inst, TC_SOCKET(.url = rest, .ping_ms = 11, .silent_ms = 12,
                                             .headers = &header, .header_count = 1));
    return tell(turn->inst, tc_sprint(turn, "socket %d\n", (int)n));
}

/* "NUMBER TEXT" */
static int do_frame(struct tc_turn *turn, const char *rest)
{
    const char *const text = strchr(rest, ' ');
    return text ? tc_socket_send(turn->inst, atoi(rest), text + 1, strlen(text + 1)) : -1;
}

/* "NUMBER TEXT" */
static int do_respond(struct tc_turn *turn, const char *rest)
{
    const char *const text = strchr(rest, ' ');
    return tc_hit_answer(turn->inst, (uint64_t)atoi(rest),
                         &(struct tc_answer){.status = 202, .body = text ? text + 1 : ""});
}

static int do_bytes(struct tc_turn *turn, const char *rest)
{
    return tc_socket_send_binary(turn->inst, atoi(rest), "\0\xff", 2);
}

static int do_close(struct tc_turn *turn, const char *rest)
{
    tc_socket_close(turn->inst, atoi(rest));
    return 0;
}

/* "NAME VALUE" */
static int do_secret(struct tc_turn *turn, const char *rest)
{
    const char *const value = strchr(rest, ' ');
    const char *const name = value ? tc_sprint(turn, "%.*s", (int)(value - rest), rest) : rest;
    tc_log(turn->inst, TC_INFO, "before: %s", value ? value + 1 : "");
    const int rc = tc_secret(turn->inst, name, value ? value + 1 : NULL);
    tc_log(turn->inst, TC_INFO, "after: %s", value ? value + 1 : "");
    return rc;
}

/* "KEY TEXT"; "KEY": removes it. */
static int do_store(struct tc_turn *turn, const char *rest)
{
    const char *const text = strchr(rest, ' ');
    const char *const key = text ? tc_sprint(turn, "%.*s", (int)(text - rest), rest) : rest;
    return tc_store(turn->inst, key, text ? text + 1 : NULL);
}

static int do_wake(struct tc_turn *turn, const char *rest)
{
    tc_wake(turn, atoi(rest));
    return 0;
}

static const struct {
    const char *word;
    int (*fn)(struct tc_turn *turn, const char *rest);
} words[] = {
    {"crash", do_crash},       {"crash-once", do_crash_once},
    {"exit", do_exit},         {"hang", do_hang},
    {"fail", do_fail},         {"fork", do_fork},
    {"take", do_take},         {"send", do_send},
    {"send-all", do_send_all}, {"remember", do_remember},
    {"submit", do_submit},     {"cancel", do_cancel},
    {"route", do_route},       {"socket", do_socket},
    {"frame", do_frame},       {"close", do_close},
    {"wake", do_wake},         {"violate", do_violate},
    {"secret", do_secret},     {"store", do_store},
    {"bytes", do_bytes},       {"respond", do_respond},
};

static int act(struct tc_turn *turn, const char *text)
{
    const size_t len = strcspn(text, " ");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == len && strncmp(words[i].word, text, len) == 0)
            return words[i].fn(turn, text[len] ? text + len + 1 : "");
    return 0;
}

/* ---- what it is told */

static int on_start(struct tc_turn *turn, const struct tc_start *start)
{
    struct turn *t = turn->state;
    t->resumed = start->resumed;
    return tell(turn->inst,
                tc_sprint(turn, "open %s %s %s %s %s %s\n", turn->id, turn->agent,
                          turn->conversation ? turn->conversation : "-",
                          turn->route ? turn->route : "-", turn->memory ? turn->memory : "-",
                          start->resumed ? "resumed" : "new"));
}

static int on_narration(struct tc_turn *turn, const struct tc_narration *n)
{
    return act(turn, n->text);
}

static int on_final(struct tc_turn *turn, const struct tc_final *final)
{
    return act(turn, final->text);
}

static int on_done(struct tc_turn *turn, const struct tc_done *done)
{
    return act(turn, done->reason);
}

static int on_event(struct tc_turn *turn, const struct tc_event *ev)
{
    return tell(turn->inst, tc_sprint(turn, "%s\n", ev->line));
}

static int on_reply(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    tell(turn->inst,
         tc_sprint(turn, "reply %s %d %d %d:%s %s %s %u %d %s\n", r->tag, (int)r->outcome,
                   r->status, (int)r->body_len, r->body, r->path ? r->path : "-", r->error,
                   r->attempts, r->in_doubt, r->http->url));
    if (strcmp(r->body, "perform") == 0)
        tc_complete(turn, r->number,
                    TC_COMPLETION(.outcome = TC_REJECTED, .status = 404, .body = "a\0b",
                                  .body_len = 3, .error = "not there", .hold_ms = 9));
    if (strcmp(r->body, "judge") == 0)
        *v = (struct tc_verdict){TC_NEXT_FAIL, 1234, TC_HOLD_INSTANCE, "because"};
    return act(turn, r->body);
}

static int on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    const int rc = act(lobby, hit->query);
    answer->later = strcmp(hit->query, "later") == 0;
    if (answer->later)
        tell(lobby->inst, tc_sprint(lobby, "later %d\n", (int)hit->number));
    const char *const header = hit->header_count ? hit->headers[hit->header_count - 1].value : "-";
    answer->status = 201;
    answer->content_type = "text/x";
    answer->body = tc_sprint(lobby, "%s %s %s %s %d:%s", hit->method, hit->path, hit->query, header,
                             (int)hit->body_len, hit->body);
    return rc;
}

static int on_frame(struct tc_turn *lobby, const struct tc_frame *f)
{
    const int rc = f->event == TC_SOCKET_TEXT ? act(lobby, f->text) : 0;
    tell(lobby->inst, tc_sprint(lobby, "frame %d %d %d:%s\n", (int)f->socket, (int)f->event,
                                (int)f->len, f->text));
    return rc;
}

static int on_wake(struct tc_turn *turn)
{
    return tell(turn->inst, tc_sprint(turn, "wake %s\n", *turn->id ? turn->id : "lobby"));
}

static int init(struct tc_instance *inst)
{
    const struct conf *conf = inst->conf;
    int *const fd = inst->state;
    *fd = open(conf->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (*fd < 0 || tell(inst, tc_sprint(inst->lobby, "init %s\n", conf->key)) < 0)
        return -1;
    const char *const stored = tc_load(inst, "cursor");
    if (stored)
        tell(inst, tc_sprint(inst->lobby, "stored %s\n", stored));
    return act(inst->lobby, conf->at_start);
}

static void teardown(struct tc_instance *inst)
{
    const struct conf *conf = inst->conf;
    tell(inst, "teardown\n");
    act(inst->lobby, conf->at_end);
    close(*(const int *)inst->state);
}

TURNCAST_PLUGIN(.name = "puppet", .version = "7", .flags = TC_DELIVERS,
                .conf_size = sizeof(struct conf), .state_size = sizeof(int),
                .turn_size = sizeof(struct turn), .options = options, .init = init,
                .teardown = teardown,
                .sink = TC_SINK(.on_start = on_start, .on_narration = on_narration,
                                .on_final = on_final, .on_done = on_done, .on_event = on_event,
                                .on_reply = on_reply, .on_hit = on_hit, .on_frame = on_frame,
                                .on_wake = on_wake));
