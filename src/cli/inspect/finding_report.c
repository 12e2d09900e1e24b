/* SPDX-License-Identifier: MIT
 * Formats findings of check and doctor as JSON, as documented in turncast(1). */
#include "cli/inspect/finding_report.h"

#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/sys/log.h"
#include "event/json/json_value.h"

void finding_report_print_lines(const struct findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        CLEANUP_BUF struct buf line = {0}, masked = {0};
        finding_format(&line, &findings->items[i]);
        log_redact(&masked, (struct str){line.p, line.len});
        puts(masked.p ? masked.p : "");
    }
}

static json_t *finding_report_text(const char *text)
{
    CLEANUP_BUF struct buf masked = {0};
    if (!text)
        return json_null();
    log_redact(&masked, (struct str){text, strlen(text)});
    return json_stringn_nocheck(masked.p ? masked.p : "", masked.len);
}

static json_t *finding_report_item(const struct finding *item)
{
    static const char *const levels[] = {
        [FINDING_OK] = "ok", [FINDING_WARNING] = "warning", [FINDING_ERROR] = "error"};
    json_t *const o = json_object();
    json_object_set_new(o, "level", json_string(levels[item->level]));
    json_object_set_new(o, "file", finding_report_text(item->file));
    json_object_set_new(o, "line", item->line ? json_integer(item->line) : json_null());
    json_object_set_new(o, "key", finding_report_text(item->key));
    json_object_set_new(o, "text", finding_report_text(item->text));
    json_object_set_new(o, "remedy", finding_report_text(item->remedy));
    return o;
}

void finding_report_print_json(const struct findings *findings, const char *file)
{
    json_t *const list = json_array(), *const o = json_object();
    for (size_t i = 0; i < findings->n; i++)
        json_array_append_new(list, finding_report_item(&findings->items[i]));
    json_object_set_new(o, "file", finding_report_text(file));
    json_object_set_new(
        o, "ok", json_integer((json_int_t)(findings->n - findings->warnings - findings->errors)));
    json_object_set_new(o, "warnings", json_integer((json_int_t)findings->warnings));
    json_object_set_new(o, "errors", json_integer((json_int_t)findings->errors));
    json_object_set_new(o, "findings", list);
    json_value_print(o);
    json_decref(o);
}
