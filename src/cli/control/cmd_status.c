/* SPDX-License-Identifier: MIT
 * `turncast status`: shows the state of the running host. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/command_table.h"
#include "cli/control/print_table.h"
#include "cli/control_client.h"

static const struct args_option rows[] = {
    ARG_CONFIG,
    {0, ARG_FLAG, "all", NULL, offsetof(struct args, all), "show all hosts on the bus"},
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "print one JSON object"},
    {0},
};

/* ---- the table */

static void print_host(const json_t *s)
{
    printf("turncast ");
    print_table_string(s, "version", 0);
    printf("%s, process %" PRId64 ", for ",
           json_is_true(json_object_get(s, "ending")) ? ", shutting down" : "",
           print_table_get_int(s, "pid"));
    print_table_duration(print_table_get_int(s, "uptime_ms"), 0);
    printf("\n  configuration  ");
    print_table_string(s, "config", 0);
    printf("\n  state          ");
    print_table_string(s, "state_directory", 0);
    if (print_table_get_int(s, "port"))
        printf("\n  HTTP           port %" PRId64, print_table_get_int(s, "port"));
    putchar('\n');
}

static void print_bus(const json_t *bus)
{
    if (!bus)
        return;
    fputs("  bus            ", stdout);
    print_table_string(bus, "state", 0);
    fputs(" for ", stdout);
    print_table_duration(print_table_get_int(bus, "for_ms"), 0);
    fputs(", as ", stdout);
    print_table_string(bus, "host", 0);
    if (json_object_get(bus, "server")) {
        fputs(", ", stdout);
        print_table_string(bus, "server", 0);
    }
    if (json_object_get(bus, "reason")) {
        fputs(": ", stdout);
        print_table_string(bus, "reason", 0);
    }
    putchar('\n');
}

static void print_shared(const json_t *s)
{
    if (!json_object_get(s, "shared"))
        return;
    fputs("  shared         ", stdout);
    print_table_string(s, "shared", 0);
    putchar('\n');
}

static void print_stored_texts(const json_t *texts)
{
    const int64_t copies = print_table_get_int(texts, "copies");
    if (!texts)
        return;
    printf("  stored texts   %" PRId64 " cop%s given to the bus", copies,
           PLURAL(copies, "y", "ies"));
    if (json_object_get(texts, "error")) {
        fputs("; last error ", stdout);
        print_table_duration(print_table_get_int(texts, "error_ms"), 0);
        fputs(" ago: ", stdout);
        print_table_string(texts, "error", 0);
    }
    putchar('\n');
}

static void print_turns(const json_t *turns)
{
    size_t i;
    const json_t *t;
    if (!json_array_size(turns)) {
        puts("\nNo turns running or waiting.");
        return;
    }
    puts("\nTURN                                  STATE    FOR          AGENT        TOOLS  IN");
    json_array_foreach(turns, i, t)
    {
        print_table_string(t, "id", 38);
        print_table_string(t, "state", 9);
        print_table_duration(print_table_get_int(t, "elapsed_ms"), 13);
        print_table_string(t, "agent", 13);
        printf("%5" PRId64 "  ", print_table_get_int(t, "tools"));
        print_table_string(t, "conversation", 0);
        putchar('\n');
    }
}

static void print_requests(int64_t n)
{
    if (n > 0)
        printf("\nOpen requests: %" PRId64 " (run: turncast answer --list)\n", n);
}

/* Columns of an instance without a running turn. */
static void print_agents(int64_t n)
{
    if (n > 0)
        printf("\nAgent processes without a turn: %" PRId64
               " (waiting for a message, or working in the background)\n",
               n);
}

static void cmd_status_print_list(const json_t *scope, const char *key)
{
    size_t i;
    const json_t *name;
    json_array_foreach(json_object_get(scope, key), i, name)
    {
        printf(i ? ", " : "  only %s ", key);
        print_table_cell(json_string_value(name), 0);
    }
    if (json_object_get(scope, key))
        putchar('\n');
}

/* The scope, unless the instance receives all turns, or only its own. */
static void print_scope(const json_t *scope)
{
    cmd_status_print_list(scope, "agents");
    cmd_status_print_list(scope, "conversations");
}

/* Why the service of the instance cannot be reached. */
static void print_service(const json_t *in)
{
    if (json_object_get(in, "trouble")) {
        printf("  ");
        print_table_string(in, "trouble", 0);
        printf(", for ");
        print_table_duration(print_table_get_int(in, "trouble_ms"), 0);
        putchar('\n');
    }
    if (json_is_true(json_object_get(in, "unreachable"))) {
        printf("  service unreachable for ");
        print_table_duration(print_table_get_int(in, "unreachable_ms"), 0);
        putchar('\n');
    }
}

/* Time of the last successful and of the last failed request to the service. */
static void cmd_status_print_reachability(const json_t *in)
{
    const bool failed = json_object_get(in, "last_failure_ms") != NULL;
    if (json_object_get(in, "last_success_ms")) {
        printf("  service: last success ");
        print_table_duration(print_table_get_int(in, "last_success_ms"), 0);
        printf(failed ? " ago" : " ago\n");
    } else if (failed) {
        printf("  service: no success yet");
    }
    if (!failed)
        return;
    printf(", last failure ");
    print_table_duration(print_table_get_int(in, "last_failure_ms"), 0);
    printf(" ago: ");
    print_table_string(in, "last_failure", 0);
    putchar('\n');
}

/* A line for the limit that the instance exceeds or has exceeded. */
static void cmd_status_print_exceeded_limit(const json_t *in)
{
    const char *const key = json_string_value(json_object_get(in, "exceeds"));
    if (!key)
        return;
    printf("  exceeds %s: ", key);
    if (strcmp(key, "threads") == 0)
        printf("%" PRId64 "\n", print_table_get_int(in, "threads"));
    else if (strcmp(key, "disk_mb") == 0)
        printf("%" PRId64 " MiB in its directory; it can only remove files there\n",
               print_table_get_int(in, "disk") >> 20);
    else
        printf("%" PRId64 " %% CPU; running at the lowest priority\n",
               print_table_get_int(in, "cpu_percent"));
}

/* A line for the current error of the instance. */
static void cmd_status_print_restarts(const json_t *in)
{
    const int64_t deaths = print_table_get_int(in, "deaths");
    if (!json_is_true(json_object_get(in, "down"))) {
        if (deaths)
            printf("  process restarted %" PRId64 " time%s\n", deaths, PLURAL(deaths, "", "s"));
        return;
    }
    printf("  down for ");
    print_table_duration(print_table_get_int(in, "down_ms"), 0);
    printf(", crashed %" PRId64 " time%s, next start ", deaths, PLURAL(deaths, "", "s"));
    if (print_table_get_int(in, "next_ms")) {
        printf("in ");
        print_table_duration(print_table_get_int(in, "next_ms"), 0);
    } else {
        printf("now");
    }
    puts(json_is_true(json_object_get(in, "breaker_open"))
             ? " (crashing repeatedly: one attempt every 5 min; see the log)"
             : "");
}

static const char *cmd_status_instance_state(const json_t *in)
{
    return json_is_true(json_object_get(in, "stands_by"))     ? "standby"
           : json_is_true(json_object_get(in, "down"))        ? "down"
           : json_is_true(json_object_get(in, "starting"))    ? "starts"
           : json_is_true(json_object_get(in, "hung"))        ? "hangs"
           : json_object_get(in, "trouble")                   ? "fails"
           : json_is_true(json_object_get(in, "unreachable")) ? "away"
                                                              : "runs";
}

/* Role of this host for an instance that only one of several hosts runs. */
static void print_leader(const json_t *in)
{
    if (!json_object_get(in, "stands_by"))
        return;
    if (json_object_get(in, "leader")) {
        printf("  led by host ");
        print_table_string(in, "leader", 0);
        putchar('\n');
    } else {
        puts("  no host leads it yet");
    }
}

/* "process 12345, 20 MiB, 3 % CPU", as far as known; "thread" for an instance without a process. */
static void cmd_status_print_process(const json_t *in)
{
    char text[96] = "";
    const int64_t pid = print_table_get_int(in, "pid");
    if (pid)
        snprintf(text, sizeof text, " %" PRId64 ", %" PRId64 " MiB, %" PRId64 " %% CPU", pid,
                 print_table_get_int(in, "rss") >> 20, print_table_get_int(in, "cpu_percent"));
    print_table_string(in, "isolation", 0);
    puts(text);
}

static void print_instances(const json_t *instances)
{
    size_t i;
    const json_t *in;
    puts("\nINSTANCE         PLUGIN           STATE   TURNS  DELIVERED  FAILED  QUEUE  "
         "REQUESTS                IN");
    json_array_foreach(instances, i, in)
    {
        char requests[64];
        print_table_string(in, "name", 17);
        print_table_string(in, "plugin", 17);
        const json_t *const scope = json_object_get(in, "scope");
        printf("%-7s ", cmd_status_instance_state(in));
        print_table_string(scope, "turns", 5);
        printf("%11" PRId64 " %7" PRId64 " %4.0f %%  ", print_table_get_int(in, "delivered"),
               print_table_get_int(in, "failed"),
               100 * json_number_value(json_object_get(in, "queue_fill")));
        snprintf(requests, sizeof requests, "%" PRId64 " queued, %" PRId64 " in flight",
                 print_table_get_int(in, "requests_waiting"),
                 print_table_get_int(in, "requests_in_flight"));
        printf("%-24s", requests);
        cmd_status_print_process(in);
        print_scope(scope);
        print_leader(in);
        print_service(in);
        cmd_status_print_reachability(in);
        cmd_status_print_exceeded_limit(in);
        cmd_status_print_restarts(in);
    }
}

static void print_disabled(const json_t *instances)
{
    size_t i;
    const json_t *in;
    if (json_array_size(instances))
        puts("\nDISABLED         WHERE AND WHY");
    json_array_foreach(instances, i, in)
    {
        print_table_string(in, "name", 17);
        print_table_string(in, "place", 0);
        printf(": ");
        print_table_string(in, "reason", 0);
        putchar('\n');
    }
}

static void print_outbox(const json_t *o)
{
    if (!o)
        return;
    const int64_t rows_kept =
        print_table_get_int(o, "queued") + print_table_get_int(o, "in_flight");
    printf("\nOutbox: %" PRId64 " undelivered", rows_kept);
    if (rows_kept) {
        printf(", oldest ");
        print_table_duration(print_table_get_int(o, "oldest_ms"), 0);
    }
    printf("; dead letters: %" PRId64 "%s\n", print_table_get_int(o, "dead"),
           print_table_get_int(o, "dead") ? " (run: turncast dead list)" : "");
}

static void cmd_status_print_budget_use(const json_t *b, const char *limit, const char *used,
                                        const char *unit)
{
    const json_t *const most = json_object_get(b, limit);
    if (most)
        printf(", %.10g of %.10g %s", json_number_value(json_object_get(b, used)),
               json_number_value(most), unit);
    else
        printf(", %.10g %s", json_number_value(json_object_get(b, used)), unit);
}

/* Usage of today, with the limit if there is one. */
static void print_budgets(const json_t *budgets)
{
    size_t i;
    const json_t *b;
    if (json_array_size(budgets))
        puts("\nUSED TODAY");
    json_array_foreach(budgets, i, b)
    {
        const int64_t turns = print_table_get_int(b, "turns");
        print_table_string(b, "scope", 13);
        print_table_string(b, "name", 25);
        printf("%" PRId64 " turn%s", turns, PLURAL(turns, "", "s"));
        cmd_status_print_budget_use(b, "usd_per_day", "usd", "USD");
        cmd_status_print_budget_use(b, "tokens_per_day", "tokens", "tokens");
        putchar('\n');
    }
}

static void print_table(const json_t *s)
{
    print_host(s);
    print_bus(json_object_get(s, "bus"));
    print_shared(s);
    print_stored_texts(json_object_get(s, "stored_texts"));
    print_turns(json_object_get(s, "turns"));
    print_agents(print_table_get_int(s, "waiting_agents"));
    print_requests(print_table_get_int(s, "open_requests"));
    print_instances(json_object_get(s, "instances"));
    print_disabled(json_object_get(s, "disabled"));
    print_budgets(json_object_get(s, "budgets"));
    print_outbox(json_object_get(s, "outbox"));
}

/* ---- all hosts */

static const char *cmd_status_describe(const char *state)
{
    if (strcmp(state, "absent") == 0)
        return "is not there; agents.*.hosts names it";
    return strcmp(state, "silent") == 0 ? "does not answer" : state;
}

/* Lists absent hosts first. */
static void cmd_status_print_missing(const json_t *hosts)
{
    size_t i;
    const json_t *host;
    json_array_foreach(hosts, i, host)
    {
        if (json_object_get(host, "status"))
            continue;
        fputs("Host ", stdout);
        print_table_string(host, "name", 0);
        printf(" %s.\n", cmd_status_describe(json_string_value(json_object_get(host, "state"))));
    }
}

static void cmd_status_print_all(const json_t *body)
{
    const json_t *const hosts = json_object_get(body, "hosts");
    size_t i;
    const json_t *host;
    print_table_bus_away(body);
    cmd_status_print_missing(hosts);
    json_array_foreach(hosts, i, host)
    {
        if (!json_object_get(host, "status"))
            continue;
        fputs("\n==== ", stdout);
        print_table_string(host, "name", 0);
        printf(" (%s)\n", json_string_value(json_object_get(host, "state")));
        print_table(json_object_get(host, "status"));
    }
}

static int cmd_status_run(const struct args *args)
{
    return args->all ? control_client_show(args, "/status/all", cmd_status_print_all)
                     : control_client_show(args, "/status", print_table);
}

const struct cli_command cmd_status = {
    .name = "status",
    .operands = "",
    .summary = "Shows the state of the running host",
    .about = "Exit status: 1 no host is running; with --all also: it has no bus.",
    .args = rows,
    .run = cmd_status_run,
};
