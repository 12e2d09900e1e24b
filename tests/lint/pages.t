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
        /^\.Sh JSON/ { kind = "meta" }
        /^\.Sh VIS/ { kind = "" }
        /^\.It Va/ { gsub(/,/, " "); for (i = 3; i <= NF; i++) delete wanted[kind " " $i] }
        END { for (w in wanted) print page ": field " w }' "$scratch/fields" man/turncast-events.7
}

# The headers of a plugin without their comments.
headers() {
    cat include/turncast/event.h include/turncast/plugin.h include/turncast/option.h \
        include/turncast/service.h | awk '
        { line = ""
          while ($0 != "")
              if (inside) {
                  if (!(at = index($0, "*/"))) break
                  inside = 0; $0 = substr($0, at + 2)
              } else {
                  if (!(at = index($0, "/*"))) { line = line $0; break }
                  line = line substr($0, 1, at - 1); inside = 1; $0 = substr($0, at + 2)
              }
          print line }'
}

callbacks_not_told() {
    headers | sed -n 's/^    [a-z].*(\*\([a-z_0-9]*\))(.*/\1/p' |
        missing man/turncast-plugin.3 "member"
    headers | sed -n 's/^#define \([A-Za-z_0-9]*\).*/\1/p' | grep -v '_H$' |
        missing man/turncast-plugin.3 "macro"
    headers | sed -n 's/^\(struct\|enum\) \(tc_[a-z_]*\).*/\2/p' |
        missing man/turncast-plugin.3 "type"
}

constants_not_told() {
    headers | awk '/^enum/ { inside = 1 } inside { print } /};/ { inside = 0 }' |
        grep -o 'TC_[A-Z_0-9]*' | missing man/turncast-plugin.3 "constant"
}

# The structs of the sixteen events are in turncast-events(7).
members_not_told() {
    headers | awk '
        /^struct tc_[a-z_]* \{/ { inside = 1; kind = $2; next }
        /^};/ { inside = 0 }
        /struct tc_meta \*meta;/ && kind != "tc_event" { inside = 0 }
        inside && !/[()]/ && sub(/;.*/, "")' |
        sed 's/^ *\(const \)*\(struct \|enum \)*[a-z0-9_]* *//; s/const//g' |
        tr -cs 'a-z0-9_' '\n' | grep . | missing man/turncast-plugin.3 "member"
}

keys_not_told() {
    sed -n 's/^ *{"\([a-z_]*\)", [a-z_]*\(row\|read\)_[a-z_]*,.*/\1/p' src/conf/*.c |
        missing man/turncast.conf.5 "key"
}

dialects_not_told() {
    sed -n 's/^    \.name = "\([a-z-]*\)",$/\1/p' src/dialect/*/*.c | missing man/turncast.conf.5 "dialect"
}

formats_not_told() {
    sed -n 's/^    \.name = "\([a-z-]*\)",$/\1/p' src/dialect/*/*_write.c |
        missing plugins/jsonl/turncast-jsonl.7 "format"
}

options_not_told() {
    for folder in plugins/*/; do
        name=$(basename "$folder")
        for file in "$folder$name.c" "$folder${name}_connector.c"; do
            [ -f "$file" ] && sed -n 's/.*TC_OPTION([^,]*, \([a-z_]*\),.*/\1/p' "$file"
        done |
            missing "plugins/$name/turncast-$name.7" "option"
    done
}

tools_not_told() {
    sed -n 's/^ *{"\([A-Za-z_]*\)", ARGUMENT_.*/\1/p' src/policy/tool_argument.c |
        missing man/turncast.conf.5 "tool"
}

holds "every field of every kind is in turncast-events(7)" fields_not_told
holds "every callback, service, macro and type is in turncast-plugin(3)" callbacks_not_told
holds "every constant is too" constants_not_told
holds "every member is too" members_not_told
holds "every key is in turncast.conf(5)" keys_not_told
holds "every dialect is too" dialects_not_told
holds "every tool that rules know is too" tools_not_told
holds "every format that is written is in turncast-jsonl(7)" formats_not_told
holds "every option is in its connector's page" options_not_told

for words in fields callbacks constants members keys tools dialects; do
    [ "$(cd "$top" && case $words in
        fields) wc -l <"$scratch/fields" ;;
        callbacks) grep -c '(\*on_' include/turncast/plugin.h ;;
        constants) headers | grep -c '^ .*TC_[A-Z_]*,' ;;
        members) headers | grep -c '^struct tc_.*{' ;;
        dialects) cat src/dialect/*/*.c | grep -c '^    \.name = "' ;;
        tools) grep -c '", ARGUMENT_' src/policy/tool_argument.c ;;
        keys) cat src/conf/*.c | grep -c '", [a-z_]*\(row\|read\)_' ;;
    esac)" -gt 15 ]
    result $? "there are $words to look for"
done
catches "an option without a word" options_not_told 'turncast-x.7 is missing' plugins/x/x.c <<'C'
    TC_OPTION(struct conf, colour, "auto", 0, "auto or never"),
C
catches "a member of a service without a word" members_not_told 'turncast-plugin.3 is missing' \
    include/turncast/service.h <<'C'
struct tc_new {
    int unheard_of;
};
C
catches "a constant without a word" constants_not_told 'turncast-plugin.3 is missing' \
    include/turncast/service.h <<'C'
enum tc_new { TC_UNHEARD_OF, TC_OTHER };
C
catches "a tool without a word" tools_not_told 'turncast.conf.5 is missing' src/policy/tool_argument.c <<'C'
    {"new_tool", ARGUMENT_TEXT, {"x"}, NULL},
C
catches "a key without a word" keys_not_told 'turncast.conf.5 is missing' src/conf/x.c <<'C'
    {"new_key", read_string, CONF(new_key), 0, 0, NULL},
C
done_testing
