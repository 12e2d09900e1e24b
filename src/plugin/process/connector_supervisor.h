/* SPDX-License-Identifier: MIT
 * Supervisor of a connector process: start, readiness, hang detection, memory limit, kill, restart
 * with back-off; what kills it repeatedly is given up (connector_dead_letter.c).
 * connector_supervisor.c writes the members. Loop thread. */
#ifndef PLUGIN_PROCESS_CONNECTOR_SUPERVISOR_H
#define PLUGIN_PROCESS_CONNECTOR_SUPERVISOR_H

#include "plugin/channel.h"
#include "plugin/process/spawn/connector_spawn.h"
#include "plugin/process/spawn/connector_state.h"
#include "plugin/process/spawn/restart_backoff.h"
#include "plugin/process/spawn/stdout_forwarder.h"

#define POISON_DEATHS 3 /* of one task, then it is given up */

struct connector_process;

/* How a process ended, as far as that is known. */
struct connector_exit {
    const char *callback; /* NULL: it was in none */
    const char *broke;    /* connector_supervisor.broke */
    char turn[80];
    struct connector_exit_info end; /* once it is reaped */
    int64_t lived_ms;
    bool handled; /* something */
    bool stopped; /* it had been sent IPC_STOP */
};

struct connector_supervisor {
    enum connector_state state;
    struct connector_child child;
    struct status_page *status; /* of the process that runs; NULL: none */
    struct loop_fd *socket, *output;
    struct print *forwarder; /* of its standard output; NULL: that is `output`, too */
    int64_t began_ms;        /* monotonic, as the next */
    int64_t died_ms;         /* not running since; 0: it runs */
    int64_t next_ms;         /* when it is started again, while it is down */
    int64_t looked_ms;       /* when it was last looked at */
    int64_t progress_ms;     /* since when it has something to do, or has done the last thing */
    uint64_t seen_handled;   /* then */
    bool ever_started;
    bool recycled;              /* stopped in order to start again */
    bool unwanted;              /* no process follows, and nothing is told of its death */
    bool pardoned;              /* its deaths are forgotten once this process, asked for, runs */
    bool hung;                  /* and is killed for it */
    const char *broke;          /* what it did that it must not; NULL: nothing */
    char *refused;              /* why it could not be started; owned; NULL: it could */
    struct connector_exit exit; /* of this process, or the last one */
    int64_t peak_bytes;         /* resident at most, as far as was seen */
    int reap_ms;                /* until it is looked again whether a killed process has ended */
    unsigned futile_lives;      /* in a row, that did nothing before the end */
    struct restart_backoff backoff;
    struct loop_timer *watch;
    struct loop_timer *restart;   /* DOWN: the next process; DYING: the next look if it has ended */
    struct channel_health before; /* totals of earlier processes */
};

void connector_supervisor_init(struct connector_process *g);
void connector_supervisor_fini(struct connector_process *g);
void connector_supervisor_move(struct connector_process *g, enum connector_state_event event);
/* The first process. That it could not be started is in `refused`. */
void connector_supervisor_launch(struct connector_process *g);
/* It ended, closed its socket, broke the protocol, hung: kills it and lets the next one start. Does
 * not wait for its end. */
void connector_supervisor_handle_exit(struct connector_process *g);
/* It has to be ended for that; nothing more of it is read. */
void connector_supervisor_fail(struct connector_process *g, const char *why);
void connector_supervisor_set_running(struct connector_process *g);
/* It has done something, or was given something to do: hangs are counted from now on. */
void connector_supervisor_note_progress(struct connector_process *g);
/* Why it will not start. */
void connector_supervisor_note_refusal(struct connector_process *g, const char *why);
void connector_supervisor_count_dropped(struct connector_process *g);
/* One that was stopped before it was released ends at once: what waits is not its own any more. */
void connector_supervisor_stop_held(struct connector_process *g);
/* The time for the next process is there. */
void connector_supervisor_restart(struct connector_process *g);
/* Somebody asks for it: now, and its deaths are forgotten if it runs. -1 with err. */
int connector_supervisor_restart_now(struct connector_process *g, struct tc_err *err);
/* Why the last process did not start. */
void connector_supervisor_explain(const struct connector_process *g, struct tc_err *err);
/* Ends it, and no other follows: ENDED, or DYING until it is reaped. */
void connector_supervisor_kill(struct connector_process *g);
/* Takes over the progress that a running process shows in its status page, without the loop. False:
 * it has done less than half of what it was sent, or the page is invalid. */
bool connector_supervisor_sync_progress(struct connector_process *g);
/* One round without the loop: waits for at most ms, but not for what its status page shows already.
 */
void connector_supervisor_poll(struct connector_process *g, int ms);

/* connector_dead_letter.c: counts the death for the task that it was at, and gives that up. */
void connector_dead_letter_consider(struct connector_process *g, const struct connector_exit *d);

/* connector_exit_report.c: logs why the process ended and what the host does, `then` (", …"). */
void connector_exit_report(const struct connector_process *g, const char *then);

#endif
