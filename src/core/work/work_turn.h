/* SPDX-License-Identifier: MIT
 * Internal interface between work_share.c (the table of shared turns, and when one was told),
 * work_turn.c (what the servers know of one), work_give.c (giving one to the leader) and
 * work_check.c (what others have told meanwhile). Loop thread only. */
#ifndef CORE_WORK_WORK_TURN_H
#define CORE_WORK_WORK_TURN_H

#include <sys/queue.h>

#include "core/work/work_internal.h"

struct work_turn {
    LIST_ENTRY(work_turn) next;
    struct work_share *share;
    char *id, *source;
    char *message, *also; /* or NULL */
    struct buf order;     /* to be stored; empty: an earlier life of this host has done so */
    enum work_turn_state {
        TURN_ASKING,
        TURN_STORING,
        TURN_READING,
        TURN_HELD,
        TURN_DISPUTED,
        TURN_CLAIMED,
        TURN_BEGUN,
        TURN_ALONE,
        TURN_ELSEWHERE,
    } state;
    bool is_asked;          /* an answer of the servers is awaited */
    bool is_missing;        /* there was no message of it when it was read */
    bool was_sent;          /* the servers may have it */
    bool in_doubt;          /* another host may have told its outcome */
    bool hurries;           /* it begins without the servers if they cannot be asked */
    bool is_wanted;         /* this host leads its instance again: work_turn_check */
    bool was_elsewhere;     /* another host had adopted it, or may have */
    bool is_split;          /* another host has a message that this turn has taken in */
    struct work_turn *head; /* that has taken in its message, until that has begun; or NULL */
    unsigned joining;       /* messages taken in that are not known to be this host's yet */
    uint64_t after;         /* sequence of its message that the next one would replace; 0: none */
    struct bus_origin claim;
    uint64_t revision; /* of the claim */
    unsigned look;     /* since which it is known */
    unsigned ask_look; /* look at which it is read again whether another host has told it */
    char left;         /* its letter in the last list of the journal (journal_list_untold), or 0 */
    uint64_t number;   /* in the order of their entry */
    struct loop_timer *timer;
    struct work_outcome *outcome, *told;
    bool claims; /* what waits for it */
    void (*done)(void *ctx, bool is_own, uint64_t after);
    void *ctx;
};

struct work_share {
    struct work *work;
    struct bus_link *link;
    struct work_share_spec spec;
    LIST_HEAD(, work_turn) turns;
    struct loop_timer *timer;
    uint64_t count; /* of the turns entered so far */
    unsigned look;  /* counts them */
    unsigned asked; /* answers of the journal that are awaited */
    LIST_HEAD(, work_check) checks;
    struct loop_timer *check_timer;
    bool is_loaded;
    bool is_closed;
};

/* The letters of journal_list_untold. */
enum {
    WORK_LEFT_RUNNING = 'b',
    WORK_LEFT_OUTCOME = 'o',
    WORK_LEFT_REQUESTS = 'r',
    WORK_LEFT_LATER = 'l',
};

/* work_share.c: the letter of the turn in what journal_list_untold gives; 0: it is not there. */
char work_look_find(const char *ids, const char *id);
/* Enters those of these turns that are not known yet. */
void work_look_add_new(struct work_share *s, const char *source, const char *ids);

/* work_check.c */
void work_check_on_timer(void *share);
void work_check_close(struct work_share *s);

struct work_turn *work_turn_new(struct work_share *s, const char *id, const char *source);
void work_turn_free(struct work_turn *t);
/* Does what its state calls for, and answers whoever waits for it. */
void work_turn_go_on(struct work_turn *t);
/* Other hosts may have adopted it while this one did not lead: its state is read anew. */
void work_turn_check(struct work_turn *t);
/* Whether that is under way. */
bool work_turn_is_checked(const struct work_turn *t);
/* Messages that it has taken in are done with when their turns are. */
void work_turn_release(struct work_turn *head);
/* Nothing of it is left to be told here: it was told, unless it is another host's. Frees it, now or
 * later. */
void work_turn_end(struct work_turn *t);
/* Reads the last message of that kind. */
void work_turn_read(struct work_turn *t, const char *kind, nats_client_on_reply *on_reply);
/* Nothing of it is marked on the servers any more. */
void work_turn_tidy(struct work_turn *t);
/* It does not begin here: the leader adopts it. (work_give.c) */
void work_turn_give_back(struct work_turn *t);
/* Something is left of it that its instance must deliver, and another host leads that. The journal
 * keeps it until the other host has told it. (work_give.c) */
void work_turn_give_away(struct work_turn *t);
/* Writes the claim once more: the servers may have lost it, or never got it. */
void work_turn_claim_again(struct work_turn *t);
/* It ends by this event. */
void work_turn_store_outcome(struct work_turn *t, const struct event *outcome);
/* Tells the next leader. It need not arrive: then that posts a message again. */
void work_turn_publish(const struct work_turn *t, const char *kind, const char *text);

#endif
