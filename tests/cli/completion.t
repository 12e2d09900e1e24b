#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the completion of bash, zsh and fish with the scripts that turncast prints.
. "$(dirname "$0")/cli.sh"

PATH=$TURNCAST_BUILDDIR:$PATH
TURNCAST_CONFIG=$scratch/turncast.conf
export PATH TURNCAST_CONFIG
cat >"$TURNCAST_CONFIG" <<'C'
agents : { claude : { command = ["true"]; }; codex : { command = ["true"]; }; };
plugins : { instances : { wall : { plugin = "null"; }; window : { plugin = "null"; }; }; };
default_agent = "claude";
C
mkdir "$scratch/files"
: >"$scratch/files/one file.jsonl"
cd "$scratch/files" || exit 99

try completion instances
is "$status $out" "0 wall
window" "the instances of the configuration"
try completion agents
is "$status $out" "0 claude
codex" "and its agents"
try completion agents --config "$scratch/none"
is "$status $out" "2 " "an invalid configuration completes nothing"
try completion csh
is "$status" 2 "an unknown shell is refused"
has "$err" 'invalid value "csh"; valid values: bash, zsh, fish' "the error lists the shells"

# Each function prints the completions of its shell for a line, one per line.
offer_bash() {
    # shellcheck disable=SC2016 # bash expands what is in quotes
    bash --norc -c '
        eval "$(turncast completion bash)"
        read -r -a COMP_WORDS <<<"${1//=/ = }"
        if [[ $1 == *" " ]]; then COMP_WORDS+=(""); fi
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _turncast turncast "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}
offer_zsh() {
    turncast completion zsh >"$scratch/script.zsh"
    timeout 60 zsh -f "$fixtures/complete.zsh" "$scratch/script.zsh" "$1" | sed 's/\\ / /g'
}
offer_fish() {
    # shellcheck disable=SC2016 # fish expands what is in quotes
    fish --no-config -c 'turncast completion fish | source; complete -C $argv[1]' "$1" |
        cut -f 1 | sed 's/\\ / /g'
}

# offers SHELL LINE WORD...: checks that exactly these words are offered. A shell may print
# --option= before a value.
offers() {
    shell=$1
    line=$2
    shift 2
    is "$("offer_$shell" "$line" | sed 's/^--[a-z]*=\(.\)/\1/; s/=$//' | LC_ALL=C sort)" \
        "$(printf '%s\n' "$@")" "$shell offers for: $line"
}

# Prints the options that the shell does not offer after "turncast COMMAND -".
not_offered() {
    for command in $("$turncast" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        offered=" $("offer_$1" "turncast $command --" | tr '\n=' '  ') "
        for option in $("$turncast" "$command" --help | grep -o '^  ....--[a-z-]*' | cut -c 7-); do
            case $offered in
            *" $option "*) ;;
            *) echo "$command: $option" ;;
            esac
        done
    done
}

for shell in bash zsh fish; do
    if ! command -v "$shell" >/dev/null 2>&1; then
        result 0 "$shell completes # SKIP $shell is not installed"
        continue
    fi
    "$turncast" completion "$shell" >"$scratch/script" && "$shell" -n "$scratch/script"
    result $? "$shell accepts its script"
    offers "$shell" 'turncast re' reload replay restart restore
    offers "$shell" 'turncast --v' --version
    offers "$shell" 'turncast run --re' --record
    offers "$shell" 'turncast run --agent c' claude codex
    offers "$shell" 'turncast run -a cl' claude
    offers "$shell" 'turncast run --agent=cod' codex
    offers "$shell" 'turncast restart w' wall window
    offers "$shell" 'turncast dead ' drop list retry show wall window
    offers "$shell" 'turncast replay --turn ' all last
    offers "$shell" 'turncast replay one' 'one file.jsonl'
    offers "$shell" 'turncast run --record one' 'one file.jsonl'
    offers "$shell" 'turncast tail /show-t' /show-thinking /show-tools
    offers "$shell" 'turncast run --conversation on' ''
    offers "$shell" 'turncast status on' ''
    offers "$shell" 'turncast unknown on' ''
    is "$(not_offered "$shell")" "" "$shell offers every option of every command"
done

# The installed files load the output of the program.
share=$TURNCAST_SRCDIR/share/completion
# shellcheck disable=SC2016
is "$(bash --norc -c '. "$1" && complete -p turncast' bash "$share/turncast.bash")" \
    "complete -F _turncast turncast" "the file for bash loads the script"
if command -v zsh >/dev/null 2>&1; then
    # shellcheck disable=SC2016
    printf 'fpath=("%s" $fpath)\ncompinit -u -D\n' "$share" >"$scratch/installed.zsh"
    is "$(timeout 60 zsh -f "$fixtures/complete.zsh" "$scratch/installed.zsh" 'turncast rel')" "reload" \
        "the file for zsh loads the script"
fi
if command -v fish >/dev/null 2>&1; then
    # shellcheck disable=SC2016
    is "$(fish --no-config -c 'source $argv[1]; complete -C "turncast rel"' \
        "$share/turncast.fish" | cut -f 1)" "reload" "the file for fish loads the script"
fi
finish
