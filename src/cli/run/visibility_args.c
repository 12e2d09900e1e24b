/* SPDX-License-Identifier: MIT
 * Parses each word as a separate message, so that an error names the invalid word. */
#include "cli/run/visibility_args.h"

#include <string.h>

#include "base/sys/log.h"

int visibility_args_apply(const struct cli_command *c, char *const *words, int n,
                          struct visibility *v)
{
    for (int i = 0; i < n; i++) {
        CLEANUP_BUF struct buf rest = {0};
        if (!slash_tokens_parse(words[i], strlen(words[i]), v, &rest).empty)
            return args_usage_error(c,
                                    "unknown token \"%s\"; use /show-X or /hide-X, where X is "
                                    "thinking, tools, narration, final or all",
                                    words[i]);
    }
    return 0;
}

enum visibility_store_result visibility_args_save(struct visibility_store *store, const char *agent,
                                                  const struct visibility *before,
                                                  const struct visibility *after)
{
    struct tc_err err = {0};
    if (visibility_equal(before, after))
        return STICKY_SAVED;
    const enum visibility_store_result saved = visibility_store_save(store, agent, *after, &err);
    if (saved == STICKY_FAILED)
        log_write(LOG_WARN, "host", "cannot store visibility: %s", err_format(&err));
    if (saved == VISIBILITY_STORE_SAVED_LOCALLY)
        log_write(LOG_WARN, "host",
                  "Redis unavailable; visibility stored locally until it is back: %s",
                  err_format(&err));
    return saved;
}

void visibility_args_print(struct visibility v)
{
    CLEANUP_BUF struct buf json = {0};
    visibility_append_json(&json, v);
    puts(json.p);
}
