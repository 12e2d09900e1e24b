/* SPDX-License-Identifier: MIT
 * The connector email: outcomes and requests of turns by SMTP, each one at once, or outcomes
 * collected in a digest per conversation.
 *
 * A digest is kept on disk. The outcome of a turn is held until the digest that has it is stored,
 * so that no crash loses it. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "email.h"

#define RECIPIENTS_MAX 50
#define LOOK_MAX 400                  /* bytes of a text from which a subject is made */
#define EXCERPT_MAX 4000              /* bytes of an outcome in a digest */
#define DIGEST_MAX ((size_t)56 << 10) /* bytes of all digests, as they are stored */
#define HELD_MAX 16                   /* outcomes that wait for the store */
#define AGAIN_MAX 3                   /* attempts with a message that is marked */
#define STORE_KEY "digest"
#define TAG_MARKED "marked"

struct email {
    struct {
        struct tc_turn *turn;
        int64_t number;
    } held[HELD_MAX];
    size_t held_count;
    struct tc_header headers[RECIPIENTS_MAX + 3];
    size_t header_count;
};

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

/* ---- sending ---- */

/* Frees the body. */
static int post(struct tc_turn *turn, char *body, const char *lane, uint32_t flags,
                enum tc_priority priority, const char *tag)
{
    const struct email *const s = turn->inst->state;
    const int rc = body ? tc_http(turn, TC_HTTP(.url = "{option:server}", .headers = s->headers,
                                                .header_count = s->header_count,
                                                .content_type = "message/rfc822", .body = body,
                                                .lane = lane, .priority = priority, .flags = flags,
                                                .timeout_ms = 60000, .tag = tag))
                        : -1;
    free(body);
    return rc;
}

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

static const char *lane_of(const struct tc_turn *turn)
{
    return turn->conversation ? turn->conversation : turn->id;
}

static int send_one(struct tc_turn *turn, struct email_message *m, const char *markdown,
                    uint32_t flags, enum tc_priority priority)
{
    m->turn = turn;
    m->thread = turn->conversation;
    if (email_begin(m))
        return -1;
    email_add(m, NULL, markdown);
    email_add(m, NULL,
              tc_sprint(turn, "---\n\n%s%s%s", tc_say(turn, "Turn `{turn}`", turn->id),
                        turn->conversation ? ", " : "",
                        turn->conversation
                            ? tc_say(turn, "conversation `{conversation}`", turn->conversation)
                            : ""));
    return post(turn, email_end(m), lane_of(turn), flags, priority, "");
}

/* ---- digests ---- */

/* What was collected: a JSON array of {turn, conversation, subject, text, ts}; or NULL. */
static const char *load_digest(struct tc_instance *inst)
{
    return tc_load(inst, STORE_KEY);
}

static const char *item(struct tc_turn *lobby, const char *digest, unsigned i, const char *member)
{
    return tc_json_get(lobby, digest, tc_sprint(lobby, "/%u/%s", i, member));
}

static const char *heading_of(struct tc_turn *lobby, const char *digest, unsigned i)
{
    const time_t time = (time_t)strtod(item(lobby, digest, i, "ts"), NULL);
    struct tm tm = {0};
    char text[32] = "";
    gmtime_r(&time, &tm);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &tm);
    return tc_sprint(lobby, "%s: %s", text, item(lobby, digest, i, "subject"));
}

/* Sends all outcomes of the conversation of item `first`. */
static void send_digest(struct tc_turn *lobby, const char *digest, unsigned first)
{
    const char *const conversation = item(lobby, digest, first, "conversation");
    const char *const place = *conversation ? conversation : lobby->inst->name;
    unsigned count = 0;
    struct email_message m = {
        .turn = lobby,
        .thread = *conversation ? conversation : NULL,
        .date = strtod(item(lobby, digest, first, "ts"), NULL),
        .id = tc_sprint(lobby, "digest %s", item(lobby, digest, first, "turn"))};
    if (email_begin(&m))
        return;
    for (unsigned i = first; item(lobby, digest, i, "turn"); i++)
        if (strcmp(item(lobby, digest, i, "conversation"), conversation) == 0) {
            email_add(&m, heading_of(lobby, digest, i), item(lobby, digest, i, "text"));
            count++;
        }
    m.subject = count == 1 ? item(lobby, digest, first, "subject")
                           : tc_sprint(lobby, "%s, %s", place,
                                       tc_say(lobby, "turns: {n}", tc_sprint(lobby, "%u", count)));
    post(lobby, email_end(&m), place, TC_DURABLE, TC_P_FINAL, "");
}

static void send_digests(struct tc_instance *inst)
{
    struct tc_turn *const lobby = inst->lobby;
    const char *const digest = load_digest(inst);
    for (unsigned i = 0; digest && item(lobby, digest, i, "turn"); i++) {
        unsigned before = 0;
        while (before < i && strcmp(item(lobby, digest, before, "conversation"),
                                    item(lobby, digest, i, "conversation")) != 0)
            before++;
        if (before == i)
            send_digest(lobby, digest, i);
    }
    if (digest)
        tc_store(inst, STORE_KEY, NULL);
}

/* Sends what is due, and wakes up for the rest. */
static void schedule(struct tc_instance *inst)
{
    const struct email_conf *const conf = inst->conf;
    const char *const digest = load_digest(inst);
    struct timespec now;
    if (!digest)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    const double due = strtod(item(inst->lobby, digest, 0, "ts"), NULL) + (double)conf->digest_s;
    const double left = due - (double)now.tv_sec - (double)now.tv_nsec / 1e9;
    if (left <= 0)
        send_digests(inst);
    else
        tc_wake(inst->lobby, (int64_t)(left * 1e3) + 1);
}

static bool has_turn(struct tc_turn *lobby, const char *digest, const char *turn)
{
    const char *id;
    for (unsigned i = 0; digest && (id = item(lobby, digest, i, "turn")); i++)
        if (strcmp(id, turn) == 0)
            return true;
    return false;
}

static void release_all(struct tc_instance *inst)
{
    struct email *const s = inst->state;
    for (size_t i = 0; i < s->held_count; i++)
        tc_release(s->held[i].turn, s->held[i].number, NULL);
    s->held_count = 0;
}

/* The outcome is released in a later callback: what this one stores is on disk before. */
static int collect(struct tc_turn *turn, const char *subject, const char *text, double ts)
{
    struct tc_instance *const inst = turn->inst;
    struct email *const s = inst->state;
    const char *const entry = tc_json(turn, "{s:s,s:s,s:s,s:s,s:f}", "turn", turn->id,
                                      "conversation", turn->conversation ? turn->conversation : "",
                                      "subject", subject, "text", text, "ts", ts);
    if (!entry)
        return -1;
    const char *const digest = load_digest(inst);
    if (has_turn(inst->lobby, digest, turn->id))
        return 0;
    if (digest && strlen(digest) + strlen(entry) > DIGEST_MAX)
        send_digests(inst);
    if (s->held_count == HELD_MAX)
        release_all(inst);
    const int64_t number = tc_hold(turn);
    tc_store(inst, STORE_KEY, tc_json(turn, "[j*, j]", load_digest(inst), entry));
    if (number > 0) {
        s->held[s->held_count].turn = turn;
        s->held[s->held_count++].number = number;
    }
    schedule(inst);
    return 0;
}

/* ---- events ---- */

static int tell(struct tc_turn *turn, const char *subject, const char *text, double ts)
{
    const struct email_conf *const conf = turn->inst->conf;
    if (conf->digest_s > 0) {
        const char *const begin = tc_cut(turn, text, EXCERPT_MAX);
        return collect(turn, subject,
                       strlen(begin) < strlen(text) ? tc_sprint(turn, "%s […]", begin) : text, ts);
    }
    struct email_message m = {
        .id = tc_sprint(turn, "outcome %s", turn->id), .subject = subject, .date = ts};
    return send_one(turn, &m, text, TC_DURABLE, TC_P_FINAL);
}

static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    const struct email_conf *const conf = turn->inst->conf;
    if (strcmp(conf->outcomes, "all") != 0)
        return 0;
    const char *const line = first_line(turn, ev->text);
    return tell(turn,
                tc_sprint(turn, "%s: %s", turn->agent, *line ? line : tc_say(turn, "done", NULL)),
                ev->text, ev->meta->ts);
}

static int on_error(struct tc_turn *turn, const struct tc_error *ev)
{
    const struct email_conf *const conf = turn->inst->conf;
    if (strcmp(conf->outcomes, "none") == 0)
        return 0;
    return tell(turn,
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
    const bool is_marked = strcmp(reply->tag, TAG_MARKED) == 0;
    if (reply->outcome != TC_AMBIGUOUS)
        return 0;
    if (is_marked) {
        v->next = reply->attempts < AGAIN_MAX ? TC_NEXT_AGAIN : TC_NEXT_FAIL;
        v->reason = "it is not known whether the e-mail has arrived";
        return 0;
    }
    v->next = TC_NEXT_FAIL;
    return post(turn, email_mark(reply->http->body, tc_say(turn, "(sent again)", NULL)),
                reply->http->lane, reply->http->flags & TC_DURABLE, reply->http->priority,
                TAG_MARKED);
}

static int on_idle(struct tc_instance *inst)
{
    release_all(inst);
    return 0;
}

static int on_wake(struct tc_turn *lobby)
{
    schedule(lobby->inst);
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
    s->headers[s->header_count++] = (struct tc_header){name, value};
}

static int init(struct tc_instance *inst)
{
    const struct email_conf *const conf = inst->conf;
    struct email *const s = inst->state;
    size_t n = 0;
    if (!is_address(inst, conf->from))
        return -1;
    add_header(s, "X-SMTP-From", "{option:from}");
    for (; conf->to[n] && n < RECIPIENTS_MAX; n++) {
        if (!is_address(inst, conf->to[n]))
            return -1;
        add_header(s, "X-SMTP-To", conf->to[n]);
    }
    if (n == 0 || conf->to[n]) {
        tc_log(inst, TC_ERR, "option to: expected 1 to %d addresses", RECIPIENTS_MAX);
        return -1;
    }
    if (conf->user) {
        add_header(s, "X-SMTP-User", "{option:user}");
        add_header(s, "X-SMTP-Password", "{option:password}");
    }
    schedule(inst);
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    release_all(inst);
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
