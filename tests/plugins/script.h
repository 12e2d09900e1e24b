/* SPDX-License-Identifier: MIT
 * Scripts: what a connector must do, as text. Each test of a script runs the real module on a
 * stage (stage.h) whose clock, service, people and agent are the script's.
 *
 * A line that begins with a blank goes on with the line before it; # begins a comment line. What
 * stands before the first test is done at the beginning of each one. The module is the one that
 * the script's folder is named after. At each step all that the connector has done must have been
 * named by the lines since the step before: requests, warnings, submits, frames, dead letters.
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
 *   dead METHOD [REASON]      a durable request was given up
 *   remember TEXT             what tc_remember keeps; contains
 *   over NAME                 the turn has ended and its memory is gone; "open NAME": not yet
 *
 * A BODY matches by what it names: {"a": 1} is any object with that member; null is null or absent,
 * "*" anything that is there, "~text" a string that contains it, "!~text" one that does not; arrays
 * have as many elements. multipart/form-data and x-www-form-urlencoded are matched as objects, a
 * file as {"filename", "content"}. */
#ifndef TESTS_PLUGINS_SCRIPT_H
#define TESTS_PLUGINS_SCRIPT_H

#include <stddef.h>

#include "plugins/stage.h"

struct script {
    const char *path;
    struct stage *stage; /* of the running test */
    int line;
    char *why;          /* the running test has failed: the first reason */
    const char *plugin; /* name of the module */
    const char *options[2 * STAGE_OPTIONS_MAX + 1];
    size_t option_count;
    bool begun;                 /* init was called */
    struct stage_request *last; /* named by the last ">" */
    struct tc_verdict verdict;  /* of the last answer */
    struct tc_answer answer;    /* to the last hit */
    bool settled;
};

void script_fail(struct script *s, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
/* One line without its newline: its first word and the rest. */
void script_step(struct script *s, const char *verb, char *rest);

/* For the words: the next one, or ""; one JSON value at the beginning of *rest, which is then what
 * follows it, or NULL; the stage, which is made when it is first asked for. */
char *script_word(char **rest);
json_t *script_take_json(struct script *s, char **rest);
struct stage *script_stage(struct script *s);

/* script_people.c */
void script_submit(struct script *s, char *rest);
void script_cancel(struct script *s, char *rest);
void script_decide(struct script *s, char *rest);
void script_known(struct script *s, char *rest);
void script_stranger(struct script *s, char *rest);

#endif
