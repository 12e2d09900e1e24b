/* SPDX-License-Identifier: MIT
 * What one class of consumers (same audience, same visibility) is shown of a turn, so that what
 * comes in pairs stays paired for them: a result follows its call, an answer its request, an end
 * its start, and a retraction the text that it takes back. The first event of a pair is decided by
 * audience and switches alone; the second one follows the first. Pure; memory is bounded as a
 * book's is. */
#ifndef TURN_VISIBILITY_VIEW_PAIRING_H
#define TURN_VISIBILITY_VIEW_PAIRING_H

#include "turn/open_items.h"
#include "turn/visibility/visibility.h"

#define SHOWING_ID_MAX 80

/* What pairs. Each has books of its own, with the bounds that the guard's have. */
enum showing_kind { SHOWING_CALL, SHOWING_REQUEST, SHOWING_STEP, SHOWING_TEXT, SHOWING_KINDS };

/* One class in one turn. All zero is ready. */
struct showing {
    struct showing_books {
        struct open_items shown, hidden; /* of what has begun and is not over */
    } of[SHOWING_KINDS];
    /* The newest text of either: most events are pieces of it. */
    char last_shown[SHOWING_ID_MAX], last_hidden[SHOWING_ID_MAX];
};

void view_pairing_fini(struct showing *s);
/* What the class gets of the next event of the turn, in order. Outcome and done may be asked for
 * more than once.
 *
 * Results: of a call that was shown, always, without their content (VIEW_STRIP) if they are for
 * another audience; of a call that was hidden, never, but a failure is told as a notice
 * (VIEW_FAILURE) where the call was hidden from the audience and not by the switches. */
enum visibility_decision view_pairing_view(struct showing *s, const struct visibility *v,
                                           const char *audience, const struct event *ev);

#endif
