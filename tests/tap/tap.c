/* SPDX-License-Identifier: MIT
 * TAP for the project's C tests: prints results, keeps the plan, and the files of one test. */
#include "tap/tap.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A test is one process and asserts from one thread: this is its only state. */
static struct {
    unsigned planned, run, failed;
    bool lazy, ended;
    pid_t owner; /* children that exit() must not print the plan or remove the directory */
    char tmpdir[PATH_MAX];
    char source[PATH_MAX];
} tap;

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void at_end(void)
{
    if (tap.ended || getpid() != tap.owner)
        return;
    tap.ended = true;
    if (tap.tmpdir[0])
        nftw(tap.tmpdir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (tap.lazy)
        printf("1..%u\n", tap.run);
    else if (tap.run != tap.planned)
        printf("# planned %u, ran %u\n", tap.planned, tap.run);
    if (tap.failed)
        printf("# failed %u of %u\n", tap.failed, tap.run);
    fflush(stdout);
    if (tap.failed || (!tap.lazy && tap.run != tap.planned))
        _exit(1);
}

static void begin(bool lazy, unsigned count)
{
    if (tap.owner)
        bail("two plans");
    tap.owner = getpid();
    tap.lazy = lazy;
    tap.planned = count;
    /* Unbuffered between lines, so that a crash keeps what was said before it. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!lazy)
        printf("1..%u\n", count);
    atexit(at_end);
}

void plan(unsigned count)
{
    begin(false, count);
}

void plan_lazy(void)
{
    begin(true, 0);
}

/* A description must not be read as a directive or end the line. */
static void print_text(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '#' || *p == '\\')
            printf("\\%c", *p);
        else if ((unsigned char)*p < ' ' || *p == 0x7f)
            printf("\\x%02x", (unsigned)*p);
        else
            putchar(*p);
    }
}

static bool TAP_PRINTF(2, 0) result(bool success, const char *fmt, va_list ap)
{
    if (!tap.owner)
        bail("no plan");
    char text[512];
    vsnprintf(text, sizeof(text), fmt, ap);
    tap.run++;
    if (!success)
        tap.failed++;
    printf("%sok %u - ", success ? "" : "not ", tap.run);
    print_text(text);
    putchar('\n');
    return success;
}

#define RESULT(success, fmt)                                                                       \
    do {                                                                                           \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        result((success), (fmt), ap);                                                              \
        va_end(ap);                                                                                \
    } while (0)

bool ok(bool success, const char *fmt, ...)
{
    RESULT(success, fmt);
    return success;
}

bool is_int(long long got, long long wanted, const char *fmt, ...)
{
    RESULT(got == wanted, fmt);
    if (got != wanted)
        diag("got %lld, wanted %lld", got, wanted);
    return got == wanted;
}

bool is_real(double got, double wanted, const char *fmt, ...)
{
    const double scale = fabs(wanted) > 1.0 ? fabs(wanted) : 1.0;
    const bool same = fabs(got - wanted) <= 1e-9 * scale;
    RESULT(same, fmt);
    if (!same)
        diag("got %.17g, wanted %.17g", got, wanted);
    return same;
}

/* One comment line, whatever the bytes are; long text is cut. */
static void diag_bytes(const char *label, const void *p, size_t len)
{
    static const size_t shown = 2000;
    if (!p) {
        printf("# %s: NULL\n", label);
        return;
    }
    printf("# %s (%zu bytes): \"", label, len);
    const unsigned char *s = p;
    for (size_t i = 0; i < len && i < shown; i++) {
        if (s[i] == '\n')
            printf("\\n");
        else if (s[i] < ' ' || s[i] == 0x7f)
            printf("\\x%02x", (unsigned)s[i]);
        else
            putchar(s[i]);
    }
    printf("\"%s\n", len > shown ? "…" : "");
}

static void diag_difference(const char *got, size_t got_len, const char *wanted, size_t wanted_len)
{
    diag_bytes("   got", got, got_len);
    diag_bytes("wanted", wanted, wanted_len);
    if (!got || !wanted)
        return;
    size_t at = 0;
    while (at < got_len && at < wanted_len && got[at] == wanted[at])
        at++;
    diag("first difference at byte %zu", at);
}

bool is_str(const char *got, const char *wanted, const char *fmt, ...)
{
    const bool same = got && wanted ? strcmp(got, wanted) == 0 : got == wanted;
    RESULT(same, fmt);
    if (!same)
        diag_difference(got, got ? strlen(got) : 0, wanted, wanted ? strlen(wanted) : 0);
    return same;
}

bool is_mem(const void *got, size_t got_len, const void *wanted, size_t wanted_len, const char *fmt,
            ...)
{
    const bool same =
        got_len == wanted_len && (got_len == 0 || (got && wanted && !memcmp(got, wanted, got_len)));
    RESULT(same, fmt);
    if (!same)
        diag_difference(got, got_len, wanted, wanted_len);
    return same;
}

bool has_str(const char *got, const char *needle, const char *fmt, ...)
{
    const bool found = got && needle && strstr(got, needle);
    RESULT(found, fmt);
    if (!found) {
        diag_bytes("   got", got, got ? strlen(got) : 0);
        diag_bytes("wanted", needle, needle ? strlen(needle) : 0);
    }
    return found;
}

void skip(unsigned count, const char *why, ...)
{
    if (!tap.owner)
        bail("no plan");
    char text[512];
    va_list ap;
    va_start(ap, why);
    vsnprintf(text, sizeof(text), why, ap);
    va_end(ap);
    for (unsigned i = 0; i < count; i++) {
        printf("ok %u # SKIP ", ++tap.run);
        print_text(text);
        putchar('\n');
    }
}

void bail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("Bail out! ");
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
    if (tap.tmpdir[0] && getpid() == tap.owner)
        nftw(tap.tmpdir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    _exit(255);
}

void diag(const char *fmt, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    char *rest = text;
    for (const char *line; (line = strsep(&rest, "\n"));)
        printf("# %s\n", line);
}

const char *tap_tmpdir(void)
{
    if (tap.tmpdir[0])
        return tap.tmpdir;
    const char *base = getenv("TMPDIR");
    snprintf(tap.tmpdir, sizeof(tap.tmpdir), "%s/turncast-test.XXXXXX",
             base && base[0] == '/' ? base : "/tmp");
    if (!mkdtemp(tap.tmpdir)) {
        tap.tmpdir[0] = '\0';
        bail("mkdtemp: %s", strerror(errno));
    }
    return tap.tmpdir;
}

char *tap_slurp(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rbe");
    if (!f)
        bail("%s: %s", path, strerror(errno));
    char *text = NULL;
    size_t used = 0, cap = 0;
    do {
        cap = cap ? 2 * cap : 4096;
        char *grown = realloc(text, cap);
        if (!grown)
            bail("out of memory");
        text = grown;
        used += fread(text + used, 1, cap - 1 - used, f);
    } while (used == cap - 1);
    if (ferror(f))
        bail("%s: %s", path, strerror(errno));
    fclose(f);
    text[used] = '\0';
    if (len)
        *len = used;
    return text;
}

void tap_spew(const char *path, const void *p, size_t len)
{
    FILE *f = fopen(path, "wbe");
    if (!f)
        bail("%s: %s", path, strerror(errno));
    const size_t written = len ? fwrite(p, 1, len, f) : 0;
    if (fclose(f) || written != len)
        bail("%s: %s", path, strerror(errno));
}

const char *tap_source(const char *relative)
{
    const char *top = getenv("TURNCAST_SRCDIR");
    const int n =
        snprintf(tap.source, sizeof(tap.source), "%s/tests/%s", top ? top : ".", relative);
    if (n < 0 || (size_t)n >= sizeof(tap.source))
        bail("path too long: %s", relative);
    return tap.source;
}

static long long now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

bool tap_wait(bool (*cond)(void *), void *arg, unsigned deadline_ms)
{
    const long long end = now_ms() + deadline_ms;
    while (!cond(arg)) {
        if (now_ms() >= end)
            return cond(arg);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return true;
}
