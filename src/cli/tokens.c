/* SPDX-License-Identifier: MIT
 * Each word is parsed as a message of its own, so that the wrong one can be named. */
#include "cli/tokens.h"

#include <string.h>

#include "base/log.h"
#include "core/sticky.h"

int tokens_apply(const struct command *c, char *const *words, int n, struct visibility *v)
{
    for (int i = 0; i < n; i++) {
        CLEANUP_BUF struct buf rest = {0};
        if (!slash_parse(words[i], strlen(words[i]), v, &rest).empty)
            return args_fail(c,
                             "\"%s\" is not /show-X or /hide-X with X thinking, tools, narration, "
                             "final or all",
                             words[i]);
    }
    return 0;
}

void tokens_keep(const struct conf *conf, const char *agent, const struct visibility *before,
                 const struct visibility *after)
{
    struct tc_err err = {0};
    if (visibility_equal(before, after))
        return;
    if (sticky_save(conf->state_dir, agent, *after, &err) < 0)
        log_line(LOG_WARN, "host", "visibility is not stored: %s", err_str(&err));
}

void tokens_print(struct visibility v)
{
    CLEANUP_BUF struct buf json = {0};
    visibility_json(&json, v);
    puts(json.p);
}
