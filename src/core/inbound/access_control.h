/* SPDX-License-Identifier: MIT
 * Access control: the grants of an instance and its lists of people and chats. Denies unless the
 * configuration permits. Denials are counted, and logged once per person. Loop thread only. */
#ifndef CORE_INBOUND_ACCESS_CONTROL_H
#define CORE_INBOUND_ACCESS_CONTROL_H

#include <stdint.h>

#include "conf/conf.h"
#include "core/inbound/pairing.h"

#define PERMIT_SEEN 64                         /* number of people remembered as logged */
#define PERMIT_AGAIN_MS ((int64_t)3600 * 1000) /* interval after which a denial is logged again */
#define PERMIT_LINES 10                        /* limit of lines… */
#define PERMIT_LINES_MS ((int64_t)60 * 1000)   /* …per this time */

/* A struct of zeros is valid. */
struct access_control {
    const struct pairing *pairing; /* or NULL: pairing is disabled */
    uint64_t denied;
    struct access_control_denied {
        uint64_t who; /* hash of the user; 0: empty */
        int64_t at_ms;
    } seen[PERMIT_SEEN];
    int64_t lines_since_ms;
    unsigned lines;
};

/* Whether this person may act in that chat (NULL: no chat involved). `grant` is a CONF_… */
bool access_control_allows(struct access_control *p, const struct conf_instance *inst,
                           unsigned grant, const char *user, const char *chat);
/* Whether messages are denied only because the person is not listed, and the instance pairs
 * people. */
bool access_control_may_pair(const struct access_control *p, const struct conf_instance *inst,
                             const char *user, const char *chat);
/* Whether this person may answer an agent's requests: permitted in that chat, and an approver. */
bool access_control_allows_answer(struct access_control *p, const struct conf_instance *inst,
                                  const char *user, const char *chat);

#endif
