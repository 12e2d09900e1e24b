/* SPDX-License-Identifier: MIT
 * The script words that define results of people and permissions. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/testing/script_internal.h"

static enum tc_accepted script_parse_accepted(struct script *s, const char *name)
{
    static const char *const names[] = {"accepted", "queued",   "command", "known",     "denied",
                                        "full",     "not_kept", "given",   "interrupt", "invalid"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum tc_accepted)i;
    script_fail(s, "no result of a submit: %s", name);
    return TC_NOT_KEPT;
}

static void script_add_promise(struct script *s, struct fake_promise p)
{
    struct fake_promise **end = &s->host->promises;
    while (*end)
        end = &(*end)->next;
    *end = xmalloc(sizeof **end);
    p.line = s->line;
    **end = p;
}

/* Parses JSON = RESULT [TURN [ANSWER]] */
static void script_promise_call(struct script *s, const char *call, char *rest)
{
    json_t *const want = script_take_json(s, &rest);
    if (!want || strcmp(script_word(&rest), "=") != 0) {
        script_fail(s, "%s JSON = RESULT", call);
        return;
    }
    const enum tc_accepted result = script_parse_accepted(s, script_word(&rest));
    const char *const turn = script_word(&rest);
    script_add_promise(
        s, (struct fake_promise){.call = call,
                                 .want = want,
                                 .turn = *turn && strcmp(turn, "-") != 0 ? xstrdup(turn) : NULL,
                                 .answer = rest && *rest ? xstrdup(rest) : NULL,
                                 .result = result});
}

void script_submit(struct script *s, char *rest)
{
    script_promise_call(s, "submit", rest);
}

void script_decide(struct script *s, char *rest)
{
    script_promise_call(s, "answer", rest);
}

void script_resend(struct script *s, char *rest)
{
    script_promise_call(s, "resend", rest);
}

void script_retry(struct script *s, char *rest)
{
    script_promise_call(s, "retry", rest);
}

void script_cancel(struct script *s, char *rest)
{
    const char *const turn = script_word(&rest), *const user = script_word(&rest);
    json_t *const want = json_pack("{s:s, s:s}", "turn", turn, "user", user);
    script_word(&rest);
    const enum tc_accepted result = script_parse_accepted(s, script_word(&rest));
    script_add_promise(s, (struct fake_promise){.call = "cancel",
                                                .want = want,
                                                .answer = rest && *rest ? xstrdup(rest) : NULL,
                                                .result = result});
}

void script_known(struct script *s, char *rest)
{
    s->host->known = arena_strdup(&s->host->config, script_word(&rest));
}

void script_stranger(struct script *s, char *rest)
{
    s->host->stranger = arena_strdup(&s->host->config, script_word(&rest));
}
