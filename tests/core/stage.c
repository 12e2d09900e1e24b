/* SPDX-License-Identifier: MIT
 * Owns the loop of the executor's tests. */
#include "core/stage.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "fake/children.h"
#include "tap/tap.h"

#define DEADLINE_MS 60000

static struct loop *loop;

void stage_init(void)
{
    loop = loop_new();
}

void stage_fini(void)
{
    loop_free(loop);
}

struct loop *stage_loop(void)
{
    return loop;
}

/* The config holds its words writable; nobody writes to them. */
static char *word(const char *text)
{
    return (char *)(uintptr_t)text;
}

void stage_set(struct stage *s, const char *const *words)
{
    static char *none[] = {NULL};
    snprintf(s->mark, sizeof s->mark, "%s", children_mark());
    size_t n = 0;
    while (words[n])
        n++;
    s->words = xcalloc(n + 3, sizeof *s->words);
    s->words[0] = word(children_agent());
    s->words[1] = s->mark;
    for (size_t i = 0; i < n; i++)
        s->words[i + 2] = word(words[i]);
    s->agent = (struct conf_agent){
        .name = word("fake"),
        .prefix = none,
        .command = s->words,
        .resume = none,
        .env_pass = none,
        .env_set = none,
        .grace.exit_ms = 100,
        .grace.term_ms = 100,
        .max_line = 16 << 20,
        .attempts = 3,
    };
}

static void on_ended(void *ctx, bool spawn_failed)
{
    struct stage *const s = ctx;
    s->ended = true;
    s->spawn_failed = spawn_failed;
    s->took_ms = clock_mono_ms() - s->began_ms;
}

static int answer_agent(void *ctx, const struct dialect_answer *answer)
{
    return executor_answer(((struct stage *)ctx)->executor, answer);
}

static bool agent_waits(void *ctx, const char *request_id)
{
    return executor_waits(((struct stage *)ctx)->executor, request_id);
}

static void on_request(void *ctx, struct tc_request *request)
{
    const struct stage *const s = ctx;
    if (s->asks)
        request_turn_add(s->asks, request);
}

static void on_unasked(void *ctx)
{
    const struct stage *const s = ctx;
    if (s->asks)
        request_turn_cancel_open(s->asks);
}

static void begin_requests(struct stage *s, const struct dialect *dialect)
{
    s->asks = request_turn_begin(s->requests, &(struct request_turn_spec){
                                                  .id = turn_id(s->turn),
                                                  .agent = &s->agent,
                                                  .dialect = dialect,
                                                  .answer = answer_agent,
                                                  .waits = agent_waits,
                                                  .ctx = s,
                                              });
    request_turn_attach(s->asks, s->turn);
}

void stage_begin(struct stage *s)
{
    s->fds = children_open_fds();
    s->began_ms = clock_mono_ms();
    const struct dialect *const dialect = s->dialect ? s->dialect : dialect_find("claude");
    s->turn = turn_new(&s->log, &(struct turn_spec){.dialect = dialect,
                                                    .agent = "fake",
                                                    .max_line = s->agent.max_line,
                                                    .request = on_request,
                                                    .ctx = s});
    if (s->requests)
        begin_requests(s, dialect);
    const struct executor_spec spec = {
        .agent = &s->agent,
        .message = s->message ? s->message : "do it",
        .message_len = s->message ? s->message_len : 5,
        .session_id = s->session_id,
        .conversation = s->conversation,
        .unasked = on_unasked,
    };
    s->executor = executor_start(loop, s->turn, &spec, on_ended, s);
    ok(!s->ended, "the end is not reported during the start");
}

bool stage_wait(struct stage *s, const char *text)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!s->ended && !strstr(cast_log_text(&s->log), text) && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    return strstr(cast_log_text(&s->log), text);
}

static void check_outcome(const struct stage *s, const char *wanted, const char *what)
{
    const char *const got = s->log.outcome.p ? s->log.outcome.p : "";
    const size_t len = strlen(wanted);
    if (wanted[len - 1] != '*')
        is_str(got, wanted, "%s", what);
    else if (!ok(strncmp(got, wanted, len - 1) == 0, "%s", what))
        diag("%s", got);
}

void stage_end(struct stage *s, const char *wanted, const char *what)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!s->ended && clock_mono_ms() < until)
        loop_run_once(loop, 1000);
    ok(s->ended, "%s: ends", what);
    check_outcome(s, wanted, what);
    is_int(children_marked(s->mark), 0, "%s: no process is left", what);
    executor_free(s->executor);
    turn_free(s->turn);
    request_turn_end(s->asks);
    ok(!s->log.disorder && !s->log.turns_open, "%s: in order, and closed", what);
    is_int(children_open_fds(), s->fds, "%s: no descriptor is left", what);
    diag("%s: %lld ms", what, (long long)s->took_ms);
    cast_log_fini(&s->log);
    free(s->words);
}

void stage_run(struct stage *s, const char *wanted, const char *what)
{
    stage_begin(s);
    stage_end(s, wanted, what);
}
