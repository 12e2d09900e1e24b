/* SPDX-License-Identifier: MIT
 * Test scripts for connectors. Each test of a script runs the real connector on a fake host
 * (fake_host.h); the script plays clock, service, people and agent. The notation is described in
 * turncast-test(7).
 *
 * A line that begins with a blank continues the previous line; # begins a comment line. Lines
 * before the first test are executed at the beginning of each test. Before each step, the lines
 * since the previous step must have named everything that the connector has done: requests,
 * warnings, submits, frames, dead letters.
 *
 *   = R9: title               a test: one result; a separate host
 *   option KEY VALUE          of the instance; applied first, at any position
 *   quiet METHOD              requests of that method need no ">" (and may be answered)
 *   auto METHOD STATUS BODY   need no answer either: this one is sent, from now on
 *   loud METHOD               ends both
 *
 * Steps:
 *   init [fails]
 *   turn NAME [JSON]          a turn begins: {"route", "memory", "conversation"} or nothing
 *   NAME: KIND PAYLOAD        an event of it. With done it ends, when its requests have ended
 *   play NAME FILE            a recording of an agent as turn NAME
 *   wait MS                   advances the clock, and executes everything that becomes due
 *   < [LABEL] RESULT [BODY]   the answer to the last named request, or to the one with the label:
 *                             a status; "after=MS 429" with the header; "unsent", no connection
 *                             (it is retried, and the plugin is not asked);
 *                             "lost", sent, but without an answer. A successful answer to
 *                             TC_SAVE is a file
 *
 *   hit METHOD PATH HEADERS BODY   a request to a route; HEADERS is a JSON object
 *
 *   frame open|text|closed [TEXT]  of the newest socket; "frame #2 …" of the second
 *
 *   restart                   the host crashes and restarts: durable requests are kept
 *
 * Before a step, the results of its calls about people:
 *   submit JSON = RESULT [TURN [ANSWER]]      tc_submit must be called, as the JSON says
 *   cancel TURN USER = RESULT [ANSWER]        RESULT: accepted queued command known denied full
 *                                             not_kept given interrupt
 *
 *   decide JSON = RESULT [- [ANSWER]]         tc_answer; the ticket of request r is "ticket-r"
 *   stranger USER                             tc_may_submit says no to this one
 *   known CHAT:[THREAD]                       tc_knows says yes to this one only
 *
 * After a step, its expected effects:
 *   > METHOD [WORD…] [BODY]   a request on the wire; METHOD is what the URL ends with. Words:
 *                             final request notice live; durable idempotent poll save, each also
 *                             with "!" before it for not; lane= key= rates= tag= timeout= delay=
 *                             url= (contains); turn=NAME; as LABEL (default: METHOD)
 *   verdict done|fail|again [MS] [lane|rates|instance] [REASON]   the decision of on_reply
 *   answer STATUS [BODY]      to the hit
 *   ws open URL | ws send BODY | ws close
 *   log LEVEL TEXT            err warn info debug; contains. Warnings and errors must be named
 *   print TEXT                on standard output; contains; a JSON string is what it stands for
 *   dead METHOD [REASON]      a durable request was given up
 *   remember TEXT             the text of tc_remember; contains
 *   stored KEY TEXT           the text of tc_store; contains; "-": none
 *   over NAME                 the turn has ended and its memory is gone; "open NAME": not yet
 *
 * A BODY matches the members that it names: {"a": 1} is any object with that member; null is null
 * or absent, "*" any present value, "~text" a string that contains it, "!~text" one that does not;
 * arrays must have the same length. multipart/form-data and x-www-form-urlencoded are matched as
 * objects, a file as {"filename", "content"}. */
#ifndef CLI_TESTING_SCRIPT_H
#define CLI_TESTING_SCRIPT_H

#include "base/attr.h"
#include "base/sys/err.h"
#include "cli/testing/fake/fake_host.h"
#include "cli/testing/fake/output_capture.h"
#include "cli/testing/test_report.h"

/* A connector under test, and where to report results. */
struct script_subject {
    const char *module;                /* path of the connector */
    const struct fake_option *options; /* for all tests; those of a script replace them */
    size_t option_count;
    struct output_capture *output;
    struct test_report *report;
    void (*begin)(void); /* called before each test; or NULL */
};

/* Runs each test of a script, one result each. -1 with err: it cannot be read, or has no test. */
int script_run(const struct script_subject *subject, const char *path,
               struct tc_err *err) MUST_CHECK;

#endif
