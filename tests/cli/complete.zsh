# shellcheck disable=all # shellcheck does not know zsh
# SPDX-License-Identifier: MIT
# Prints what zsh offers, one word in a line: zsh -f complete.zsh SCRIPT LINE. A shell in a terminal of its
# own gets LINE and the tab key; instead of showing the words that match, its compadd prints them.
zmodload zsh/zpty
setup='
PROMPT= RPROMPT=
unsetopt zle_bracketed_paste promptcr promptsp
autoload -Uz compinit
compinit -u -D
source '${(q)1}'
bindkey "^I" complete-word
zstyle ":completion:*" insert-tab false
zstyle ":completion:*" sort false
mark() { print -r - "<<<" }
finish() { print -r - ">>>" }
compprefuncs=(mark)
comppostfuncs=(finish)
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a found
    builtin compadd -A found "$@"
    print -rl - "$IPREFIX"$^found
    builtin compadd "$@"
}
'
file=$(mktemp)
print -r - "$setup" >$file
zpty z zsh -f -i
zpty -w z "source $file; print re''ady"
zpty -r -m z said "*ready*"
zpty -w -n z "$2"$'\t'
zpty -r -m z said "*>>>*"
zpty -d z
rm $file
print -r - ${${said##*<<<}%%>>>*} | tr -d "\r" | sed '/^$/d' | sort -u
