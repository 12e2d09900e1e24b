/* SPDX-License-Identifier: MIT
 * Words for the fake agent: the lines of Claude Code in a session with background work, and those
 * of a codex app-server. */
#ifndef TESTS_CORE_AGENT_LINES_H
#define TESTS_CORE_AGENT_LINES_H

#define INIT "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\",\"model\":\"m\"}"
#define SAYS(id, text)                                                                             \
    "text={\"type\":\"assistant\",\"message\":{\"id\":\"" id                                       \
    "\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"" text                   \
    "\"}]},\"session_id\":\"s-1\"}"
/* The running total of the costs is `total`. */
#define ENDS(text, total, origin)                                                                  \
    "text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"" text      \
    "\",\"session_id\":\"s-1\",\"num_turns\":1,\"total_cost_usd\":" total origin "}"
#define OF_TASK ",\"origin\":{\"kind\":\"task-notification\"}"
#define TASKS(list)                                                                                \
    "text={\"type\":\"system\",\"subtype\":\"background_tasks_changed\",\"session_id\":\"s-1\","   \
    "\"tasks\":[" list "]}"
#define TASK "{\"task_id\":\"t1\",\"description\":\"Count files\"}"
#define NOTIFIES                                                                                   \
    "text={\"type\":\"system\",\"subtype\":\"task_notification\",\"session_id\":\"s-1\","          \
    "\"task_id\":\"t1\",\"status\":\"completed\",\"summary\":\"12\"}"

#define CODEX(id, result) "text={\"id\":\"turncast-" id "\",\"result\":" result "}"
#define CODEX_TURN(turn)                                                                           \
    "text={\"method\":\"turn/started\",\"params\":{\"threadId\":\"th-1\",\"turn\":{\"id\":\"" turn \
    "\"}}}"
#define CODEX_SAYS(turn, text)                                                                     \
    "text={\"method\":\"item/completed\",\"params\":{\"threadId\":\"th-1\",\"turnId\":\"" turn     \
    "\",\"item\":{\"type\":\"agentMessage\",\"id\":\"i-" turn "\",\"text\":\"" text "\"}}}"
#define CODEX_SPENT(turn, n)                                                                       \
    "text={\"method\":\"thread/tokenUsage/updated\",\"params\":{\"threadId\":\"th-1\","            \
    "\"turnId\":\"" turn "\",\"tokenUsage\":{\"last\":{\"inputTokens\":" n "}}}}"
#define CODEX_ENDS(turn)                                                                           \
    "text={\"method\":\"turn/"                                                                     \
    "completed\",\"params\":{\"threadId\":\"th-1\",\"turn\":{\"id\":\"" turn                       \
    "\",\"status\":\"completed\"}}}"

#endif
