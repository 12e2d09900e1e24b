/* SPDX-License-Identifier: MIT
 * Internal interface of the connector email. All functions belong to the thread of the instance. */
#ifndef EMAIL_H
#define EMAIL_H

#include <turncast/plugin.h>

#define EMAIL_RECIPIENTS_MAX 50
#define EMAIL_HELD_MAX 16 /* outcomes that wait for the store */
#define EMAIL_MARKED "marked"

struct email_conf {
    const char *server, *from, *name, *user, *password, *outcomes;
    const char *const *to;
    int64_t digest_s;
    bool requests, html;
};

struct email {
    struct {
        struct tc_turn *turn;
        int64_t number;
    } held[EMAIL_HELD_MAX]; /* owned by email_digest.c */
    size_t held_count;
    struct tc_header envelope[EMAIL_RECIPIENTS_MAX + 3];
    size_t envelope_count;
};

/* An e-mail as it is composed; strings are valid until the callback returns. */
struct email_message {
    const char *id;          /* identifies the e-mail; the same text gives the same Message-ID */
    const char *thread;      /* the conversation, or NULL */
    const char *subject;     /* one line */
    double date;             /* Unix seconds */
    const char *text, *html; /* made by email_message_add */
};

/* Appends a section to both bodies: a heading of plain text (or NULL), then Markdown. */
void email_message_add(struct tc_turn *turn, struct email_message *m, const char *heading,
                       const char *markdown);
int email_message_send(struct tc_turn *turn, const struct email_message *m, const char *lane,
                       uint32_t flags, enum tc_priority priority);
/* Sends the e-mail of this reply once more, under the same id, with a mark in its subject. */
int email_message_repeat(struct tc_turn *turn, const struct tc_reply *reply);

/* Keeps an outcome for the digest of its conversation. -1: it could not be kept. */
int email_digest_add(struct tc_turn *turn, const char *subject, const char *text, double ts);
/* Sends what is due, and wakes up for the rest. */
void email_digest_schedule(struct tc_instance *inst);
/* Called when the collected outcomes are on disk: releases the held turns. */
void email_digest_release(struct tc_instance *inst);

#endif
