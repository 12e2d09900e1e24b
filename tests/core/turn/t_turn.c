/* SPDX-License-Identifier: MIT
 * The stages of a turn joined, driven by a toy dialect: one letter and a text per line. */
#include "core/turn/turn.h"

#include <stdio.h>

#include "core/cast_log.h"
#include "tap/tap.h"

/* n narration, f final, e error, u usage{turn}, d done, s start with session, c a sub-agent's
 * error; anything else is not valid. */
static int toy_line(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    (void)state;
    static const char requests[] = "nfeudsc";
    static const enum tc_kind kinds[] = {TC_NARRATION, TC_FINAL, TC_ERROR, TC_USAGE,
                                         TC_DONE,      TC_START, TC_ERROR};
    const char *const at = len ? strchr(requests, line[0]) : NULL;
    if (!at)
        return -1;
    char *const text = arena_strndup(out->scratch, line + 1, len - 1);
    struct event ev;
    event_init(&ev, kinds[at - requests]);
    switch (line[0]) {
    case 'n':
        ev.u.narration.text = text;
        ev.u.narration.text_len = len - 1;
        break;
    case 'f':
        ev.u.final.text = text;
        ev.u.final.text_len = len - 1;
        break;
    case 'u':
        ev.u.usage.scope = "turn";
        ev.u.usage.input_tokens = (int64_t)len - 1;
        break;
    case 'd':
        ev.u.done.reason = text;
        break;
    case 's':
        ev.meta.session_id = text;
        break;
    case 'c':
        ev.meta.parent_id = "tool";
        ev.u.error.message = text;
        break;
    default:
        ev.u.error.message = text;
    }
    dialect_emit_draft(out, &ev);
    return 0;
}

static const struct dialect toy = {.name = "toy", .summary = "letters", .line = toy_line};

static struct dispatch log_;

static struct turn *begin(const char *task)
{
    return turn_new(&log_, &(struct turn_spec){.dialect = &toy, .task = task, .max_line = 40});
}

static void feed(struct turn *t, const char *text)
{
    turn_feed(t, text, strlen(text));
}

static void end(struct turn *t, enum stream_end how, const char *retry)
{
    struct stream_end_info info = {.how = how};
    turn_end_attempt(t, &info, retry);
}

static void is_cast(struct turn *t, const char *wanted, const char *what)
{
    turn_free(t);
    is_str(cast_log_text(&log_), wanted, "%s", what);
    ok(!log_.disorder && !log_.turns_open, "%s: events are in order, and the turn is closed", what);
    cast_log_fini(&log_);
}

/* --- committed first -------------------------------------------------------------------------- */

struct clerk {
    struct turn *turn;
    char seen[64];
    bool at_once;
    bool knows_usage; /* when it was told the outcome */
};

static void note_outcome(void *ctx, const struct event *outcome)
{
    struct clerk *const c = ctx;
    const size_t len = strlen(c->seen);
    snprintf(c->seen + len, sizeof c->seen - len, "%s(%s);", kind_name(outcome->kind),
             outcome->kind == TC_FINAL ? outcome->u.final.text : outcome->u.error.message);
    c->knows_usage = turn_get_result(c->turn)->usage.len > 0;
    if (c->at_once)
        turn_confirm_outcome(c->turn);
}

static struct turn *begin_committed(struct clerk *c)
{
    return c->turn = turn_new(
               &log_,
               &(struct turn_spec){
                   .dialect = &toy, .task = "T", .max_line = 40, .commit = note_outcome, .ctx = c});
}

static void test_commit(void)
{
    struct clerk c = {0};
    struct turn *t = begin_committed(&c);
    feed(t, "nhi\n");
    ok(turn_is_flushed(t), "R26: no event is held back before the outcome");
    feed(t, "fdone\nu77\n");
    is_str(c.seen, "final(done);", "the outcome is passed to the commit callback");
    ok(c.knows_usage, "the commit callback knows the usage of the same read");
    ok(!turn_is_flushed(t) && turn_has_outcome(t), "the outcome is held back");
    is_str(cast_log_text(&log_), "start(T) n(hi)", "the held outcome is not cast");
    end(t, STREAM_EOF, NULL);
    is_str(cast_log_text(&log_), "start(T) n(hi)", "no event after the held outcome is cast");
    turn_confirm_outcome(t);
    ok(turn_is_flushed(t), "the confirmed outcome is cast");
    is_cast(t, "start(T) n(hi) final(done) usage(2) done(completed)",
            "the events after the outcome are cast in order");
    is_str(c.seen, "final(done);", "the commit callback is called once");

    c = (struct clerk){.at_once = true};
    t = begin_committed(&c);
    feed(t, "ebad\nu7\n");
    turn_release_gated(t);
    ok(c.knows_usage, "an error is committed with its usage");
    is_str(cast_log_text(&log_), "start(T) error(-: bad) usage(1)",
           "an error that is confirmed at once is cast at once");
    end(t, STREAM_EOF, NULL);
    is_cast(t, "start(T) error(-: bad) usage(1) done(error)", "a committed error");

    c = (struct clerk){0};
    t = begin_committed(&c);
    feed(t, "cchild\n");
    is_str(c.seen, "", "an error of a sub-agent is not an outcome");
    feed(t, "fx\n");
    is_cast(t, "start(T) notice final(x) done(completed)", "a turn freed before the confirmation");
}

static void test_plain(void)
{
    struct turn *t = begin("do it");
    feed(t, "ss-1\nnone\n");
    feed(t, "ntwo\r\nftwo\nuxx");
    ok(turn_has_outcome(t) && !turn_gated_error(t), "a final is an outcome at once");
    is_str(cast_log_text(&log_), "start(do it) n(one) n(two) final(two)",
           "a final is cast at once");
    feed(t, "x\ndcompleted\nnlate\n");
    end(t, STREAM_EOF, NULL);
    is_str(turn_session_id(t), "s-1", "the turn has the session id");
    is_str(turn_get_result(t)->text.p, "two", "the turn has the result");
    ok(strlen(turn_id(t)) == 36 && turn_elapsed_ms(t) >= 0, "the turn has an id and a duration");
    is_cast(t, "start(do it) n(one) n(two) final(two) usage(3) notice(late_event) done(completed)",
            "a completed turn");

    t = begin(NULL);
    feed(t, "ss-1\nftail");
    ok(!turn_has_outcome(t), "a line without a newline waits");
    turn_feed_eof(t);
    ok(turn_has_outcome(t), "the last line without a newline is read at the end of input");
    end(t, STREAM_EXIT, NULL);
    is_cast(t, "start(-) final(tail) done(completed)", "a turn whose last line has no newline");

    t = begin("x");
    feed(t, "none\n");
    is_cast(t,
            "start(x) n(one) error(host_shutdown: The turn was stopped because turncast is "
            "shutting down.) done(error)",
            "a turn that is freed before its end");
}

static void test_lines(void)
{
    struct turn *t = begin(NULL);
    feed(t, "ss\n?nonsense\nn12345678901234567890123456789012345678901234567890\nfok\n");
    end(t, STREAM_EOF, NULL);
    has_str(log_.notices.p, " 51 bytes", "the notice of a dropped line has its size");
    is_cast(t, "start(-) notice(unparsable_line) notice(line_dropped) final(ok) done(completed)",
            "lines that are too long or invalid");
    t = begin(NULL);
    feed(t, "ss\n?cut off he");
    end(t, STREAM_EOF, NULL);
    is_cast(
        t,
        "start(-) error(agent_truncated: The agent's output was cut off in the middle of a line.) "
        "done(lost)",
        "a stream that ends in the middle of a line");
}

static void test_held(void)
{
    struct turn *t = begin(NULL);
    feed(t, "ss\nux\nebad\nderror\n");
    ok(turn_has_outcome(t), "an error is an outcome");
    is_str(turn_gated_error(t)->message, "bad", "an error is held back");
    is_str(cast_log_text(&log_), "start(-)", "a held error is not cast");
    feed(t, "eworse\nflate\n");
    is_str(turn_gated_error(t)->message, "bad", "the first error is kept");
    turn_release_gated(t);
    ok(!turn_gated_error(t), "a flushed error is not held any more");
    has_str(cast_log_text(&log_), "error(-: bad) usage(1)",
            "a flushed error is cast with its usage");
    end(t, STREAM_EOF, NULL);
    is_cast(t, "start(-) error(-: bad) usage(1) notice(duplicate_result) done(error)",
            "an error without another attempt");

    t = begin(NULL);
    feed(t, "ss\ncchild\n");
    ok(!turn_has_outcome(t) && !turn_gated_error(t), "an error of a sub-agent is not an outcome");
    turn_release_gated(t);
    feed(t, "ebad\n");
    has_str(cast_log_text(&log_), "error(-: bad)", "after a flush no error is held back");
    end(t, STREAM_EOF, NULL);
    is_cast(t, "start(-) notice error(-: bad) done(error)",
            "an error of a sub-agent and an error of the turn");

    t = begin(NULL);
    feed(t, "ss\nux\ndsuspended\nfwait\n");
    end(t, STREAM_EOF, NULL);
    is_cast(t, "start(-) final(wait) usage(1) done(suspended)",
            "usage and done before the final are cast after it");
}

static void test_retry(void)
{
    struct turn *t = begin("q");
    feed(t, "ss-1\nnone\nux\nebad\nderror\nnbehind\nft");
    end(t, STREAM_EOF, "once more");
    ok(!turn_has_outcome(t), "the next attempt begins without an outcome");
    is_str(turn_session_id(t), "s-1", "the next attempt has the session");
    feed(t, "ss-2\nntwo\nftwo\nuxxx\ndcompleted\n");
    end(t, STREAM_EOF, NULL);
    has_str(log_.notices.p, "once more\n", "the notice has the reason of the retry");
    ok(!turn_get_result(t)->has_error, "the result of the successful attempt has no error");
    is_cast(t,
            "start(q) n(one) n(behind) notice(retry) notice(restart) n(two) final(two) usage(3) "
            "done(completed)",
            "two attempts belong to one turn");
}

static void test_by_host(void)
{
    static const struct {
        enum stream_end how;
        const char *wanted;
    } ends[] = {
        {STREAM_TIMEOUT,
         "start(-) error(agent_timeout: The agent exceeded its time limit and was stopped.) "
         "done(error)"},
        {STREAM_CANCELLED, "start(-) final() done(cancelled)"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct turn *const t = begin(NULL);
        feed(t, "ss\nebad\nderror\n");
        end(t, ends[i].how, NULL);
        is_cast(t, ends[i].wanted, "an error before a timeout or cancel by the host");
    }
    struct turn *t = begin(NULL);
    feed(t, "ss\n");
    turn_ignore_outcome(t);
    feed(t, "npartial\nfpartial\ndcompleted\nux\n");
    ok(!turn_has_outcome(t), "an abandoned stream has no outcome");
    end(t, STREAM_TIMEOUT, NULL);
    is_cast(t,
            "start(-) n(partial) error(agent_timeout: The agent exceeded its time limit and was "
            "stopped.) "
            "usage(1) done(error)",
            "an abandoned stream");
    t = begin(NULL);
    feed(t, "ss\nfgood\n");
    turn_ignore_outcome(t);
    end(t, STREAM_TIMEOUT, NULL);
    is_cast(t, "start(-) final(good) done(completed)", "an outcome before the retry is kept");
}

int main(void)
{
    plan_lazy();
    test_commit();
    test_plain();
    test_lines();
    test_held();
    test_retry();
    test_by_host();
    return 0;
}
