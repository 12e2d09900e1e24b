/* SPDX-License-Identifier: MIT
 * What the parts of the connector email share. All of it belongs to the thread of the instance. */
#ifndef EMAIL_H
#define EMAIL_H

#include <turncast/plugin.h>

struct email_conf {
    const char *server, *from, *name, *user, *password, *outcomes;
    const char *const *to;
    int64_t digest_s;
    bool requests, html;
};

/* An e-mail as it is composed. Texts end with a newline, or are empty. */
struct email_message {
    const char *id;       /* what the message is about; the same text gives the same Message-ID */
    const char *thread;   /* the conversation, or NULL */
    const char *subject;  /* one line */
    double date;          /* Unix seconds */
    struct tc_turn *turn; /* for services of the host */
    char *text, *html;    /* malloc(3); made by email_begin and email_add */
    size_t text_len, html_len;
    void *text_file, *html_file; /* FILE */
};

/* Starts the bodies. -1: out of memory; then nothing has to be freed. */
int email_begin(struct email_message *m);
/* Appends a section to both bodies: a heading of plain text (or NULL), then Markdown. */
void email_add(struct email_message *m, const char *heading, const char *markdown);
/* Frees the bodies, and returns the message as RFC 5322 demands, malloc(3); NULL: out of memory. */
char *email_end(struct email_message *m);
/* A copy of a message whose subject begins with the mark, at most 23 characters of ASCII,
 * malloc(3). */
char *email_mark(const char *message, const char *mark);

#endif
