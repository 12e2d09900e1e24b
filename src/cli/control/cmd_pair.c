/* SPDX-License-Identifier: MIT
 * `turncast pair`: lists the people paired with an instance, admits one by a pairing code, and
 * revokes one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/plural.h"
#include "cli/command_table.h"
#include "cli/control/print_table.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"
#include "event/json/json_value.h"

static const struct args_option rows[] = {
    {0, ARG_FLAG, "revoke", NULL, offsetof(struct args, revoke),
     "revoke the pairing of the person USER"},
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "list as one JSON object"},
    ARG_CONFIG,
    {0},
};

static void cmd_pair_print_person(const json_t *person)
{
    char since[40];
    const time_t at = (time_t)(print_table_get_int(person, "since_ms") / 1000);
    struct tm t;
    localtime_r(&at, &t);
    strftime(since, sizeof since, "%Y-%m-%d %H:%M", &t);
    print_table_string(person, "instance", 0);
    putchar(' ');
    print_table_string(person, "user", 0);
    printf(" since %s: ", since);
    print_table_string(person, "name", 0);
    putchar('\n');
}

static void cmd_pair_print(const json_t *body, bool json)
{
    const json_t *const people = json_object_get(body, "people");
    const int64_t codes = print_table_get_int(body, "codes");
    size_t i;
    const json_t *person;
    if (json) {
        json_value_print(body);
        return;
    }
    if (!json_array_size(people))
        puts("No paired people.");
    json_array_foreach(people, i, person)
    {
        cmd_pair_print_person(person);
    }
    if (codes)
        printf("%" PRId64 " code%s valid.\n", codes, PLURAL(codes, " is", "s are"));
}

static int cmd_pair_list(const struct conf *conf, bool json)
{
    struct control_response c;
    if (control_client_call(&c, conf, "GET", "/pairing", NULL) < 0)
        return EXIT_TURN_ERROR;
    const int status = control_client_check(&c, conf);
    if (status == 0)
        cmd_pair_print(c.body, json);
    control_client_fini(&c);
    return status;
}

static void cmd_pair_confirm(const char *instance, const char *who, const json_t *body, bool revoke)
{
    if (revoke) {
        printf("User ");
        print_table_cell(who, 0);
        printf(" may not write to instance %s any more.\n", instance);
        return;
    }
    printf("User ");
    print_table_string(body, "user", 0);
    printf(" may write to instance %s now.\n", instance);
}

static int cmd_pair_change(const struct conf *conf, const char *instance, const char *who,
                           bool revoke)
{
    struct control_response c;
    json_t *const body =
        json_pack("{s:s, s:s}", "instance", instance, revoke ? "revoke" : "code", who);
    const int rc = control_client_call(&c, conf, "POST", "/pairing", body);
    json_decref(body);
    if (rc < 0)
        return EXIT_TURN_ERROR;
    const int status = control_client_check(&c, conf);
    if (status == 0)
        cmd_pair_confirm(instance, who, c.body, revoke);
    control_client_fini(&c);
    return status;
}

static int cmd_pair_run(const struct args *args)
{
    if (args->n_operands == 1 || (args->revoke && args->n_operands != 2))
        return args_usage_error(&cmd_pair, "INSTANCE and %s required",
                                args->revoke ? "USER are" : "CODE are");
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    const int status =
        args->n_operands ? cmd_pair_change(conf, args->operands[0], args->operands[1], args->revoke)
                         : cmd_pair_list(conf, args->json);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_pair = {
    .name = "pair",
    .operands = "[INSTANCE CODE | --revoke INSTANCE USER]",
    .summary = "Lets a person with a pairing code write to the agent",
    .about = "Without operands, lists the paired people.\nExit status: 1 the code is wrong or has "
             "expired, or no host is running.",
    .args = rows,
    .min = 0,
    .max = 2,
    .run = cmd_pair_run,
};
