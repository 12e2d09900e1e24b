/* SPDX-License-Identifier: MIT
 * Options of a connector, rules for their values, and the request that tests its credentials. The
 * host reads these tables from struct tc_plugin before it runs any code of the plugin. Included by
 * <turncast/plugin.h>; do not include it directly. */
#ifndef TURNCAST_OPTION_H
#define TURNCAST_OPTION_H

#ifndef TURNCAST_PLUGIN_H
#error "include <turncast/plugin.h>"
#endif

enum tc_type {
    TC_T_STR,
    TC_T_INT,
    TC_T_BOOL,
    TC_T_REAL,
#if TURNCAST_API_MINOR >= 4
    /* Since 1.4. A list of strings, a const char *const * that ends with NULL. A single string in
     * the configuration is split at spaces. In a list with TC_SECRET, an element NAME=env:… or
     * NAME=file:… is replaced by NAME=VALUE, and VALUE is masked everywhere. */
    TC_T_LIST,
#endif
};
enum { /* option flags */
       TC_REQUIRED = 1,
       TC_SECRET = 2,
#if TURNCAST_API_MINOR >= 4
       /* Since 1.4. For a TC_T_LIST option: the instance may start programs, and the instance and
        * the programs may read and execute the files and directories in this list, in addition to
        * those of the system. Names that begin with ./ or ../ are relative to the configuration
        * file. Without such an option, an isolated instance cannot start a program. */
       TC_PROGRAMS = 4,
#endif
};

/* One option of an instance. The host parses and checks its value and stores it at `offset`. */
struct tc_option {
    const char *key;
    enum tc_type type;
    size_t offset;
    const char *dflt; /* as text; NULL: NULL, 0 or false */
    uint32_t flags;
    const char *help;
};

#if TURNCAST_API_MINOR >= 4
/* Since 1.4. Condition for the value of an option. The host checks all rules before init, and
 * `turncast check` reports a violation with the line of the configuration. Words in `text` are
 * separated by one space. A bound of a number is in the unit of the option. */
enum tc_rule_kind {
    TC_RULE_ONE_OF = 1,   /* text: the valid values */
    TC_RULE_RANGE,        /* min to max */
    TC_RULE_DURATION,     /* text: unit of the option, ms s min h d; a value such as "30 s" is
                             converted to it */
    TC_RULE_SIZE,         /* text: unit of the option, B KiB MiB GiB; a value such as "64 MiB" is
                             converted to it */
    TC_RULE_URL,          /* text: the valid schemes of https http wss ws smtps smtp; the URL must
                             have a host */
    TC_RULE_EXISTS,       /* a path that exists */
    TC_RULE_READS,        /* the path of a file that can be read */
    TC_RULE_WRITES,       /* the path of a file that can be written, or created in its directory */
    TC_RULE_NEEDS,        /* text: options of which at least one must be set if this option is
                             set */
    TC_RULE_EXACTLY_ONE,  /* text: exactly one of these options and this one must be set */
    TC_RULE_AT_LEAST_ONE, /* text: at least one of these options and this one must be set */
    TC_RULE_SERVER,       /* if this option is set, the host must have an HTTP server:
                             http.listen */
#if TURNCAST_API_MINOR >= 5
    TC_RULE_PROGRAM,  /* since 1.5; the value, or the first element of a list, is an executable
                         program: a path, or a name that is found in /usr/local/bin, /usr/bin or
                         /bin */
    TC_RULE_VARIABLE, /* since 1.5; NAME=VALUE, as in the environment of a program */
#endif
#if TURNCAST_API_MINOR >= 6
    TC_RULE_GRANTS, /* since 1.6; if this option is set, the instance acts for people, and uses the
                       grants in text: submit cancel answer. `turncast init` writes them */
    TC_RULE_HEX,    /* since 1.6; the value consists of hexadecimal digits; text: their number */
#endif
};

/* Since 1.4. An option may have several rules; TC_RULE_RANGE adds bounds to a duration or size. */
struct tc_rule {
    const char *key; /* key of the option; NULL ends the table */
    enum tc_rule_kind kind;
    const char *text;
    int64_t min, max; /* for TC_RULE_RANGE; both included */
};

/* Since 1.4. A request with which `turncast doctor` tests whether the service accepts the
 * credentials; it must not change anything. url and header values may contain {option:NAME}, see
 * tc_http; a header with an option that is not set is omitted. With the method NOOP and a URL smtp:
 * or smtps:, the mail server is tested; the only permitted headers are X-SMTP-User and
 * X-SMTP-Password. Made by TC_PROBE. */
struct tc_probe {
    size_t size;
    const char *method; /* NULL: GET */
    const char *url;
    const struct tc_header *headers;
    size_t header_count;
    const char *ok; /* RFC 6901 pointer to a member that is true in the answer; NULL: any 2xx */
    const char *account; /* pointer to the name of the account; or NULL */
    const char *reason;  /* pointer to the reason of a refusal; or NULL */
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. */
    const char *body;        /* JSON; or NULL: none */
    const char *header_list; /* a TC_T_LIST option whose elements NAME=VALUE are headers, too */
    /* Type of a body that is not JSON, in which {option:NAME} is replaced, as with TC_FILL_BODY.
     * NULL: JSON. */
    const char *content_type;
    bool address; /* there are no credentials to check: any response except 3xx, 404, 410 and 5xx
                     shows that the address is correct */
#endif
};
#endif

#endif
