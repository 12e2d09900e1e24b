/* SPDX-License-Identifier: MIT
 * Broken configurations, each with the line it must be answered with. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "tap/tap.h"

#define AGENT "agents : { a : { command = [\"x\"];\n"
#define INSTANCE "plugins : { instances : { i : {\n"
#define ENDED " } }"
#define KEY "http : { keys : {\n"
#define KEYS_END " }; };"

/* The message stands behind "FILE:"; without a number it is about the file itself. */
static const struct {
    const char *text, *message;
} rows[] = {
    /* what libconfig says */
    {"a = ", "1: syntax error on or before this line; check quotes, semicolons and braces"},
    {"\n\nagents : {\n",
     "4: syntax error on or before this line; check quotes, semicolons and braces"},
    {"agents : { };\nagents : { };", "2: duplicate setting name; remove one of them"},
    {"agents : {\n a : { command = [\"x\"]; };\n a : { command = [\"y\"]; };\n};",
     "3: duplicate setting name; remove one of them"},
    {INSTANCE "plugin = \"x\";\nplugin = \"y\";" ENDED " }",
     "3: duplicate setting name; remove one of them"},
    {AGENT "env_pass = [\"A\", 1];" ENDED, "2: mismatched element type in array"},
    {"log : { level = loud; };",
     "1: syntax error on or before this line; check quotes, semicolons and braces"},
    {"log : { level = \"warn };\n",
     "2: syntax error on or before this line; check quotes, semicolons and braces"},
    /* what it lets pass */
    {"\n@includes \"other.conf\"\n", "2: unknown directive; use @include \"FILE\""},
    {"a = 99999999999999999999;", "1: number out of range (64 bits)"},
    {"# ok\na = 0xFFFFFFFFFFFFFFFFF;", "2: number out of range (64 bits)"},
    {"a = -9223372036854775809L;", "1: number out of range (64 bits)"},
    {"a = 1;\nb = \"\xff\";", "2: invalid UTF-8"},
    /* the top */
    {"agent : { };", "1: agent: unknown key (did you mean \"agents\"?)"},
    {"\nplugin : { };", "2: plugin: unknown key (did you mean \"plugins\"?)"},
    {"zzz = 1;", "1: zzz: unknown key; valid keys: agents, default_agent, plugins, visibility, "
                 "state_directory, conversations, budgets, http, store, proxy, host, sessions, "
                 "bus, retention, log"},
    {"agents = 1;", "1: agents: expected a group, found an integer"},
    {"agents = ({ command = [\"x\"]; });", "1: agents: expected a group, found a list"},
    {"plugins = \"x\";", "1: plugins: expected a group, found a string"},
    {"visibility = true;", "1: visibility: expected a group, found true or false"},
    {"log = 1.5;", "1: log: expected a group, found a real number"},
    {"state_directory = 1;", "1: state_directory: expected a string, found an integer"},
    {"state_directory = \"\";", "1: state_directory: must not be empty; set it or remove it"},
    {"default_agent = [\"a\"];", "1: default_agent: expected a string, found a list"},
    {"\ndefault_agent = \"b\";\n" AGENT ENDED,
     "2: default_agent: unknown agent \"b\" (configured: a)"},
    {"plugins : { instances : {\nopenai : { plugin = \"x\"; }; }; };",
     "2: plugins.instances.openai: instance name \"openai\" is reserved; choose another name"},
    {"plugins : { instances : {\n\nhttp : { }; }; };",
     "3: plugins.instances.http: instance name \"http\" is reserved; choose another name"},
    /* approvals */
    {AGENT "approvals = { };" ENDED,
     "2: agents.a.approvals: expected a list of groups, found a group"},
    {AGENT "approvals = ( 1 );" ENDED,
     "2: agents.a.approvals[0]: expected a group, found an integer"},
    {AGENT "approvals = ( { tool = \"x\"; } );" ENDED,
     "2: agents.a.approvals[0]: required key \"action\" is missing; values: allow, deny, ask"},
    {AGENT "approvals = (\n{ action = \"ask\"; tool = \"x\"; },\n{ action = \"allow\"; } );" ENDED,
     "4: agents.a.approvals[1]: required key \"tool\" is missing; add the name of a tool, or "
     "\"*\""},
    {AGENT "approvals = ( { action = \"permit\"; } );" ENDED,
     "2: agents.a.approvals[0].action: invalid value \"permit\"; valid values: ask, allow, deny"},
    {AGENT "approvals = ( { action = \"ask\"; tool = \"\"; } );" ENDED,
     "2: agents.a.approvals[0].tool: must not be empty; set it or remove it"},
    {AGENT "approvals = ( { action = \"ask\"; tol = \"x\"; } );" ENDED,
     "2: agents.a.approvals[0].tol: unknown key (did you mean \"tool\"?)"},
    {AGENT
     "approvals = ( { action = \"ask\"; tool = \"x\"; exact = \"a\"; glob = \"b\"; } );" ENDED,
     "2: agents.a.approvals[0].glob: set only one of exact, prefix and glob"},
    {AGENT "approvals = ( { action = \"ask\"; tool = \"x\"; prefix = \"\"; } );" ENDED,
     "2: agents.a.approvals[0].prefix: must not be empty; set it or remove it"},
    {AGENT "approvals = ( { action = \"ask\"; tool = \"x\"; argument = \"a\"; } );" ENDED,
     "2: agents.a.approvals[0]: argument requires one of exact, prefix and glob; set one"},
    {"plugins : { instances : { telegram : { }; }; };\n" AGENT
     "approvals = (\n{ action = \"ask\"; tool = \"x\"; to = [\"tlegram\"]; } );" ENDED,
     "4: agents.a.approvals: to: unknown instance \"tlegram\" (did you mean \"telegram\"?)"},
    {"agents : { claude : { command = [\"x\"]; }; };\ndefault_agent = \"cluade\";",
     "2: default_agent: unknown agent \"cluade\" (did you mean \"claude\"?)"},
    {AGENT "approvals = ( { action = \"deny\"; tool = \"x\"; to = [\"cli\"]; } );" ENDED,
     "2: agents.a.approvals[0]: to is only valid with action = \"ask\"; remove it or change "
     "action"},
    {AGENT "approvals = ( { action = \"ask\"; tool = \"x\"; to = [ ]; } );" ENDED,
     "2: agents.a.approvals[0].to: expected 1 to 20 places, found 0"},
    {AGENT "approvals = ( { action = \"ask\"; tool = \"x\"; to = [\"cli:\"]; } );" ENDED,
     "2: agents.a.approvals[0].to[0]: invalid place \"cli:\"; use INSTANCE, INSTANCE:CHAT or "
     "INSTANCE:CHAT:THREAD"},
    {AGENT "approvals = (\n{ action = \"ask\"; tool = \"x\"; to = [\"tg\"]; } );" ENDED,
     "3: agents.a.approvals: to: unknown instance \"tg\" (configured: cli)"},
    {AGENT "approvals = ( { action = \"allow\"; tool = \"x\"; prefix = \" ls\"; } );" ENDED,
     "2: agents.a.approvals[0]: pattern begins with a space and can never match; remove the space"},
    {AGENT "approvals = ( { action = \"allow\"; tool = \"x\"; prefix = \"ls | cat\"; } );" ENDED,
     "2: agents.a.approvals[0]: pattern can never match: prefix and glob do not allow shell "
     "operators, quotes or non-ASCII characters; use exact"},
    {AGENT "approvals = ( { action = \"allow\"; tool = \"x\"; glob = \"/\u00e4/*\"; } );" ENDED,
     "2: agents.a.approvals[0]: pattern can never match: prefix and glob do not allow shell "
     "operators, quotes or non-ASCII characters; use exact"},
    {AGENT "approvals = ( { action = \"allow\"; tool = \"x\"; prefix = \"https://\"; } );" ENDED,
     "2: agents.a.approvals[0]: pattern with a URL must include the host, for example "
     "https://example.org"},
    {AGENT
     "approvals = ( { action = \"allow\"; tool = \"x\"; prefix = \"https://a@b/\"; } );" ENDED,
     "2: agents.a.approvals[0]: host of the URL must not contain \"@\""},
    {AGENT "ask_timeout_s = -1;" ENDED,
     "2: agents.a.ask_timeout_s: -1 s is out of range; use 0 to 2592000 s"},
    {AGENT "ask_timeout = 5;" ENDED,
     "2: agents.a.ask_timeout: unknown key (did you mean \"ask_timeout_s\"?)"},
    /* conversations and http */
    {"conversations : { debounce_s = 1; };",
     "1: conversations.debounce_s: unknown key (did you mean \"debounce_ms\"?)"},
    {"conversations : { queue = 0; };", "1: conversations.queue: 0 is out of range; use 1 to 1000"},
    {"conversations : { max_turns = 10001; };",
     "1: conversations.max_turns: 10001 is out of range; use 1 to 10000"},
    {"conversations : { per_user = 0; };",
     "1: conversations.per_user: 0 is out of range; use 1 to 10000"},
    {"conversations : { debounce_ms = 60001; };",
     "1: conversations.debounce_ms: 60001 is out of range; use 0 to 60000"},
    {"conversations : { drain_s = -1; };",
     "1: conversations.drain_s: -1 s is out of range; use 0 to 3600 s"},
    {"http : { listen = 8089; };", "1: http.listen: expected a string, found an integer"},
    {"http : {\n listen = \"localhost:8089\"; };",
     "2: http.listen: invalid address \"localhost:8089\"; use ADDRESS:PORT, for example "
     "127.0.0.1:8089 or [::1]:8089"},
    {"http : { listen = \"127.0.0.1\"; };",
     "1: http.listen: invalid address \"127.0.0.1\"; use ADDRESS:PORT, for example 127.0.0.1:8089 "
     "or [::1]:8089"},
    {"http : { listen = \"127.0.0.1:\"; };",
     "1: http.listen: invalid address \"127.0.0.1:\"; use ADDRESS:PORT, for example 127.0.0.1:8089 "
     "or [::1]:8089"},
    {"http : { listen = \"127.0.0.1:65536\"; };",
     "1: http.listen: invalid address \"127.0.0.1:65536\"; use ADDRESS:PORT, for example "
     "127.0.0.1:8089 or [::1]:8089"},
    {"http : { listen = \"::1:80\"; };", "1: http.listen: invalid address \"::1:80\"; use "
                                         "ADDRESS:PORT, for example 127.0.0.1:8089 or [::1]:8089"},
    {"\nhttp : { listen = \"0.0.0.0:8089\"; };",
     "2: http: 0.0.0.0:8089 is reachable from other machines; set http.allow_remote = true to "
     "permit this"},
    {"http : { listen = \"[::]:8089\"; allow_remote = false; };",
     "1: http: [::]:8089 is reachable from other machines; set http.allow_remote = true to permit "
     "this"},
    {"\nhttp : { listen = \"0.0.0.0:8089\"; allow_remote = true; };",
     "2: http: 0.0.0.0:8089 is reachable from other machines; define at least one key in "
     "http.keys"},
    {"http : { listen = \"0.0.0.0:8089\"; allow_remote = true; keys : { }; };",
     "1: http: 0.0.0.0:8089 is reachable from other machines; define at least one key in "
     "http.keys"},
    {"http : { hosts = \"a\"; };",
     "1: http.hosts: expected a list of strings, found a string; for example [\"a\", \"b\"]"},
    {"http : { hosts = [\"a\", \"a:80\"]; };",
     "1: http.hosts[1]: invalid host name \"a:80\"; use a name without a port, for example "
     "bot.example.org"},
    {"http : { hosts = [\"\"]; };", "1: http.hosts[0]: invalid host name \"\"; use a name without "
                                    "a port, for example bot.example.org"},
    {"http : { hosts = [\"[]\"]; };", "1: http.hosts[0]: invalid host name \"[]\"; use a name "
                                      "without a port, for example bot.example.org"},
    {"http : { origins = [\"example.org\"]; };",
     "1: http.origins[0]: invalid origin \"example.org\"; use SCHEME://HOST[:PORT], for example "
     "https://bot.example.org"},
    {"http : { origins = [\"https://a\",\n \"https://a/\"]; };",
     "2: http.origins[1]: invalid origin \"https://a/\"; use SCHEME://HOST[:PORT], for example "
     "https://bot.example.org"},
    {"http : { origins = [\"*\"]; };", "1: http.origins[0]: invalid origin \"*\"; use "
                                       "SCHEME://HOST[:PORT], for example https://bot.example.org"},
    {"http : { visibility = \"none\"; };",
     "1: http.visibility: invalid value \"none\"; valid values: agent, all"},
    {"http : { disconnect_grace_s = 4000; };",
     "1: http.disconnect_grace_s: 4000 s is out of range; use 0 to 3600 s"},
    {"http : {\n max_body = 100; };",
     "2: http.max_body: 100 is out of range; use 65536 to 67108864"},
    {"http : {\n on_disconnect = true; };",
     "2: http.on_disconnect: expected a string, found true or false"},
    {"http : { on_disconnect = \"stop\"; };",
     "1: http.on_disconnect: invalid value \"stop\"; valid values: cancel, continue"},
    {"http : { final_text = \"twice\"; };",
     "1: http.final_text: invalid value \"twice\"; valid values: once, repeated"},
    {"http : { keys = [\"a\"]; };", "1: http.keys: expected a group, found a list"},
    {KEY "a = \"secret\";" KEYS_END, "2: http.keys.a: expected a group, found a string"},
    {KEY "a* : { };" KEYS_END, "2: http.keys.a*: invalid name; use letters, digits, \"-\" "
                               "and \"_\", at most 100 characters"},
    {KEY "a : { grants = [\"watch\"]; };" KEYS_END,
     "2: http.keys.a: required key \"secret_file\" is missing; add the path of a file"},
    {KEY "a : { secret = \"x\"; };" KEYS_END,
     "2: http.keys.a: required key \"grants\" is missing; values: submit, cancel, watch, answer"},
    {KEY "a : { secret = \"x\"; grants = []; };" KEYS_END,
     "2: http.keys.a: required key \"grants\" is missing; values: submit, cancel, watch, answer"},
    {KEY "a : { secret = \"x\"; grants = [\"approve\"]; };" KEYS_END,
     "2: http.keys.a.grants[0]: invalid value \"approve\"; valid values: submit, cancel, watch, "
     "answer"},
    {KEY "a : { secret = \"x\";\n secret_file = \"y\"; };" KEYS_END,
     "3: http.keys.a.secret_file: set either secret or secret_file, not both"},
    {KEY "a : { secret = \"\"; };" KEYS_END,
     "2: http.keys.a.secret: must not be empty; set it or remove it"},
    {KEY "a : { secrt = \"x\"; };" KEYS_END,
     "2: http.keys.a.secrt: unknown key (did you mean \"secret\"?)"},
/* proxy */
#define NOT_PROXY                                                                                  \
    "1: proxy.url: invalid proxy URL; use SCHEME://HOST:PORT, where SCHEME is http, https, "       \
    "socks5 or socks5h; set a user and password in proxy.credentials"
    {"proxy : { };",
     "1: proxy: required key \"url\" is missing; for example http://proxy.example.org:3128"},
    {"proxy : { url = \"proxy:3128\"; };", NOT_PROXY},
    {"proxy : { url = \"ftp://proxy:21\"; };", NOT_PROXY},
    {"proxy : { url = \"http://\"; };", NOT_PROXY},
    {"proxy : { url = \"http://[]:1\"; };", NOT_PROXY},
    {"proxy : { url = \"http://proxy:0\"; };", NOT_PROXY},
    {"proxy : { url = \"http://proxy:1/\"; };", NOT_PROXY},
    {"proxy : { url = \"http://ann:secret@proxy:3128\"; };", NOT_PROXY},
    {"proxy : { url = \"http://proxy:1\"; credentials = \"ann\"; };",
     "1: proxy.credentials: invalid credentials; use USER:PASSWORD"},
    {"proxy : { url = \"http://proxy:1\"; credentials = \"env:TURNCAST_NO_SUCH\"; };",
     "1: proxy.credentials: environment variable TURNCAST_NO_SUCH is not set; set it where "
     "turncast is started"},
    {"proxy : { url = \"http://proxy:1\"; no_proxy = [\"a:80\"]; };",
     "1: proxy.no_proxy[0]: invalid host \"a:80\"; use the name of a host or domain, for example "
     "example.org, or an address, without a port"},
/* host, bus */
#define NOT_BUS(at)                                                                                \
    at ": invalid URL; use nats://HOST:PORT or tls://HOST:PORT; set a user and password in "       \
       "credentials"
#define BUS "bus : { url = [\"nats://127.0.0.1:4222\"];\n"
    {"host : { name = \"a b\"; };",
     "1: host.name: invalid name \"a b\"; use at most 32 letters, digits, - and _"},
    {"host : { name = \"a23456789012345678901234567890123\"; };",
     "1: host.name: invalid name \"a23456789012345678901234567890123\"; use at most 32 letters, "
     "digits, - and _"},
    {"host : { names = \"a\"; };", "1: host.names: unknown key (did you mean \"name\"?)"},
    {"host = \"a\";", "1: host: expected a group, found a string"},
    {"bus : { };",
     "1: bus: required key \"url\" is missing; for example [\"nats://127.0.0.1:4222\"]"},
    {"bus : { url = \"nats://127.0.0.1:4222\"; };",
     "1: bus.url: expected a list of strings, found a string; for example [\"a\", \"b\"]"},
    {"bus : { url = [ ]; };", "1: bus.url: must not be empty; set it or remove it"},
    {"bus : { url = [\"nats://a:1\",\n\"a:1\"]; };", NOT_BUS("2: bus.url[1]")},
    {"bus : { url = [\"nats://127.0.0.1\"]; };", NOT_BUS("1: bus.url[0]")},
    {"bus : { url = [\"nats://127.0.0.1:0\"]; };", NOT_BUS("1: bus.url[0]")},
    {"bus : { url = [\"nats://:4222\"]; };", NOT_BUS("1: bus.url[0]")},
    {"bus : { url = [\"nats://[]:4222\"]; };", NOT_BUS("1: bus.url[0]")},
    {"bus : { url = [\"nats://ann:secret@127.0.0.1:4222\"]; };", NOT_BUS("1: bus.url[0]")},
    {"bus : { url = [\"http://127.0.0.1:4222\"]; };", NOT_BUS("1: bus.url[0]")},
    {"\nbus : { url = [\"nats://127.0.0.1:1\", \"nats://10.0.0.5:4222\"]; };",
     "2: bus: nats://10.0.0.5:4222 is not on this machine, and the connection would not be "
     "encrypted; use tls://, set tls.ca, or set insecure = true"},
    {"bus : { url = [\"nats://localhost.example.org:4222\"]; };",
     "1: bus: nats://localhost.example.org:4222 is not on this machine, and the connection would "
     "not be encrypted; use tls://, set tls.ca, or set insecure = true"},
    {BUS "prefix = \"T.C\"; };",
     "2: bus.prefix: invalid prefix \"T.C\"; use at most 16 lower-case letters, digits and _"},
    {BUS "replicas = 2; };", "2: bus.replicas: invalid value; valid values: 1, 3, 5"},
    {BUS "replicas = 7; };", "2: bus.replicas: 7 is out of range; use 1 to 5"},
    {BUS "credentials = \"ann\"; };", "2: bus.credentials: invalid credentials; use USER:PASSWORD"},
    {BUS "credentials = \"env:TURNCAST_NO_SUCH\"; };",
     "2: bus.credentials: environment variable TURNCAST_NO_SUCH is not set; set it where turncast "
     "is started"},
    {BUS "tls : { cart = \"x\"; }; };", "2: bus.tls.cart: unknown key (did you mean \"cert\"?)"},
#define NOT_SENT                                                                                   \
    "contains a quotation mark, a backslash or a control character, but the NATS library cannot "  \
    "send these; choose another one"
    {BUS "credentials = \"ann:a\\\"b\"; };", "2: bus.credentials: " NOT_SENT},
    {BUS "token = \"a\\\\b\"; };", "2: bus.token: " NOT_SENT},
    {BUS "token = \"a\\tb\"; };", "2: bus.token: " NOT_SENT},
    {BUS "token = \"a\\nb\"; };", "2: bus.token: must be one line of text; remove the line break"},
    {BUS "token = \"\"; };", "2: bus.token: the secret is empty"},
    {BUS "tls : { cert = \"/dev/null\"; }; };",
     "2: bus.tls: cert and key belong together; set both or neither"},
    {BUS "tls : { cert = \"/dev/null\"; key = \"/no/such\"; }; };",
     "2: bus.tls.key: cannot open secret file /no/such: No such file or directory; "
     "create it with mode 0600, or change the path"},
    {BUS "insecure = 1; };", "2: bus.insecure: expected true or false, found an integer"},
    {BUS "urls = 1; };", "2: bus.urls: unknown key (did you mean \"url\"?)"},
    /* store */
    {"store = \"redis\";", "1: store: expected a group, found a string"},
    {"store : { kind = \"file\"; };",
     "1: store.kind: invalid value \"file\"; valid values: sqlite, redis"},
    {"store : {\n kinds = \"redis\"; };", "2: store.kinds: unknown key (did you mean \"kind\"?)"},
    {"store : { redis : { address_ = \"x:1\"; }; };",
     "1: store.redis.address_: unknown key (did you mean \"address\"?)"},
    {"store : { redis : { address = 6379; }; };",
     "1: store.redis.address: expected a string, found an integer"},
#define NO_ADDRESS(text)                                                                           \
    "2: store.redis.address: invalid address \"" text                                              \
    "\"; use HOST:PORT, for example 127.0.0.1:6379, or the path of a Unix socket"
    {"store : { redis : {\n address = \"redis\"; }; };", NO_ADDRESS("redis")},
    {"store : { redis : {\n address = \":6379\"; }; };", NO_ADDRESS(":6379")},
    {"store : { redis : {\n address = \"redis:\"; }; };", NO_ADDRESS("redis:")},
    {"store : { redis : {\n address = \"redis:0\"; }; };", NO_ADDRESS("redis:0")},
    {"store : { redis : {\n address = \"redis:65536\"; }; };", NO_ADDRESS("redis:65536")},
    {"store : { redis : {\n address = \"::1:6379\"; }; };", NO_ADDRESS("::1:6379")},
    {"store : { redis : {\n address = \"redis:63x\"; }; };", NO_ADDRESS("redis:63x")},
    {"store : { redis : { prefix = \"\"; }; };",
     "1: store.redis.prefix: must not be empty; set it or remove it"},
    {"store : { redis : { prefix = \"a b\"; }; };",
     "1: store.redis.prefix: use printable ASCII characters only"},
    {"store : { kind = \"redis\"; redis : {\n password = \"env:TURNCAST_NO_SUCH\"; }; };",
     "2: store.redis.password: environment variable TURNCAST_NO_SUCH is not set; set it where "
     "turncast is started"},
    {"store : { redis : {\n password_file = \"/no/such\"; }; kind = \"redis\"; };",
     "2: store.redis.password_file: cannot open secret file /no/such: No such file or directory; "
     "create it with mode 0600, or change the path"},
    {"store : { redis : { password = \"\"; }; };",
     "1: store.redis.password: must not be empty; set it or remove it"},
    {"store : { redis : { password = \"a\";\n password_file = \"b\"; }; };",
     "2: store.redis.password_file: password and password_file are both set; remove one of them"},
    {"store : { redis : { database = -1; }; };",
     "1: store.redis.database: -1 is out of range; use 0 to 65535"},
    {"store : { redis : { session_ttl_s = 1.5; }; };",
     "1: store.redis.session_ttl_s: expected an integer, found a real number"},
    {"store : { redis : { lock_s = -1; }; };",
     "1: store.redis.lock_s: -1 is out of range; use 0 to 86400"},
    /* log and visibility */
    {"log : { levle = \"warn\"; };", "1: log.levle: unknown key (did you mean \"level\"?)"},
    {"log : { level = \"loud\"; };",
     "1: log.level: invalid value \"loud\"; valid values: error, warn, info, debug"},
    {"log : {\n level = 3; };", "2: log.level: expected a string, found an integer"},
    {"log : { format = \"xml\"; };",
     "1: log.format: invalid value \"xml\"; valid values: text, json"},
    {"visibility : { show_tool = true; };",
     "1: visibility.show_tool: unknown key (did you mean \"show_tools\"?)"},
    {"visibility : {\n show_tools = 1; };",
     "2: visibility.show_tools: expected true or false, found an integer"},
    {"visibility : { show_tools = \"yes\"; };",
     "1: visibility.show_tools: expected true or false, found a string"},
    /* agents */
    {"agents : {\n a : { };\n};",
     "2: agents.a: required key \"command\" is missing; add command = [\"PROGRAM\"]"},
    {"agents : {\n a : { command = [\"x\"]; while_running = \"steer\"; };\n};",
     "2: agents.a: while_running = \"steer\" requires keep_alive_s; set it, too"},
    {"agents : {\n a = \"claude\"; };", "2: agents.a: expected a group, found a string"},
    {"agents : {\n a* : { command = [\"x\"]; }; };",
     "2: agents.a*: invalid name; use letters, digits, \"-\" and \"_\", at most 100 "
     "characters"},
    {"agents : { a : { command = \"claude -p\"; }; };",
     "1: agents.a.command: expected a list of strings, found a string; for example [\"a\", \"b\"]"},
    {"agents : { a : { command = []; }; };",
     "1: agents.a.command: must not be empty; set it or remove it"},
    {"agents : { a : { command = [\"\"]; }; };",
     "1: agents.a.command[0]: must not be empty; set it or remove it"},
    {"agents : { a : { command = (\"x\",\n 1); }; };",
     "2: agents.a.command[1]: expected a string, found an integer"},
    {"agents : { a : { command = [\"x\", \"{session}\"]; }; };",
     "1: agents.a.command[1]: unknown placeholder {session}; valid placeholders: {session_id}, "
     "{conversation}, {model}"},
    {"agents : { a : { command = [\"x\", \"--resume={session}\"]; }; };",
     "1: agents.a.command[1]: unknown placeholder {session}; valid placeholders: {session_id}, "
     "{conversation}, {model}"},
    {AGENT "comand = [\"x\"];" ENDED,
     "2: agents.a.comand: unknown key (did you mean \"command\"?)"},
    {AGENT "turn_timout_s = 1;" ENDED,
     "2: agents.a.turn_timout_s: unknown key (did you mean \"turn_timeout_s\"?)"},
    {AGENT "resume = \"--resume\";" ENDED,
     "2: agents.a.resume: expected a list of strings, found a string; for example [\"a\", \"b\"]"},
    {AGENT "dialect = 1;" ENDED, "2: agents.a.dialect: expected a string, found an integer"},
    {AGENT "cwd = \"\";" ENDED, "2: agents.a.cwd: must not be empty; set it or remove it"},
    {AGENT "turn_timeout_s = \"1h\";" ENDED,
     "2: agents.a.turn_timeout_s: expected a number of seconds, found a string"},
    {AGENT "turn_timeout_s = -1;" ENDED,
     "2: agents.a.turn_timeout_s: -1 s is out of range; use 0 to 2592000 s"},
    {AGENT "idle_timeout_s = 2592000.5;" ENDED,
     "2: agents.a.idle_timeout_s: 2.592e+06 s is out of range; use 0 to 2592000 s"},
    {AGENT "idle_timeout_s = 1e999;" ENDED,
     "2: agents.a.idle_timeout_s: inf s is out of range; use 0 to 2592000 s"},
    {AGENT "term_grace_s = 3601;" ENDED,
     "2: agents.a.term_grace_s: 3601 s is out of range; use 0 to 3600 s"},
    {AGENT "exit_grace_s = true;" ENDED,
     "2: agents.a.exit_grace_s: expected a number of seconds, found true or false"},
    {AGENT "max_line_bytes = 4095;" ENDED,
     "2: agents.a.max_line_bytes: 4095 is out of range; use 4096 to 1073741824"},
    {AGENT "max_line_bytes = 4294967296;" ENDED,
     "2: agents.a.max_line_bytes: 4294967296 is out of range; use 4096 to 1073741824"},
    {AGENT "max_line_bytes = 1e6;" ENDED,
     "2: agents.a.max_line_bytes: expected an integer, found a real number"},
    {AGENT "attempts = 0;" ENDED, "2: agents.a.attempts: 0 is out of range; use 1 to 10"},
    {AGENT "attempts = 11;" ENDED, "2: agents.a.attempts: 11 is out of range; use 1 to 10"},
    {AGENT "prefix = \"bwrap\";" ENDED,
     "2: agents.a.prefix: expected a list of strings, found a string; for example [\"a\", \"b\"]"},
    {AGENT "prefix = [\"\"];" ENDED,
     "2: agents.a.prefix[0]: must not be empty; set it or remove it"},
    {AGENT "prefix = [\"x\", \"{nothing}\"];" ENDED,
     "2: agents.a.prefix[1]: unknown placeholder {nothing}; valid placeholders: {session_id}, "
     "{conversation}, {model}"},
    {AGENT "user = 1000;" ENDED, "2: agents.a.user: expected a string, found an integer"},
    {AGENT "user = \"no-such-user\";" ENDED,
     "2: agents.a.user: unknown user \"no-such-user\"; use the name of a user of this system"},
    {AGENT "usr = \"root\";" ENDED, "2: agents.a.usr: unknown key (did you mean \"user\"?)"},
    {AGENT "limits = 5;" ENDED, "2: agents.a.limits: expected a group, found an integer"},
    {AGENT "limits : { memory_m = 5; };" ENDED,
     "2: agents.a.limits.memory_m: unknown key (did you mean \"memory_mb\"?)"},
    {AGENT "limits : { files = 15; };" ENDED,
     "2: agents.a.limits.files: 15 is out of range; use 16 to 1048576"},
    {AGENT "limits : { cpu_s = 0; };" ENDED,
     "2: agents.a.limits.cpu_s: 0 is out of range; use 1 to 2592000"},
    {AGENT "env_pass = [\"A=b\"];" ENDED,
     "2: agents.a.env_pass[0]: \"A=b\" is not valid; expected the name of an environment variable"},
    {AGENT "env_pass = [\"A\", \"\"];" ENDED,
     "2: agents.a.env_pass[1]: \"\" is not valid; expected the name of an environment variable"},
    {AGENT "env_set = [\"A\"];" ENDED,
     "2: agents.a.env_set[0]: \"A\" is not valid; expected NAME=value"},
    {AGENT "env_set = [\"=b\"];" ENDED,
     "2: agents.a.env_set[0]: \"=b\" is not valid; expected NAME=value"},
    /* plugins */
    {"plugins : { directry = \"x\"; };",
     "1: plugins.directry: unknown key (did you mean \"directory\"?)"},
    {"plugins : { directory = 1; };", "1: plugins.directory: expected a list of strings, found an "
                                      "integer; for example [\"a\", \"b\"]"},
    {"plugins : { directory = []; };",
     "1: plugins.directory: must not be empty; set it or remove it"},
    {"plugins : { directory = [1]; };",
     "1: plugins.directory[0]: expected a string, found an integer"},
    {"plugins : { autoload = 1; };",
     "1: plugins.autoload: expected true or false, found an integer"},
    {"plugins : { instances = [\"cli\"]; };",
     "1: plugins.instances: expected a group, found a list"},
    {"plugins : { instances : {\n cli = true; } };",
     "2: plugins.instances.cli: expected a group, found true or false"},
    {INSTANCE "plugin = 1;" ENDED " }",
     "2: plugins.instances.i.plugin: expected a string, found an integer"},
    {INSTANCE "plugin = \"\";" ENDED " }",
     "2: plugins.instances.i.plugin: must not be empty; set it or remove it"},
    {INSTANCE "enabled = \"yes\";" ENDED " }",
     "2: plugins.instances.i.enabled: expected true or false, found a string"},
    {INSTANCE "visibility = \"everything\";" ENDED " }",
     "2: plugins.instances.i.visibility: invalid value \"everything\"; valid values: agent, all"},
    {INSTANCE "visibility = true;" ENDED " }",
     "2: plugins.instances.i.visibility: expected a string, found true or false"},
    {INSTANCE "audience = \"everybody\";" ENDED " }",
     "2: plugins.instances.i.audience: invalid value \"everybody\"; valid values: user, internal, "
     "dashboard, operator"},
    {INSTANCE "language = \"fr\";" ENDED " }",
     "2: plugins.instances.i.language: invalid value \"fr\"; valid values: en, de"},
    {INSTANCE "wants = [\"state\", \"all\"];" ENDED " }",
     "2: plugins.instances.i.wants[1]: invalid value \"all\"; valid values: state, raw"},
    {INSTANCE "wants = true;" ENDED " }",
     "2: plugins.instances.i.wants: expected a list of strings, found true or false; for example "
     "[\"a\", \"b\"]"},
    {INSTANCE "queue_events = 15;" ENDED " }",
     "2: plugins.instances.i.queue_events: 15 is out of range; use 16 to 1000000"},
    {INSTANCE "queue_bytes = 3000000000;" ENDED " }",
     "2: plugins.instances.i.queue_bytes: 3000000000 is out of range; use 65536 to 1073741824"},
    {INSTANCE "callback_ms = 0;" ENDED " }",
     "2: plugins.instances.i.callback_ms: 0 is out of range; use 1 to 600000"},
    /* chaos */
    {INSTANCE "chaos = true;" ENDED " }",
     "2: plugins.instances.i.chaos: expected a group or a list of groups, found true or false"},
    {INSTANCE "chaos = { every = 3; };" ENDED " }",
     "2: plugins.instances.i.chaos: required key \"what\" is missing; add what = \"error\", for "
     "example"},
    {INSTANCE "chaos = ({ what = \"crash\"; },\n { wat = \"hang\"; });" ENDED " }",
     "3: plugins.instances.i.chaos[1].wat: unknown key (did you mean \"what\"?)"},
    {INSTANCE "chaos = (1);" ENDED " }",
     "2: plugins.instances.i.chaos[0]: expected a group, found an integer"},
    {INSTANCE "chaos = { what = \"explode\"; };" ENDED " }",
     "2: plugins.instances.i.chaos.what: invalid value \"explode\"; valid values: error, delay, "
     "hang, crash, abort, exit, leak, close, garbage"},
    {INSTANCE "chaos = { what = \"crash\"; every = 0; };" ENDED " }",
     "2: plugins.instances.i.chaos.every: 0 is out of range; use 1 to 1000000000"},
    {INSTANCE "chaos = { what = \"crash\"; rate = 1.5; };" ENDED " }",
     "2: plugins.instances.i.chaos.rate: 1.5 is out of range; use 0 to 1"},
    {INSTANCE "chaos = { what = \"crash\"; rate = \"often\"; };" ENDED " }",
     "2: plugins.instances.i.chaos.rate: expected a number, found a string"},
    {INSTANCE "chaos = { what = \"crash\"; rate = 1; every = 2; };" ENDED " }",
     "2: plugins.instances.i.chaos: set either every or rate, not both"},
    {INSTANCE "chaos = { what = \"crash\"; callback = \"on_fial\"; };" ENDED " }",
     "2: plugins.instances.i.chaos.callback: invalid value \"on_fial\"; valid values: "
     "on_narration, on_thinking, on_message, on_final, on_tool_call, on_progress, on_tool_result, "
     "on_request, on_start, on_step, on_error, on_done, on_usage, on_notice, on_state, on_raw, "
     "on_event, on_reply, on_hit, on_frame, on_ready, on_wake, on_idle, init, teardown"},
    {INSTANCE "own = [1, 2];" ENDED " }",
     "2: plugins.instances.i.own[0]: expected a string, found an integer"},
    {INSTANCE "own : { a = 1; };" ENDED " }", "2: plugins.instances.i.own: expected a string, a "
                                              "list, a number, true or false, found a group"},
};

static char file[512];

static const char *refused(const char *text, size_t len, mode_t mode)
{
    static struct tc_err err;
    err = (struct tc_err){0};
    unlink(file);
    tap_spew(file, text, len);
    chmod(file, mode);
    struct conf *c = conf_load(file, &err);
    conf_unref(c);
    return c ? "(accepted)" : err_format(&err);
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char want[1200];
        snprintf(want, sizeof want, "%s:%s", file, rows[i].message);
        is_str(refused(rows[i].text, strlen(rows[i].text), 0600), want, "row %zu", i);
    }
}

static void test_file(void)
{
    static char big[(1 << 20) + 1];
    struct tc_err err = {0};
    char want[1300];
    snprintf(want, sizeof want, "%s: is writable by other users; run: chmod go-w %s", file, file);
    is_str(refused("", 0, 0660), want, "a file that the group may write to");
    is_str(refused("", 0, 0602), want, "a file that others may write to");
    is_str(refused("", 0, 0644), "(accepted)", "a file that they may read");
    snprintf(want, sizeof want, "%s:2: a NUL byte", file);
    is_str(refused("a\n\0b", 4, 0600), want, "a NUL byte");
    snprintf(want, sizeof want, "%s: file is too large (limit: 1048576 bytes); make it shorter",
             file);
    is_str(refused(memset(big, '\n', sizeof big), sizeof big, 0600), want, "a huge file");
    is_str(refused(big, sizeof big - 1, 0600), "(accepted)", "one just not too large");
    snprintf(want, sizeof want, "%s/none: cannot open: No such file or directory", tap_tmpdir());
    char path[600];
    snprintf(path, sizeof path, "%s/none", tap_tmpdir());
    ok(!conf_load(path, &err), "a file that is not there");
    is_str(err_format(&err), want, "says so");
    ok(!conf_load(path, NULL), "nobody has to ask why");
}

/* Nothing that can be written into a file may do harm. */
static void test_depth(void)
{
    enum { DEPTH = 20000 };
    static char deep[DEPTH * 4 + 1];
    for (size_t i = 0; i < DEPTH; i++)
        memcpy(deep + 4 * i, "a:{ ", 4);
    const char *why = refused(deep, sizeof deep - 1, 0600);
    ok(strcmp(why, "(accepted)") != 0, "groups 20000 deep: %s", why);
}

static void test_cut(void)
{
    static const char text[] =
        "agents : { a : { command = [\"x\", \"{session_id}\"]; turn_timeout_s = 1.5; }; };\n"
        "plugins : { directory = \"d\"; instances : { i : { n = -3000000000; s = \"\\\"\"; }; }; };"
        " /* end */ // x\n";
    unsigned accepted = 0;
    for (size_t n = 0; n < sizeof text; n++)
        accepted += strcmp(refused(text, n, 0600), "(accepted)") == 0;
    ok(accepted > 1 && accepted < 60, "cut after every byte: %u accepted", accepted);
}

/* One file with many errors: each is found, in one reading. */
static void test_all(void)
{
    static const char text[] =
        "agents : {\n"
        "  a : { comand = [\"x\"]; turn_timeout_s = -1; env_set = [\"A\"]; };\n"
        "  b : { command = [\"x\"]; approvals = (\n"
        "    { action = \"permit\"; tool = \"x\"; },\n"
        "    { action = \"ask\"; tool = \"x\"; to = [\"nowhere\"]; }); };\n"
        "};\n"
        "default_agent = \"c\";\n"
        "plugins : { instances : {\n"
        "  i : { agent = \"d\"; x = ({ a = 1; }); grants = [\"a\", \"b\"];\n"
        "        plugin = 1; };\n"
        "}; };\n"
        "http : { keys : { k : { }; }; listen = \"here\"; };\n";
    static const int lines[] = {2, 2, 2, 4, 9, 9, 9, 10, 12, 12, 5, 7, 9};
    tap_spew(file, text, strlen(text));
    struct findings found = {0};
    struct conf *const c = conf_load_all(file, &found);
    size_t have[16] = {0}, wanted[16] = {0};
    ok(c != NULL, "what could be read is there");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        wanted[lines[i]]++;
    for (size_t i = 0; i < found.n; i++) {
        have[found.items[i].line < 16 ? found.items[i].line : 0]++;
        CLEANUP_BUF struct buf line = {0};
        finding_format(&line, &found.items[i]);
        ok(found.items[i].key && *found.items[i].text, "%s", line.p);
    }
    for (size_t i = 0; i < 16; i++)
        ok(have[i] == wanted[i], "line %zu: %zu errors", i, wanted[i]);
    ok(c && c->n_agents == 2 && c->n_instances == 1 && !c->instances[0].plugin &&
           !c->instances[0].grants && c->agents[1].n_rules == 1,
       "with what is good in it");
    conf_unref(c);
    findings_fini(&found);
}

int main(void)
{
    plan_lazy();
    snprintf(file, sizeof file, "%s/turncast.conf", tap_tmpdir());
    test_all();
    test_rows();
    test_file();
    test_depth();
    test_cut();
    return 0;
}
