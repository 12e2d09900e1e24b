/* SPDX-License-Identifier: MIT
 * Each word is parsed as a message of its own, so that the wrong one can be named. */
#include "cli/run/visibility_args.h"

#include <string.h>

#include "base/sys/log.h"

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

enum sticky_saved tokens_keep(struct sticky *sticky, const char *agent,
                              const struct visibility *before, const struct visibility *after)
{
    struct tc_err err = {0};
    if (visibility_equal(before, after))
        return STICKY_SAVED;
    const enum sticky_saved saved = sticky_save(sticky, agent, *after, &err);
    if (saved == STICKY_FAILED)
        log_line(LOG_WARN, "host", "visibility is not stored: %s", err_str(&err));
    if (saved == STICKY_KEPT)
        log_line(LOG_WARN, "host", "visibility is kept here, and not in Redis yet: %s",
                 err_str(&err));
    return saved;
}

void tokens_print(struct visibility v)
{
    CLEANUP_BUF struct buf json = {0};
    visibility_json(&json, v);
    puts(json.p);
}
