/* SPDX-License-Identifier: MIT
 * The script for bash: two functions with tables, and one that looks up completions in them. */
#include "cli/completion/completion.h"

static void completion_bash_print_offer(FILE *out, const char *form)
{
    CLEANUP_COMPLETION_OFFER struct completion_offer offer = completion_offer_read(form);
    if (offer.words.len)
        fprintf(out, " words='%s'", offer.words.p);
    if (offer.names)
        fprintf(out, " names=%s", offer.names);
    if (offer.files)
        fputs(" files=1", out);
    fputs(" ;;\n", out);
}

static void completion_bash_print_value(FILE *out, const char *command, const struct args_option *a)
{
    fprintf(out, "    '%s --%s'", command, a->name);
    if (a->letter)
        fprintf(out, " | '%s -%c'", command, a->letter);
    fputc(')', out);
    completion_bash_print_offer(out, a->value);
}

static void completion_bash_print_values(FILE *out, const struct cli_command *const *commands)
{
    fputs("# What stands behind COMMAND, or behind COMMAND OPTION; fails if OPTION has no value.\n"
          "_turncast_values() {\n    case $1 in\n",
          out);
    for (; *commands; commands++) {
        for (const struct args_option *a = (*commands)->args; a->name; a++)
            if (a->value)
                completion_bash_print_value(out, (*commands)->name, a);
        fprintf(out, "    %s)", (*commands)->name);
        completion_bash_print_offer(out, (*commands)->operands);
    }
    fputs("    *) return 1 ;;\n    esac\n}\n\n", out);
}

static void completion_bash_print_options(FILE *out, const struct cli_command *const *commands)
{
    fputs("_turncast_options() {\n    case $1 in\n", out);
    for (; *commands; commands++) {
        fprintf(out, "    %s) words='", (*commands)->name);
        for (const struct args_option *a = (*commands)->args; a->name; a++)
            fprintf(out, "--%s ", a->name);
        fputs("--help' ;;\n", out);
    }
    fputs("    esac\n}\n\n", out);
}

/* bash splits --option=value at "=". compgen expands its words, which is safe: they are from the
 * tables, or names that the configuration restricts to letters, digits, - _ and *. ⏎ */
static const char completion_bash_end[] =
    " --help --version'\n"
    "    elif ! _turncast_values \"$command $before\"; then\n"
    "        if [[ $current == -* ]]; then\n"
    "            _turncast_options \"$command\"\n"
    "        else\n"
    "            _turncast_values \"$command\"\n"
    "        fi\n"
    "    fi\n"
    "    if [[ $names ]]; then words+=\" $(\"$1\" completion \"$names\" 2>/dev/null)\"; fi\n"
    "    mapfile -t COMPREPLY < <(\n"
    "        compgen -W \"$words\" -- \"$current\"\n"
    "        if [[ $files ]]; then compgen -f -- \"$current\"; fi\n"
    "    )\n"
    "    if [[ $files ]]; then compopt -o filenames 2>/dev/null; fi\n"
    "    return 0\n"
    "}\n"
    "complete -F _turncast turncast\n";

void completion_print_bash(FILE *out, const struct cli_command *const *commands)
{
    fputs("# Completion of turncast for bash, printed by: turncast completion bash\n\n", out);
    completion_bash_print_values(out, commands);
    completion_bash_print_options(out, commands);
    fputs("_turncast() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local command=${COMP_WORDS[1]} words='' names='' files=''\n"
          "    if [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
          "    if [[ $current == '=' ]]; then current=''; fi\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        words='",
          out);
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
    fputs(completion_bash_end, out);
}
