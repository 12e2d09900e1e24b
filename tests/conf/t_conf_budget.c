/* SPDX-License-Identifier: MIT
 * The section budgets: what it means, and what it is without a word. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "tap/tap.h"

static struct conf *load(const char *text)
{
    char file[512];
    struct tc_err err = {0};
    snprintf(file, sizeof file, "%s/conf", tap_tmpdir());
    tap_spew(file, text, strlen(text));
    chmod(file, 0600);
    struct conf *const c = conf_load(file, &err);
    return c ? c : (bail("%s", err_format(&err)), NULL);
}

int main(void)
{
    plan_lazy();
    struct conf *c = load("");
    for (size_t i = 0; i < CONF_BUDGET_SCOPES; i++)
        ok(!c->budgets.scopes[i].micros && !c->budgets.scopes[i].tokens, "%s: no limit",
           conf_budget_scope_name((enum conf_budget_scope)i));
    ok(!c->budgets.utc, "days are local ones");
    conf_unref(c);
    c = load("budgets : { time_zone = \"utc\"; host : { usd_per_day = 50; };\n"
             " agent : { usd_per_day = 0.125; tokens_per_day = 7; };\n"
             " conversation : { tokens_per_day = 1; }; person : { usd_per_day = 1000000; };\n"
             " key : { usd_per_day = 0.000001; }; };");
    const struct conf_budget *const s = c->budgets.scopes;
    ok(c->budgets.utc, "or those of UTC");
    is_int(s[CONF_BUDGET_HOST].micros, 50000000, "whole dollars");
    is_int(s[CONF_BUDGET_AGENT].micros, 125000, "parts of one");
    is_int(s[CONF_BUDGET_AGENT].tokens, 7, "tokens beside them");
    is_int(s[CONF_BUDGET_CONVERSATION].tokens, 1, "the least");
    is_int(s[CONF_BUDGET_PERSON].micros, INT64_C(1000000000000), "the most");
    is_int(s[CONF_BUDGET_KEY].micros, 1, "the least");
    conf_unref(c);
    return 0;
}
