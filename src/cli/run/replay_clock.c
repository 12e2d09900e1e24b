/* SPDX-License-Identifier: MIT
 * Determines the times of a recording. */
#include "cli/run/replay_clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "event/json/json_reader.h"

#define META_MAX ((size_t)64 << 20)
#define LINE_MS 50.0  /* interval between lines without a time */
#define MS_SINCE 1e11 /* larger unix times are in milliseconds */

char *replay_clock_meta_path(const char *recording)
{
    static const char tail[] = ".jsonl";
    const size_t len = strlen(recording), n = sizeof tail - 1;
    const bool has_tail = len > n && strcmp(recording + len - n, tail) == 0;
    return xasprintf("%.*s.meta.json", (int)(has_tail ? len - n : len), recording);
}

static void replay_clock_read_times(struct replay_clock *p, struct json *j)
{
    double ms;
    if (!json_reader_enter_array(j))
        return;
    while (json_reader_next_element(j))
        if (json_reader_read_real(j, &ms)) {
            p->recorded = xrealloc(p->recorded, (p->n_recorded + 1) * sizeof ms);
            p->recorded[p->n_recorded++] = ms;
        }
}

static void read_meta(struct replay_clock *p, const char *text, size_t len)
{
    struct json j;
    struct str key;
    json_init(&j, text, len);
    if (!json_reader_enter_object(&j))
        return;
    while (json_reader_next_key(&j, &key)) {
        if (str_is(key, "line_ms"))
            replay_clock_read_times(p, &j);
        else
            json_reader_skip(&j, NULL);
    }
    if (json_reader_finish(&j) < 0)
        p->n_recorded = 0;
}

static void replay_clock_load_meta(struct replay_clock *p, const char *path)
{
    CLEANUP_BUF struct buf text = {0};
    CLEANUP_FILE FILE *f = fopen(path, "re");
    if (!f)
        return;
    for (size_t n; text.len < META_MAX && (n = fread(buf_reserve(&text, 65536), 1, 65536, f)) > 0;)
        text.len += n;
    if (text.len < META_MAX)
        read_meta(p, text.p, text.len);
}

void replay_clock_init(struct replay_clock *p, double factor, const char *recording)
{
    *p = (struct replay_clock){.factor = factor, .offset = -1};
    CLEANUP_FREE char *path = replay_clock_meta_path(recording);
    replay_clock_load_meta(p, path);
    for (size_t i = p->n_recorded; i-- > 0;)
        p->recorded[i] -= p->recorded[0]; /* the first line starts a new segment */
}

void replay_clock_fini(struct replay_clock *p)
{
    free(p->recorded);
    p->recorded = NULL;
}

/* RFC 3339 in UTC ("2026-11-21T07:30:00.123Z") as unix milliseconds; negative: invalid. */
static double parse_date(struct str text)
{
    char copy[40] = {0};
    struct tm tm = {0};
    if (text.len >= sizeof copy)
        return -1;
    memcpy(copy, text.p, text.len);
    char *rest = strptime(copy, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest)
        return -1;
    const double fraction = *rest == '.' ? strtod(rest, &rest) : 0;
    if (strcmp(rest, "Z") != 0 && strcmp(rest, "+00:00") != 0)
        return -1;
    return ((double)timegm(&tm) + fraction) * 1000;
}

static void read_time(struct json *j, double *ms)
{
    struct str text;
    double number;
    if (json_reader_peek(j) == JSON_AT_STRING && json_reader_read_string(j, &text))
        *ms = parse_date(text);
    else if (json_reader_read_real(j, &number))
        *ms = number > MS_SINCE ? number : number * 1000;
}

/* Unix milliseconds in the line itself; negative: none. */
static double line_time(const char *line, size_t len)
{
    struct json j;
    struct str key;
    double ms = -1;
    json_init(&j, line, len);
    if (!json_reader_enter_object(&j))
        return -1;
    while (json_reader_next_key(&j, &key)) {
        if (str_is(key, "ts") || str_is(key, "timestamp"))
            read_time(&j, &ms);
        else
            json_reader_skip(&j, NULL);
    }
    return json_reader_finish(&j) == 0 ? ms : -1;
}

static double replay_clock_line_due_ms(struct replay_clock *p, const char *line, size_t len)
{
    const double ms = line_time(line, len);
    if (ms < 0)
        return p->line ? p->due + LINE_MS : 0;
    if (p->offset < 0)
        p->offset = ms - p->due;
    return ms - p->offset;
}

int64_t replay_clock_next_ms(struct replay_clock *p, const char *line, size_t len)
{
    const double due = p->line < p->n_recorded ? p->recorded[p->line]
                       : p->n_recorded         ? p->due
                                               : replay_clock_line_due_ms(p, line, len);
    p->due = fmax(due, p->due);
    p->line++;
    return llround(p->due / p->factor);
}
