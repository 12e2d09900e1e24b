/* SPDX-License-Identifier: MIT
 * Declarations of all dialects, for the registry only. */
#ifndef DIALECT_DIALECT_LIST_H
#define DIALECT_DIALECT_LIST_H

#include "dialect/dialect.h"

extern const struct dialect dialect_acp;
extern const struct dialect dialect_ag_ui;
extern const struct dialect dialect_agenticore_redis;
extern const struct dialect dialect_awaken;
extern const struct dialect dialect_claude;
extern const struct dialect dialect_claude_session;
extern const struct dialect dialect_codex;
extern const struct dialect dialect_codex_app;
extern const struct dialect dialect_codex_rollout;
extern const struct dialect dialect_copilot;
extern const struct dialect dialect_ethos;
extern const struct dialect dialect_ethos_acp;
extern const struct dialect dialect_ethos_web;
extern const struct dialect dialect_gemini;
extern const struct dialect dialect_missy_audit;
extern const struct dialect dialect_missy_json;
extern const struct dialect dialect_missy_run;
extern const struct dialect dialect_openai;
extern const struct dialect dialect_opencode;
extern const struct dialect dialect_qwen;
extern const struct dialect dialect_reasonix;
extern const struct dialect dialect_reasonix_log;
extern const struct dialect dialect_remote;
extern const struct dialect dialect_tirea;
extern const struct dialect dialect_turncast;

#endif
