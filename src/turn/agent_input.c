/* SPDX-License-Identifier: MIT
 * Owns the state of an input half, and what stands for one that is missing. */
#include "turn/agent_input.h"

#include <stdlib.h>

#include "base/alloc.h"

void dialog_begin(struct dialog *d, const struct dialect *dialect,
                  const struct dialect_prompt *prompt, struct buf *out)
{
    dialog_end(d);
    d->input = dialect ? dialect->input : NULL;
    if (!d->input) {
        buf_add(out, prompt->text, prompt->len);
        return;
    }
    d->state = d->input->state_size ? xcalloc(1, d->input->state_size) : NULL;
    d->input->begin(d->state, out, prompt);
}

void dialog_end(struct dialog *d)
{
    if (d->input && d->input->close)
        d->input->close(d->state);
    free(d->state);
    *d = (struct dialog){0};
}

bool dialog_goes_on(const struct dialog *d)
{
    return d->input && d->input->next && d->input->goes_on(d->state);
}

void dialog_next(struct dialog *d, const struct dialect_prompt *prompt, struct buf *out)
{
    d->input->next(d->state, out, prompt);
}

enum dialect_steer dialog_steer(struct dialog *d, struct buf *out, const char *id, struct str text)
{
    return d->input && d->input->steer ? d->input->steer(d->state, out, id, text) : DIALECT_REFUSED;
}

enum dialect_settled dialog_settled(struct dialog *d, char id[DIALECT_STEER_ID])
{
    return d->input && d->input->settled ? d->input->settled(d->state, id) : DIALECT_UNSETTLED;
}

bool dialog_withdraw(struct dialog *d, struct buf *out, const char *id)
{
    return d->input && d->input->withdraw && d->input->withdraw(d->state, out, id);
}

void dialog_line(struct dialog *d, struct buf *out, const char *line, size_t len)
{
    if (d->input && d->input->line)
        d->input->line(d->state, out, line, len);
}

bool dialog_answers(const struct dialect *dialect)
{
    return dialect && dialect->input && dialect->input->answer;
}

int dialog_answer(struct dialog *d, struct buf *out, const struct dialect_answer *answer)
{
    return d->input && d->input->answer ? d->input->answer(d->state, out, answer) : -1;
}

bool dialog_waits(const struct dialog *d, const char *request_id)
{
    return d->input && d->input->waits && d->input->waits(d->state, request_id);
}

void dialog_interrupt(struct dialog *d, struct buf *out)
{
    if (d->input && d->input->interrupt)
        d->input->interrupt(d->state, out);
}

void dialog_leave(struct dialog *d, struct buf *out)
{
    if (d->input && d->input->leave)
        d->input->leave(d->state, out);
}

bool dialog_keeps_open(const struct dialog *d)
{
    return d->input && d->input->keep_open;
}

bool dialog_waits_for_end(const struct dialog *d)
{
    return d->input && !d->input->ends_by_eof;
}
