/* SPDX-License-Identifier: MIT
 * The script for fish: one call of complete for each command, option and kind of operand. */
#include "cli/completion/completion.h"

/* Writes text as one line inside single quotes, where fish interprets \' and \\. */
static void completion_fish_print_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void completion_fish_print_condition(FILE *out, const char *command)
{
    fprintf(out, "complete -c turncast -n '__turncast_is %s'", command);
}

/* Writes " -a WORDS", with or without file names. */
static void completion_fish_print_offer(FILE *out, const char *form)
{
    CLEANUP_COMPLETION_OFFER struct completion_offer offer = completion_offer_read(form);
    if (offer.words.len || offer.names)
        fprintf(out, " -a '%s%s%s%s'", offer.words.len ? offer.words.p : "",
                offer.names ? " (__turncast_names " : "", offer.names ? offer.names : "",
                offer.names ? ")" : "");
    fputs(offer.files ? " -F" : " -f", out);
}

static void completion_fish_print_option(FILE *out, const char *command,
                                         const struct args_option *a)
{
    completion_fish_print_condition(out, command);
    if (a->letter)
        fprintf(out, " -s %c", a->letter);
    fprintf(out, " -l %s", a->name);
    if (a->value) {
        fputs(" -r", out);
        completion_fish_print_offer(out, a->value);
    }
    fputs(" -d '", out);
    completion_fish_print_text(out, a->help);
    fputs("'\n", out);
}

static void completion_fish_print_command(FILE *out, const struct cli_command *c)
{
    fprintf(out, "complete -c turncast -n __turncast_is_first -a %s -d '", c->name);
    completion_fish_print_text(out, c->summary);
    fputs("'\n", out);
    for (const struct args_option *a = c->args; a->name; a++)
        completion_fish_print_option(out, c->name, a);
    completion_fish_print_condition(out, c->name);
    fputs(" -s h -l help -d 'show the help and exit'\n", out);
    if (!*c->operands)
        return;
    completion_fish_print_condition(out, c->name);
    completion_fish_print_offer(out, c->operands);
    fputc('\n', out);
}

void completion_print_fish(FILE *out, const struct cli_command *const *commands)
{
    fputs("# Completion of turncast for fish, printed by: turncast completion fish\n\n"
          "function __turncast_is_first\n"
          "    test (count (commandline -opc)) -eq 1\n"
          "end\n"
          "function __turncast_is\n"
          "    set -l words (commandline -opc)\n"
          "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
          "end\n"
          "function __turncast_names\n"
          "    set -l words (commandline -opc)\n"
          "    $words[1] completion $argv[1] 2>/dev/null\n"
          "end\n\n"
          "complete -c turncast -f\n"
          "complete -c turncast -n __turncast_is_first -s h -l help -d 'show the help and exit'\n"
          "complete -c turncast -n __turncast_is_first -l version -d 'show the version and exit'\n",
          out);
    for (; *commands; commands++)
        completion_fish_print_command(out, *commands);
}
