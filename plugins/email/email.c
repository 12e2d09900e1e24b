/* SPDX-License-Identifier: MIT
 * The connector email: outcomes and requests of turns by SMTP, each one at once, or outcomes
 * collected in a digest per conversation (email_digest.c). */
#include <ctype.h>
#include <string.h>

#include "email.h"

#define LOOK_MAX 400 /* bytes of a text from which a subject is made */
#define AGAIN_MAX 3  /* attempts with a message that is marked */

static const struct tc_option options[] = {
    TC_OPTION(struct email_conf, server, NULL, TC_REQUIRED,
              "mail server, smtp://HOST:PORT (STARTTLS) or smtps://HOST:PORT"),
    TC_OPTION(struct email_conf, from, NULL, TC_REQUIRED, "address of the sender"),
    TC_OPTION(struct email_conf, to, NULL, TC_REQUIRED, "addresses of the recipients, at most 50"),
    TC_OPTION(struct email_conf, name, "turncast", 0, "name of the sender"),
    TC_OPTION(struct email_conf, user, NULL, 0, "user name for the mail server"),
    TC_OPTION(struct email_conf, password, NULL, TC_SECRET, "password for the mail server"),
    TC_OPTION(struct email_conf, outcomes, "all", 0, "outcomes to send: all, failed or none"),
    TC_OPTION(struct email_conf, requests, "true", 0, "send approvals and questions that wait"),
    TC_OPTION(struct email_conf, digest_s, "0", 0,
              "collect outcomes for this time, one e-mail per conversation; 0: send each at once"),
    TC_OPTION(struct email_conf, html, "true", 0, "send HTML beside the plain text"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "server", .kind = TC_RULE_URL, .text = "smtps smtp"},
    {.key = "user", .kind = TC_RULE_NEEDS, .text = "password"},
    {.key = "password", .kind = TC_RULE_NEEDS, .text = "user"},
    {.key = "outcomes", .kind = TC_RULE_ONE_OF, .text = "all failed none"},
    {.key = "digest_s", .kind = TC_RULE_DURATION, .text = "s"},
    {.key = "digest_s", .kind = TC_RULE_RANGE, .min = 0, .max = 7 * 86400},
    {0},
};

/* ---- events ---- */

/* The first line of Markdown, without marks; or "". */
static const char *first_line(struct tc_turn *turn, const char *markdown)
{
    const char *const begin = tc_cut(turn, markdown, LOOK_MAX);
    size_t n = 0;
    const struct tc_piece *const piece =
        tc_pieces(turn, TC_TEXT(.markdown = begin, .len = strlen(begin), .form = TC_PLAIN), &n);
    const char *const text = piece ? piece->text + strspn(piece->text, " \t\r\n") : "";
    return tc_sprint(turn, "%.*s", (int)strcspn(text, "\r\n"), text);
}

static int send_one(struct tc_turn *turn, struct email_message *m, const char *markdown,
                    uint32_t flags, enum tc_priority priority)
{
    const char *const place = turn->conversation;
    m->thread = place;
    email_message_add(turn, m, NULL, markdown);
    email_message_add(turn, m, NULL,
                      tc_sprint(turn, "---\n\n%s%s%s", tc_say(turn, "Turn `{turn}`", turn->id),
                                place ? ", " : "",
                                place ? tc_say(turn, "conversation `{conversation}`", place) : ""));
    return email_message_send(turn, m, place ? place : turn->id, flags, priority);
}

static int email_send_outcome(struct tc_turn *turn, const char *subject, const char *text,
                              double ts)
{
    const struct email_conf *const conf = turn->inst->conf;
    struct email_message m = {
        .id = tc_sprint(turn, "outcome %s", turn->id), .subject = subject, .date = ts};
    return conf->digest_s > 0 ? email_digest_add(turn, subject, text, ts)
                              : send_one(turn, &m, text, TC_DURABLE, TC_P_FINAL);
}

static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    const struct email_conf *const conf = turn->inst->conf;
    if (strcmp(conf->outcomes, "all") != 0)
        return 0;
    const char *const line = first_line(turn, ev->text);
    return email_send_outcome(
        turn, tc_sprint(turn, "%s: %s", turn->agent, *line ? line : tc_say(turn, "done", NULL)),
        ev->text, ev->meta->ts);
}

static int on_error(struct tc_turn *turn, const struct tc_error *ev)
{
    const struct email_conf *const conf = turn->inst->conf;
    if (strcmp(conf->outcomes, "none") == 0)
        return 0;
    return email_send_outcome(turn,
                              tc_sprint(turn, "%s: %s", tc_say(turn, "{agent} failed", turn->agent),
                                        first_line(turn, ev->message)),
                              ev->message, ev->meta->ts);
}

/* An agent that waits does not wait for a digest. */
static int on_request(struct tc_turn *turn, const struct tc_request *ev)
{
    const struct email_conf *const conf = turn->inst->conf;
    if (!conf->requests || !ev->blocking || strcmp(ev->state, "open") != 0)
        return 0;
    const bool is_approval = strcmp(ev->kind, "approval") == 0;
    const char *const what = ev->preview ? ev->preview : ev->message ? ev->message : "";
    struct email_message m = {
        .id = tc_sprint(turn, "request %s %s", turn->id, ev->request_id),
        .subject = tc_sprint(
            turn, "%s: %s",
            tc_say(turn, is_approval ? "{agent} asks for approval" : "{agent} asks", turn->agent),
            first_line(turn, ev->subject ? ev->subject : what)),
        .date = ev->meta->ts};
    const char *const text = tc_sprint(
        turn, "%s\n\n~~~~~~\n%s\n~~~~~~\n\n%s\n\n    turncast answer -t %s %s%s\n",
        tc_say(turn,
               is_approval ? "The agent waits for an approval." : "The agent waits for an answer.",
               NULL),
        what, tc_say(turn, "To answer, run on the machine of the host:", NULL), turn->id,
        ev->request_id, is_approval ? " allow" : "");
    return send_one(turn, &m, text, 0, TC_P_REQUEST);
}

/* After a message of which it is not known whether it has arrived, it is sent again, marked. Its
 * Message-ID is the same, so that mail servers and clients can recognise it. */
static int on_reply(struct tc_turn *turn, const struct tc_reply *reply, struct tc_verdict *v)
{
    if (reply->outcome != TC_AMBIGUOUS)
        return 0;
    if (strcmp(reply->tag, EMAIL_MARKED) == 0) {
        v->next = reply->attempts < AGAIN_MAX ? TC_NEXT_AGAIN : TC_NEXT_FAIL;
        v->reason = "it is not known whether the e-mail has arrived";
        return 0;
    }
    v->next = TC_NEXT_FAIL;
    return email_message_repeat(turn, reply);
}

static int on_idle(struct tc_instance *inst)
{
    email_digest_release(inst);
    return 0;
}

static int on_wake(struct tc_turn *lobby)
{
    email_digest_schedule(lobby->inst);
    return 0;
}

/* ---- begin and end ---- */

static bool is_address(struct tc_instance *inst, const char *text)
{
    const char *const at = strchr(text, '@');
    bool is_good = at && at > text && at[1] && !strpbrk(text, "<>\"\\,;:()[]");
    for (const char *p = text; *p; p++)
        is_good = is_good && isgraph((unsigned char)*p);
    if (!is_good)
        tc_log(inst, TC_ERR, "\"%.100s\" is not an address NAME@DOMAIN", text);
    return is_good;
}

static void add_header(struct email *s, const char *name, const char *value)
{
    s->envelope[s->envelope_count++] = (struct tc_header){name, value};
}

static int init(struct tc_instance *inst)
{
    const struct email_conf *const conf = inst->conf;
    struct email *const s = inst->state;
    size_t n = 0;
    if (!is_address(inst, conf->from))
        return -1;
    add_header(s, "X-SMTP-From", "{option:from}");
    for (; conf->to[n] && n < EMAIL_RECIPIENTS_MAX; n++) {
        if (!is_address(inst, conf->to[n]))
            return -1;
        add_header(s, "X-SMTP-To", conf->to[n]);
    }
    if (n == 0 || conf->to[n]) {
        tc_log(inst, TC_ERR, "option to: expected 1 to %d addresses", EMAIL_RECIPIENTS_MAX);
        return -1;
    }
    if (conf->user) {
        add_header(s, "X-SMTP-User", "{option:user}");
        add_header(s, "X-SMTP-Password", "{option:password}");
    }
    email_digest_schedule(inst);
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    email_digest_release(inst);
}

static const struct tc_header probe_headers[] = {{"X-SMTP-User", "{option:user}"},
                                                 {"X-SMTP-Password", "{option:password}"}};

TURNCAST_PLUGIN(.name = "email", .version = "1.0",
                .summary = "outcomes and requests by e-mail, each at once or as a digest",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct email_conf),
                .state_size = sizeof(struct email), .options = options, .rules = rules,
                .probe = TC_PROBE(.method = "NOOP", .url = "{option:server}",
                                  .headers = probe_headers, .header_count = 2),
                .init = init, .teardown = teardown,
                .sink = TC_SINK(.on_final = on_final, .on_error = on_error,
                                .on_request = on_request, .on_reply = on_reply, .on_idle = on_idle,
                                .on_wake = on_wake));
