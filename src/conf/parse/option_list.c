/* SPDX-License-Identifier: MIT
 * Lists of strings as option text: splitting, secrets and paths of the elements. */
#include "conf/parse/option_list.h"

#include <string.h>

#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "conf/parse/conf_path.h"
#include "conf/parse/secret.h"

#define PLAIN '\x1f'
#define SECRET '\x1e'
#define MARKS "\x1e\x1f"
#define SPACES " \t\n"

bool option_list_is_list(const char *text)
{
    return *text == PLAIN || *text == SECRET;
}

static char *option_list_copy(struct arena *a, const struct buf *b)
{
    char *const copy = arena_alloc(a, b->len + 1);
    if (b->len)
        memcpy(copy, b->p, b->len);
    copy[b->len] = '\0';
    return copy;
}

static void option_list_add(struct buf *b, char mark, const char *element)
{
    buf_add(b, &mark, 1);
    buf_add(b, element, strlen(element));
}

char *option_list_append(struct arena *a, const char *list, const char *element)
{
    CLEANUP_BUF struct buf b = {0};
    if (strpbrk(element, MARKS))
        return NULL;
    if (list)
        buf_add(&b, list, strlen(list));
    option_list_add(&b, PLAIN, element);
    return option_list_copy(a, &b);
}

/* Takes the next element of *text, which it advances; NULL: no more. *mark: the element's control
 * character. */
static char *option_list_next(struct arena *a, const char **text, bool is_list, char *mark)
{
    const char *const separators = is_list ? MARKS : SPACES;
    const char *from = is_list ? *text : *text + strspn(*text, SPACES);
    if (!*from)
        return NULL;
    *mark = is_list ? *from++ : PLAIN;
    const size_t len = strcspn(from, separators);
    *text = from + len;
    char *const element = arena_alloc(a, len + 1);
    memcpy(element, from, len);
    element[len] = '\0';
    return element;
}

const char *const *option_list_split(struct arena *a, const char *text)
{
    const bool is_list = option_list_is_list(text);
    const size_t most = strlen(text) + 2; /* the control character in front of an element */
    const char **const elements = arena_alloc(a, most * sizeof *elements);
    size_t n = 0;
    char mark;
    for (char *element; (element = option_list_next(a, &text, is_list, &mark));)
        elements[n++] = element;
    elements[n] = NULL;
    return elements;
}

static bool option_list_refers(const char *value)
{
    return strncmp(value, "env:", 4) == 0 || strncmp(value, "file:", 5) == 0;
}

const char *option_list_resolve_secrets(struct arena *a, const char *text, const char *dir,
                                        struct tc_err *err)
{
    CLEANUP_BUF struct buf b = {0};
    const bool is_list = option_list_is_list(text);
    char mark;
    for (char *element; (element = option_list_next(a, &text, is_list, &mark));) {
        char *const value = strchr(element, '=');
        if (!value || !option_list_refers(value + 1)) {
            option_list_add(&b, mark, element);
            continue;
        }
        const char *const secret = secret_resolve(value + 1, dir, a, err);
        if (!secret)
            return NULL;
        if (strpbrk(secret, MARKS)) {
            err_set(err, NULL, "the secret of %.*s has a control character", (int)(value - element),
                    element);
            return NULL;
        }
        *value = '\0';
        option_list_add(&b, SECRET, element);
        buf_add(&b, "=", 1);
        buf_add(&b, secret, strlen(secret));
    }
    return option_list_copy(a, &b);
}

void option_list_mask_secrets(const char *text)
{
    struct arena arena = {0};
    const bool is_list = option_list_is_list(text);
    char mark;
    for (char *element; (element = option_list_next(&arena, &text, is_list, &mark));)
        if (mark == SECRET && strchr(element, '='))
            log_add_secret(strchr(element, '=') + 1);
    arena_fini(&arena);
}

const char *option_list_resolve_paths(struct arena *a, const char *text, const char *directory)
{
    CLEANUP_BUF struct buf b = {0};
    const bool is_list = option_list_is_list(text);
    char mark;
    for (char *element; (element = option_list_next(a, &text, is_list, &mark));) {
        const bool is_path = strncmp(element, "./", 2) == 0 || strncmp(element, "../", 3) == 0 ||
                             strncmp(element, "~/", 2) == 0;
        option_list_add(&b, mark, is_path ? conf_path_resolve(a, directory, element) : element);
    }
    return option_list_copy(a, &b);
}
