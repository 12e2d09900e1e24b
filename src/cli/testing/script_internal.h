/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the script runner. */
#ifndef CLI_TESTING_SCRIPT_INTERNAL_H
#define CLI_TESTING_SCRIPT_INTERNAL_H

#include <stddef.h>

#include "cli/testing/script.h"
#include "cli/testing/test_process.h"

/* State of one test. */
struct script {
    const struct script_subject *subject;
    struct test_progress *progress;
    const char *path;
    struct fake_host *host; /* host of the running test; NULL until its first step */
    int line;
    char *why;    /* first reason why the test has failed */
    bool refused; /* the options were rejected, as expected */
    struct arena texts;
    struct fake_option options[FAKE_OPTIONS_MAX];
    size_t option_count;
    struct fake_request *last; /* request named by the last ">" */
    struct tc_verdict verdict; /* decision about the last response */
    struct tc_answer answer;   /* response to the last hit */
};

void script_fail(struct script *s, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
/* One line without its newline: its first word and the rest. */
void script_step(struct script *s, const char *verb, char *rest);

/* Executes a word; may change the rest. */
typedef void script_word_fn(struct script *s, char *rest);
/* script_expect.c; NULL: unknown word. */
script_word_fn *script_find_expectation(const char *verb);

/* Parsing for words: the next word, or ""; the rest, or ""; one JSON value at the beginning of
 * *rest, which then points behind it, or NULL; the whole text as one value; the host, created on
 * first use, NULL: it cannot be created. */
char *script_word(char **rest);
const char *script_tail(const char *rest);
json_t *script_take_json(struct script *s, char **rest);
json_t *script_parse_json(struct script *s, const char *text);
struct fake_host *script_get_host(struct script *s);

/* script_people.c */
script_word_fn script_submit, script_cancel, script_resend, script_retry, script_decide,
    script_known, script_stranger;

#endif
