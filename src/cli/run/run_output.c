/* SPDX-License-Identifier: MIT
 * Chooses the output format, and formats the answer. */
#include "cli/run/run_output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/arena.h"
#include "text/markdown/markdown.h"
#include "text/render/render.h"

static bool has_instance(const struct conf *conf, const char *plugin)
{
    for (size_t i = 0; i < conf->n_instances; i++)
        if (conf->instances[i].enabled && strcmp(conf->instances[i].plugin, plugin) == 0)
            return true;
    return false;
}

/* Whether an instance already writes events to standard output. */
static bool prints_events(const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_instances; i++) {
        const struct conf_instance *const inst = &conf->instances[i];
        if (inst->enabled && strcmp(inst->plugin, "jsonl") == 0 &&
            !conf_option_find(inst->options, "path"))
            return true;
    }
    return false;
}

static enum run_output_form run_output_default(const struct conf *conf)
{
    if (!isatty(STDOUT_FILENO))
        return RUN_OUTPUT_JSON;
    return isatty(STDERR_FILENO) && has_instance(conf, "cli") ? RUN_OUTPUT_NONE : RUN_OUTPUT_TEXT;
}

static int run_output_find(enum run_output_form *form, const char *name,
                           const struct cli_command *c)
{
    static const char *const names[] = {[RUN_OUTPUT_TEXT] = "text",
                                        [RUN_OUTPUT_JSON] = "json",
                                        [RUN_OUTPUT_STREAM] = "stream-json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) {
            *form = (enum run_output_form)i;
            return 0;
        }
    args_usage_error(c, "--output: invalid value \"%s\"; valid values: text, json, stream-json",
                     name);
    return -1;
}

int run_output_choose(enum run_output_form *form, const struct args *args, struct conf *conf,
                      const struct cli_command *c)
{
    struct tc_err err = {0};
    if (args->json && args->output && strcmp(args->output, "json") != 0) {
        args_usage_error(c, "--json and --output %s exclude each other", args->output);
        return -1;
    }
    *form = args->json ? RUN_OUTPUT_JSON : run_output_default(conf);
    if (args->output && run_output_find(form, args->output, c) < 0)
        return -1;
    if (*form != RUN_OUTPUT_STREAM || prints_events(conf))
        return 0;
    if (conf_add_plugin(conf, "jsonl", &err) == 0)
        return 0;
    args_usage_error(c, "%s", err_format(&err));
    return -1;
}

/* Renders Markdown for the terminal on standard output. */
static void append_rendered(struct buf *out, struct str markdown)
{
    const char *const type = getenv("TERM"), *const no_color = getenv("NO_COLOR");
    struct winsize size = {0};
    struct arena arena = {0};
    struct render_output text = {0};
    const struct doc doc = markdown_parse(&arena, markdown);
    const struct render_target target = {
        .form = RENDER_TERMINAL,
        .columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0,
        .styled = type && strcmp(type, "dumb") != 0 && !(no_color && *no_color),
    };
    render_doc(&text, &doc, (struct doc_range){0, doc.text.len}, &target);
    buf_add(out, text.text.p, text.text.len);
    rendered_fini(&text);
    arena_fini(&arena);
}

void run_output_append_text(struct buf *out, struct str markdown)
{
    if (isatty(STDOUT_FILENO))
        append_rendered(out, markdown);
    else
        buf_add(out, markdown.p, markdown.len);
    if (out->len > 0 && out->p[out->len - 1] != '\n')
        buf_add_char(out, '\n');
}

void run_output_append(struct buf *out, enum run_output_form form, const struct turn_result *result,
                       int64_t duration_ms)
{
    if (form == RUN_OUTPUT_TEXT && result->text.len > 0 && !result->has_error)
        run_output_append_text(out, (struct str){result->text.p, result->text.len});
    if (form != RUN_OUTPUT_JSON)
        return;
    turn_result_append_json(out, result, duration_ms);
    buf_add_char(out, '\n');
}
