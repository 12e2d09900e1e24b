/* SPDX-License-Identifier: MIT
 * Owns the way from a word in a message to the stored switches. */
#include "core/toggle.h"

#include "base/log.h"
#include "core/sticky.h"
#include "turn/slash.h"

void toggle_apply(const struct conf *conf, const char *agent, struct str text,
                  void (*done)(void *ctx, const struct toggle *t), void *ctx)
{
    CLEANUP_BUF struct buf rest = {0};
    struct tc_err err = {0};
    struct toggle t = {0};
    if (sticky_resolve(conf, agent, &t.visibility, &err) < 0)
        log_line(LOG_WARN, "host", "%s; the configured visibility is used", err_str(&err));
    const struct visibility before = t.visibility;
    const struct slash_result found = slash_parse(text.p, text.len, &t.visibility, &rest);
    if (found.toggled && !visibility_equal(&before, &t.visibility))
        t.failed = sticky_save(conf->state_dir, agent, t.visibility, &err) < 0;
    if (t.failed)
        log_line(LOG_WARN, "host", "visibility is not stored: %s", err_str(&err));
    t.empty = found.empty;
    t.rest = found.found ? (struct str){rest.p ? rest.p : "", rest.len} : text;
    done(ctx, &t);
}
