/* SPDX-License-Identifier: MIT
 * X-macro rows of every payload member: key, type, default. The encoder, the decoder, blank
 * drafts and copies are generated from them. */
#ifndef EVENT_FIELDS_H
#define EVENT_FIELDS_H

/* R(struct, member, type, default): always written. O(struct, member, type): written only if
 * present. TEXT is STR, and LONG_* is *, with the length in member_len. */
#define FIELDS_narration(R, O)                                                                     \
    R(narration, text, TEXT, "")                                                                   \
    O(narration, message_id, STR)

#define FIELDS_thinking(R, O)                                                                      \
    R(thinking, text, TEXT, "")                                                                    \
    O(thinking, message_id, STR)                                                                   \
    O(thinking, encrypted, STR)                                                                    \
    O(thinking, entity_id, STR)                                                                    \
    O(thinking, entity, STR)

#define FIELDS_message(R, O)                                                                       \
    R(message, role, STR, "assistant")                                                             \
    O(message, message_id, STR)                                                                    \
    O(message, text, TEXT)                                                                         \
    O(message, reasoning, TEXT)                                                                    \
    O(message, name, STR)                                                                          \
    O(message, persisted, FLAG)

#define FIELDS_final(R, O)                                                                         \
    R(final, text, TEXT, "")                                                                       \
    O(final, message_id, STR)                                                                      \
    O(final, synthesized, FLAG)

#define FIELDS_tool_call(R, O)                                                                     \
    R(tool_call, name, STR, "")                                                                    \
    R(tool_call, args, LONG_OBJECT, "{}")                                                          \
    R(tool_call, tool_use_id, STR, "")                                                             \
    O(tool_call, args_raw, TEXT)                                                                   \
    O(tool_call, read_only, TRI)                                                                   \
    O(tool_call, message_id, STR)

#define FIELDS_progress(R, O)                                                                      \
    O(progress, tool_use_id, STR)                                                                  \
    O(progress, name, STR)                                                                         \
    O(progress, phase, STR)                                                                        \
    O(progress, message, STR)                                                                      \
    O(progress, percent, REAL)                                                                     \
    O(progress, loaded, REAL)                                                                      \
    O(progress, total, REAL)                                                                       \
    O(progress, args_delta, TEXT)                                                                  \
    O(progress, arg_chars, INT)                                                                    \
    O(progress, output, TEXT)                                                                      \
    O(progress, node_id, STR)                                                                      \
    O(progress, parent_node_id, STR)

#define FIELDS_tool_result(R, O)                                                                   \
    R(tool_result, tool_use_id, STR, "")                                                           \
    R(tool_result, content, TEXT, "")                                                              \
    R(tool_result, is_error, FLAG, false)                                                          \
    O(tool_result, name, STR)                                                                      \
    O(tool_result, outcome, STR)                                                                   \
    O(tool_result, duration_ms, REAL)                                                              \
    O(tool_result, truncated, FLAG)                                                                \
    O(tool_result, structured, JSON)                                                               \
    O(tool_result, message_id, STR)                                                                \
    O(tool_result, patch, JSON)                                                                    \
    O(tool_result, diff, STR)                                                                      \
    O(tool_result, added, INT)                                                                     \
    O(tool_result, removed, INT)

#define FIELDS_request(R, O)                                                                       \
    R(request, request_id, STR, "")                                                                \
    R(request, kind, STR, "")                                                                      \
    R(request, state, STR, "")                                                                     \
    O(request, tool_use_id, STR)                                                                   \
    O(request, tool, STR)                                                                          \
    O(request, subject, STR)                                                                       \
    O(request, args, JSON)                                                                         \
    O(request, reason, STR)                                                                        \
    O(request, message, STR)                                                                       \
    O(request, questions, JSON)                                                                    \
    O(request, schema, JSON)                                                                       \
    O(request, expires_ms, INT)                                                                    \
    R(request, blocking, FLAG, false)                                                              \
    O(request, decision, STR)                                                                      \
    O(request, answers, JSON)                                                                      \
    O(request, by, STR)                                                                            \
    O(request, choices, JSON)                                                                      \
    O(request, to, JSON)                                                                           \
    O(request, preview, STR)

#define FIELDS_start(R, O)                                                                         \
    O(start, run_id, STR)                                                                          \
    O(start, thread_id, STR)                                                                       \
    O(start, parent_run_id, STR)                                                                   \
    O(start, provider, STR)                                                                        \
    O(start, model, STR)                                                                           \
    O(start, source, STR)                                                                          \
    O(start, task, STR)                                                                            \
    O(start, input, JSON)                                                                          \
    O(start, trace_id, STR)                                                                        \
    O(start, resumed, FLAG)

#define FIELDS_step(R, O)                                                                          \
    R(step, state, STR, "")                                                                        \
    O(step, kind, STR)                                                                             \
    O(step, name, STR)                                                                             \
    O(step, index, INT)                                                                            \
    O(step, max, INT)                                                                              \
    O(step, message_id, STR)                                                                       \
    O(step, step_id, STR)                                                                          \
    O(step, outcome, STR)                                                                          \
    O(step, error, JSON)                                                                           \
    O(step, result, JSON)

#define FIELDS_error(R, O)                                                                         \
    R(error, message, STR, "")                                                                     \
    O(error, code, STR)

#define FIELDS_done(R, O)                                                                          \
    R(done, reason, STR, "")                                                                       \
    O(done, code, STR)                                                                             \
    O(done, detail, STR)                                                                           \
    O(done, turns, INT)                                                                            \
    O(done, result, JSON)                                                                          \
    O(done, trace_id, STR)

/* Token counts missing in the source are absent, not 0. */
#define FIELDS_usage(R, O)                                                                         \
    R(usage, scope, STR, "")                                                                       \
    O(usage, input_tokens, INT)                                                                    \
    O(usage, output_tokens, INT)                                                                   \
    O(usage, total_tokens, INT)                                                                    \
    O(usage, cache_read_tokens, INT)                                                               \
    O(usage, cache_write_tokens, INT)                                                              \
    O(usage, cache_miss_tokens, INT)                                                               \
    O(usage, reasoning_tokens, INT)                                                                \
    O(usage, cache_counted, TRI)                                                                   \
    O(usage, cost_usd, REAL)                                                                       \
    O(usage, cost, REAL)                                                                           \
    O(usage, currency, STR)                                                                        \
    O(usage, duration_ms, REAL)                                                                    \
    O(usage, model, STR)                                                                           \
    O(usage, provider, STR)                                                                        \
    O(usage, source, STR)                                                                          \
    O(usage, session, JSON)                                                                        \
    O(usage, stop_reason, STR)                                                                     \
    O(usage, is_error, TRI)

#define FIELDS_notice(R, O)                                                                        \
    R(notice, level, STR, "info")                                                                  \
    R(notice, text, STR, "")                                                                       \
    O(notice, code, STR)                                                                           \
    O(notice, detail, STR)                                                                         \
    O(notice, message_id, STR)

#define FIELDS_state(R, O)                                                                         \
    R(state, scope, STR, "")                                                                       \
    R(state, op, STR, "")                                                                          \
    O(state, value, JSON)                                                                          \
    O(state, patch, JSON)                                                                          \
    O(state, key, STR)                                                                             \
    O(state, activity_type, STR)                                                                   \
    O(state, replace, TRI)

#define FIELDS_raw(R, O)                                                                           \
    R(raw, dialect, STR, "")                                                                       \
    R(raw, event, LONG_JSON, "null")                                                               \
    O(raw, name, STR)

/* Optional members of any payload; they live in struct tc_meta. */
#define FIELDS_meta(R, O)                                                                          \
    O(meta, id, STR)                                                                               \
    O(meta, agent, STR)                                                                            \
    O(meta, parent_id, STR)                                                                        \
    O(meta, audience, STR)                                                                         \
    O(meta, x, OBJECT)

#endif
