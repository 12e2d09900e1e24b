/* SPDX-License-Identifier: MIT
 * Validates a person's answer (place, choice, arguments, answers to questions) and resolves the
 * request with it. */
#include <string.h>

#include "core/request/approvals.h"
#include "core/request/request_internal.h"
#include "text/sentence/texts.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

static const struct request_choice {
    const char *id;
    enum choice_for { FOR_APPROVAL = 1, FOR_QUESTION = 2 } of;
    int decision; /* DIALECT_… */
    bool agent, stop;
    int remember; /* APPROVALS_…, or -1 */
} choices[] = {
    {"allow", FOR_APPROVAL, DIALECT_ALLOW, false, false, -1},
    {"allow_turn", FOR_APPROVAL, DIALECT_ALLOW, false, false, APPROVALS_TURN},
    {"allow_session", FOR_APPROVAL, DIALECT_ALLOW, false, false, APPROVALS_SESSION},
    {"allow_always", FOR_APPROVAL, DIALECT_ALLOW, false, false, APPROVALS_ALWAYS},
    {"allow_agent", FOR_APPROVAL, DIALECT_ALLOW, true, false, -1},
    {"deny", FOR_APPROVAL | FOR_QUESTION, DIALECT_DENY, false, false, -1},
    {"deny_stop", FOR_APPROVAL | FOR_QUESTION, DIALECT_DENY, false, true, -1},
    {"answer", FOR_QUESTION, DIALECT_ANSWERED, false, false, -1},
};

static const struct request_choice *request_answer_find_choice(const struct request *q,
                                                               const char *id)
{
    const enum choice_for of = strcmp(q->kind, "approval") == 0 ? FOR_APPROVAL : FOR_QUESTION;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if ((choices[i].of & of) && strcmp(choices[i].id, id) == 0)
            return &choices[i];
    return NULL;
}

static const char *request_answer_word_for(int decision)
{
    return decision == DIALECT_ALLOW ? "allow" : decision == DIALECT_DENY ? "deny" : "answered";
}

/* ---- permitted places ---- */

static bool is_place(const char *place, const struct request_decision *d)
{
    CLEANUP_BUF struct buf here = {0};
    buf_add_str(&here, d->instance);
    if (strcmp(here.p, place) == 0)
        return true;
    buf_printf(&here, ":%s", d->chat ? d->chat : "");
    if (strcmp(here.p, place) == 0)
        return true;
    buf_printf(&here, ":%s", d->thread ? d->thread : "");
    return d->thread && strcmp(here.p, place) == 0;
}

static bool request_answer_is_addressed(const struct request *q, const struct request_decision *d)
{
    if (!q->to || !d->instance)
        return true;
    struct arena scratch = {0};
    struct json j;
    bool found = false;
    json_reader_open_array(&j, (struct str){q->to, strlen(q->to)});
    for (struct str place; json_reader_next_value(&j, &place);)
        found = found || is_place(value_text(&scratch, place, NULL), d);
    arena_fini(&scratch);
    return found;
}

/* Whether the person is an author of the turn's messages. An end user of an HTTP client
 * ("KEY:USER") counts as its key. */
static bool is_asker(const struct request_turn_spec *spec, const struct request_decision *d)
{
    const size_t len = d->user ? strlen(d->user) : 0;
    if (!d->instance || (spec->source && strcmp(spec->source, d->instance) != 0))
        return false;
    for (size_t i = 0; i < spec->n_askers; i++) {
        const char *const asker = spec->askers[i];
        const bool same = asker && d->user && strncmp(asker, d->user, len) == 0;
        const bool key = strcmp(d->instance, CONF_PLACE_HTTP) == 0;
        if (!asker || (same && (!asker[len] || (key && asker[len] == ':'))))
            return true;
    }
    return false;
}

static enum requests_bar find_bar(const struct request *q, const struct request_decision *d)
{
    if (!request_answer_is_addressed(q, d))
        return REQUESTS_ELSEWHERE;
    return q->four_eyes && is_asker(&q->turn->spec, d) ? REQUESTS_FOUR_EYES : REQUESTS_FREE;
}

enum requests_bar request_registry_bar(const struct request_registry *r,
                                       const struct request_decision *who)
{
    const struct request *const q = request_find(r, who->turn, who->request);
    return q && q->state == REQUEST_OPEN ? find_bar(q, who) : REQUESTS_FREE;
}

/* ---- answers ---- */

static bool is_json_object(const char *text)
{
    return text && value_parse_line(text, strlen(text), NULL, 0) == 0;
}

static bool is_multi(struct str question)
{
    return value_is_true(value_get_last(question, "multi"));
}

static bool request_answer_is_answered(struct str question, struct str answer)
{
    if (value_string(answer).p)
        return true;
    struct json j;
    if (!is_multi(question) || !json_reader_open_array(&j, answer))
        return false;
    while (json_reader_next_element(&j)) {
        struct str text = {0};
        if (!json_reader_read_string(&j, &text))
            return false;
    }
    return json_reader_finish(&j) == 0;
}

struct request_answer_builder {
    struct arena *arena;
    struct str answers; /* the object; p NULL: only `text` */
    const char *text;
    struct buf made;
    size_t n;
    bool all;
};

/* Uses the text as the answer to that question. */
static void make_answer(struct request_answer_builder *qs, const char *id)
{
    buf_add_char(&qs->made, '{');
    jsonw_string(&qs->made, id, strlen(id));
    buf_add_char(&qs->made, ':');
    jsonw_string(&qs->made, qs->text, strlen(qs->text));
    buf_add_char(&qs->made, '}');
}

static void request_answer_check_question(struct request_answer_builder *qs, struct str question)
{
    const char *const id = value_text(qs->arena, value_get_last(question, "id"), NULL);
    qs->n++;
    if (!id) {
        qs->all = false;
    } else if (qs->answers.p) {
        qs->all = qs->all && request_answer_is_answered(question, value_get_last(qs->answers, id));
    } else if (qs->n == 1) {
        make_answer(qs, id);
    }
}

/* Checks that each question has an answer; a text alone answers a single one. NULL: invalid. */
static const char *answers_for(struct arena *a, const struct request *q,
                               const struct request_decision *d)
{
    struct request_answer_builder qs = {.arena = a, .text = d->text, .all = true};
    struct json j;
    if (d->answers && !is_json_object(d->answers))
        return NULL;
    if (d->answers)
        qs.answers = (struct str){d->answers, strlen(d->answers)};
    else if (!d->text || !*d->text)
        return NULL;
    const char *const questions = q->shown.questions ? q->shown.questions : "[]";
    json_reader_open_array(&j, (struct str){questions, strlen(questions)});
    for (struct str question; json_reader_next_value(&j, &question);)
        request_answer_check_question(&qs, question);
    if (!d->answers && qs.n == 0)
        make_answer(&qs, "answer");
    const char *const made =
        d->answers ? arena_strdup(a, d->answers) : arena_strndup(a, qs.made.p, qs.made.len);
    buf_fini(&qs.made);
    return qs.all && (d->answers || qs.n <= 1) ? made : NULL;
}

/* ---- the decision ---- */

void request_describe_closed(struct buf *out, const char *decision, const char *by)
{
    static const struct {
        const char *decision;
        enum text_id alone, named;
    } rows[] = {{"allow", TEXT_ALREADY_ALLOWED, TEXT_ALREADY_ALLOWED_BY},
                {"deny", TEXT_ALREADY_DENIED, TEXT_ALREADY_DENIED_BY},
                {"answered", TEXT_ALREADY_ANSWERED, TEXT_ALREADY_ANSWERED_BY},
                {"timeout", TEXT_REQUEST_EXPIRED, TEXT_REQUEST_EXPIRED}};
    const bool named = by && *by;
    for (size_t i = 0; decision && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(decision, rows[i].decision) == 0) {
            texts_append(out, named ? rows[i].named : rows[i].alone,
                         TEXT_VALUES(TEXT_STR("by", named ? by : "")));
            return;
        }
    texts_append(out, TEXT_REQUEST_CLOSED, NULL);
}

static enum tc_accepted request_answer_report_closed(const struct request *q, struct buf *text)
{
    request_describe_closed(text, q ? q->decision : NULL, q ? q->by : NULL);
    return TC_KNOWN;
}

static enum tc_accepted request_answer_refuse(struct buf *text, enum text_id why)
{
    texts_append(text, why, NULL);
    return TC_DENIED;
}

static void request_answer_remember(const struct request *q, const struct request_choice *c,
                                    const char *by)
{
    const struct request_turn *const t = q->turn;
    struct approvals *const a = t->registry->spec.approvals;
    if (a && c->remember >= 0 && q->argument)
        approvals_remember(a, (enum approvals_scope)c->remember, t->spec.agent->name,
                           t->conversation, t->id, q->tool, q->argument, by);
}

static enum tc_accepted request_answer_decide(struct request *q, const struct request_choice *c,
                                              const struct request_decision *d, const char *answers,
                                              struct buf *text)
{
    const struct dialect_answer answer = {
        .request_id = q->id,
        .decision = c->decision,
        .reason = c->decision == DIALECT_DENY && d->text && *d->text ? d->text : NULL,
        .args = c->decision == DIALECT_ALLOW ? d->args : NULL,
        .answers = answers,
        .remember = c->agent,
        .interrupt = c->stop,
    };
    if (request_resolve(q, REQUEST_ON_ANSWER, &answer, request_answer_word_for(c->decision),
                        d->by) < 0) {
        texts_append(text, TEXT_REQUEST_NOT_AWAITED, NULL);
        return TC_KNOWN;
    }
    request_answer_remember(q, c, d->by);
    texts_append(text,
                 c->decision == DIALECT_ALLOW  ? TEXT_ALLOWED
                 : c->decision == DIALECT_DENY ? TEXT_DENIED
                                               : TEXT_ANSWERED,
                 NULL);
    return TC_COMMAND;
}

/* A valid decision on an open request. */
struct meaning {
    struct request *request;
    const struct request_choice *choice;
    const char *answers; /* in scratch */
};

static bool request_answer_accepts_args(const struct request *q)
{
    const struct request_turn_spec *const spec = &q->turn->spec;
    return !spec->takes_args || spec->takes_args(spec->ctx, q->id);
}

static enum tc_accepted understand(const struct request_registry *r,
                                   const struct request_decision *d, struct arena *scratch,
                                   struct meaning *m, struct buf *text)
{
    struct request *const q = request_find(r, d->turn, d->request);
    if (!q || q->state != REQUEST_OPEN)
        return request_answer_report_closed(q, text);
    const enum requests_bar bar = find_bar(q, d);
    if (bar == REQUESTS_ELSEWHERE)
        return request_answer_refuse(text, TEXT_REQUEST_ELSEWHERE);
    const struct request_choice *const c = request_answer_find_choice(q, d->choice);
    if (!c)
        return request_answer_refuse(text, TEXT_REQUEST_NO_CHOICE);
    if (bar == REQUESTS_FOUR_EYES && c->decision == DIALECT_ALLOW)
        return request_answer_refuse(text, TEXT_REQUEST_FOUR_EYES);
    if (d->args && (c->decision != DIALECT_ALLOW || !is_json_object(d->args)))
        return request_answer_refuse(text, TEXT_REQUEST_BAD_ARGUMENTS);
    if (d->args && !request_answer_accepts_args(q))
        return request_answer_refuse(text, TEXT_REQUEST_FIXED_ARGUMENTS);
    const bool answers = c->decision == DIALECT_ANSWERED;
    *m = (struct meaning){q, c, answers ? answers_for(scratch, q, d) : NULL};
    return answers && !m->answers ? request_answer_refuse(text, TEXT_REQUEST_INCOMPLETE)
                                  : TC_COMMAND;
}

enum tc_accepted request_check_answer(const struct request_registry *r,
                                      const struct request_decision *d, struct buf *text)
{
    struct arena scratch = {0};
    struct meaning m;
    const enum tc_accepted result = understand(r, d, &scratch, &m, text);
    arena_fini(&scratch);
    return result;
}

enum tc_accepted request_answer(struct request_registry *r, const struct request_decision *d,
                                struct buf *text)
{
    struct arena scratch = {0};
    struct meaning m;
    enum tc_accepted result = understand(r, d, &scratch, &m, text);
    if (result == TC_COMMAND)
        result = request_answer_decide(m.request, m.choice, d, m.answers, text);
    arena_fini(&scratch);
    return result;
}
