/* SPDX-License-Identifier: MIT
 * Supervisor of a connector process: start, readiness, hang detection, memory limit, kill, restart
 * with back-off; a task that kills it repeatedly is dropped (connector_dead_letter.c).
 * connector_supervisor.c writes the members. Loop thread. */
#ifndef PLUGIN_PROCESS_CONNECTOR_SUPERVISOR_H
#define PLUGIN_PROCESS_CONNECTOR_SUPERVISOR_H

#include "plugin/channel.h"
#include "plugin/process/spawn/connector_spawn.h"
#include "plugin/process/spawn/connector_state.h"
#include "plugin/process/spawn/restart_backoff.h"
#include "plugin/process/spawn/stdout_forwarder.h"

/* Number of deaths during the same task after which the task is dropped. */
#define POISON_DEATHS 3

struct connector_process;

/* Information about the end of a process. */
struct connector_exit {
    const char *callback; /* the callback that ran; NULL: none */
    const char *broke;    /* connector_supervisor.broke */
    char turn[80];
    struct connector_exit_info end; /* valid after the process was reaped */
    int64_t lived_ms;
    bool handled; /* at least one task */
    bool stopped; /* IPC_STOP had been sent to it */
};

struct connector_supervisor {
    enum connector_state state;
    struct connector_child child;
    struct status_page *status; /* status page of the running process; NULL: none */
    struct loop_fd *socket, *output;
    struct print *forwarder; /* forwarder of its standard output; NULL: `output` contains standard
                                output, too */
    int64_t began_ms;        /* monotonic, like the next four */
    int64_t died_ms;         /* when the last process died; 0: one runs */
    int64_t next_ms;         /* while it is down: when the next process is started */
    int64_t looked_ms;       /* when the process was last checked */
    int64_t progress_ms;     /* when it was given its first task, or confirmed its last one */
    uint64_t seen_handled;   /* tasks confirmed at progress_ms */
    bool ever_started;
    bool recycled;     /* stopped in order to start again */
    bool unwanted;     /* no process follows, and its death is not reported */
    bool pardoned;     /* started by request: earlier deaths no longer count once it runs */
    bool hung;         /* a callback did not return in time, so it is being killed */
    const char *broke; /* description of a violation of the protocol; NULL: none */
    char *refused;     /* why it could not be started; owned; NULL: it could */
    struct connector_exit exit; /* end of this process, or of the previous one */
    int64_t peak_bytes;         /* largest resident memory seen */
    int reap_ms;                /* delay before the next check whether a killed process has ended */
    unsigned futile_lives;      /* consecutive processes that ended without handling a task */
    struct restart_backoff backoff;
    struct loop_timer *watch;
    struct loop_timer *restart;   /* DOWN: starts the next process; DYING: checks for its end */
    struct channel_health before; /* totals of earlier processes */
};

void connector_supervisor_init(struct connector_process *g);
void connector_supervisor_fini(struct connector_process *g);
void connector_supervisor_move(struct connector_process *g, enum connector_state_event event);
/* Starts the first process. On failure, `refused` is the reason. */
void connector_supervisor_launch(struct connector_process *g);
/* To be called when the process ended, closed its socket, violated the protocol or hung: kills it
 * and schedules the next one. Does not wait for its end. */
void connector_supervisor_handle_exit(struct connector_process *g);
/* Ends the process for the reason `why`; nothing more is read from it. */
void connector_supervisor_fail(struct connector_process *g, const char *why);
void connector_supervisor_set_running(struct connector_process *g);
/* To be called when the process confirmed a task or was given one: restarts the hang timeout. */
void connector_supervisor_record_progress(struct connector_process *g);
/* Stores why the process refused to start. */
void connector_supervisor_set_refusal(struct connector_process *g, const char *why);
void connector_supervisor_count_dropped(struct connector_process *g);
/* Stops an instance that was never released. It ends at once, because the queued events now belong
 * to its successor. */
void connector_supervisor_stop_held(struct connector_process *g);
/* Starts the next process; called when the back-off is over. */
void connector_supervisor_restart(struct connector_process *g);
/* Starts the next process at once, on request; if it runs, earlier deaths no longer count. -1 with
 * err. */
int connector_supervisor_restart_now(struct connector_process *g, struct tc_err *err);
/* Fills err with the reason why the last process did not start. */
void connector_supervisor_explain(const struct connector_process *g, struct tc_err *err);
/* Kills the process without a successor. The state is then ENDED, or DYING until it is reaped. */
void connector_supervisor_kill(struct connector_process *g);
/* Takes over the progress that a running process shows in its status page, without the loop. False:
 * it has handled less than half of its tasks, or the page is invalid. */
bool connector_supervisor_sync_progress(struct connector_process *g);
/* Serves the process once without the loop: waits for its frames for at most `ms` milliseconds, and
 * not at all if its status page already shows progress. */
void connector_supervisor_poll(struct connector_process *g, int ms);

/* connector_dead_letter.c: counts the death for the task during which the process died, and drops a
 * task with POISON_DEATHS deaths. */
void connector_dead_letter_check_oldest(struct connector_process *g,
                                        const struct connector_exit *d);

/* connector_exit_report.c: logs why the process ended and what the host does, `then` (", …"). */
void connector_exit_report(const struct connector_process *g, const char *then);

#endif
