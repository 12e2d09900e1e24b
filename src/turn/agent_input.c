/* SPDX-License-Identifier: MIT
 * Owns the state of the input side, with defaults for functions that a dialect lacks. */
#include "turn/agent_input.h"

#include <stdlib.h>

#include "base/alloc.h"

void agent_input_begin(struct agent_input *d, const struct dialect *dialect,
                       const struct dialect_prompt *prompt, struct buf *out)
{
    agent_input_end(d);
    d->input = dialect ? dialect->input : NULL;
    if (!d->input) {
        buf_add(out, prompt->text, prompt->len);
        return;
    }
    d->state = d->input->state_size ? xcalloc(1, d->input->state_size) : NULL;
    d->input->begin(d->state, out, prompt);
}

void agent_input_end(struct agent_input *d)
{
    if (d->input && d->input->close)
        d->input->close(d->state);
    free(d->state);
    *d = (struct agent_input){0};
}

bool agent_input_goes_on(const struct agent_input *d)
{
    return d->input && d->input->next && d->input->goes_on(d->state);
}

void agent_input_next(struct agent_input *d, const struct dialect_prompt *prompt, struct buf *out)
{
    d->input->next(d->state, out, prompt);
}

enum dialect_steer agent_input_steer(struct agent_input *d, struct buf *out, const char *id,
                                     struct str text)
{
    return d->input && d->input->steer ? d->input->steer(d->state, out, id, text) : DIALECT_REFUSED;
}

enum dialect_settled agent_input_settled(struct agent_input *d, char id[DIALECT_STEER_ID])
{
    return d->input && d->input->settled ? d->input->settled(d->state, id) : DIALECT_UNSETTLED;
}

bool agent_input_withdraw(struct agent_input *d, struct buf *out, const char *id)
{
    return d->input && d->input->withdraw && d->input->withdraw(d->state, out, id);
}

void agent_input_handle_line(struct agent_input *d, struct buf *out, const char *line, size_t len)
{
    if (d->input && d->input->line)
        d->input->line(d->state, out, line, len);
}

bool agent_input_can_answer(const struct dialect *dialect)
{
    return dialect && dialect->input && dialect->input->answer;
}

int agent_input_answer(struct agent_input *d, struct buf *out, const struct dialect_answer *answer)
{
    return d->input && d->input->answer ? d->input->answer(d->state, out, answer) : -1;
}

bool agent_input_waits(const struct agent_input *d, const char *request_id)
{
    return d->input && d->input->waits && d->input->waits(d->state, request_id);
}

bool agent_input_takes_args(const struct agent_input *d, const char *request_id)
{
    return d->input && d->input->takes_args && d->input->takes_args(d->state, request_id);
}

void agent_input_interrupt(struct agent_input *d, struct buf *out)
{
    if (d->input && d->input->interrupt)
        d->input->interrupt(d->state, out);
}

void agent_input_finish(struct agent_input *d, struct buf *out)
{
    if (d->input && d->input->leave)
        d->input->leave(d->state, out);
}

bool agent_input_keeps_stdin(const struct agent_input *d)
{
    return d->input && d->input->keep_open;
}

bool agent_input_waits_for_eof(const struct agent_input *d)
{
    return d->input && !d->input->ends_by_eof;
}
