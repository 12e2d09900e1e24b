/* SPDX-License-Identifier: MIT
 * turncast status: what the running host is doing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/call.h"
#include "cli/cli.h"
#include "cli/host.h"
#include "text/clean.h"

static const struct arg rows[] = {
    ARG_CONFIG,
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "as the host says it, in JSON"},
    {0},
};

/* ---- values */

static int64_t number(const json_t *o, const char *key)
{
    return (int64_t)json_number_value(json_object_get(o, key));
}

/* As wide as said; names come from people. */
static void print_text(const json_t *o, const char *key, int width)
{
    const char *const text = json_string_value(json_object_get(o, key));
    struct buf clean = {0};
    clean_text(&clean, text ? text : "-", text ? strlen(text) : 1);
    printf("%-*.*s", width, width > 0 ? width - 1 : 200, clean.p ? clean.p : "");
    buf_fini(&clean);
}

/* "3 d 4 h", "5 min 20 s" */
static void print_time(int64_t ms, int width)
{
    static const struct {
        int64_t s;
        const char *big, *small;
        int64_t part;
    } units[] = {
        {86400, "d", "h", 3600}, {3600, "h", "min", 60}, {60, "min", "s", 1}, {1, "s", NULL, 1}};
    const int64_t s = ms / 1000;
    size_t i = 0;
    while (s < units[i].s && units[i].small)
        i++;
    char text[64];
    const int n = snprintf(text, sizeof text, "%" PRId64 " %s", s / units[i].s, units[i].big);
    if (units[i].small && s % units[i].s / units[i].part)
        snprintf(text + n, sizeof text - (size_t)n, " %" PRId64 " %s",
                 s % units[i].s / units[i].part, units[i].small);
    printf("%-*s", width, text);
}

/* ---- the table */

static void print_host(const json_t *s)
{
    printf("turncast ");
    print_text(s, "version", 0);
    printf("%s, process %" PRId64 ", for ",
           json_is_true(json_object_get(s, "ending")) ? ", about to end" : "", number(s, "pid"));
    print_time(number(s, "uptime_ms"), 0);
    printf("\n  configuration  ");
    print_text(s, "config", 0);
    printf("\n  state          ");
    print_text(s, "state_directory", 0);
    if (number(s, "port"))
        printf("\n  HTTP           port %" PRId64, number(s, "port"));
    putchar('\n');
}

static void print_turns(const json_t *turns)
{
    size_t i;
    const json_t *t;
    if (!json_array_size(turns)) {
        puts("\nno turn runs or waits");
        return;
    }
    puts("\nTURN                                  STATE    FOR          AGENT        TOOLS  IN");
    json_array_foreach(turns, i, t)
    {
        print_text(t, "id", 38);
        print_text(t, "state", 9);
        print_time(number(t, "elapsed_ms"), 13);
        print_text(t, "agent", 13);
        printf("%5" PRId64 "  ", number(t, "tools"));
        print_text(t, "conversation", 0);
        putchar('\n');
    }
}

/* What is wrong with it, in a line of its own. */
static void print_trouble(const json_t *in)
{
    const int64_t deaths = number(in, "deaths");
    if (!json_is_true(json_object_get(in, "down"))) {
        if (deaths)
            printf("  its process has died %" PRId64 " time%s\n", deaths, deaths > 1 ? "s" : "");
        return;
    }
    printf("  down for ");
    print_time(number(in, "down_ms"), 0);
    printf(", died %" PRId64 " time%s, is started again ", deaths, deaths > 1 ? "s" : "");
    if (number(in, "next_ms")) {
        printf("in ");
        print_time(number(in, "next_ms"), 0);
    } else {
        printf("now");
    }
    puts(json_is_true(json_object_get(in, "breaker_open"))
             ? ", once in 5 min only: it dies too often"
             : "");
}

static const char *state_of(const json_t *in)
{
    return json_is_true(json_object_get(in, "down"))   ? "down"
           : json_is_true(json_object_get(in, "hung")) ? "hangs"
                                                       : "runs";
}

/* "process 12345", as far as there is one; else "thread". */
static void print_where(const json_t *in)
{
    char text[64] = "";
    const int64_t pid = number(in, "pid");
    if (pid)
        snprintf(text, sizeof text, " %" PRId64 ", %" PRId64 " MiB", pid, number(in, "rss") >> 20);
    print_text(in, "isolation", 0);
    puts(text);
}

static void print_instances(const json_t *instances)
{
    size_t i;
    const json_t *in;
    puts("\nINSTANCE         PLUGIN           STATE   DELIVERED  FAILED  QUEUE  "
         "REQUESTS                IN");
    json_array_foreach(instances, i, in)
    {
        char requests[64];
        print_text(in, "name", 17);
        print_text(in, "plugin", 17);
        printf("%-6s %10" PRId64 " %7" PRId64 " %4.0f %%  ", state_of(in), number(in, "delivered"),
               number(in, "failed"), 100 * json_number_value(json_object_get(in, "queue_fill")));
        snprintf(requests, sizeof requests, "%" PRId64 " wait, %" PRId64 " under way",
                 number(in, "requests_waiting"), number(in, "requests_in_flight"));
        printf("%-24s", requests);
        print_where(in);
        print_trouble(in);
    }
}

static void print_outbox(const json_t *o)
{
    if (!o)
        return;
    const int64_t rows_kept = number(o, "queued") + number(o, "in_flight");
    printf("\noutbox: %" PRId64 " to be delivered", rows_kept);
    if (rows_kept) {
        printf(", the oldest for ");
        print_time(number(o, "oldest_ms"), 0);
    }
    printf("; dead letters: %" PRId64 "%s\n", number(o, "dead"),
           number(o, "dead") ? " (turncast dead list)" : "");
}

static void print_json(const json_t *s)
{
    json_dumpf(s, stdout, JSON_COMPACT);
    putchar('\n');
}

static void print_table(const json_t *s)
{
    print_host(s);
    print_turns(json_object_get(s, "turns"));
    print_instances(json_object_get(s, "instances"));
    print_outbox(json_object_get(s, "outbox"));
}

static int status(const struct conf *conf, bool json)
{
    struct tc_err err = {0};
    struct call c;
    if (call_host(&c, conf, "GET", "/status", &err) < 0) {
        host_tell(&err);
        return EXIT_TURN_ERROR;
    }
    const bool well = c.status == 200 && c.body;
    if (well)
        (json ? print_json : print_table)(c.body);
    else if (c.status)
        fprintf(stderr, "turncast: %s\n", call_error(&c));
    else
        call_tell_nobody(conf);
    call_fini(&c);
    return well ? 0 : EXIT_TURN_ERROR;
}

static int run(const struct args *args)
{
    struct conf *const conf = host_load_conf(args);
    if (!conf)
        return EXIT_USAGE;
    const int exit_status = status(conf, args->json);
    conf_unref(conf);
    return exit_status;
}

const struct command cmd_status = {
    .name = "status",
    .operands = "",
    .summary = "Shows what the running host is doing",
    .about = "Exit status: 1 no host runs.",
    .args = rows,
    .run = run,
};
