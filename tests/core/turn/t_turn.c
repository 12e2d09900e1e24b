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
    ok(!log_.disorder && !log_.turns_open, "%s: in order, and closed", what);
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
    ok(turn_is_flushed(t), "R26: nothing waits before the outcome");
    feed(t, "fdone\nu77\n");
    is_str(c.seen, "final(done);", "the outcome is to be kept");
    ok(c.knows_usage, "with the usage that came in the same piece");
    ok(!turn_is_flushed(t) && turn_has_outcome(t), "and waits");
    is_str(cast_log_text(&log_), "start(T) n(hi)", "nobody has it yet");
    end(t, STREAM_EOF, NULL);
    is_str(cast_log_text(&log_), "start(T) n(hi)", "nor what follows");
    turn_confirm_outcome(t);
    ok(turn_is_flushed(t), "kept: it is told");
    is_cast(t, "start(T) n(hi) final(done) usage(2) done(completed)", "in order");
    is_str(c.seen, "final(done);", "asked for once");

    c = (struct clerk){.at_once = true};
    t = begin_committed(&c);
    feed(t, "ebad\nu7\n");
    turn_flush_held(t);
    ok(c.knows_usage, "an error with its usage");
    is_str(cast_log_text(&log_), "start(T) error(-: bad) usage(1)", "kept at once, told at once");
    end(t, STREAM_EOF, NULL);
    is_cast(t, "start(T) error(-: bad) usage(1) done(error)", "an error that was kept");

    c = (struct clerk){0};
    t = begin_committed(&c);
    feed(t, "cchild\n");
    is_str(c.seen, "", "a sub-agent's error is no outcome");
    feed(t, "fx\n");
    is_cast(t, "start(T) notice final(x) done(completed)", "a turn freed before the commit");
}

static void test_plain(void)
{
    struct turn *t = begin("do it");
    feed(t, "ss-1\nnone\n");
    feed(t, "ntwo\r\nftwo\nuxx");
    ok(turn_has_outcome(t) && !turn_held_error(t), "a final is an outcome at once");
    is_str(cast_log_text(&log_), "start(do it) n(one) n(two) final(two)", "and told at once");
    feed(t, "x\ndcompleted\nnlate\n");
    end(t, STREAM_EOF, NULL);
    is_str(turn_session_id(t), "s-1", "the session is known");
    is_str(turn_get_result(t)->text.p, "two", "and the result");
    ok(strlen(turn_id(t)) == 36 && turn_elapsed_ms(t) >= 0, "it has an id and a length");
    is_cast(t, "start(do it) n(one) n(two) final(two) usage(3) notice(late_event) done(completed)",
            "a turn that went well");

    t = begin(NULL);
    feed(t, "ss-1\nftail");
    ok(!turn_has_outcome(t), "a line without its end waits");
    turn_feed_eof(t);
    ok(turn_has_outcome(t), "until it is known to be the last");
    end(t, STREAM_EXIT, NULL);
    is_cast(t, "start(-) final(tail) done(completed)", "the last line without newline counts");

    t = begin("x");
    feed(t, "none\n");
    is_cast(t,
            "start(x) n(one) error(host_shutdown: The turn was stopped because turncast is "
            "shutting down.) done(error)",
            "a turn that nobody ended");
}

static void test_lines(void)
{
    struct turn *t = begin(NULL);
    feed(t, "ss\n?nonsense\nn12345678901234567890123456789012345678901234567890\nfok\n");
    end(t, STREAM_EOF, NULL);
    has_str(log_.notices.p, " 51 bytes", "a long line is told with its size");
    is_cast(t, "start(-) notice(unparsable_line) notice(line_dropped) final(ok) done(completed)",
            "lines that are too long or no good");
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
    is_str(turn_held_error(t)->message, "bad", "that is held back");
    is_str(cast_log_text(&log_), "start(-)", "and not told");
    feed(t, "eworse\nflate\n");
    is_str(turn_held_error(t)->message, "bad", "the first one counts");
    turn_flush_held(t);
    ok(!turn_held_error(t), "until it is released");
    has_str(cast_log_text(&log_), "error(-: bad) usage(1)", "with what came with it");
    end(t, STREAM_EOF, NULL);
    is_cast(t, "start(-) error(-: bad) usage(1) notice(duplicate_result) done(error)",
            "an error without another attempt");

    t = begin(NULL);
    feed(t, "ss\ncchild\n");
    ok(!turn_has_outcome(t) && !turn_held_error(t), "a sub-agent's error is no outcome");
    turn_flush_held(t);
    feed(t, "ebad\n");
    has_str(cast_log_text(&log_), "error(-: bad)", "after a release nothing is held");
    end(t, STREAM_EOF, NULL);
    is_cast(t, "start(-) notice error(-: bad) done(error)", "a sub-agent's error");

    t = begin(NULL);
    feed(t, "ss\nux\ndsuspended\nfwait\n");
    end(t, STREAM_EOF, NULL);
    is_cast(t, "start(-) final(wait) usage(1) done(suspended)",
            "usage and done before the final keep their place");
}

static void test_retry(void)
{
    struct turn *t = begin("q");
    feed(t, "ss-1\nnone\nux\nebad\nderror\nnbehind\nft");
    end(t, STREAM_EOF, "once more");
    ok(!turn_has_outcome(t), "the next attempt begins without an outcome");
    is_str(turn_session_id(t), "s-1", "but with the session");
    feed(t, "ss-2\nntwo\nftwo\nuxxx\ndcompleted\n");
    end(t, STREAM_EOF, NULL);
    has_str(log_.notices.p, "once more\n", "the reason is told");
    ok(!turn_get_result(t)->has_error, "the result knows no error");
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
        is_cast(t, ends[i].wanted, "an error behind the host's own end");
    }
    struct turn *t = begin(NULL);
    feed(t, "ss\n");
    turn_ignore_outcome(t);
    feed(t, "npartial\nfpartial\ndcompleted\nux\n");
    ok(!turn_has_outcome(t), "an abandoned stream gives no outcome");
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
