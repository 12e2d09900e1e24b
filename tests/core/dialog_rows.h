/* SPDX-License-Identifier: MIT
 * The recorded dialogs with Claude Code, and what our host does in them. Where it does not do what
 * the recording program did, the row says so: skip (it sends no such line: initialize, an answer
 * nobody asked for, end_session, an early end of file), swap (it answers otherwise: an error to
 * hooks and servers it has not registered, updatedInput with every leave, a denial in place of an
 * answer that is none), until (it has one message per process), also and more (it sends more). */
#ifndef TESTS_CORE_DIALOG_ROWS_H
#define TESTS_CORE_DIALOG_ROWS_H

#define FINISHED "final(Finished after the permission step.) done(completed)"
#define STOPPED "final() done(cancelled)"

static const struct dialog_row rows[] = {
    {"1.0-ctl-allow-changed-input", FINISHED, "?Bash =allow", .decisions = {CHANGED}},
    {"2.0-ctl-allow-changed-input", FINISHED, "?Bash =allow", .decisions = {CHANGED}},
    {"2.1-ctl-allow-changed-input", FINISHED, "?Bash =allow", .decisions = {CHANGED}},
    {"1.0-ctl-askuserquestion", "final(Then red it is.) done(completed)", .requests = NULL},
    {"2.0-ctl-askuserquestion", "final(Then red it is.) done(completed)",
     "?AskUserQuestion =answered", .decisions = {RED}},
    {"2.1-ctl-askuserquestion", "final(Then red it is.) done(completed)",
     "?AskUserQuestion =answered", .decisions = {RED}},
    {"1.0-ctl-deny-interrupt", STOPPED, "?Bash =deny", .decisions = {STOP("The host said stop.")}},
    {"2.0-ctl-deny-interrupt", STOPPED, "?Bash =deny", .decisions = {STOP("The host said stop.")}},
    {"2.1-ctl-deny-interrupt", STOPPED, "?Bash =deny", .decisions = {STOP("The host said stop.")}},
    {"1.0-ctl-deny", FINISHED, "?Bash =deny", .decisions = {DENY("The host said no.")}},
    {"2.0-ctl-deny", FINISHED, "?Bash =deny", .decisions = {DENY("The host said no.")}},
    {"2.1-ctl-deny", FINISHED, "?Bash =deny", .decisions = {DENY("The host said no.")}},
    {"1.0-ctl-exitplanmode-allow", "final(Done.) done(completed)",
     "?ExitPlanMode =allow ?Write =allow", .decisions = {ALLOW, ALLOW}},
    {"2.0-ctl-exitplanmode-allow", "final(Done.) done(completed)",
     "?ExitPlanMode =allow ?Write =allow", .decisions = {ALLOW, ALLOW}},
    {"2.1-ctl-exitplanmode-allow", "final(Done.) done(completed)",
     "?ExitPlanMode =allow ?Write =allow", .decisions = {ALLOW, ALLOW}},
    {"2.1-ctl-exitplanmode-deny", "final(I will revise it.) done(completed)", "?ExitPlanMode =deny",
     .decisions = {DENY("Please revise.")}},
    {"1.0-ctl-initialize", "final(Hi.) done(completed)", .words = {"skip=1"}},
    {"2.0-ctl-initialize", "final(Hi.) done(completed)", .words = {"skip=1"}},
    {"2.1-ctl-initialize", "final(Hi.) done(completed)", .words = {"skip=1"}},
    {"1.0-ctl-interrupt-text", STOPPED, .message = "Tell a story", .words = {"until=2"},
     .cancel_at = "n("},
    {"2.0-ctl-interrupt-text", STOPPED, .message = "Tell a story", .words = {"until=2"},
     .cancel_at = "n("},
    {"2.1-ctl-interrupt-text",
     "final(A very long story. word word word word word word word word word word word word word "
     "word word wo) done(cancelled)",
     .message = "Tell a story", .words = {"until=2"}, .cancel_at = "n("},
    {"2.1-ctl-interrupt-tool", STOPPED, .message = "Run", .words = {"until=2"},
     .cancel_at = "tool_call"},
    {"1.0-ctl-interrupt-while-asking", STOPPED, "?Bash =cancelled", .cancel_at = "request"},
    {"2.0-ctl-interrupt-while-asking", STOPPED, "?Bash =cancelled", .cancel_at = "request"},
    {"2.1-ctl-interrupt-while-asking", STOPPED, "?Bash =cancelled", .cancel_at = "request"},
    {"2.1-ctl-interrupt-idle", "final(One.) done(completed)", .words = {"until=1"}},
    {"2.1-ctl-allow-no-updated-input", FINISHED, "?Bash =allow", .decisions = {ALLOW},
     .words = {"swap=2," REPLY(
         "f6dc4dcc-1fcc-4f0c-8c63-1dcf71fb90f0",
         "{\"behavior\":\"allow\",\"updatedInput\":{\"command\":"
         "\"touch made.txt && echo made\",\"description\":\"Create a file\"}}")}},
    {"2.1-ctl-answer-unknown-id", FINISHED, "?Bash =allow", .decisions = {ALLOW},
     .words = {"skip=2"}},
    {"2.1-ctl-error-response", FINISHED, "?Bash =deny", .decisions = {DENY("cannot decide")},
     .words = {"swap=2," REPLY("ec2a7141-d7f0-4236-8461-c33bf621f434",
                               "{\"behavior\":\"deny\",\"message\":\"cannot decide\"}")}},
    {"2.1-ctl-malformed-answer", FINISHED, "?Bash =deny", .decisions = {DENY("perhaps")},
     .words = {"swap=2," REPLY("d8ab19c9-92e1-4130-a8d9-b334a890f413",
                               "{\"behavior\":\"deny\",\"message\":\"perhaps\"}")}},
    {"2.1-ctl-assistant-role-in", "error(agent_exit: The agent exited with status 1.) done(lost)",
     .message = "hello",
     .words = {"swap=1,{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hello\"},"
               "\"session_id\":\"\"}",
               "quit"}},
    {"2.1-ctl-bad-lines", "final(One.) done(completed)", .words = {"until=1"}},
    {"2.1-ctl-end-session", "final(One.) done(completed)", .words = {"skip=2"}},
    {"2.1-ctl-eof-right-after-prompt", FINISHED, .words = {"skip=2"}},
    {"2.1-ctl-hook-deny", "final(Hook said no.) done(completed)",
     .words = {"skip=1", REFUSAL(3, "899f16f9-3859-457f-b254-815f2b5a29b5", "hook_callback")}},
    {"2.1-ctl-initialize-full", "final(Done.) done(completed)",
     .words = {"skip=1", REFUSAL(3, "8b84ee91-7e76-437d-8ab7-0b5b291634b3", "hook_callback"),
               REFUSAL(4, "58297772-6b4d-44a2-bf6e-a6701d9e40bc", "hook_callback")}},
    {"2.1-ctl-mcp-sdk", "final(The host said pong.) done(completed)",
     .words = {"skip=1", REFUSAL(3, "0c7009ac-1984-40e9-be99-35d4509bdac5", "mcp_message"),
               REFUSAL(4, "b62ab095-2b22-4222-84ae-6f71cf577a53", "mcp_message"),
               REFUSAL(5, "56c5c4b7-2556-4386-8959-dca037cfb787", "mcp_message"),
               REFUSAL(6, "c626275a-c42d-4d31-be82-c5acaa5fc5dc", "mcp_message")}},
    /* The recording program waited for the second question before it answered the first one, which
     * comes only then: ours answers at once. What the CLI said next is not known. */
    {"2.1-ctl-parallel-asks",
     "error(agent_no_result: The agent exited with status 0 but printed no result.) done(lost)",
     "?Bash =allow", .decisions = {ALLOW},
     .words = {"more=" REPLY("0b63e835-95b1-4d1d-a8aa-e19dca35cef0",
                             "{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"touch a1\","
                             "\"description\":\"a\"}}"),
               "quit"}},
    {"2.1-ctl-parallel-deny-interrupt", STOPPED, "?Bash =deny", .decisions = {STOP("stop")}},
    {"2.1-ctl-parallel-read-asks", "final(Both read.) done(completed)", "?Read ?Read =allow =allow",
     .decisions = {ALLOW, ALLOW}, .backwards = true},
    {"2.1-ctl-set-mode-model", "final(One.) done(completed)", .message = "First",
     .words = {"skip=1", "until=2"}},
    {"2.1-mode-refused", "final(One.) done(completed)", .message = "First",
     .mode = "bypassPermissions", .also = "notice(mode_refused)"},
    {"2.1-ctl-subagent-ask", "final(All done.) done(completed)", "?Bash =allow",
     .decisions = {ALLOW}},
};

#endif
