/* SPDX-License-Identifier: MIT
 * The script for zsh: specifications for its function _arguments. */
#include <string.h>

#include "cli/completion/completion.h"

/* Writes text as one line inside single quotes; escapes : [ and ], which _arguments interprets. */
static void completion_zsh_print_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", out);
        else if (strchr(":[]\\", *text))
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

/* Writes ":MESSAGE: ACTION". The space keeps _arguments from adding options. */
static void completion_zsh_print_offer(FILE *out, const char *form)
{
    CLEANUP_COMPLETION_OFFER struct completion_offer offer = completion_offer_read(form);
    fputc(':', out);
    completion_zsh_print_text(out, form);
    fprintf(out, ": _turncast_offer \"%s\" \"%s\" \"%s\"'", offer.words.len ? offer.words.p : "",
            offer.names ? offer.names : "", offer.files ? "files" : "");
}

static void completion_zsh_print_option(FILE *out, const struct args_option *a)
{
    const bool repeats = a->type == ARG_PLUGINS || a->type == ARG_REPEATED;
    if (a->letter && repeats)
        fprintf(out, "            '*'{-%c,--%s%s}'[", a->letter, a->name, a->value ? "=" : "");
    else if (a->letter)
        fprintf(out, "            '(-%c --%s)'{-%c,--%s%s}'[", a->letter, a->name, a->letter,
                a->name, a->value ? "=" : "");
    else
        fprintf(out, "            '--%s%s[", a->name, a->value ? "=" : "");
    completion_zsh_print_text(out, a->help);
    fputc(']', out);
    if (a->value)
        completion_zsh_print_offer(out, a->value);
    else
        fputc('\'', out);
    fputs(" \\\n", out);
}

static void completion_zsh_print_command(FILE *out, const struct cli_command *c)
{
    fprintf(out, "    %s)\n        _arguments -s -S \\\n", c->name);
    for (const struct args_option *a = c->args; a->name; a++)
        completion_zsh_print_option(out, a);
    fputs("            '(-h --help)'{-h,--help}'[show the help and exit]'", out);
    if (*c->operands) {
        fputs(" \\\n            '*", out);
        completion_zsh_print_offer(out, c->operands);
    }
    fputs("\n        ;;\n", out);
}

static void completion_zsh_print_commands(FILE *out, const struct cli_command *const *commands)
{
    fputs("    if (( CURRENT == 2 )); then\n        local -a commands=(\n", out);
    for (; *commands; commands++) {
        fprintf(out, "            '%s:", (*commands)->name);
        completion_zsh_print_text(out, (*commands)->summary);
        fputs("'\n", out);
    }
    fputs("            '--help:show the help and exit'\n"
          "            '--version:show the version and exit'\n"
          "        )\n"
          "        _describe -t commands command commands\n"
          "        return\n"
          "    fi\n",
          out);
}

void completion_print_zsh(FILE *out, const struct cli_command *const *commands)
{
    fputs("#compdef turncast\n"
          "# Completion of turncast for zsh, printed by: turncast completion zsh\n\n"
          "# _turncast_offer WORDS NAMES FILES\n"
          "_turncast_offer() {\n"
          "    local -a choices=(${=1})\n"
          "    if [[ -n $2 ]]; then\n"
          "        choices+=(${(f)\"$($turncast_program completion $2 2>/dev/null)\"})\n"
          "    fi\n"
          "    if [[ -n $3 ]]; then _files; fi\n"
          "    compadd -a choices\n"
          "}\n\n"
          "_turncast() {\n"
          "    local turncast_program=$words[1]\n",
          out);
    completion_zsh_print_commands(out, commands);
    fputs("    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $words[1] in\n",
          out);
    for (; *commands; commands++)
        completion_zsh_print_command(out, *commands);
    fputs("    esac\n}\n\ncompdef _turncast turncast\n", out);
}
