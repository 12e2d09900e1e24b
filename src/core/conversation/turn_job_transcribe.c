/* SPDX-License-Identifier: MIT
 * Transcribes sound files of a prompt. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/conversation/turn_job_internal.h"

char *turn_job_find_transcriber(const struct conf *conf, const char *submitter, struct str prompt,
                                char *const **command)
{
    const struct conf_instance *const inst = conf_instance_find(conf, submitter);
    char *const dir = xasprintf("%s/instances/%s", conf->state_dir, submitter);
    *command = inst ? inst->chat.transcribe : NULL;
    if (*command && transcription_is_wanted(dir, prompt))
        return dir;
    free(dir);
    return NULL;
}

static void turn_job_on_transcribed(void *ctx, struct str prompt)
{
    struct turn_job *const j = ctx;
    j->spec.prompt = (struct str){arena_memdup(&j->arena, prompt.p, prompt.len), prompt.len};
    transcription_free(j->transcription);
    j->transcription = NULL;
    turn_job_on_answer(j);
}

/* The journaled prompt keeps the files, so another attempt transcribes them again. */
void turn_job_transcribe(struct turn_job *j)
{
    const struct turn_job_spec *const s = &j->spec;
    char *const *command;
    CLEANUP_FREE char *dir =
        s->has_message ? NULL
                       : turn_job_find_transcriber(s->conf, s->submitter, s->prompt, &command);
    if (!dir)
        return;
    j->awaited++;
    j->transcription = transcription_start(
        s->loop,
        &(struct transcription_spec){
            .command = command, .agent = s->agent, .dir = dir, .turn = s->id, .prompt = s->prompt},
        turn_job_on_transcribed, j);
}
