/* SPDX-License-Identifier: MIT
 * Renders a range of a doc for one service and measures it in that service's units. Pure. */
#ifndef TEXT_RENDER_RENDER_H
#define TEXT_RENDER_RENDER_H

#include "base/bytes/buf.h"
#include "text/doc.h"

enum render_form {
    RENDER_PLAIN,      /* text only; a link as "label (address)" */
    RENDER_TELEGRAM,   /* text and entities; never with a parse_mode */
    RENDER_MRKDWN,     /* Slack's own markup; & < > escaped, mentions disarmed */
    RENDER_MARKDOWN,   /* Slack's markdown block; same escaping */
    RENDER_COMMONMARK, /* CommonMark that Discord and Teams read alike; mentions disarmed */
    RENDER_HTML,       /* the subset of Matrix's org.matrix.custom.html; well-formed as XML, too */
    RENDER_TERMINAL,   /* lines of a terminal */
};

enum render_unit { RENDER_UTF16, RENDER_CODEPOINTS, RENDER_BYTES };

/* Capacity of one message; 0: no limit. */
struct render_budget {
    size_t units;    /* in units of `unit` */
    size_t bytes;    /* bytes of UTF-8 */
    size_t entities; /* RENDER_TELEGRAM */
    enum render_unit unit;
};

struct render_target {
    enum render_form form;
    struct render_budget budget;
    bool no_tables;   /* aligned text in a code block */
    bool no_headings; /* bold lines */
    bool fold_quotes; /* RENDER_TELEGRAM: collapsed */
    size_t columns;   /* RENDER_TERMINAL: width of a line; 0: lines are not wrapped */
    bool styled;      /* RENDER_TERMINAL: with SGR sequences */
    bool links;       /* RENDER_TERMINAL: with OSC 8 sequences */
};

enum render_kind {
    RENDER_BOLD,
    RENDER_ITALIC,
    RENDER_STRIKE,
    RENDER_CODE,
    RENDER_PRE,
    RENDER_LINK,
    RENDER_QUOTE,
    RENDER_FOLD,
    RENDER_KINDS
};

/* Entities in the order that Telegram requires: sorted by offset, the longer one first; nested;
 * none within code. */
struct render_entity {
    enum render_kind kind;
    size_t offset, length; /* UTF-16 units */
    const char *value;     /* address or language, borrowed from the doc; NULL: none */
};

struct render_output {
    struct buf text; /* p may be NULL if empty */
    struct render_entity *entities;
    size_t count, cap;
};

/* A struct of zeros is empty. */
void rendered_fini(struct render_output *r);
/* Replaces the contents of `out` and reuses its memory. */
void render_doc(struct render_output *out, const struct doc *d, struct doc_range r,
                const struct render_target *target);
bool render_fits_budget(const struct render_output *r, const struct render_budget *budget);
/* Length of valid UTF-8. */
size_t render_count_units(const char *p, size_t n, enum render_unit unit);
size_t render_count_utf16(const char *p, size_t n);
/* Name of the type of an entity: "bold", "text_link", … */
const char *render_kind_name(enum render_kind kind);

#endif
