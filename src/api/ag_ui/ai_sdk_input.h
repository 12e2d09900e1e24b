/* SPDX-License-Identifier: MIT
 * What a client of the AI SDK asks with, as the input of an AG-UI run, so that both are run alike.
 * Pure. */
#ifndef API_AG_UI_AI_SDK_INPUT_H
#define API_AG_UI_AI_SDK_INPUT_H

#include <jansson.h>

/* From {id, messages, runId?, agent?, background?}, whose messages are UI messages: their texts are
 * kept. Without runId the run has a new name. Owned; what it lacks, the input lacks. */
json_t *ai_sdk_input_convert(const json_t *body);

#endif
