/* SPDX-License-Identifier: MIT
 * For tests of the executor: one turn of the fake agent, from its words to what was cast, and
 * whether anything is left of it. */
#ifndef TESTS_CORE_STAGE_H
#define TESTS_CORE_STAGE_H

#include "core/agent/executor.h"
#include "core/cast_log.h"
#include "core/request/request_registry.h"

/* Lines of the claude dialect, as words of the fake agent. */
#define SAY_INIT                                                                                   \
    "text={\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\",\"model\":\"m\"}"
#define SAY_HI                                                                                     \
    "text={\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":"  \
    "[{\"type\":\"text\",\"text\":\"hi\"}]},\"session_id\":\"s-1\"}"
#define SAY_TOOL(name)                                                                             \
    "text={\"type\":\"assistant\",\"message\":{\"id\":\"m0\",\"role\":\"assistant\",\"content\":"  \
    "[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"" name                                       \
    "\",\"input\":{\"command\":\"deploy\"}}]},\"session_id\":\"s-1\"}"
#define RESULT(text)                                                                               \
    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"" text           \
    "\",\"session_id\":\"s-1\",\"num_turns\":1,\"usage\":{\"input_tokens\":7,"                     \
    "\"output_tokens\":1}}"
#define SAY_RESULT "text=" RESULT("hi")
#define SAY_ERROR(text)                                                                            \
    "text={\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":\"" text       \
    "\",\"session_id\":\"s-1\",\"num_turns\":1}"

struct stage {
    /* set before stage_begin */
    struct conf_agent agent;
    const struct dialect *dialect; /* NULL: claude */
    const char *message;           /* NULL: "do it" */
    size_t message_len;
    const char *session_id, *conversation;
    struct request_registry *requests; /* what it asks is kept there; or NULL */
    /* what came of it */
    struct dispatch log;
    struct turn *turn;
    struct executor *executor;
    struct request_turn *asks; /* NULL without requests */
    bool ended, spawn_failed;
    int64_t took_ms;
    /* its own */
    char **words;
    char mark[64];
    unsigned fds;
    int64_t began_ms;
};

/* Makes the loop and prepares the process; once. */
void stage_init(void);
void stage_fini(void);
struct loop *stage_loop(void);
/* Short graces, no timeouts, the fake agent with these words (the list ends with NULL). */
void stage_set(struct stage *s, const char *const *words);
void stage_begin(struct stage *s);
/* Runs the loop until it has ended, the log has `text` in it, or a deadline has passed. */
bool stage_wait(struct stage *s, const char *text);
/* Waits for the end; checks the outcome (wanted is a prefix when it ends with '*'), that nothing
 * is left of the agent, no process and no descriptor; frees everything. */
void stage_end(struct stage *s, const char *wanted, const char *what);
/* The same, all in one. */
void stage_run(struct stage *s, const char *wanted, const char *what);

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
