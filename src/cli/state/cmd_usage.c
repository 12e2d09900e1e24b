/* SPDX-License-Identifier: MIT
 * `turncast usage`: usage of a day by scope, with the budgets of the configuration. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command_table.h"
#include "cli/control/print_table.h"
#include "cli/oneshot_host.h"
#include "core/budget/budget_day.h"
#include "event/json/json_writer.h"
#include "io/journal/journal.h"

static const struct args_option rows[] = {
    ARG_CONFIG,
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "print one JSON object"},
    {0},
};

struct usage_listing {
    const struct conf *conf;
    struct buf json; /* members of the JSON array, for --json */
    bool wants_json;
    size_t n;
};

static struct conf_budget usage_limit_of(const struct usage_listing *l, const char *scope)
{
    for (size_t i = 0; i < CONF_BUDGET_SCOPES; i++)
        if (strcmp(conf_budget_scope_name((enum conf_budget_scope)i), scope) == 0)
            return l->conf->budgets.scopes[i];
    return (struct conf_budget){0};
}

static void usage_add_json(struct usage_listing *l, const struct journal_spent_row *row)
{
    const struct journal_spent *const s = &row->spent;
    const struct conf_budget limit = usage_limit_of(l, row->scope);
    buf_add_str(&l->json, l->n ? ",{" : "{");
    jsonw_member_str(&l->json, "scope", row->scope);
    jsonw_member_str(&l->json, "name", row->name);
    jsonw_member_int(&l->json, "turns", s->turns);
    jsonw_member_int(&l->json, "input_tokens", s->input);
    jsonw_member_int(&l->json, "output_tokens", s->output);
    jsonw_member_int(&l->json, "turns_with_tokens", s->counted);
    jsonw_member_real(&l->json, "usd", (double)s->micros / 1e6);
    jsonw_member_int(&l->json, "turns_with_cost", s->priced);
    if (limit.tokens)
        jsonw_member_int(&l->json, "tokens_per_day", limit.tokens);
    if (limit.micros)
        jsonw_member_real(&l->json, "usd_per_day", (double)limit.micros / 1e6);
    buf_add_str(&l->json, "}");
}

static void usage_print_row(const struct usage_listing *l, const struct journal_spent_row *row)
{
    const struct journal_spent *const s = &row->spent;
    const struct conf_budget limit = usage_limit_of(l, row->scope);
    if (!l->n)
        puts(
            "SCOPE        NAME                        TURNS     TOKENS IN    TOKENS OUT         USD"
            "  LIMIT");
    print_table_cell(row->scope, 13);
    print_table_cell(*row->name ? row->name : "-", 25);
    printf("%8" PRId64 " %13" PRId64 " %13" PRId64, s->turns, s->input, s->output);
    if (s->priced)
        printf(" %11.4f", (double)s->micros / 1e6);
    else
        printf(" %11s", "-");
    if (limit.micros)
        printf("  %.2f USD", (double)limit.micros / 1e6);
    if (limit.tokens)
        printf("  tokens: %" PRId64, limit.tokens);
    putchar('\n');
}

static void usage_on_row(void *ctx, const struct journal_spent_row *row)
{
    struct usage_listing *const l = ctx;
    if (l->wants_json)
        usage_add_json(l, row);
    else
        usage_print_row(l, row);
    l->n++;
}

static void usage_print_end(const struct usage_listing *l, int64_t day)
{
    if (l->wants_json)
        printf("{\"day\":\"%04" PRId64 "-%02" PRId64 "-%02" PRId64 "\",\"used\":[%s]}\n",
               day / 10000, day / 100 % 100, day % 100, l->json.p ? l->json.p : "");
    else if (!l->n)
        puts("No turn has ended on that day.");
}

/* A missing state has no usage, and none is created. */
static int usage_list(struct usage_listing *l, int64_t day)
{
    CLEANUP_FREE char *file = xasprintf("%s/state.db", l->conf->state_dir);
    struct tc_err err = {0};
    if (access(file, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    struct journal *const j =
        journal_open(&(struct journal_spec){.dir = l->conf->state_dir, .beside = true}, &err);
    if (!j) {
        command_conf_print_error(&err);
        return EXIT_USAGE;
    }
    const enum journal_status status = journal_list_spent(j, day, day, usage_on_row, l);
    journal_close(j);
    return status == JOURNAL_DONE ? 0 : EXIT_USAGE;
}

/* "2026-11-27" as 20261127; negative: invalid. */
static int64_t usage_parse_day(const char *text)
{
    int year, month, day, end = 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || text[end] || year < 1 ||
        month < 1 || month > 12 || day < 1 || day > 31)
        return -1;
    return year * INT64_C(10000) + month * 100 + day;
}

static int cmd_usage_run(const struct args *args)
{
    const char *const text = args->operands[0];
    int64_t day = text ? usage_parse_day(text) : 0;
    if (day < 0)
        return args_usage_error(&cmd_usage, "invalid day \"%s\"; use YYYY-MM-DD", text);
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    struct usage_listing l = {.conf = conf, .wants_json = args->json};
    day = day ? day : budget_day_today(conf->budgets.utc);
    const int status = usage_list(&l, day);
    if (!status)
        usage_print_end(&l, day);
    buf_fini(&l.json);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_usage = {
    .name = "usage",
    .operands = "[YYYY-MM-DD]",
    .summary = "Shows tokens and cost of a day, and the budgets",
    .about = "Without a day: of today. A cost of - was not reported by the agent.",
    .args = rows,
    .max = 1,
    .run = cmd_usage_run,
};
