/* SPDX-License-Identifier: MIT
 * Turns of instances that one of several hosts leads: stores on the servers what another host needs
 * to go on with them, so that the next leader can adopt them when this host is gone. Loop thread
 * only.
 *
 * Of each turn there are, while it has not been told to its end: the message of its person
 * (tc.turn.new, which names the host that is to tell it), the claim of the host that has begun its
 * agent (bucket of runs), its outcome (tc.turn.out), what the instance remembers (tc.turn.mem), and
 * whether it has begun to tell the outcome (tc.turn.tell). When the outcome has been told, that is
 * stored (tc.turn.told), and the message is removed. The journal tells requests of the outcome from
 * those that follow it (journal_list_untold): this host alone sends the latter.
 *
 *   state     | what is known                                            | next
 *   ----------+----------------------------------------------------------+------------------------
 *   ASKING    | nothing; it is read whether the turn was told            | STORING, READING,
 *             |                                                          | ELSEWHERE, ALONE
 *   STORING   | it was not; its message is stored                        | HELD, READING, ALONE
 *   READING   | there is a message: it is read whose turn it is          | HELD, STORING, ASKING,
 *             |                                                          | ELSEWHERE, ALONE
 *   HELD      | the turn is this host's; when its agent is to begin, it  | CLAIMED, DISPUTED;
 *             | writes so                                                | ASKING: it leads again
 *   DISPUTED  | the claim was not written, or that is not known          | CLAIMED, ELSEWHERE
 *   CLAIMED   | it has; it is read whether the turn is still this host's | BEGUN, ELSEWHERE
 *   BEGUN     | no other host begins it                                  | its end; ASKING as HELD
 *   ALONE     | no other host can adopt it: the servers have not got it, | its end; ASKING, if the
 *             | or this host has told it and has something left to tidy  | servers may have got it
 *   ELSEWHERE | another host has adopted it, or has told it; what the    | told: it is forgotten
 *             | journal has of it stays until that is known to be told   | here; ASKING: it leads
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

/* Of a turn that its host has begun to tell and gives to the next leader: in the place of a name.
 */
#define WORK_SHARE_NOBODY "-"

/* Once, before the first turn. */
void work_share_open(struct work *w, const struct work_share_spec *spec);
/* The bus ends: what waits is answered no more. */
void work_share_close(struct work *w);
/* It has become active. */
void work_share_resume(struct work *w);

/* Whether turns from there are shared. */
bool work_share_has(const struct work *w, const char *source);
/* A message was admitted: a turn waits. Nothing if its source is not led. */
void work_share_admit(struct work *w, const struct work_order *order);
/* Before the turn begins here (claims), or is given to a runner, which claims it. is_own: it may;
 * else another host has it. `after`: sequence of its message that is stored; 0: none is. Called
 * once, from the loop, at once if the turn is not shared. */
void work_share_begin(struct work *w, const char *turn, const char *source, bool claims,
                      void (*done)(void *ctx, bool is_own, uint64_t after), void *ctx);
/* Before that: the turn has taken in these messages, which are claimed with it, so that none is
 * begun once more without it. */
void work_share_join(struct work *w, const char *turn, const char *source,
                     const char *const *merged, size_t n);
/* A runner has been told of the turn with all of its messages. */
void work_share_release(struct work *w, const char *turn);
/* Whoever waits waits no longer for servers that are not there: the turn is to end at once. */
void work_share_hurry(struct work *w, const void *ctx);
/* `done` is not called any more for that ctx. */
void work_share_forget(struct work *w, const void *ctx);
/* The ids of its message (work_order.message, also), for as long as the turn has not been told. */
void work_share_find_message(const struct work *w, const char *turn, const char **message,
                             const char **also);
/* How many turns have been entered so far: the number of the newest. */
uint64_t work_share_count(const struct work *w);
/* None of the turns from there, up to that number, is still on its way to the servers: another host
 * can adopt each, or never can. */
bool work_share_is_stored(const struct work *w, const char *source, uint64_t number);
/* A turn of this host ends by this event. */
void work_share_end(struct work *w, const char *turn, const struct event *outcome);
/* What the instance remembers of the turn from now on; NULL: nothing. */
void work_share_remember(struct work *w, const char *instance, const char *turn, const char *text);
/* The instance begins to tell the outcome of the turn. True: another host had begun to, before this
 * one has adopted the turn. */
bool work_share_tell(struct work *w, const char *instance, const char *turn);

/* Another host has adopted the turn, or has told it: that host alone tells the instance of it. */
bool work_share_is_adopted(const struct work *w, const char *instance, const char *turn);

/* Runs the loop until the servers know which turns have been told, or for that time. NULL is fine.
 */
void work_share_drain(struct work *w, int64_t ms);

/* For who adopts turns. */
enum work_share_known {
    WORK_SHARE_UNKNOWN, /* this host has nothing to tell of it */
    WORK_SHARE_GONE,    /* it had: another host has adopted the turn since */
    WORK_SHARE_OWN,     /* it has */
};
enum work_share_known work_share_find(const struct work *w, const char *turn);
/* This host leads the instance again: what other hosts have told or adopted is removed from its
 * journal, then `done` is called, once. The call before is forgotten if it is still waiting. */
void work_share_check(struct work *w, const char *instance,
                      void (*done)(void *ctx, const char *instance), void *ctx);
/* What the journal has to tell was read since the start; before, nothing may be adopted. */
bool work_share_is_loaded(const struct work *w);
/* This host has told all of the turn, in an earlier life. */
void work_share_settle(struct work *w, const char *turn, const char *source);
/* The turn is one of this host, and known to the servers: they give it to the next leader. */
bool work_share_gives(const struct work *w, const char *turn);
/* This host has adopted the turn: what was known of it counts no more. in_doubt: that host had
 * begun to tell its outcome. */
void work_share_adopt(struct work *w, const char *turn, const char *source, bool in_doubt);

#endif
