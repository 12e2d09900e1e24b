/* SPDX-License-Identifier: MIT
 * Turns of instances that one of several hosts leads: stores on the servers what another host needs
 * to go on with them, so that the next leader can adopt them when this host is gone. Loop thread
 * only.
 *
 * Until a turn is delivered completely, the servers have: its order (tc.turn.new, which names the
 * host that delivers it), the claim of the host that has begun its agent (bucket of runs), its
 * outcome (tc.turn.out), the state that the instance keeps for it (tc.turn.mem), and a mark that
 * delivery of the outcome has begun (tc.turn.tell). After the delivery a mark of that is stored
 * (tc.turn.told), and the order is removed. The journal distinguishes requests of the outcome from
 * those that follow it (journal_list_untold): this host alone sends the latter.
 *
 *   state     | what is known                                            | next
 *   ----------+----------------------------------------------------------+------------------------
 *   ASKING    | nothing; it is read whether the turn was delivered       | STORING, READING,
 *             |                                                          | ELSEWHERE, ALONE
 *   STORING   | it was not; its order is stored                          | HELD, READING, ALONE
 *   READING   | there is an order: it is read which host it names        | HELD, STORING, ASKING,
 *             |                                                          | ELSEWHERE, ALONE
 *   HELD      | the turn is this host's; when its agent is to begin, it  | CLAIMED, DISPUTED;
 *             | writes so                                                | ASKING: it leads again
 *   DISPUTED  | the claim was not written, or that is not known: it is   | CLAIMED, ELSEWHERE
 *             | read whose claim is stored                               |
 *   CLAIMED   | a claim of this host is stored; it is read whether the   | BEGUN, ELSEWHERE
 *             | turn is still this host's                                |
 *   BEGUN     | no other host begins it, and this host does, unless the  | its end; ASKING as HELD
 *             | claim is of an earlier life of this host                 |
 *   ALONE     | no other host can adopt it: the servers lack it, or this | its end; ASKING, if the
 *             | host has delivered it and sends what follows the outcome | servers may have it
 *   ELSEWHERE | another host has adopted or delivered it; the journal    | delivered: forgotten
 *             | keeps its rows until the delivery is known               | here; ASKING: it leads
 *             |                                                          | again; ALONE: lost
 */
#ifndef CORE_WORK_WORK_SHARE_H
#define CORE_WORK_WORK_SHARE_H

#include "core/work/work_message.h"
#include "event/event.h"
#include "io/journal/journal_async.h"

struct work;

struct work_share_spec {
    struct journal_async *journal;
    /* Calls `each` for every instance that one of several hosts leads. */
    void (*each_led)(void *ctx, void (*each)(void *each_ctx, const char *instance), void *each_ctx);
    /* This host leads the instance. */
    bool (*leads)(void *ctx, const char *instance);
    void *ctx;
};

/* Gateway of a turn that its host has begun to deliver and has handed over to the next leader. */
#define WORK_SHARE_NOBODY "-"

/* Once, before the first turn. */
void work_share_open(struct work *w, const struct work_share_spec *spec);
/* Before the bus is freed: callbacks that wait are not called any more. */
void work_share_close(struct work *w);
/* The bus has become active. */
void work_share_resume(struct work *w);

/* Whether turns of that source are shared. */
bool work_share_has(const struct work *w, const char *source);
/* Stores the order of an admitted message. Does nothing if its source is not a shared instance. */
void work_share_admit(struct work *w, const struct work_order *order);
enum work_share_answer {
    WORK_SHARE_BEGIN,     /* the turn may begin */
    WORK_SHARE_ELSEWHERE, /* another host has it */
    WORK_SHARE_BEGUN,     /* an earlier life of this host has begun its agent, and the journal does
                           * not know: it was restored from a backup. The agent must not begin
                           * again; a run (work_run_spec.again) ends with the outcome. */
};
typedef void work_share_done(void *ctx, enum work_share_answer answer, uint64_t after);
/* Before the turn begins here (claims), or is sent to a runner, which claims it. `done` is called
 * once, from the loop, or at once if the turn is not shared. `after`: sequence of its stored order;
 * 0: none is stored. */
void work_share_begin(struct work *w, const char *turn, const char *source, bool claims,
                      work_share_done *done, void *ctx);
/* Before work_share_begin: the prompt of the turn contains these messages, too. They are claimed
 * with it, so that none of them begins a second time. */
void work_share_join(struct work *w, const char *turn, const char *source,
                     const char *const *merged, size_t n);
/* A runner has received the turn with all of its messages. */
void work_share_release(struct work *w, const char *turn);
/* The turn is to end at once: `done` does not wait for servers that do not answer. */
void work_share_hurry(struct work *w, const void *ctx);
/* `done` is not called any more for that ctx. */
void work_share_forget(struct work *w, const void *ctx);
/* The ids of its message (work_order.message, also), until the turn is delivered. */
void work_share_find_message(const struct work *w, const char *turn, const char **message,
                             const char **also);
/* How many turns have been entered so far: the number of the newest. */
uint64_t work_share_count(const struct work *w);
/* Whether no order of the source, up to that number, is still being stored: each turn can be
 * adopted by another host now, or never. */
bool work_share_is_stored(const struct work *w, const char *source, uint64_t number);
/* A turn of this host ends by this event. */
void work_share_end(struct work *w, const char *turn, const struct event *outcome);
/* Replaces the state that the instance keeps for the turn; NULL: none. */
void work_share_remember(struct work *w, const char *instance, const char *turn, const char *text);
/* The instance begins to deliver the outcome of the turn. True: another host had begun to, before
 * this host adopted the turn. */
bool work_share_begin_delivery(struct work *w, const char *instance, const char *turn);

/* Another host has adopted or delivered the turn, and alone sends it to the instance. */
bool work_share_is_adopted(const struct work *w, const char *instance, const char *turn);

/* Runs the loop until the servers have stored which turns are delivered, at most for `ms`. NULL is
 * fine. */
void work_share_drain(struct work *w, int64_t ms);

/* What this host knows of a turn that it might adopt. */
enum work_share_known {
    WORK_SHARE_UNKNOWN, /* not in the table */
    WORK_SHARE_GONE,    /* another host has adopted or delivered it */
    WORK_SHARE_OWN,     /* this host delivers it */
};
enum work_share_known work_share_find(const struct work *w, const char *turn);
/* This host leads the instance again: removes from its journal the turns that other hosts have
 * delivered or adopted, then calls `done`, once. Replaces an earlier call that is still waiting. */
void work_share_check(struct work *w, const char *instance,
                      void (*done)(void *ctx, const char *instance), void *ctx);
/* The undelivered turns of the journal have been read since the start. Before that, no turn may be
 * adopted. */
bool work_share_is_loaded(const struct work *w);
/* An earlier process of this host has delivered the turn completely. */
void work_share_settle(struct work *w, const char *turn, const char *source);
/* The turn is this host's and stored on the servers, so the next leader can adopt it. */
bool work_share_is_adoptable(const struct work *w, const char *turn);
/* This host has adopted the turn: replaces its entry. in_doubt: the previous host had begun to
 * deliver its outcome. */
void work_share_adopt(struct work *w, const char *turn, const char *source, bool in_doubt);

#endif
