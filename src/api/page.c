/* SPDX-License-Identifier: MIT
 * The live page: static files loaded once, and its Content-Security-Policy. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/shared/api_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"

#define FILE_MAX (1 << 20)
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "              \
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

struct page_file {
    struct page_file *next;
    char *name; /* "style.css" */
    const char *type;
    char etag[2 * SHA256_DIGEST_SIZE + 3];
    struct buf text;
};

struct page {
    struct page_file *files;
};

/* Content type by file extension; files with other extensions are not served. */
static const char *page_type_of(const char *name)
{
    static const struct {
        const char *end, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".svg", "image/svg+xml"},
    };
    const char *const dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i].end) == 0)
            return types[i].type;
    return NULL;
}

/* ---- reading ---- */

static bool page_read_file(int dir, const char *name, struct buf *text)
{
    CLEANUP_FD int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
        return false;
    char *const p = buf_reserve(text, (size_t)st.st_size);
    const ssize_t n = read(fd, p, (size_t)st.st_size);
    text->len = n > 0 ? (size_t)n : 0;
    return n == st.st_size;
}

static void make_etag(struct page_file *f)
{
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&ctx);
    sha256_update(&ctx, f->text.len, (const uint8_t *)f->text.p);
    sha256_digest(&ctx, sizeof digest, digest);
    char *p = f->etag;
    *p++ = '"';
    for (size_t i = 0; i < sizeof digest; i++)
        p += snprintf(p, 3, "%02x", digest[i]);
    *p = '"';
}

static void page_add_file(struct page *page, int dir, const char *name)
{
    struct page_file *const f = xcalloc(1, sizeof *f);
    f->name = xstrdup(name);
    f->type = page_type_of(name);
    if (!page_read_file(dir, name, &f->text))
        log_write(LOG_WARN, "http", "cannot read live page file %s", name);
    make_etag(f);
    f->next = page->files;
    page->files = f;
}

static struct page *read_page(const char *path)
{
    DIR *const dir = opendir(path);
    if (!dir) {
        log_write(LOG_WARN, "http", "live page disabled: cannot open %s: %s", path,
                  strerror(errno));
        return NULL;
    }
    struct page *const page = xcalloc(1, sizeof *page);
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (page_type_of(entry->d_name))
            page_add_file(page, dirfd(dir), entry->d_name);
    closedir(dir);
    return page;
}

/* ---- responses ---- */

static void answer_file(const struct page_file *f, struct httpd_request *r)
{
    const struct httpd_header headers[] = {
        {"ETag", f->etag},
        {"Cache-Control", "no-cache"},
        {"Content-Security-Policy", POLICY},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };
    const char *const known = httpd_find_header(r, "If-None-Match");
    httpd_answer_full(r, &(struct httpd_answer){
                             .status = known && strcmp(known, f->etag) == 0 ? 304 : 200,
                             .content_type = f->type,
                             .headers = headers,
                             .header_count = sizeof headers / sizeof *headers,
                             .body = {f->text.p, f->text.len},
                         });
}

static void page_answer_name(const struct page *page, struct httpd_request *r, const char *name)
{
    const struct page_file *f = page->files;
    while (f && strcmp(f->name, name) != 0)
        f = f->next;
    if (f)
        answer_file(f, r);
    else
        api_http_error(r, 404, "not_found", "There is nothing at this path.");
}

static void on_root(void *arg, struct httpd_request *r)
{
    const struct api_context *const a = arg;
    page_answer_name(a->page, r, "index.html");
}

static void on_file(void *arg, struct httpd_request *r)
{
    const struct api_context *const a = arg;
    page_answer_name(a->page, r, r->path + strlen("/page/"));
}

static void on_login(void *arg, struct httpd_request *r)
{
    const struct api_context *const a = arg;
    auth_handle_login(a->auth, r);
}

static void on_logout(void *arg, struct httpd_request *r)
{
    const struct api_context *const a = arg;
    auth_handle_logout(a->auth, r);
}

/* $TURNCAST_PAGE_DIR: directory for development of the page. */
static const char *page_dir(void)
{
    const char *const own = getenv("TURNCAST_PAGE_DIR");
    return own ? own : TURNCAST_PAGE_DIR;
}

void page_add_routes(struct api_context *a)
{
    a->page = read_page(page_dir());
    httpd_route(a->host.httpd, "/login", HTTPD_POST, on_login, a);
    httpd_route(a->host.httpd, "/logout", HTTPD_POST, on_logout, a);
    if (!a->page)
        return;
    httpd_route(a->host.httpd, "/", HTTPD_GET | HTTPD_EXACT, on_root, a);
    httpd_route(a->host.httpd, "/page/", HTTPD_GET, on_file, a);
}

void page_free(struct page *p)
{
    while (p && p->files) {
        struct page_file *const f = p->files;
        p->files = f->next;
        free(f->name);
        buf_fini(&f->text);
        free(f);
    }
    free(p);
}
