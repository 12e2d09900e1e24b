/* SPDX-License-Identifier: MIT
 * Reads standard input and signals, and remembers whether the message has arrived. */
#include "remote/remote_commands.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "dialect/reader/value.h"
#include "io/loop/line_splitter.h"

#define EOF_MS 1000

struct remote_commands {
    const struct remote_commands_events *events;
    void *ctx;
    struct line_splitter lines;
    struct loop_fd *input;
    struct loop_signal *term, *interrupt;
    struct loop_timer *eof;
    bool prompted;
};

/* Raw values in a line. */
struct remote_command {
    struct str type, text, session, id, question, decision, reason, args, answers, remember,
        interrupt;
};

static void remote_commands_handle_prompt(struct remote_commands *r, struct arena *a,
                                          const struct remote_command *c)
{
    const char *const text = value_text(a, c->text, NULL);
    if (r->prompted || !text)
        return;
    r->prompted = true;
    r->events->prompt(r->ctx, text, value_text(a, c->session, NULL));
}

static void remote_commands_handle_answer(const struct remote_commands *r, struct arena *a,
                                          const struct remote_command *c)
{
    const struct remote_answer answer = {
        .id = value_text(a, c->id, NULL),
        .decision = value_equals(c->decision, "allow")  ? REMOTE_ALLOW
                    : value_equals(c->decision, "deny") ? REMOTE_DENY
                                                        : REMOTE_ANSWERED,
        .reason = value_text(a, c->reason, NULL),
        .args = value_json(a, c->args, NULL),
        .answers = value_json(a, c->answers, NULL),
        .question = value_is_true(c->question),
        .remember = value_is_true(c->remember),
        .interrupt = value_is_true(c->interrupt),
    };
    if (answer.id && r->prompted)
        r->events->answer(r->ctx, &answer);
}

static void remote_commands_on_line(void *ctx, const char *line, size_t len, bool complete)
{
    struct remote_commands *const r = ctx;
    struct remote_command c = {0};
    const struct value_row rows[] = {
        {"type", &c.type},           {"text", &c.text},
        {"session", &c.session},     {"id", &c.id},
        {"decision", &c.decision},   {"question", &c.question},
        {"reason", &c.reason},       {"args", &c.args},
        {"answers", &c.answers},     {"remember", &c.remember},
        {"interrupt", &c.interrupt},
    };
    if (!complete || value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return;
    struct arena a = {0};
    if (value_equals(c.type, "prompt"))
        remote_commands_handle_prompt(r, &a, &c);
    else if (value_equals(c.type, "answer"))
        remote_commands_handle_answer(r, &a, &c);
    else if (value_equals(c.type, "cancel"))
        r->events->cancel(r->ctx);
    arena_fini(&a);
}

static void remote_commands_on_long_line(void *ctx, uint64_t bytes)
{
    const struct remote_commands *const r = ctx;
    r->events->too_long(r->ctx, bytes);
}

static void remote_commands_on_input(void *arg, unsigned ready)
{
    struct remote_commands *const r = arg;
    char bytes[1 << 16];
    (void)ready;
    const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n > 0) {
        line_splitter_feed(&r->lines, bytes, (size_t)n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        loop_fd_set(r->input, 0);
        loop_timer_set(r->eof, EOF_MS);
    }
}

/* End of input: either the host has read the outcome, and the turn ends at once; or the host has
 * exited. */
static void remote_commands_on_eof(void *arg)
{
    const struct remote_commands *const r = arg;
    r->events->leave(r->ctx);
}

static void remote_commands_on_signal(void *arg, int signo)
{
    (void)signo;
    remote_commands_on_eof(arg);
}

struct remote_commands *remote_commands_new(struct loop *loop,
                                            const struct remote_commands_events *events, void *ctx)
{
    struct remote_commands *const r = xcalloc(1, sizeof *r);
    r->events = events;
    r->ctx = ctx;
    r->lines = (struct line_splitter){
        .line = remote_commands_on_line, .dropped = remote_commands_on_long_line, .ctx = r};
    r->input = loop_fd_new(loop, STDIN_FILENO, LOOP_READ, remote_commands_on_input, r);
    r->term = loop_signal_new(loop, SIGTERM, remote_commands_on_signal, r);
    r->interrupt = loop_signal_new(loop, SIGINT, remote_commands_on_signal, r);
    r->eof = loop_timer_new(loop, remote_commands_on_eof, r);
    return r;
}

void remote_commands_free(struct remote_commands *r)
{
    if (!r)
        return;
    loop_timer_free(r->eof);
    loop_signal_free(r->term);
    loop_signal_free(r->interrupt);
    loop_fd_free(r->input);
    line_splitter_fini(&r->lines);
    free(r);
}
