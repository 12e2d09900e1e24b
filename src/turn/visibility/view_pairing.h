/* SPDX-License-Identifier: MIT
 * What one class of consumers (same audience, same visibility) is shown of a turn, so that what
 * comes in pairs stays paired for them: a result follows its call, an answer its request, an end
 * its start, and a retraction the text that it takes back. The first event of a pair is decided by
 * audience and switches alone; the second one follows the first. Pure; memory is bounded
 * like that of an open-item table. */
#ifndef TURN_VISIBILITY_VIEW_PAIRING_H
#define TURN_VISIBILITY_VIEW_PAIRING_H

#include "turn/open_items.h"
#include "turn/visibility/visibility.h"

#define SHOWING_ID_MAX 80

/* Kinds of pairs. Each has tables of its own, with the same bounds as those of the guard. */
enum showing_kind { SHOWING_CALL, SHOWING_REQUEST, SHOWING_STEP, SHOWING_TEXT, SHOWING_KINDS };

/* State of one class in one turn. All zero is a valid initial state. */
struct showing {
    struct showing_books {
        struct open_items shown, hidden; /* pairs that have begun and are not over */
    } of[SHOWING_KINDS];
    /* The newest text of either: most events are pieces of it. */
    char last_shown[SHOWING_ID_MAX], last_hidden[SHOWING_ID_MAX];
};

void view_pairing_fini(struct showing *s);
/* Decides what the class is shown of the next event of the turn. Outcome and done may be passed
 * more than once.
 *
 * Results: of a call that was shown, always, without their content (VIEW_STRIP) if they are for
 * another audience; of a call that was hidden, never, but a failure is told as a notice
 * (VIEW_FAILURE) where the call was hidden from the audience and not by the switches. */
enum visibility_decision view_pairing_view(struct showing *s, const struct visibility *v,
                                           const char *audience, const struct event *ev);

#endif
