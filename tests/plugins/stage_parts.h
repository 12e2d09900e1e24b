/* SPDX-License-Identifier: MIT
 * What the files of the stage share. */
#ifndef TESTS_PLUGINS_STAGE_PARTS_H
#define TESTS_PLUGINS_STAGE_PARTS_H

#include "plugins/stage.h"

/* Around each callback: what it sends is one batch; `place` is that of the request it answers. */
void stage_enter(struct stage *s);
void stage_leave(struct stage *s, uint64_t place);
/* Frees the turns that have ended. */
void stage_reap(struct stage *s);
/* After each step: the queue is empty, lanes move. */
void stage_idle(struct stage *s);

/* The batch goes to the lanes. */
void stage_commit(struct stage *s, uint64_t place);
/* Puts on the wire what may go. */
void stage_pump(struct stage *s);
void stage_free_request(struct stage_request *r);
void stage_drop_volatile(struct stage *s);
void stage_drop_all(struct stage *s);
/* After a restart: those on the wire are in doubt. */
void stage_resume(struct stage *s);

#endif
