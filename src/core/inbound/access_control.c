/* SPDX-License-Identifier: MIT
 * Owns the list of users whose denial was logged recently. */
#include "core/inbound/access_control.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"

static bool access_control_is_listed(char *const *list, const char *id)
{
    for (; list && id && *list; list++)
        if (strcmp(*list, id) == 0)
            return true;
    return false;
}

/* The reason of a denial; NULL: access is granted. */
static const char *find_reason(const struct access_control *p, const struct conf_instance *inst,
                               unsigned grant, const char *user, const char *chat)
{
    if (!(inst->grants & grant))
        return grant == CONF_SUBMIT   ? "grant \"submit\" missing in grants"
               : grant == CONF_CANCEL ? "grant \"cancel\" missing in grants"
                                      : "grant \"answer\" missing in grants";
    if (!access_control_is_listed(inst->allow, user) && !pairing_has(p->pairing, inst->name, user))
        return "user not listed in allow";
    if (inst->allow_chats && chat && !access_control_is_listed(inst->allow_chats, chat))
        return "chat not listed in allow_chats";
    return NULL;
}

/* A new user replaces the entry with the oldest time; empty entries are the oldest. */
static bool was_seen(struct access_control *p, uint64_t who, int64_t now)
{
    struct access_control_denied *place = p->seen;
    for (size_t i = 0; i < PERMIT_SEEN && place->who != who; i++)
        if (p->seen[i].who == who || !p->seen[i].who || p->seen[i].at_ms < place->at_ms)
            place = &p->seen[i];
    if (place->who == who && now - place->at_ms < PERMIT_AGAIN_MS)
        return true;
    *place = (struct access_control_denied){who, now};
    return false;
}

static bool has_line(struct access_control *p, int64_t now)
{
    if (!p->lines || now - p->lines_since_ms >= PERMIT_LINES_MS) {
        p->lines_since_ms = now;
        p->lines = 0;
    }
    return p->lines < PERMIT_LINES && ++p->lines;
}

/* Counts a denial, and logs it unless one of that user was logged recently. */
static void access_control_turn_away(struct access_control *p, const struct conf_instance *inst,
                                     const char *user, const char *chat, const char *reason)
{
    const int64_t now = clock_mono_ms();
    const uint64_t who = hash_string(hash_string(HASH_START, inst->name), user ? user : "");
    p->denied++;
    if (!was_seen(p, who, now) && has_line(p, now))
        log_write(LOG_WARN, "host",
                  "instance %s: access denied for user %s%s%s: %s (%" PRIu64 " so far)", inst->name,
                  user ? user : "?", chat ? " in chat " : "", chat ? chat : "", reason, p->denied);
}

bool access_control_allows(struct access_control *p, const struct conf_instance *inst,
                           unsigned grant, const char *user, const char *chat)
{
    const char *const reason = find_reason(p, inst, grant, user, chat);
    if (reason)
        access_control_turn_away(p, inst, user, chat, reason);
    return !reason;
}

bool access_control_may_pair(const struct access_control *p, const struct conf_instance *inst,
                             const char *user, const char *chat)
{
    return inst->chat.pairing && (inst->grants & CONF_SUBMIT) && user && *user &&
           !access_control_is_listed(inst->allow, user) &&
           !pairing_has(p->pairing, inst->name, user) &&
           (!inst->allow_chats || access_control_is_listed(inst->allow_chats, chat));
}

bool access_control_allows_answer(struct access_control *p, const struct conf_instance *inst,
                                  const char *user, const char *chat)
{
    const char *reason = find_reason(p, inst, CONF_ANSWER, user, chat);
    if (!reason && inst->approvers && !access_control_is_listed(inst->approvers, user))
        reason = "user not listed in approvers";
    if (reason)
        access_control_turn_away(p, inst, user, chat, reason);
    return !reason;
}
