/* SPDX-License-Identifier: MIT
 * Section `retention`: how long the journal keeps records of ended turns. */
#include "conf/conf_internal.h"

#define RETENTION(member) offsetof(struct conf_retention, member)
#define DAYS_MAX 3660

static const struct conf_row rows[] = {
    {"turns_days", conf_row_int, RETENTION(turns_days), 1, DAYS_MAX, NULL},
    {"results_mb", conf_row_int, RETENTION(results_mb), 1, 1 << 20, NULL},
    {"undelivered_hours", conf_row_int, RETENTION(undelivered_hours), 1, 24 * 366, NULL},
    {"undelivered", conf_row_int, RETENTION(undelivered), 100, 10000000, NULL},
    {"undelivered_mb", conf_row_int, RETENTION(undelivered_mb), 16, 1 << 20, NULL},
    {"dead_days", conf_row_int, RETENTION(dead_days), 1, DAYS_MAX, NULL},
    {"dead_letters", conf_row_int, RETENTION(dead_letters), 1, 10000000, NULL},
    {"dead_mb", conf_row_int, RETENTION(dead_mb), 1, 1 << 20, NULL},
    {"usage_days", conf_row_int, RETENTION(usage_days), 2, DAYS_MAX, NULL},
    {"conversations_days", conf_row_int, RETENTION(conversations_days), 0, DAYS_MAX, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

const struct conf_retention conf_retention_default = {
    .turns_days = 2,
    .results_mb = 64,
    .undelivered_hours = 24,
    .undelivered = 20000,
    .undelivered_mb = 64,
    .dead_days = 30,
    .dead_letters = 5000,
    .dead_mb = 64,
    .usage_days = 62,
    .conversations_days = 180,
};

int conf_retention_parse(const struct conf_row_ctx *r, const struct conf_node *n,
                         const struct conf_row *row, void *target)
{
    return conf_row_parse_group(r, n, rows, (char *)target + row->offset);
}
