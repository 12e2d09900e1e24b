/* SPDX-License-Identifier: MIT
 * What rules say to calls: nothing slips through one that allows, and what one denies is not to be
 * had by writing it in another way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/buf.h"
#include "policy/policy.h"
#include "tap/tap.h"

#define ALLOW POLICY_ALLOW
#define DENY POLICY_DENY
#define ASK POLICY_ASK

/* The rule sets, by the names that the tables use. */
enum set { COMMANDS, PATHS, URLS, NAMED, GLOBS, TOOLS, REFUSED, ORDER, SETS };

#define RULE(act, on, how, text)                                                                   \
    {                                                                                              \
        .action = (act), .tool = (on), .match = (how), .pattern = (text)                           \
    }
#define NAMED_RULE(act, on, arg, how, text)                                                        \
    {                                                                                              \
        .action = (act), .tool = (on), .argument = (arg), .match = (how), .pattern = (text)        \
    }

static const struct conf_rule commands[] = {
    RULE(CONF_ALLOW, "Bash", CONF_PREFIX, "git status"),
    RULE(CONF_ALLOW, "Bash", CONF_PREFIX, "make "),
    RULE(CONF_ALLOW, "Bash", CONF_EXACT, "npm test && npm run lint"),
    RULE(CONF_ALLOW, "shell", CONF_PREFIX, "git status"),
    RULE(CONF_ALLOW, "shell", CONF_PREFIX, "ls"),
    RULE(CONF_ALLOW, "shell", CONF_EXACT, "echo 'a' 'b'"),
    RULE(CONF_ALLOW, "shell", CONF_EXACT, "npm test && npm run lint"),
};
static const struct conf_rule paths[] = {
    RULE(CONF_ALLOW, "Write", CONF_PREFIX, "/srv/data"),
    RULE(CONF_ALLOW, "Read", CONF_PREFIX, "/srv/pub/"),
    RULE(CONF_ALLOW, "NotebookEdit", CONF_PREFIX, "/srv/data"),
    RULE(CONF_ALLOW, "edit", CONF_PREFIX, "/srv/data"),
    RULE(CONF_ALLOW, "Glob", CONF_PREFIX, "/srv/data"),
};
static const struct conf_rule urls[] = {
    RULE(CONF_ALLOW, "WebFetch", CONF_PREFIX, "https://example.com"),
    RULE(CONF_ALLOW, "WebFetch", CONF_PREFIX, "https://docs.example.org/api"),
    RULE(CONF_ALLOW, "WebFetch", CONF_GLOB, "https://*.example.net/**"),
};
static const struct conf_rule named[] = {
    NAMED_RULE(CONF_ALLOW, "mcp__files__*", "path", CONF_PREFIX, "/srv/data"),
    NAMED_RULE(CONF_ALLOW, "mcp__web__get", "uri", CONF_PREFIX, "https://example.com"),
    NAMED_RULE(CONF_ALLOW, "mcp__run__it", "line", CONF_PREFIX, "git status"),
    RULE(CONF_ALLOW, "mcp__other__it", CONF_PREFIX, "git status"),
};
static const struct conf_rule globs[] = {
    RULE(CONF_ALLOW, "Bash", CONF_GLOB, "npm run *"),
    RULE(CONF_ALLOW, "Bash", CONF_GLOB, "cat src/*"),
    RULE(CONF_ALLOW, "Read", CONF_GLOB, "/srv/*/readme.?d"),
    RULE(CONF_ALLOW, "Read", CONF_GLOB, "/opt/**/doc/*"),
};
static const struct conf_rule tools[] = {
    RULE(CONF_ALLOW, "Read", CONF_ANY, NULL),
    RULE(CONF_ALLOW, "mcp__files__*", CONF_ANY, NULL),
    RULE(CONF_DENY, "mcp__*", CONF_ANY, NULL),
    RULE(CONF_ASK, "*", CONF_ANY, NULL),
};
static const struct conf_rule refused[] = {
    RULE(CONF_DENY, "Bash", CONF_PREFIX, "rm -rf"),
    RULE(CONF_DENY, "Bash", CONF_GLOB, "*id_rsa*"),
    RULE(CONF_DENY, "Bash", CONF_EXACT, "reboot"),
    RULE(CONF_DENY, "Write", CONF_PREFIX, "/etc/"),
    RULE(CONF_DENY, "WebFetch", CONF_PREFIX, "https://evil.org"),
    NAMED_RULE(CONF_DENY, "mcp__*", "path", CONF_PREFIX, "/etc"),
    RULE(CONF_ALLOW, "*", CONF_ANY, NULL),
};
static const struct conf_rule order[] = {
    RULE(CONF_ASK, "Bash", CONF_PREFIX, "git status --ignored"),
    RULE(CONF_ALLOW, "Bash", CONF_PREFIX, "git status"),
    RULE(CONF_DENY, "Bash", CONF_PREFIX, "git"),
    RULE(CONF_ALLOW, "Bash", CONF_ANY, NULL),
};

static struct conf_agent agent_of(enum set set)
{
    static const struct {
        const struct conf_rule *rules;
        size_t n;
    } sets[SETS] = {
        [COMMANDS] = {commands, sizeof commands / sizeof *commands},
        [PATHS] = {paths, sizeof paths / sizeof *paths},
        [URLS] = {urls, sizeof urls / sizeof *urls},
        [NAMED] = {named, sizeof named / sizeof *named},
        [GLOBS] = {globs, sizeof globs / sizeof *globs},
        [TOOLS] = {tools, sizeof tools / sizeof *tools},
        [REFUSED] = {refused, sizeof refused / sizeof *refused},
        [ORDER] = {order, sizeof order / sizeof *order},
    };
    return (struct conf_agent){.rules = sets[set].rules, .n_rules = sets[set].n};
}

struct row {
    enum set set;
    const char *tool, *args;
    enum policy_action want;
    const char *name;
};

static const char *action_name(enum policy_action action)
{
    return action == ALLOW ? "allow" : action == DENY ? "deny" : "ask";
}

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct row *const r = &rows[i];
        const struct conf_agent agent = agent_of(r->set);
        const struct policy_decision v =
            policy_evaluate(&agent, r->tool, r->args, r->args ? strlen(r->args) : 0);
        is_str(action_name(v.action), action_name(r->want), "%s: %s", action_name(r->want),
               r->name);
    }
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))
#define BASH(text) "Bash", "{\"command\":\"" text "\"}"
#define WRITE(text) "Write", "{\"file_path\":\"" text "\",\"content\":\"x\"}"
#define FETCH(text) "WebFetch", "{\"url\":\"" text "\",\"prompt\":\"x\"}"

static void test_commands(void)
{
    static const struct row rows[] = {
        {COMMANDS, BASH("git status"), ALLOW, "the prefix itself"},
        {COMMANDS, BASH("git status -s"), ALLOW, "and a word more"},
        {COMMANDS, BASH("git status --porcelain src/a.c"), ALLOW, "and words more"},
        {COMMANDS, BASH("git\\u0020status"), ALLOW, "an escape of JSON is no other text"},
        {COMMANDS, "Bash",
         "{\"command\":\"git status\",\"description\":\"x\",\"timeout\":5,"
         "\"run_in_background\":true}",
         ALLOW, "what may stand beside a command"},
        {COMMANDS, BASH("make test"), ALLOW, "a prefix that ends with a blank"},
        {COMMANDS, BASH("make"), ASK, "which has to be there"},
        {COMMANDS, BASH("npm test && npm run lint"), ALLOW, "exact may have operators"},
        {COMMANDS, BASH("npm test && npm run lint; rm x"), ASK, "and nothing more"},
        {COMMANDS, BASH("git statusx"), ASK, "not half a word"},
        {COMMANDS, BASH("git status-x"), ASK, "a dash does not end a word"},
        {COMMANDS, BASH("git"), ASK, "less than the prefix"},
        {COMMANDS, BASH("echo git status"), ASK, "the prefix in the middle"},
        {COMMANDS, BASH(" git status"), ASK, "a blank in front"},
        {COMMANDS, BASH("git status "), ASK, "a blank behind"},
        {COMMANDS, BASH("git  status"), ASK, "two blanks"},
        {COMMANDS, BASH("GIT status"), ASK, "upper case"},
        {COMMANDS, BASH(""), ASK, "nothing"},
        {COMMANDS, BASH("git status; rm -rf /"), ASK, ";"},
        {COMMANDS, BASH("git status;rm"), ASK, "; without a blank"},
        {COMMANDS, BASH("git status & rm x"), ASK, "&"},
        {COMMANDS, BASH("git status && rm x"), ASK, "&&"},
        {COMMANDS, BASH("git status | sh"), ASK, "|"},
        {COMMANDS, BASH("git status || rm x"), ASK, "||"},
        {COMMANDS, BASH("git status > /etc/passwd"), ASK, ">"},
        {COMMANDS, BASH("git status >> x"), ASK, ">>"},
        {COMMANDS, BASH("git status < x"), ASK, "<"},
        {COMMANDS, BASH("git status <<< x"), ASK, "<<<"},
        {COMMANDS, BASH("git status `rm x`"), ASK, "backticks"},
        {COMMANDS, BASH("git status $(rm x)"), ASK, "$( )"},
        {COMMANDS, BASH("git status $HOME"), ASK, "a variable"},
        {COMMANDS, BASH("git status ${IFS}"), ASK, "${ }"},
        {COMMANDS, BASH("git status <(rm x)"), ASK, "<( )"},
        {COMMANDS, BASH("git status (x)"), ASK, "( )"},
        {COMMANDS, BASH("git status {a,b}"), ASK, "{ }"},
        {COMMANDS, BASH("git status 'x'"), ASK, "single quotes"},
        {COMMANDS, BASH("git status \\\"x\\\""), ASK, "double quotes"},
        {COMMANDS, BASH("git status \\\\x"), ASK, "a backslash"},
        {COMMANDS, BASH("git status\\nrm x"), ASK, "a newline"},
        {COMMANDS, BASH("git status \\nrm x"), ASK, "a newline behind a blank"},
        {COMMANDS, BASH("git status\\r\\nrm x"), ASK, "CR LF"},
        {COMMANDS, BASH("git status\\rrm x"), ASK, "CR"},
        {COMMANDS, BASH("git status\\t-s"), ASK, "a tab"},
        {COMMANDS, BASH("git status\\u000brm"), ASK, "a vertical tab"},
        {COMMANDS, BASH("git status\\u0000; rm x"), ASK, "NUL"},
        {COMMANDS, BASH("git status \\u001b[2K"), ASK, "an escape sequence"},
        {COMMANDS, BASH("git status \\u007f"), ASK, "DEL"},
        {COMMANDS, BASH("git status *"), ASK, "*"},
        {COMMANDS, BASH("git status ?"), ASK, "?"},
        {COMMANDS, BASH("git status [a]"), ASK, "[ ]"},
        {COMMANDS, BASH("git status ~root"), ASK, "~"},
        {COMMANDS, BASH("git status !!"), ASK, "!"},
        {COMMANDS, BASH("git status #x"), ASK, "#"},
        {COMMANDS, BASH("git status a=b"), ASK, "="},
        {COMMANDS, BASH("git status ^x"), ASK, "^"},
        {COMMANDS, BASH("git\u00a0status"), ASK, "a blank that does not break"},
        {COMMANDS, BASH("git status\u00a0x"), ASK, "and one behind"},
        {COMMANDS, BASH("git status\\u00a0x"), ASK, "and one in an escape"},
        {COMMANDS, BASH("git st\u0430tus"), ASK, "a Cyrillic a"},
        {COMMANDS, BASH("git status \uff1brm"), ASK, "a full-width semicolon"},
        {COMMANDS, BASH("git status \u037e rm"), ASK, "a Greek question mark"},
        {COMMANDS, BASH("git\u200b status"), ASK, "a blank of no width"},
        {COMMANDS, BASH("git status \u202erm"), ASK, "an override of the direction"},
        {COMMANDS, BASH("git status \u2028rm"), ASK, "a line separator"},
        {COMMANDS, BASH("git status \\u0085rm"), ASK, "NEL"},
        {COMMANDS, BASH("git status \\ud83d"), ASK, "half a surrogate"},
        {COMMANDS, BASH("git status e\u0301"), ASK, "a combining accent"},
    };
    CHECK(rows);
}

static void test_scripts(void)
{
    static const struct row rows[] = {
        {COMMANDS, "shell", "{\"command\":\"/bin/bash -lc 'git status -s'\",\"cwd\":\"/w\"}", ALLOW,
         "the script of a shell"},
        {COMMANDS, "shell", "{\"command\":\"sh -c ls\"}", ALLOW, "a script of one word"},
        {COMMANDS, "shell", "{\"command\":\"sh -c git\"}", ASK, "and of another"},
        {COMMANDS, "shell", "{\"command\":\"sh -c -ls\"}", ASK, "or an option"},
        {COMMANDS, "shell", "{\"command\":\"echo 'a' 'b'\"}", ALLOW, "exact, with quotes"},
        {COMMANDS, "shell", "{\"command\":\"sh -c 'echo 'a' 'b''\"}", ASK, "quotes in quotes"},
        {COMMANDS, "shell", "{\"command\":\"bash -lc 'npm test && npm run lint'\"}", ALLOW,
         "exact, the script"},
        {COMMANDS, "shell", "{\"command\":[\"git\",\"status\",\"-s\"]}", ALLOW, "an argv"},
        {COMMANDS, "shell", "{\"command\":[\"bash\",\"-lc\",\"git status -s\"]}", ALLOW,
         "an argv of a shell and a script"},
        {COMMANDS, "shell", "{\"command\":\"/bin/bash -lc 'git status; rm x'\"}", ASK,
         "an operator in the script"},
        {COMMANDS, "shell", "{\"command\":\"/bin/bash -lc 'git status' 'rm x'\"}", ASK,
         "another word behind the script"},
        {COMMANDS, "shell", "{\"command\":\"/bin/bash -lc 'git status'; rm x\"}", ASK,
         "an operator behind the script"},
        {COMMANDS, "shell", "{\"command\":\"/tmp/bash -lc 'git status'\"}", ASK,
         "another shell than that of the system"},
        {COMMANDS, "shell", "{\"command\":\"bash -ic 'git status'\"}", ASK, "other options"},
        {COMMANDS, "shell", "{\"command\":[\"bash\",\"-lc\",\"git status; rm x\"]}", ASK,
         "an operator in the script of an argv"},
        {COMMANDS, "shell", "{\"command\":[\"git\",\"status -s\"]}", ASK, "a blank in a word"},
        {COMMANDS, "shell", "{\"command\":[\"git status\"]}", ASK, "a program with a blank"},
        {COMMANDS, "shell", "{\"command\":[\"git\",\"status\",\";\",\"rm\"]}", ASK,
         "an operator in an argv"},
        {COMMANDS, "shell", "{\"command\":[\"git\",[\"status\"]]}", ASK, "a list in an argv"},
        {COMMANDS, "shell", "{\"command\":[\"git\",1]}", ASK, "a number in an argv"},
        {COMMANDS, "shell", "{\"command\":[]}", ASK, "an empty argv"},
    };
    CHECK(rows);
}

static void test_readers(void)
{
    static const struct row rows[] = {
        {COMMANDS, "Bash", NULL, ASK, "no arguments"},
        {COMMANDS, "Bash", "", ASK, "empty arguments"},
        {COMMANDS, "Bash", "{}", ASK, "none of them"},
        {COMMANDS, "Bash", "{\"command\":\"git status\"", ASK, "an object that does not end"},
        {COMMANDS, "Bash", "{\"command\":\"git status\"} x", ASK, "something behind it"},
        {COMMANDS, "Bash", "[\"git status\"]", ASK, "a list"},
        {COMMANDS, "Bash", "\"git status\"", ASK, "a string"},
        {COMMANDS, "Bash", "{\"command\":null}", ASK, "null"},
        {COMMANDS, "Bash", "{\"command\":1}", ASK, "a number"},
        {COMMANDS, "Bash", "{\"command\":{\"command\":\"git status\"}}", ASK, "an object"},
        {COMMANDS, "Bash", "{\"command\":\"git status\",\"command\":\"rm x\"}", ASK,
         "a key that is there twice"},
        {COMMANDS, "Bash", "{\"command\":\"rm x\",\"command\":\"git status\"}", ASK,
         "the other way round"},
        {COMMANDS, "Bash", "{\"command\":\"git status\",\"command\":\"git status\"}", ASK,
         "with one text"},
        {COMMANDS, "Bash", "{\"command\":\"git status\",\"comm\\u0061nd\":\"rm x\"}", ASK,
         "the second one escaped"},
        {COMMANDS, "Bash", "{\"command\":\"git status\",\"Command\":\"rm x\"}", ASK,
         "the second one in another case"},
        {COMMANDS, "Bash", "{\"command\":\"git status\",\"command\":1}", ASK, "the second no text"},
        {COMMANDS, "Bash", "{\"COMMAND\":\"git status\"}", ASK, "a key in another case"},
        {COMMANDS, "Bash", "{\"command\":\"git status\",\"c\u043emmand\":\"rm x\"}", ASK,
         "a key that only looks like it"},
        {COMMANDS, "Bash", "{\"x\":\"git status\"}", ASK, "another key"},
        {COMMANDS, "Bash", "{\"x\":\"git status\",\"command\":\"rm x\"}", ASK,
         "another key in front"},
        {COMMANDS, "Bash", "{\"command\":\"git status\",\"dangerouslyDisableSandbox\":true}", ASK,
         "a key that changes how it is run"},
        {COMMANDS, "bash", "{\"command\":\"git status\"}", ASK, "another tool"},
        {COMMANDS, "B\u0430sh", "{\"command\":\"git status\"}", ASK, "a look-alike of the tool"},
        {COMMANDS, "Bash ", "{\"command\":\"git status\"}", ASK, "the tool and a blank"},
        {COMMANDS, NULL, "{\"command\":\"git status\"}", ASK, "no tool"},
    };
    CHECK(rows);
}

static void test_paths(void)
{
    static const struct row rows[] = {
        {PATHS, WRITE("/srv/data"), ALLOW, "the folder itself"},
        {PATHS, WRITE("/srv/data/a/b c (1).txt"), ALLOW, "a file below"},
        {PATHS, WRITE("/srv/data/.hidden..x"), ALLOW, "dots in a name"},
        {PATHS, "Read", "{\"file_path\":\"/srv/pub/x\"}", ALLOW, "a prefix that ends with a slash"},
        {PATHS, "Read", "{\"file_path\":\"/srv/pub\"}", ASK, "not the folder itself"},
        {PATHS, "NotebookEdit", "{\"notebook_path\":\"/srv/data/n.ipynb\"}", ALLOW, "a notebook"},
        {PATHS, "edit", "{\"filePath\":\"/srv/data/x\"}", ALLOW, "the key of another agent"},
        {PATHS, "edit", "{\"filePath\":\"/srv/data/x\",\"path\":\"/etc/passwd\"}", ASK,
         "the keys of two agents"},
        {PATHS, "Glob", "{\"pattern\":\"/srv/data/x\"}", ALLOW, "a pattern without a star"},
        {PATHS, "Glob", "{\"pattern\":\"/srv/data/*\"}", ASK, "one with a star"},
        {PATHS, "Glob", "{\"pattern\":\"/srv/data/x\",\"path\":\"/etc\"}", ASK, "and a folder"},
        {PATHS, "Write", "{\"command\":\"/srv/data/x\",\"file_path\":\"/etc/passwd\"}", ASK,
         "the first key does not count"},
        {PATHS, "Write", "{\"file_path\":\"/srv/data/x\",\"f\u0456le_path\":\"/etc\"}", ASK,
         "a key that looks like it"},
        {PATHS, "Write", "{\"file_path\":[\"/srv/data/x\"]}", ASK, "a list"},
        {PATHS, WRITE("/srv/database"), ASK, "not half a name"},
        {PATHS, WRITE("/srv/data/../../etc/passwd"), ASK, ".."},
        {PATHS, WRITE("/srv/data/.."), ASK, ".. at the end"},
        {PATHS, WRITE("/srv/data/%2e%2e/etc"), ASK, "an encoded .."},
        {PATHS, WRITE("/srv/data/./x"), ASK, "."},
        {PATHS, WRITE("/srv/data//x"), ASK, "two slashes"},
        {PATHS, WRITE("//srv/data/x"), ASK, "two slashes in front"},
        {PATHS, WRITE("/srv/../srv/data/x"), ASK, "a detour"},
        {PATHS, WRITE("srv/data/x"), ASK, "a relative path"},
        {PATHS, WRITE(" /srv/data/x"), ASK, "a blank in front"},
        {PATHS, WRITE("~/srv/data/x"), ASK, "a home"},
        {PATHS, WRITE("/SRV/data/x"), ASK, "upper case"},
        {PATHS, WRITE("/srv/data\\\\..\\\\x"), ASK, "backslashes"},
        {PATHS, WRITE("/srv/data/$HOME"), ASK, "a variable"},
        {PATHS, WRITE("/srv/data/x\\u0000/etc"), ASK, "NUL"},
        {PATHS, WRITE("/srv/data/x\\ny"), ASK, "a newline"},
        {PATHS, WRITE("/srv/data/\u202etxt"), ASK, "an override of the direction"},
        {PATHS, WRITE("/srv/data/e\u0301"), ASK, "a name that is not normalised"},
        {PATHS, WRITE("/srv/data\u2215x"), ASK, "a slash that is none"},
        {PATHS, WRITE("/srv/data/\u2024\u2024/x"), ASK, "dots that are none"},
        {PATHS, WRITE("file:///srv/data/x"), ASK, "a URL"},
    };
    CHECK(rows);
}

static void test_urls(void)
{
    static const struct row rows[] = {
        {URLS, FETCH("https://example.com"), ALLOW, "the host"},
        {URLS, FETCH("https://example.com/a/b?c=d&e=%20#f"), ALLOW, "all of it"},
        {URLS, FETCH("https://example.com?x"), ALLOW, "a query at once"},
        {URLS, FETCH("https://docs.example.org/api/v1"), ALLOW, "below a path"},
        {URLS, FETCH("https://a.b.example.net/x/y"), ALLOW, "a glob"},
        {URLS, FETCH("https://docs.example.org/apiary"), ASK, "not half a name"},
        {URLS, FETCH("https://docs.example.org/other"), ASK, "another path"},
        {URLS, FETCH("https://docs.example.org/api/../x"), ASK, ".."},
        {URLS, FETCH("https://docs.example.org/api/%2e%2e/x"), ASK, "an encoded .."},
        {URLS, FETCH("https://docs.example.org/api/%2E./x"), ASK, "half an encoded .."},
        {URLS, FETCH("https://docs.example.org/api/..%2fx"), ASK, "an encoded slash"},
        {URLS, FETCH("https://docs.example.org/api/%252e%252e/x"), ASK, "encoded twice"},
        {URLS, FETCH("https://docs.example.org/api/..;/x"), ASK, "a parameter behind .."},
        {URLS, FETCH("https://docs.example.org/api/%zz"), ASK, "a broken escape"},
        {URLS, FETCH("https://docs.example.org/api/%2"), ASK, "half an escape"},
        {URLS, FETCH("https://example.com.evil.org"), ASK, "a longer host"},
        {URLS, FETCH("https://example.comevil.org"), ASK, "and without a dot"},
        {URLS, FETCH("https://example.com@evil.org"), ASK, "a user"},
        {URLS, FETCH("https://example.com:x@evil.org/"), ASK, "a user with a password"},
        {URLS, FETCH("https://example.com:8443/"), ASK, "another port"},
        {URLS, FETCH("https://example.com\\\\@evil.org"), ASK, "a backslash"},
        {URLS, FETCH("https://example.com\\t.evil.org"), ASK, "a tab that clients drop"},
        {URLS, FETCH("https://evil.org#.example.net/x"), ASK, "a fragment where the host is"},
        {URLS, FETCH("https://evil.org?.example.net/x"), ASK, "a query there"},
        {URLS, FETCH("https://evil.org/.example.net/x"), ASK, "a path there"},
        {URLS, FETCH("https://evil@a.example.net/x"), ASK, "a user there"},
        {URLS, FETCH("https://example.com?@evil.org"), ASK, "a user behind a query, for some"},
        {URLS, FETCH("https://example.com#@evil.org"), ASK, "and behind a fragment"},
        {URLS, FETCH("https://example.com/@evil.org"), ASK, "an @ in the path"},
        {URLS, FETCH("https://evil.org:80.example.net/x"), ASK, "a port that is none"},
        {URLS, FETCH("https://:1.example.net/x"), ASK, "no host"},
        {URLS, FETCH("https://a.example.net:/x"), ASK, "an empty port"},
        {URLS, FETCH("http://example.com"), ASK, "another scheme"},
        {URLS, FETCH("HTTPS://example.com"), ASK, "upper case"},
        {URLS, FETCH("https:/example.com"), ASK, "one slash"},
        {URLS, FETCH("//example.com"), ASK, "no scheme"},
        {URLS, FETCH("example.com"), ASK, "nor slashes"},
        {URLS, FETCH("x:https://example.com"), ASK, "another scheme in front"},
        {URLS, FETCH("https://ex\u0430mple.com"), ASK, "a Cyrillic a"},
        {URLS, FETCH("https://example\u3002com"), ASK, "an ideographic full stop"},
        {URLS, FETCH("https://example.com "), ASK, "a blank behind"},
    };
    CHECK(rows);
}

static void test_others(void)
{
    static const struct row rows[] = {
        {NAMED, "mcp__files__put", "{\"path\":\"/srv/data/x\"}", ALLOW, "an argument by its name"},
        {NAMED, "mcp__files__put", "{\"path\":\"/srv/data/../x\"}", ASK, "a detour in it"},
        {NAMED, "mcp__files__put", "{\"path\":\"/srv/data/x; rm\"}", ASK, "an operator in it"},
        {NAMED, "mcp__files__put", "{\"path\":\"/srv/data/(x)\"}", ASK,
         "what a shell makes use of"},
        {NAMED, "mcp__run__it", "{\"line\":\"git status | sh\"}", ASK,
         "an operator behind a blank"},
        {NAMED, "mcp__files__put", "{\"to\":\"/srv/data/x\"}", ASK, "another argument"},
        {NAMED, "mcp__files__put", "{\"path\":[\"/srv/data/x\"]}", ASK, "a list"},
        {NAMED, "mcp__files__p ut", "{\"path\":\"/srv/data/x\"}", ASK, "a tool with a blank"},
        {NAMED, "mcp__web__get", "{\"uri\":\"https://example.com/x\"}", ALLOW, "a URL by its name"},
        {NAMED, "mcp__web__get", "{\"uri\":\"https://example.com.evil.org\"}", ASK,
         "and another host"},
        {NAMED, "mcp__run__it", "{\"line\":\"git status -s\"}", ALLOW, "a command by its name"},
        {NAMED, "mcp__run__it", "{\"line\":\"git status|sh\"}", ASK, "and an operator"},
        {NAMED, "mcp__other__it", "{\"command\":\"git status\"}", ASK,
         "no argument is guessed of a tool that is not known"},
        {GLOBS, BASH("npm run lint"), ALLOW, "a star for a word"},
        {GLOBS, BASH("npm run lint x"), ASK, "not for two"},
        {GLOBS, BASH("npm run lint;x"), ASK, "nor for an operator"},
        {GLOBS, BASH("cat src/a/b.c"), ALLOW, "slashes in a word"},
        {GLOBS, BASH("cat src/../../etc/passwd"), ASK, "that do not lead up"},
        {GLOBS, "Read", "{\"file_path\":\"/srv/x/readme.md\"}", ALLOW, "a star in a path"},
        {GLOBS, "Read", "{\"file_path\":\"/srv/x/y/readme.md\"}", ASK, "is one component"},
        {GLOBS, "Read", "{\"file_path\":\"/srv/x/readme./d\"}", ASK, "a ? is no slash"},
        {GLOBS, "Read", "{\"file_path\":\"/opt/a/b/doc/c\"}", ALLOW, "two stars are many"},
        {GLOBS, "Read", "{\"file_path\":\"/opt/a/doc/b/c\"}", ASK, "up to the one behind"},
        {GLOBS, "Read", "{\"file_path\":\"/opt/doc/doc/b/doc/c\"}", ALLOW, "wherever that is"},
        {TOOLS, "Read", NULL, ALLOW, "a tool whatever its arguments"},
        {TOOLS, "mcp__files__get", "{}", ALLOW, "tools by a glob"},
        {TOOLS, "mcp__files__\u0430", "{}", DENY, "but a plain name only"},
        {TOOLS, "mcp__x__get", "{}", DENY, "those behind are denied"},
        {TOOLS, "mcp__\xff", "{}", DENY, "whatever they are called"},
        {TOOLS, NULL, NULL, ASK, "no tool is any tool"},
        {ORDER, BASH("git status"), ALLOW, "the first that fits"},
        {ORDER, BASH("git status --ignored"), ASK, "asks before it allows"},
        {ORDER, BASH("git push"), DENY, "what is left is denied"},
        {ORDER, BASH("git status; x"), DENY, "and what is not plain"},
        {ORDER, BASH("ls"), ALLOW, "the rest is not about git"},
    };
    CHECK(rows);
}

static void test_denied(void)
{
    static const struct row rows[] = {
        {REFUSED, BASH("rm -rf /"), DENY, "as it stands"},
        {REFUSED, BASH("rm -rfv"), DENY, "by bytes"},
        {REFUSED, BASH("  \\n\\trm -rf /"), DENY, "blanks in front"},
        {REFUSED, BASH("rm  -rf /"), DENY, "two blanks"},
        {REFUSED, BASH("rm\\t-rf /"), DENY, "a tab"},
        {REFUSED, BASH("cd / && rm -rf x"), DENY, "behind another command"},
        {REFUSED, BASH("true;rm -rf x"), DENY, "without a blank"},
        {REFUSED, BASH("true\\nrm -rf x"), DENY, "on another line"},
        {REFUSED, BASH("echo $(rm -rf x)"), DENY, "in a substitution"},
        {REFUSED, BASH("echo `rm -rf x`"), DENY, "in backticks"},
        {REFUSED, BASH("(rm -rf x)"), DENY, "in a subshell"},
        {REFUSED, BASH("{ rm -rf x; }"), DENY, "in a group"},
        {REFUSED, BASH("r\\\\m -rf x"), DENY, "with a backslash"},
        {REFUSED, BASH("r\\\\\\nm -rf x"), DENY, "over two lines"},
        {REFUSED, BASH("x; r\\\\\\nm -rf x"), DENY, "and behind another"},
        {REFUSED, BASH("'rm' \\\"-rf\\\" x"), DENY, "with quotes"},
        {REFUSED, BASH("/bin/rm -rf x"), DENY, "by its path"},
        {REFUSED, BASH("sudo rm -rf x"), DENY, "behind sudo"},
        {REFUSED, BASH("sudo -n env A=1 rm -rf x"), DENY, "behind more"},
        {REFUSED, BASH("A=1 B=2 rm -rf x"), DENY, "behind variables"},
        {REFUSED, BASH("bash -lc 'rm -rf x'"), DENY, "as a script"},
        {REFUSED, BASH("if true; then rm -rf x; fi"), DENY, "as a branch"},
        {REFUSED, "Bash", "{\"command\":[\"bash\",\"-lc\",\"rm -rf x\"]}", DENY, "in an argv"},
        {REFUSED, "Bash", "{\"command\":[\"rm\",\"-rf\",\"x\"]}", DENY, "as an argv"},
        {REFUSED, "Bash", "{\"command\":\"ls\",\"command\":\"rm -rf x\"}", DENY, "there twice"},
        {REFUSED, "Bash", "{\"command\":\"rm -rf x\",\"command\":\"ls\"}", DENY, "or first"},
        {REFUSED, "Bash", "{\"Command\":\"rm -rf x\"}", DENY, "in another case"},
        {REFUSED, BASH("echo rm -rf"), ALLOW, "as words of another"},
        {REFUSED, BASH("cat ~/.ssh/id_rsa"), DENY, "a glob anywhere"},
        {REFUSED, BASH("cat ~/.ssh/id_'r'sa"), DENY, "through quotes"},
        {REFUSED, BASH("reboot"), DENY, "exact"},
        {REFUSED, BASH(" sudo reboot "), DENY, "exact behind sudo"},
        {REFUSED, BASH("reboots"), ALLOW, "another word"},
        {REFUSED, "Bash", "{\"command\":{\"a\":\"rm -rf x\"}}", ASK,
         "what cannot be read is not allowed by a rule behind"},
        {REFUSED, "Bash", "{\"command\":\"ls\",\"command\":[1]}", ASK, "nor one of two"},
        {REFUSED, "Bash", "{\"c\u043emmand\":\"rm -rf x\"}", ASK, "nor what is not there"},
        {REFUSED, "Bash", "{\"command\":\"ls\"", ASK, "nor what is no object"},
        {REFUSED, WRITE("/etc/passwd"), DENY, "a path"},
        {REFUSED, WRITE("//etc/passwd"), DENY, "with two slashes"},
        {REFUSED, WRITE("/etc"), DENY, "the folder"},
        {REFUSED, WRITE("/srv/../etc/passwd"), DENY, "by a detour"},
        {REFUSED, WRITE("/srv/./../../etc/./passwd"), DENY, "by a long one"},
        {REFUSED, WRITE("../../etc/passwd"), ASK, "from a folder that is not known"},
        {REFUSED, WRITE("~/x"), ASK, "or a home"},
        {REFUSED, WRITE("/etcetera"), ALLOW, "another path"},
        {REFUSED, WRITE("/etc/../srv/x"), DENY, "what begins with it, too"},
        {REFUSED, FETCH("https://evil.org/x"), DENY, "a URL"},
        {REFUSED, FETCH("HTTPS://EVIL.org"), DENY, "in upper case"},
        {REFUSED, FETCH("https:\\\\\\\\evil.org"), DENY, "with backslashes"},
        {REFUSED, FETCH("https://e\\nvil.org"), DENY, "with a newline"},
        {REFUSED, FETCH("https://a:b@evil.org"), DENY, "with a user"},
        {REFUSED, FETCH("https://good.org/https://evil.org"), ALLOW, "as the path of another"},
        {REFUSED, "mcp__f__x", "{\"path\":\"/srv/../etc/passwd\"}", DENY, "of any tool"},
        {REFUSED, "mcp__f__x", "{\"other\":\"/etc\"}", ASK, "that may say it in another way"},
        {REFUSED, "Other", "{}", ALLOW, "what no rule is about"},
    };
    CHECK(rows);
}

/* {"command":"TEXT AAAA…"} */
static enum policy_action judge_long(enum set set, const char *text, size_t len)
{
    struct buf args = {0};
    const struct conf_agent agent = agent_of(set);
    buf_printf(&args, "{\"command\":\"%s ", text);
    while (args.len < len)
        buf_add_char(&args, 'a');
    buf_add_str(&args, "\"}");
    const struct policy_decision v = policy_evaluate(&agent, "Bash", args.p, args.len);
    buf_fini(&args);
    return v.action;
}

static void test_long(void)
{
    is_int(judge_long(COMMANDS, "git status", 1000), ALLOW, "1,000 bytes are allowed");
    is_int(judge_long(COMMANDS, "git status", 5000), ASK, "5,000 are not plain");
    is_int(judge_long(COMMANDS, "git status", 16 << 20), ASK, "nor are 16 MiB");
    is_int(judge_long(REFUSED, "ls", 100000), ALLOW, "100,000 bytes can be told");
    is_int(judge_long(REFUSED, "ls", 200000), DENY, "200,000 cannot be run: taken for it");
    is_int(judge_long(REFUSED, "ls", 16 << 20), DENY, "nor can 16 MiB");
}

/* What is too long to be read is remembered by all of it. */
static void test_long_argument(void)
{
    struct buf args = {0};
    struct arena a = {0};
    buf_add_str(&args, "{\"command\":\"");
    while (args.len < 1 << 20)
        buf_add_str(&args, "aaaaaaaa");
    buf_add_str(&args, "\"}");
    is_str(policy_approval_key(&a, "Bash", args.p, args.len), args.p,
           "a mebibyte is remembered whole");
    arena_fini(&a);
    buf_fini(&args);
}

static void test_many(void)
{
    struct buf args = {0};
    const struct conf_agent agent = agent_of(COMMANDS);
    buf_add_str(&args, "{\"command\":\"git status\"");
    for (int i = 0; i < 100000; i++)
        buf_printf(&args, ",\"k%d\":1", i);
    buf_add_char(&args, '}');
    is_int(policy_evaluate(&agent, "Bash", args.p, args.len).action, ASK, "100,000 members");
    buf_fini(&args);
}

/* What a call is remembered by. */
static void test_argument(void)
{
    static const struct {
        const char *tool, *args, *want, *name;
    } rows[] = {
        {"Bash", "{\"command\":\"rm x; ls\",\"description\":\"d\"}", "rm x; ls", "a command"},
        {"Bash", "{\"command\":\"ls\", \"cwd\":\"/w\"}", "{\"command\":\"ls\",\"cwd\":\"/w\"}",
         "with its folder: all"},
        {"Bash", "{\"command\":[\"ls\", \"x\"]}", "{\"command\":[\"ls\",\"x\"]}", "an argv: all"},
        {"Bash", "{\"command\":\"ls\",\"command\":\"x\"}", "{\"command\":\"ls\",\"command\":\"x\"}",
         "twice: all"},
        {"Bash", "{\"command\":\"{x\"}", "{\"command\":\"{x\"}", "a brace in front: all"},
        {"Bash", "{\"command\":\"x\\u0000\"}", "{\"command\":\"x\\ufffd\"}", "NUL: all"},
        {"Write", "{\"file_path\":\"/a\u00e4\",\"content\":\"c\"}", "/a\u00e4", "a path"},
        {"WebFetch", "{\"url\":\"https://x\",\"prompt\":\"p\"}", "https://x", "a URL"},
        {"mcp__x__y", "{ \"a\": 1 }", "{\"a\":1}", "of a tool that is not known: all"},
        {"mcp__x__y", "{}", NULL, "nothing"},
        {"Bash", "[1]", NULL, "no object"},
        {"apply_patch", NULL, NULL, "no arguments"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        const char *const args = rows[i].args;
        is_str(policy_approval_key(&a, rows[i].tool, args, args ? strlen(args) : 0), rows[i].want,
               "remembered by: %s", rows[i].name);
        arena_fini(&a);
    }
}

static void test_rule(void)
{
    const struct conf_agent agent = agent_of(ORDER), none = {0}, denying = agent_of(REFUSED);
    const char args[] = "{\"command\":\"git push\"}", odd[] = "{\"command\":1}";
    ok(policy_evaluate(&agent, "Bash", args, strlen(args)).rule == &agent.rules[2],
       "the rule that fits is told");
    ok(!policy_evaluate(&agent, "Read", args, strlen(args)).rule, "none is NULL");
    const struct policy_decision v = policy_evaluate(&denying, "Bash", odd, strlen(odd));
    ok(v.action == ASK && v.rule == &denying.rules[0], "the rule in doubt is told");
    const struct policy_decision w = policy_evaluate(&none, "Bash", args, strlen(args));
    ok(w.action == ASK && !w.rule, "without rules somebody is asked");
}

int main(void)
{
    plan_lazy();
    test_commands();
    test_scripts();
    test_readers();
    test_paths();
    test_urls();
    test_others();
    test_denied();
    test_long();
    test_long_argument();
    test_many();
    test_argument();
    test_rule();
    return 0;
}
