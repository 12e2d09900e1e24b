/* SPDX-License-Identifier: MIT
 * View of a turn for one class of consumers (same audience, same visibility). Keeps pairs complete:
 * a result follows its call, an answer its request, an end its start, and a retraction the text
 * that it withdraws. Audience and visibility decide the first event of a pair; the second one
 * follows the first. Pure; memory is bounded like that of an open-item table. */
#ifndef TURN_VISIBILITY_VIEW_PAIRING_H
#define TURN_VISIBILITY_VIEW_PAIRING_H

#include "turn/open_items.h"
#include "turn/visibility/visibility.h"

#define SHOWING_ID_MAX 80

/* Kinds of pairs. Each has separate tables, with the bounds of the guard's. */
enum showing_kind { SHOWING_CALL, SHOWING_REQUEST, SHOWING_STEP, SHOWING_TEXT, SHOWING_KINDS };

/* State of one class in one turn. A struct of zeros is a valid initial state. */
struct showing {
    struct showing_books {
        struct open_items shown, hidden; /* open pairs */
    } of[SHOWING_KINDS];
    /* The newest text of either kind: most events are pieces of it. */
    char last_shown[SHOWING_ID_MAX], last_hidden[SHOWING_ID_MAX];
};

void view_pairing_fini(struct showing *s);
/* Decides whether and how the class is shown the next event of the turn. Outcome and done may be
 * passed more than once.
 *
 * The result of a shown call is always shown, without its content (VIEW_STRIP) if it is for another
 * audience. The result of a hidden call is never shown, but a failure becomes a notice
 * (VIEW_FAILURE) if the call was hidden because of its audience and not by visibility. */
enum visibility_decision view_pairing_view(struct showing *s, const struct visibility *v,
                                           const char *audience, const struct event *ev);

#endif
