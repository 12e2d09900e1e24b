/* SPDX-License-Identifier: MIT
 * The descendants of one child: found through /proc, killed, reaped, verified gone; and nobody
 * else's. Loop thread only.
 *
 * Whose a process is: the children of the child, and so on down, are its own as long as their
 * parents live. When a parent dies the kernel hands its children to the nearest subreaper, this
 * process, so that double-forked and setsid'ed descendants become children of ours. Told apart
 * from children that are not an agent's by their session:
 *  - every child spawned here leads a session of its own and none can be joined from outside, so
 *    a child in the host's session was never below an agent: it is let alone;
 *  - in the session of a child spawned here: that child's;
 *  - in any other session (somebody called setsid): it may be of any child that was alive when it
 *    began. It goes with the last of them, so that no turn ever kills another turn's tools.
 * A plugin that forks and calls setsid while an agent runs is taken for the agent's. */
#ifndef IO_PROCESS_TREE_H
#define IO_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_tree {
    struct process_tree *next; /* of its bucket */
    pid_t pid;                 /* the child; also its session and process group */
    uint64_t began;            /* clock ticks since boot */
    bool reaped;               /* its pid may belong to somebody else now */
    unsigned strays;           /* descendants that had to be killed */
};

void process_tree_init(struct process_tree *t, pid_t pid);
void process_tree_fini(struct process_tree *t);
/* Names this boot of the machine, "" when that is not known: a pid means nothing in another. */
void process_tree_boot(char out[64]);
/* When the process began, in clock ticks since boot; 0: it is gone. */
uint64_t process_tree_began(pid_t pid);
/* Kills a child of an earlier host of this boot and all that is left of it: what is in the session
 * that it led, what has the mark ("NAME=value") in its environment, and what is below. Returns how
 * many processes that were. */
unsigned process_tree_kill_lost(pid_t pid, uint64_t began, const char *mark);
/* Reaps orphans of all trees that died, so that a long turn does not gather zombies; nothing when
 * that was done within the last every_ms, so that every tree may ask. */
void process_tree_reap(int64_t every_ms);
/* One burst: kills everything that is found, again and again until nothing is found or about
 * 100 ms passed. Returns how many still live. */
unsigned process_tree_kill(struct process_tree *t);

#endif
