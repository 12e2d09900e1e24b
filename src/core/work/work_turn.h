/* SPDX-License-Identifier: MIT
 * Internal interface between work_share.c (the table of shared turns, and the end of their
 * delivery), work_turn.c (the states of one), work_begun.c (one that an earlier life of this host
 * has begun), work_handover.c (handing one over to the leader) and work_check.c (turns that other
 * hosts have delivered meanwhile). Loop thread only. */
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
    bool awaits_reply;       /* a request to the servers is in flight */
    bool is_missing;         /* its order was not stored when it was read */
    bool was_sent;           /* the servers may have it */
    bool in_doubt;           /* another host may have delivered its outcome */
    bool hurries;            /* it begins without the servers if they cannot be asked */
    bool is_wanted;          /* this host leads its instance again: work_turn_check */
    bool was_elsewhere;      /* another host had adopted it, or may have */
    bool is_split;           /* another host has a message that is part of this turn */
    struct work_turn *head;  /* the turn that its message is part of, until that begins; or NULL */
    unsigned joining;        /* messages of its prompt whose claim is not known yet */
    uint64_t after;          /* sequence of its stored order; 0: none */
    struct bus_origin claim; /* perhaps of an earlier life of this host (work_begun.c) */
    uint64_t revision;       /* of the claim */
    unsigned look;           /* since which it is known */
    unsigned check_look;     /* look at which its delivery by another host is read again */
    char left;       /* its letter in the last list of the journal (journal_list_untold), or 0 */
    uint64_t number; /* in the order of their entry */
    struct loop_timer *timer;
    struct work_outcome *outcome, *delivered;
    bool claims; /* `done` waits for the claim */
    work_share_done *done;
    void *ctx;
};

struct work_share {
    struct work *work;
    struct bus_link *link;
    struct work_share_spec spec;
    LIST_HEAD(, work_turn) turns;
    struct loop_timer *timer;
    uint64_t count;         /* of the turns entered so far */
    unsigned look;          /* counts them */
    unsigned pending_lists; /* lists requested from the journal */
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

/* work_share.c: the letter of the turn in a list of journal_list_untold; 0: the list lacks it. */
char work_look_find(const char *ids, const char *id);
/* Adds to the table the turns of the list that it lacks. */
void work_look_add_new(struct work_share *s, const char *source, const char *ids);

/* work_check.c */
void work_check_on_timer(void *share);
void work_check_close(struct work_share *s);

struct work_turn *work_turn_new(struct work_share *s, const char *id, const char *source);
void work_turn_free(struct work_turn *t);
/* Sends the request that its state needs, and calls `done` if the answer is known. */
void work_turn_go_on(struct work_turn *t);
/* Reads its state again, because other hosts may have adopted it while this host did not lead. */
void work_turn_check(struct work_turn *t);
/* Whether that has ended. */
bool work_turn_is_checked(const struct work_turn *t);
/* Separates the turn from those whose messages are part of it: each ends by itself. */
void work_turn_release(struct work_turn *head);
/* This host has nothing left to deliver of it. Marks it as delivered on the servers, unless another
 * host has it. Frees it, now or later. */
void work_turn_end(struct work_turn *t);
/* Reads the last message of that kind. */
void work_turn_read(struct work_turn *t, const char *kind, nats_client_on_reply *on_reply);
/* Enters ALONE: nothing more is stored on the servers for it. */
void work_turn_tidy(struct work_turn *t);
/* Returns it unbegun to the leader, which adopts it. (work_handover.c) */
void work_turn_hand_back(struct work_turn *t);
/* Hands it over to the host that now leads its instance, because something of it is not delivered.
 * The journal keeps its rows until that host has delivered it. (work_handover.c) */
void work_turn_hand_over(struct work_turn *t);
/* Whether its claim is of an earlier life of this host. (work_begun.c) */
bool work_turn_was_begun(const struct work_turn *t);
/* The caller has read such a claim. Enters CLAIMED. (work_begun.c) */
void work_turn_take_begun(struct work_turn *t, const struct bus_origin *claim);
/* Writes the claim again: the servers may have lost it, or never received it. */
void work_turn_claim_again(struct work_turn *t);
/* Stores this event as its outcome. */
void work_turn_store_outcome(struct work_turn *t, const struct event *outcome);
/* Publishes a message for the next leader, without acknowledgement. If it is lost, that host posts
 * again what this host has posted already. */
void work_turn_publish(const struct work_turn *t, const char *kind, const char *text);

#endif
