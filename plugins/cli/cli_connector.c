/* SPDX-License-Identifier: MIT
 * The connector cli: its options, its callbacks, and when the terminal is written to. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <turncast/plugin.h>

#include "progress_lines.h"
#include "question_dialog.h"
#include "terminal/cli_words.h"
#include "view/status_line.h"
#include "view/turn_view.h"

struct cli_conf {
    const char *mode, *color;
};

static const struct tc_option options[] = {
    TC_OPTION(struct cli_conf, mode, "auto", 0,
              "auto (rich on a terminal, else lines), lines or rich"),
    TC_OPTION(struct cli_conf, color, "auto", 0, "auto, always or never; auto heeds NO_COLOR"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "mode", .kind = TC_RULE_ONE_OF, .text = "auto lines rich"},
    {.key = "color", .kind = TC_RULE_ONE_OF, .text = "auto always never"},
    {0},
};

struct cli_state {
    struct term term;
    struct question_dialog dialog;
    struct status_line status;
    struct view *turns; /* running turns, the newest first */
    int64_t timer_ms;   /* time of the armed timer; 0: none */
    bool rich;
    bool failing; /* a write failed, which was logged */
};

static int flush(struct tc_instance *inst)
{
    struct cli_state *s = inst->state;
    const int rc = term_flush(&s->term);
    if (rc && !s->failing)
        tc_log(inst, TC_WARN, "cannot write to standard error: %s", strerror(errno));
    s->failing = rc != 0;
    return rc;
}

/* Arms the timer while the keyboard is read or the live region is drawn. */
static void set_timer(struct tc_instance *inst)
{
    struct cli_state *s = inst->state;
    const int64_t key_ms = question_dialog_next_check_ms(&s->dialog);
    const bool draws = s->turns && s->rich && s->term.cursor;
    const int64_t ms = key_ms > 0 ? key_ms : draws ? STATUS_EVERY_MS : 0;
    if (ms == s->timer_ms)
        return;
    s->timer_ms = ms;
    tc_wake(inst->lobby, ms ? ms : -1);
}

/* The last line is the prompt of an open request, otherwise the live region. */
static int show_last_lines(struct tc_instance *inst)
{
    struct cli_state *s = inst->state;
    question_dialog_show(&s->dialog, &s->term);
    if (s->rich && !question_dialog_is_shown(&s->dialog))
        status_line_draw(&s->status, &s->term, s->turns);
    set_timer(inst);
    return flush(inst);
}

static int on_idle(struct tc_instance *inst)
{
    return show_last_lines(inst);
}

static int on_wake(struct tc_turn *lobby)
{
    struct cli_state *s = lobby->inst->state;
    s->timer_ms = 0;
    question_dialog_wake(&s->dialog, &s->term);
    return show_last_lines(lobby->inst);
}

/* The turn's state, for a callback that may write. The first call begins the turn. */
static struct cli_state *cli_connector_begin(struct tc_turn *turn)
{
    struct cli_state *s = turn->inst->state;
    struct view *const v = turn->state;
    if (!v->turn) {
        v->turn = turn;
        v->began_ms = open_calls_now_ms();
        v->next = s->turns;
        s->turns = v;
    }
    question_dialog_hide(&s->dialog, &s->term);
    return s;
}

static void cli_connector_remove_view(struct cli_state *s, const struct view *v)
{
    for (struct view **at = &s->turns; *at; at = &(*at)->next)
        if (*at == v) {
            *at = v->next;
            return;
        }
}

static int on_start(struct tc_turn *turn, const struct tc_start *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    term_measure(&s->term);
    lines_start(&s->term, ev);
    return 0;
}

static int on_narration(struct tc_turn *turn, const struct tc_narration *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    if (s->rich)
        view_narration(turn->state, &s->term, ev);
    return 0;
}

static int on_thinking(struct tc_turn *turn, const struct tc_thinking *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    if (s->rich)
        view_thinking(turn->state, &s->term, ev);
    return 0;
}

static int on_message(struct tc_turn *turn, const struct tc_message *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    if (s->rich)
        view_message(turn->state, &s->term, ev);
    return 0;
}

static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    term_measure(&s->term);
    if (s->rich)
        view_final(turn->state, &s->term, ev);
    return 0;
}

static int on_tool_call(struct tc_turn *turn, const struct tc_tool_call *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    struct view *const v = turn->state;
    term_measure(&s->term);
    if (s->rich) {
        view_tool_call(v, &s->term, ev);
    } else {
        open_calls_add(&v->calls, turn, ev);
        lines_tool_call(&s->term, ev->name);
    }
    return flush(turn->inst);
}

static int on_tool_result(struct tc_turn *turn, const struct tc_tool_result *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    struct view *const v = turn->state;
    term_measure(&s->term);
    if (s->rich) {
        view_tool_result(v, &s->term, ev);
        return 0;
    }
    struct open_call *c = open_calls_find(&v->calls, ev->tool_use_id);
    lines_tool_result(&s->term, ev->name ? ev->name : c ? c->name : "?", ev->is_error);
    if (c)
        open_calls_close(c);
    return 0;
}

static int on_progress(struct tc_turn *turn, const struct tc_progress *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    lines_progress(&s->term, ev);
    if (s->rich)
        view_progress(turn->state, &s->term, ev);
    return 0;
}

static bool is_quiet(const struct tc_request *ev)
{
    return ev->by ? strcmp(ev->by, "policy") == 0 : !ev->blocking && !ev->choices;
}

static void show_request(struct cli_state *s, struct tc_turn *turn, const struct tc_request *ev)
{
    const bool open = strcmp(ev->state, "open") == 0;
    if (!open)
        question_dialog_forget(&s->dialog, &s->term, turn, ev->request_id);
    if (is_quiet(ev))
        return;
    if (s->rich)
        view_flush(turn->state, &s->term);
    if (open && ev->choices && question_dialog_open(&s->dialog, turn, ev))
        return;
    if (s->rich)
        view_request(turn->state, &s->term, ev);
    else if (open ? ev->choices : ev->by)
        lines_request(&s->term, ev);
}

/* Hides a request that a rule has decided; shows every request that a person has to answer. */
static int on_request(struct tc_turn *turn, const struct tc_request *ev)
{
    show_request(cli_connector_begin(turn), turn, ev);
    set_timer(turn->inst);
    return 0;
}

static int on_step(struct tc_turn *turn, const struct tc_step *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    /* With text, an iteration is shown only if the agent reports its maximum. */
    if (!s->rich || ev->max >= 0)
        lines_step(&s->term, ev);
    if (s->rich)
        view_step(turn->state, &s->term, ev);
    return 0;
}

static int on_notice(struct tc_turn *turn, const struct tc_notice *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    view_count_retry(turn->state, ev);
    if (s->rich)
        view_notice(turn->state, &s->term, ev);
    else
        lines_notice(&s->term, ev);
    return 0;
}

static int on_state(struct tc_turn *turn, const struct tc_state *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    if (s->rich)
        view_state(turn->state, &s->term, ev);
    return 0;
}

static int on_usage(struct tc_turn *turn, const struct tc_usage *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    view_count_usage(turn->state, ev);
    if (s->rich && strcmp(ev->scope, "turn") == 0)
        view_usage(turn->state, &s->term, ev);
    return 0;
}

static int on_error(struct tc_turn *turn, const struct tc_error *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    const struct view *const v = turn->state;
    view_flush(turn->state, &s->term);
    lines_error(&s->term, ev, v->retries, v->retry);
    return 0;
}

static int on_done(struct tc_turn *turn, const struct tc_done *ev)
{
    struct cli_state *s = cli_connector_begin(turn);
    question_dialog_forget(&s->dialog, &s->term, turn, NULL);
    view_flush(turn->state, &s->term);
    lines_done(&s->term, ev);
    cli_connector_remove_view(s, turn->state);
    term_live_hide(&s->term);
    set_timer(turn->inst);
    return flush(turn->inst);
}

static enum term_color color_of(const struct cli_conf *conf)
{
    return strcmp(conf->color, "always") == 0  ? TERM_ALWAYS
           : strcmp(conf->color, "never") == 0 ? TERM_NEVER
                                               : TERM_AUTO;
}

static int init(struct tc_instance *inst)
{
    const struct cli_conf *conf = inst->conf;
    struct cli_state *s = inst->state;
    const bool tty = isatty(STDERR_FILENO) == 1;
    s->rich = strcmp(conf->mode, "rich") == 0 || (strcmp(conf->mode, "auto") == 0 && tty);
    term_init(&s->term, STDERR_FILENO, tty && s->rich, color_of(conf));
    if (!s->rich)
        s->term.ascii = false;
    if (s->rich) /* the lines are for programs */
        s->term.language = cli_words_language(&s->term, inst->language);
    question_dialog_init(&s->dialog, tty);
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    struct cli_state *s = inst->state;
    question_dialog_hide(&s->dialog, &s->term);
    for (struct view *v = s->turns; v; v = v->next)
        view_flush(v, &s->term);
    term_live_hide(&s->term);
    question_dialog_fini(&s->dialog, &s->term);
    term_break(&s->term);
    flush(inst);
}

TURNCAST_PLUGIN(.name = "cli", .version = "1.0", .flags = TC_WANTS_STATE,
                .summary = "shows turns on standard error; rich output on a terminal",
                .conf_size = sizeof(struct cli_conf), .state_size = sizeof(struct cli_state),
                .turn_size = sizeof(struct view), .options = options, .rules = rules, .init = init,
                .teardown = teardown,
                .sink = TC_SINK(.on_narration = on_narration, .on_final = on_final,
                                .on_tool_call = on_tool_call, .on_tool_result = on_tool_result,
                                .on_thinking = on_thinking, .on_usage = on_usage,
                                .on_error = on_error, .on_done = on_done,
                                .on_progress = on_progress, .on_request = on_request,
                                .on_start = on_start, .on_step = on_step, .on_notice = on_notice,
                                .on_message = on_message, .on_state = on_state, .on_idle = on_idle,
                                .on_wake = on_wake));
