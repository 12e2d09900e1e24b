/* SPDX-License-Identifier: MIT
 * Converts a request of the AI SDK to a RunAgentInput, so that both are processed alike. Pure. */
#ifndef API_AG_UI_AI_SDK_INPUT_H
#define API_AG_UI_AI_SDK_INPUT_H

#include <jansson.h>

/* Input: {id, messages, runId?, agent?, background?}, whose messages are UI messages. Keeps their
 * texts. Creates a run id if runId is missing. Returns an owned object; other missing members stay
 * missing. */
json_t *ai_sdk_input_convert(const json_t *body);

#endif
