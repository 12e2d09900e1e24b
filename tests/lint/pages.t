#!/bin/sh
# SPDX-License-Identifier: MIT
# Manual pages name everything there is: fields, callbacks, services, keys, options.
. "$(dirname "$0")/lint.sh"

# missing PAGE WHAT: words on stdin that the page does not have, as words.
missing() {
    [ -f "$1" ] || { echo "$1 is missing"; return; }
    { tr -cs 'A-Za-z0-9_' '\n' <"$1" && tr -cs 'A-Za-z0-9_-' '\n' <"$1"; } |
        LC_ALL=C sort -u >"$scratch/words"
    LC_ALL=C sort -u | comm -23 - "$scratch/words" | sed "s|^|$1: $2 |"
}

# Each field in the section of its own kind.
fields_not_told() {
    awk '/^#define FIELDS_/ { kind = $2; sub(/FIELDS_/, "", kind); sub(/\(.*/, "", kind) }
         kind && match($0, /^ *[RO]\([a-z_]+, [a-z_]+/) {
             text = substr($0, RSTART, RLENGTH); sub(/.*, /, "", text); print kind, text
         }' src/event/fields.h >"$scratch/fields"
    awk -v page=man/turncast-events.7 '
        FILENAME ~ /fields$/ { wanted[$1 " " $2] = 1; next }
        /^\.Ss / { kind = $2 }
        /^\.Sh THE/ { kind = "meta" }
        /^\.Sh VIS/ { kind = "" }
        /^\.It Va/ { gsub(/,/, " "); for (i = 3; i <= NF; i++) delete wanted[kind " " $i] }
        END { for (w in wanted) print page ": field " w }' "$scratch/fields" man/turncast-events.7
}

callbacks_not_told() {
    sed -n 's/^    [a-z].*(\*\([a-z_]*\))(.*/\1/p' include/turncast/plugin.h |
        missing man/turncast-plugin.3 "member"
    sed -n 's/^#define \([A-Za-z_]*\).*/\1/p' include/turncast/plugin.h | grep -v PLUGIN_H |
        missing man/turncast-plugin.3 "macro"
    sed -n 's/^struct \(tc_[a-z_]*\).*/\1/p' include/turncast/plugin.h |
        missing man/turncast-plugin.3 "struct"
}

# Members of the structs that a plugin author fills or reads beside the events.
members_not_told() {
    awk '/^struct tc_(meta|event|instance|turn|sink|option|plugin|host) \{/ { inside = 1; next }
         /^\};/ { inside = 0 }
         inside { sub(/\/\*.*/, ""); if ($0 !~ /\(/ && sub(/;.*/, "")) print }' \
        include/turncast/plugin.h |
        sed 's/^ *\(const \)*\(struct \|enum \)*[a-z0-9_]* *//' | tr -cs 'a-z0-9_' '\n' |
        grep . | missing man/turncast-plugin.3 "member"
}

keys_not_told() {
    sed -n 's/^ *{"\([a-z_]*\)", read_[a-z_]*,.*/\1/p' src/conf/*.c |
        missing man/turncast.conf.5 "key"
}

dialects_not_told() {
    sed -n 's/^    \.name = "\([a-z-]*\)",$/\1/p' src/dialect/*.c | missing man/turncast.conf.5 "dialect"
}

formats_not_told() {
    sed -n 's/^    \.name = "\([a-z-]*\)",$/\1/p' src/dialect/*_write.c |
        missing plugins/jsonl/turncast-jsonl.7 "format"
}

options_not_told() {
    for folder in plugins/*/; do
        name=$(basename "$folder")
        [ -f "$folder$name.c" ] || continue
        sed -n 's/.*TC_OPTION([^,]*, \([a-z_]*\),.*/\1/p' "$folder$name.c" |
            missing "plugins/$name/turncast-$name.7" "option"
    done
}

holds "every field of every kind is in turncast-events(7)" fields_not_told
holds "every callback, service, macro and struct is in turncast-plugin(3)" callbacks_not_told
holds "every member is too" members_not_told
holds "every key is in turncast.conf(5)" keys_not_told
holds "every dialect is too" dialects_not_told
holds "every format that is written is in turncast-jsonl(7)" formats_not_told
holds "every option is in its connector's page" options_not_told

for words in fields callbacks members keys; do
    [ "$(cd "$top" && case $words in
        fields) wc -l <"$scratch/fields" ;;
        callbacks) grep -c '(\*on_' include/turncast/plugin.h ;;
        members) grep -c '^struct tc_' include/turncast/plugin.h ;;
        keys) cat src/conf/*.c | grep -c '", read_' ;;
    esac)" -gt 15 ]
    result $? "there are $words to look for"
done
catches "an option without a word" options_not_told 'turncast-x.7 is missing' plugins/x/x.c <<'C'
    TC_OPTION(struct conf, colour, "auto", 0, "auto or never"),
C
catches "a key without a word" keys_not_told 'turncast.conf.5 is missing' src/conf/x.c <<'C'
    {"new_key", read_string, CONF(new_key), 0, 0, NULL},
C
done_testing
