/* SPDX-License-Identifier: MIT
 * Declarations of all writers, for the registry only. */
#ifndef DIALECT_WRITER_WRITER_LIST_H
#define DIALECT_WRITER_WRITER_LIST_H

#include "dialect/writer/writer.h"

extern const struct writer writer_agenticore_openai;
extern const struct writer writer_ag_ui;
extern const struct writer writer_ai_sdk;
extern const struct writer writer_awaken;
extern const struct writer writer_missy_audit;
extern const struct writer writer_missy_json;
extern const struct writer writer_ethos;
extern const struct writer writer_otlp;
extern const struct writer writer_reasonix;
extern const struct writer writer_turncast;

#endif
