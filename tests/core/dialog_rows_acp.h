/* SPDX-License-Identifier: MIT
 * The recorded dialogs with agents that speak ACP, and what our host does in them. Where it does
 * not do what the recording program did, the row says so: swap (it offers no files, so it refuses
 * to read and write them; it denies by the agent's own option, where that program gave no answer),
 * more (it answers what is open when it cancels), until (it has one message per process), quit
 * (that agent hung). Recordings without a turn are not here: one that asks for version 2, one of
 * requests that do not exist. */
#ifndef TESTS_CORE_DIALOG_ROWS_ACP_H
#define TESTS_CORE_DIALOG_ROWS_ACP_H

#define HEAD(id) "{\"jsonrpc\":\"2.0\",\"id\":" #id ","
#define CHOSEN(n, id, option)                                                                      \
    "swap=" #n                                                                                     \
    "," HEAD(id) "\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"" option        \
                 "\"}}}"
#define REFUSED(n, id)                                                                             \
    "swap=" #n "," HEAD(id) "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}"
#define CANCELLED HEAD(0) "\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}"

#define NOT_ALLOWED "final(The agent ended the turn because a tool was not allowed.) done(stopped)"

static const struct dialog_row acp_rows[] = {
    {"codex-cancel-stream", "final(slow answer slow answer slow a*", .mode = "workspace-write",
     .also = "done(cancelled)", .cancel_at = "n("},
    {"codex-narration-tool-final", "final(Two lines.) done(completed)", .mode = "workspace-write"},
    {"codex-permission-cancelled", "final() done(cancelled)", "?execute =deny",
     .decisions = {DENY(NULL)}, .mode = "workspace-write", .words = {CHOSEN(5, 0, "cancel")}},
    {"codex-permission-default-autoreview", "final(Written.) done(completed)", .requests = NULL},
    {"codex-permission-hang-cancel", "final() done(cancelled)", "?execute =cancelled",
     .mode = "workspace-write", .cancel_at = "request", .words = {"more=" CANCELLED}},
    {"codex-permission-reject", "final() done(cancelled)", "?execute =deny",
     .decisions = {DENY(NULL)}, .mode = "workspace-write"},
    {"codex-unicode", "final(Grüße*", .message = "grüße 🦊", .mode = "workspace-write",
     .also = "done(completed)"},
    {"copilot-cancel-stream", "final(word0 word919 word838 word757 *", .also = "done(cancelled)",
     .cancel_at = "n("},
    {"copilot-cancel-tool", "final() done(cancelled)", "?execute =allow", .decisions = {ALLOW},
     .cancel_at = "tool_call"},
    {"copilot-http-401", "error(agent_error: Authentication *", .also = "done(error)"},
    {"copilot-narration-tool-final", "final(Two lines.) done(completed)", "?execute =allow",
     .decisions = {ALLOW}},
    {"copilot-permission-always", "final(Both.) done(completed)", "?execute =allow ?execute =allow",
     .decisions = {ALLOW_ALWAYS, ALLOW_ALWAYS}},
    {"copilot-permission-cancelled", NOT_ALLOWED, "?execute =deny", .decisions = {DENY(NULL)},
     .words = {CHOSEN(4, 0, "reject_once")}},
    {"copilot-permission-edit", "final(Edited.) done(completed)", "?edit =allow",
     .decisions = {ALLOW}},
    {"copilot-permission-hang-cancel", "final() done(cancelled)", "?execute =cancelled",
     .cancel_at = "request", .words = {"more=" CANCELLED}},
    {"copilot-permission-reject", NOT_ALLOWED, "?execute =deny", .decisions = {DENY(NULL)}},
    {"copilot-two-turns", "final(First.) done(completed)", .message = "one", .words = {"until=3"}},
    {"copilot-unicode", "final(Grüße*", .message = "grüße 🦊", .also = "done(completed)"},
    {"gemini-cancel-stream", "final(word0 word919 word838 word757 *", .also = "done(cancelled)",
     .cancel_at = "n("},
    {"gemini-cancel-tool", "final() done(cancelled)", "?execute =allow", .decisions = {ALLOW},
     .cancel_at = "tool_call"},
    {"gemini-drop-midtext", "final(This text will be cut.This text will be cut.) done(completed)",
     .requests = NULL},
    {"gemini-fs-caps", "final(Through the client.) done(completed)", "?edit =allow",
     .decisions = {ALLOW},
     .words = {"ignore=params.clientCapabilities", REFUSED(4, 0), REFUSED(6, 2), REFUSED(7, 3)}},
    {"gemini-http-401", "error(401: {\"error\":{\"code\":401,\"mes*", .also = "done(error)",
     .requests = NULL},
    {"gemini-missing-key", "error(-32000: Gemini API key is miss*", .also = "done(error)",
     .other_end = true, .words = {"until=2"}},
    {"gemini-narration-tool-final", "final(Two lines.) done(completed)", .requests = NULL},
    {"gemini-permission-always", "final(Both.) done(completed)", "?execute =allow",
     .decisions = {ALLOW_ALWAYS}},
    {"gemini-permission-cancelled", "final(never) done(completed)", "?execute =deny",
     .decisions = {DENY(NULL)}, .words = {CHOSEN(4, 0, "cancel")}},
    {"gemini-permission-edit", "final(Edited.) done(completed)", "?edit =allow ?edit =allow",
     .decisions = {ALLOW, ALLOW}},
    {"gemini-permission-hang-cancel", "final() done(cancelled)", "?execute =cancelled",
     .cancel_at = "request", .words = {"more=" CANCELLED, "quit"}},
    {"gemini-permission-reject", "final(Rejected.) done(completed)", "?execute =deny",
     .decisions = {DENY(NULL)}},
    {"gemini-todos", "final(Planned.) done(completed)", "?other =deny", .decisions = {DENY(NULL)},
     .words = {CHOSEN(4, 0, "cancel")}},
    {"gemini-tool-fail", "final(Missing.) done(completed)", .requests = NULL},
    {"gemini-two-turns", "final(First.) done(completed)", .message = "one", .words = {"until=3"}},
    {"gemini-unicode", "final(Grüße*", .message = "grüße 🦊", .also = "done(completed)"},
    {"opencode-cancel-stream", "final(word0 word919 word838 word757 *", .also = "done(cancelled)",
     .cancel_at = "n("},
    {"opencode-cancel-tool", "final() done(cancelled)", .cancel_at = "tool_call"},
    {"opencode-finish-length", "final(Cut short) done(completed)", .requests = NULL},
    {"opencode-http-401", "error(APIError: Internal error: bad key) done(error)", .requests = NULL},
    {"opencode-http-500-recover", "final(Recovered.) done(completed)", .requests = NULL},
    {"opencode-narration-tool-final", "final(Two lines.) done(completed)", .requests = NULL},
    {"opencode-permission-always", "final(Both.) done(completed)", "?execute =allow",
     .decisions = {ALLOW_ALWAYS}},
    {"opencode-permission-cancelled", NOT_ALLOWED, "?execute =deny", .decisions = {DENY(NULL)},
     .words = {CHOSEN(4, 0, "reject")}},
    {"opencode-permission-edit", "final(Edited.) done(completed)", "?edit =allow ?edit =allow",
     .decisions = {ALLOW, ALLOW}, .words = {"ignore=error.message"}},
    {"opencode-permission-hang-cancel", "final() done(cancelled)", "?execute =deny",
     .cancel_at = "request", .words = {"more=" CANCELLED}},
    {"opencode-permission-reject", NOT_ALLOWED, "?execute =deny", .decisions = {DENY(NULL)}},
    {"opencode-sse-error", "final(Partial textAgain.) done(completed)", .requests = NULL},
    {"opencode-todos", "final(Planned.) done(completed)", .requests = NULL},
    {"opencode-tool-fail", "final(Missing.) done(completed)", .requests = NULL},
    {"opencode-tool-slow-output", "final(Ticks.) done(completed)", .requests = NULL},
    {"opencode-two-turns", "final(First.) done(completed)", .message = "one", .words = {"until=3"}},
    {"opencode-unicode", "final(Grüße*", .message = "grüße 🦊", .also = "done(completed)"},
};

#endif
