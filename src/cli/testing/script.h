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
 *   = R9: title               a test: one result; a host of its own
 *   option KEY VALUE          of the instance; taken first, wherever it stands
 *   quiet METHOD              requests of that method need no ">" (and may be answered)
 *   auto METHOD STATUS BODY   nor an answer: this is it, from now on
 *   loud METHOD               neither any more
 *
 * Steps:
 *   init [fails]
 *   turn NAME [JSON]          a turn begins: {"route", "memory", "conversation"} or nothing
 *   NAME: KIND PAYLOAD        an event of it. With done it ends, when its requests have ended
 *   play NAME FILE            a recording of an agent as turn NAME
 *   wait MS                   the clock goes on, through all that falls due
 *   < [LABEL] RESULT [BODY]   the answer to the request last named, or to the one so labelled:
 *                             a status; "after=MS 429" with the header; "unsent", no connection
 *                             (it goes again, and the plugin is not asked);
 *                             "lost", no answer to what was sent. A good answer to TC_SAVE is
 *                             a file
 *
 *   hit METHOD PATH HEADERS BODY   a request to a route; HEADERS is a JSON object
 *
 *   frame open|text|closed [TEXT]  of the newest socket; "frame #2 …" of the second
 *
 *   restart                   the host dies and comes back: what was durable is there
 *
 * Before a step, what the people side answers to it:
 *   submit JSON = RESULT [TURN [ANSWER]]      tc_submit must be called, as the JSON says
 *   cancel TURN USER = RESULT [ANSWER]        RESULT: accepted queued command known denied full
 *                                             not_kept given interrupt
 *
 *   decide JSON = RESULT [- [ANSWER]]         tc_answer; the ticket of request r is "ticket-r"
 *   stranger USER                             tc_may_submit says no to this one
 *   known CHAT:[THREAD]                       tc_knows says yes to this one alone
 *
 * After a step, what it must have led to:
 *   > METHOD [WORD…] [BODY]   a request on the wire; METHOD is what the URL ends with. Words:
 *                             final request notice live; durable idempotent poll save, each also
 *                             with "!" before it for not; lane= key= rates= tag= timeout= delay=
 *                             url= (contains); turn=NAME; as LABEL (default: METHOD)
 *   verdict done|fail|again [MS] [lane|rates|instance] [REASON]   what on_reply made of the answer
 *   answer STATUS [BODY]      to the hit
 *   ws open URL | ws send BODY | ws close
 *   log LEVEL TEXT            err warn info debug; contains. Warnings and errors must be named
 *   print TEXT                on standard output; contains; a JSON string is what it stands for
 *   dead METHOD [REASON]      a durable request was given up
 *   remember TEXT             what tc_remember keeps; contains
 *   stored KEY TEXT           what tc_store keeps; contains; "-": nothing
 *   over NAME                 the turn has ended and its memory is gone; "open NAME": not yet
 *
 * A BODY matches by what it names: {"a": 1} is any object with that member; null is null or absent,
 * "*" anything that is there, "~text" a string that contains it, "!~text" one that does not; arrays
 * have as many elements. multipart/form-data and x-www-form-urlencoded are matched as objects, a
 * file as {"filename", "content"}. */
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
