/* SPDX-License-Identifier: MIT
 * Tests of base/state_table.h with a door as an example. */
#include "base/state_table.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/table_check.h"
#include "tap/tap.h"

#define DOOR_STATES(STATE) STATE(OPEN) STATE(SHUT) STATE(WALLED_UP)
#define DOOR_EVENTS(EVENT) EVENT(PUSH) EVENT(PULL) EVENT(WALL)

static const char *const states[] = {DOOR_STATES(STATE_TABLE_NAME)};
static const char *const events[] = {DOOR_EVENTS(STATE_TABLE_NAME)};
enum { OPEN, SHUT, WALLED_UP };
enum { PUSH, PULL, WALL };
static const struct state_transition rows[] = {
    {OPEN, PUSH, SHUT}, {SHUT, PULL, OPEN}, {SHUT, WALL, WALLED_UP}};
static const struct state_table door = STATE_TABLE_OF("door", states, events, rows);

static unsigned move_door(unsigned state, unsigned event)
{
    return state_table_move(&door, state, event);
}

static bool aborts(unsigned state, unsigned event)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        close(STDERR_FILENO);
        move_door(state, event);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

int main(void)
{
    plan_lazy();
    table_check(&door, move_door, OPEN, 1);
    is_int(state_table_find(&door, OPEN, PUSH), SHUT, "a possible event has a next state");
    is_int(state_table_find(&door, OPEN, PULL), -1, "an impossible event has no next state");
    ok(aborts(3, PUSH), "an unknown state aborts");
    ok(aborts(OPEN, 3), "an unknown event aborts");
    return 0;
}
