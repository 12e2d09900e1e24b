/* SPDX-License-Identifier: MIT
 * Digests of the connector email: outcomes of an interval, one e-mail per conversation.
 *
 * A digest is kept on disk. The outcome of a turn is held until the digest that has it is stored,
 * so that no crash loses it. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "email.h"

#define EXCERPT_MAX 4000              /* bytes of an outcome in a digest */
#define DIGEST_MAX ((size_t)56 << 10) /* bytes of all digests, as they are stored */
#define STORE_KEY "digest"

/* Collected outcomes: a JSON array of {turn, conversation, subject, text, ts}; or NULL. */
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
        .thread = *conversation ? conversation : NULL,
        .date = strtod(item(lobby, digest, first, "ts"), NULL),
        .id = tc_sprint(lobby, "digest %s", item(lobby, digest, first, "turn"))};
    for (unsigned i = first; item(lobby, digest, i, "turn"); i++)
        if (strcmp(item(lobby, digest, i, "conversation"), conversation) == 0) {
            email_message_add(lobby, &m, heading_of(lobby, digest, i),
                              item(lobby, digest, i, "text"));
            count++;
        }
    m.subject = count == 1 ? item(lobby, digest, first, "subject")
                           : tc_sprint(lobby, "%s, %s", place,
                                       tc_say(lobby, "turns: {n}", tc_sprint(lobby, "%u", count)));
    email_message_send(lobby, &m, place, TC_DURABLE, TC_P_FINAL);
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

void email_digest_schedule(struct tc_instance *inst)
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

void email_digest_release(struct tc_instance *inst)
{
    struct email *const s = inst->state;
    for (size_t i = 0; i < s->held_count; i++)
        tc_release(s->held[i].turn, s->held[i].number, NULL);
    s->held_count = 0;
}

/* The outcome is released in a later callback: what this one stores is on disk before. */
static void email_digest_add_turn(struct tc_turn *turn)
{
    struct email *const s = turn->inst->state;
    if (s->held_count == EMAIL_HELD_MAX)
        email_digest_release(turn->inst);
    const int64_t number = tc_hold(turn);
    if (number > 0) {
        s->held[s->held_count].turn = turn;
        s->held[s->held_count++].number = number;
    }
}

int email_digest_add(struct tc_turn *turn, const char *subject, const char *text, double ts)
{
    struct tc_instance *const inst = turn->inst;
    const char *const begin = tc_cut(turn, text, EXCERPT_MAX);
    const char *const more = strlen(begin) < strlen(text) ? " […]" : "";
    const char *const entry =
        tc_json(turn, "{s:s,s:s,s:s,s:s,s:f}", "turn", turn->id, "conversation",
                turn->conversation ? turn->conversation : "", "subject", subject, "text",
                tc_sprint(turn, "%s%s", begin, more), "ts", ts);
    const char *const digest = load_digest(inst);
    if (!entry)
        return -1;
    if (has_turn(inst->lobby, digest, turn->id))
        return 0;
    if (digest && strlen(digest) + strlen(entry) > DIGEST_MAX)
        send_digests(inst);
    email_digest_add_turn(turn);
    tc_store(inst, STORE_KEY, tc_json(turn, "[j*, j]", load_digest(inst), entry));
    email_digest_schedule(inst);
    return 0;
}
