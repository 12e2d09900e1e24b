/* SPDX-License-Identifier: MIT
 * Who may: the grants of an instance and its lists of people and chats. Closed unless the
 * configuration opens it. Those turned away are counted, and logged once each. Loop thread only. */
#ifndef CORE_INBOUND_ACCESS_CONTROL_H
#define CORE_INBOUND_ACCESS_CONTROL_H

#include <stdint.h>

#include "conf/conf.h"
#include "core/inbound/pairing.h"

#define PERMIT_SEEN 64 /* people of whom it is known that they were logged */
#define PERMIT_AGAIN_MS ((int64_t)3600 * 1000) /* after so long they are logged again */
#define PERMIT_LINES 10                        /* at most so many lines… */
#define PERMIT_LINES_MS ((int64_t)60 * 1000)   /* …in this time */

/* An all-zero struct access_control is valid. */
struct access_control {
    const struct pairing *pairing; /* or NULL: nobody was paired */
    uint64_t denied;
    struct access_control_denied {
        uint64_t who; /* a hash; 0: nobody */
        int64_t at_ms;
    } seen[PERMIT_SEEN];
    int64_t lines_since_ms;
    unsigned lines;
};

/* Whether this person may in that chat (NULL: it is not about one). `grant` is a CONF_… */
bool access_control_allows(struct access_control *p, const struct conf_instance *inst,
                           unsigned grant, const char *user, const char *chat);
/* Whether nothing but that the person is not listed is in the way of messages there, and the
 * instance pairs people. */
bool access_control_may_pair(const struct access_control *p, const struct conf_instance *inst,
                             const char *user, const char *chat);
/* Whether this person may answer what an agent asks: may in that chat, and is an approver. */
bool access_control_allows_answer(struct access_control *p, const struct conf_instance *inst,
                                  const char *user, const char *chat);

#endif
