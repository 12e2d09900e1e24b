/* SPDX-License-Identifier: MIT
 * Checks HTML against the rules of Matrix clients, independently of the code that renders:
 * elements, attributes and schemes of the specification's list, nesting of blocks, character
 * references. */
#include "text/html_check.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define DEPTH_MAX 100 /* nesting limit of the specification */
#define NAME_MAX 16

#define REQUIRE(holds, why)                                                                        \
    do {                                                                                           \
        if (!(holds))                                                                              \
            return why;                                                                            \
    } while (0)

struct html_reader {
    const char *at;
    char open[DEPTH_MAX][NAME_MAX];
    unsigned depth;
};

/* Elements, and the elements that they must be in ("" for any; several are separated by blanks). */
static const struct {
    const char *name, *within, *never_within;
} elements[] = {
    {"p", "", "p pre h1 h2 h3 h4 h5 h6 a strong em del code table"},
    {"blockquote", "", "p pre h1 h2 h3 h4 h5 h6 a strong em del code table"},
    {"ul", "", "p pre h1 h2 h3 h4 h5 h6 a strong em del code table"},
    {"ol", "", "p pre h1 h2 h3 h4 h5 h6 a strong em del code table"},
    {"li", "ul ol", ""},
    {"pre", "", "p pre h1 h2 h3 h4 h5 h6 a strong em del code table"},
    {"table", "", "p pre h1 h2 h3 h4 h5 h6 a strong em del code table"},
    {"thead", "table", ""},
    {"tbody", "table", ""},
    {"tr", "thead tbody", ""},
    {"th", "tr", ""},
    {"td", "tr", ""},
    {"h1", "", "p pre a table"},
    {"h2", "", "p pre a table"},
    {"h3", "", "p pre a table"},
    {"h4", "", "p pre a table"},
    {"h5", "", "p pre a table"},
    {"h6", "", "p pre a table"},
    {"hr", "", "p pre a table"},
    {"br", "", "pre table"},
    {"strong", "", "pre strong table"},
    {"em", "", "pre em table"},
    {"del", "", "pre del table"},
    {"a", "", "pre a table"},
    {"code", "", "code table"},
};

static bool has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = words; n > 0 && (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

static const char *check_place(const struct html_reader *r, size_t element)
{
    const char *const within = elements[element].within;
    const char *const parent = r->depth ? r->open[r->depth - 1] : "";
    REQUIRE(!*within || has_word(within, parent), "an element outside its required parent");
    REQUIRE(!has_word("ul ol table thead tbody tr", parent) || *within,
            "an element in a list or table");
    for (unsigned i = 0; i < r->depth; i++)
        REQUIRE(!has_word(elements[element].never_within, r->open[i]),
                "an element in a parent that does not permit it");
    return NULL;
}

static const char *read_text(struct html_reader *r)
{
    const char *const p = r->at++;
    static const char *const refs[] = {"&amp;", "&lt;", "&gt;"};
    REQUIRE(!r->depth || !has_word("ul ol table thead tbody tr", r->open[r->depth - 1]),
            "text between items or cells");
    REQUIRE(*p != '>', "a bare >");
    if (*p != '&')
        return NULL;
    for (size_t i = 0; i < sizeof refs / sizeof refs[0]; i++)
        if (strncmp(p, refs[i], strlen(refs[i])) == 0)
            return NULL;
    return "a bare &";
}

static const char *skip(const char *p, const char *prefix)
{
    const size_t n = strlen(prefix);
    return p && strncmp(p, prefix, n) == 0 ? p + n : NULL;
}

static bool is_address(const char *p)
{
    return strncasecmp(p, "http://", 7) == 0 || strncasecmp(p, "https://", 8) == 0 ||
           strncasecmp(p, "mailto:", 7) == 0;
}

/* Returns the position after the permitted attributes of the element; NULL if it has others. */
static const char *skip_attributes(const char *name, const char *p)
{
    const char *value = NULL;
    if (strcmp(name, "a") == 0)
        value = skip(p, " href=\"");
    else if (strcmp(name, "code") == 0 && *p == ' ')
        value = skip(p, " class=\"language-");
    else if (strcmp(name, "ol") == 0 && *p == ' ')
        value = skip(p, " start=\"");
    else
        return p;
    if (value)
        value += strcspn(value, "<>\"");
    return skip(value, "\"");
}

static const char *read_end_tag(struct html_reader *r, const char *name)
{
    REQUIRE(*r->at == '>', "an end tag with attributes");
    REQUIRE(r->depth > 0 && strcmp(r->open[r->depth - 1], name) == 0, "tags that overlap");
    r->depth--;
    r->at++;
    return NULL;
}

static const char *read_start_tag(struct html_reader *r, const char *name)
{
    size_t i = 0;
    while (i < sizeof elements / sizeof elements[0] && strcmp(elements[i].name, name) != 0)
        i++;
    REQUIRE(i < sizeof elements / sizeof elements[0], "an element that is not permitted");
    const char *const wrong = check_place(r, i);
    REQUIRE(!wrong, wrong);
    REQUIRE(strcmp(name, "a") != 0 || is_address(r->at + strlen(" href=\"")),
            "a scheme that is not permitted");
    r->at = skip_attributes(name, r->at);
    REQUIRE(r->at, "an attribute that is not permitted");
    const bool is_void = strcmp(name, "br") == 0 || strcmp(name, "hr") == 0;
    r->at = skip(r->at, is_void ? "/>" : ">");
    REQUIRE(r->at, "a tag that does not end");
    if (is_void)
        return NULL;
    REQUIRE(r->depth < DEPTH_MAX, "nested too deeply");
    strcpy(r->open[r->depth++], name);
    return NULL;
}

static const char *read_tag(struct html_reader *r)
{
    char name[NAME_MAX] = "";
    size_t n = 0;
    const bool is_end = *++r->at == '/';
    r->at += is_end;
    while (isalnum((unsigned char)*r->at) && n + 1 < sizeof name)
        name[n++] = *r->at++;
    return is_end ? read_end_tag(r, name) : read_start_tag(r, name);
}

const char *html_check(const char *html)
{
    struct html_reader r = {.at = html};
    while (*r.at) {
        const char *const wrong = *r.at == '<' ? read_tag(&r) : read_text(&r);
        REQUIRE(!wrong, wrong);
    }
    REQUIRE(r.depth == 0, "a tag that is not closed");
    return NULL;
}
