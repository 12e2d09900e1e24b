/* SPDX-License-Identifier: MIT
 * The recorded dialogs with codex app-server, and what our host does in them. Where it does not do
 * what the recording program did, the row says so: swap (it declines, where that program answered
 * with an error), skip (it does not steer), until (it has one message per process), more and quit
 * (it interrupts, where that program went away). A recording of requests without a turn is not
 * here. */
#ifndef TESTS_CORE_DIALOG_ROWS_CODEX_H
#define TESTS_CORE_DIALOG_ROWS_CODEX_H

#define DECIDED(n, id, word) "swap=" #n ",{\"id\":" #id ",\"result\":{\"decision\":\"" word "\"}}"

#define INTERRUPT(thread, turn)                                                                    \
    "{\"id\":\"turncast-interrupt\",\"method\":\"turn/"                                            \
    "interrupt\",\"params\":{\"threadId\":\"" thread "\",\"turnId\":\"" turn "\"}}"

static const struct dialog_row codex_rows[] = {
    {"approval-error-answer", "final(The client answered with an error.) done(completed)",
     "?shell =deny", .decisions = {DENY(NULL)}, .words = {DECIDED(5, 0, "decline")}},
    {"approval-hang-eof", "final() done(cancelled)", "?shell =cancelled", .cancel_at = "request",
     .words = {"more=" INTERRUPT("01a1fbd0-fc17-7373-859b-90fa61423668",
                                 "01a1fbd0-fc29-7c62-983f-f0d99681789a"),
               "quit"}},
    {"approval-parallel", "final(Both.) done(completed)", "?shell =allow ?shell =deny",
     .decisions = {ALLOW, DENY(NULL)}},
    {"approve-command", "final(Written.) done(completed)", "?shell =allow", .decisions = {ALLOW}},
    {"approve-patch", "final(Patched.) done(completed)", "?apply_patch =allow",
     .decisions = {ALLOW}},
    {"approve-session", "final(Twice.) done(completed)", "?shell =allow",
     .decisions = {ALLOW_ALWAYS}},
    {"cancel-command", "final() done(cancelled)", "?shell =deny", .decisions = {STOP(NULL)}},
    {"decline-command", "final(You declined.) done(completed)", "?shell =deny",
     .decisions = {DENY(NULL)}},
    {"decline-patch", "final(Not patched.) done(completed)", "?apply_patch =deny",
     .decisions = {DENY(NULL)}},
    {"drop-recover", "final(Second attempt complete.) done(completed)", .requests = NULL},
    {"http-401", "error(httpConnectionFailed: *", .also = "done(error)"},
    {"interrupt-stream", "final(slow answer slow answer slow a*", .also = "done(cancelled)",
     .cancel_at = "n("},
    {"interrupt-tool", "final() done(cancelled)", .cancel_at = "tool_call"},
    {"mcp-approval", "final(Echoed.) done(completed)", "?mcp__lab__echo =allow",
     .decisions = {ALLOW}},
    {"narration-tool-final", "final(hello.txt holds two lines.) done(completed)", .requests = NULL},
    {"parallel-tools", "final(Done.) done(completed)", .requests = NULL},
    {"patch-free", "final(Patched.) done(completed)", .requests = NULL},
    {"sandbox-denied-retry", "final(done) done(completed)", "?shell =allow", .decisions = {ALLOW},
     .mode = "untrusted"},
    {"steer", "final(Steered.) done(completed)", .words = {"skip=5"}},
    {"two-turns", "final(First.) done(completed)", .message = "one", .words = {"until=4"}},
    {"unicode", "final(Grüße*", .message = "grüße 🦊", .also = "done(completed)"},
};

#endif
