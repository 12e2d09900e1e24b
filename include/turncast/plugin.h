/* SPDX-License-Identifier: MIT
 * Plugin API of turncast: the header that connector plugins include.
 *
 * A plugin is a shared object that exports one constant, defined by TURNCAST_PLUGIN(). Loading it
 * calls none of its functions. The host calls one callback per kind of event, on the thread of the
 * connector instance; callbacks of one turn do not run concurrently. A callback may block; this
 * delays only its own instance. It returns 0, or -1 if it could not process the event; the host
 * counts and logs the failure and continues. turncast-plugin(3) describes the life of an instance,
 * turncast-events(7) the meaning of each field.
 *
 * Guarantees for every turn, regardless of how the agent behaves:
 *  1. start is the first event and done the last one; each occurs exactly once.
 *  2. final, error and usage (scope turn) occur at most once; each turn has final or error.
 *  3. final follows the narration of the same text; usage (scope turn) follows final; then done.
 *  4. Events arrive in the order in which the translator produced them; meta->seq increases from 1.
 *  5. A tool_result follows its tool_call. Open tool calls, steps and requests are closed before
 *     the turn ends.
 *  6. Text is valid UTF-8 and NUL-terminated. Pointers are valid until the callback returns.
 *  7. A connector that fails, blocks or crashes does not delay or change the events of another one.
 *  8. The host applies visibility once; a connector does not filter events.
 *  9. Callbacks of one turn do not run concurrently. A request that waits delays only its lane.
 */
#ifndef TURNCAST_PLUGIN_H
#define TURNCAST_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Members, types and macros newer than TURNCAST_API_MINOR are not declared, so a plugin that
 * compiles runs on hosts of that minor version. */
#define TURNCAST_API_MAJOR 1
#define TURNCAST_API_LATEST 6 /* newest minor version in this header */
#ifndef TURNCAST_API_MINOR    /* define it before the include to run on older hosts */
#define TURNCAST_API_MINOR TURNCAST_API_LATEST
#elif TURNCAST_API_MINOR > TURNCAST_API_LATEST
#error "turncast/plugin.h is older than the TURNCAST_API_MINOR you ask for"
#endif

#include <turncast/event.h>
#include <turncast/option.h>
#include <turncast/service.h>

#if TURNCAST_API_MINOR >= 5
#include <turncast/chat.h>
#endif

#if defined(__GNUC__)
#define TC_PRINTF(fmt, args) __attribute__((__format__(__printf__, fmt, args)))
#define TC_EXPORT __attribute__((__visibility__("default")))
#else
#define TC_PRINTF(fmt, args)
#define TC_EXPORT
#endif

struct tc_host;
struct tc_turn;

enum tc_level { TC_ERR = 3, TC_WARN = 4, TC_INFO = 6, TC_DEBUG = 7 }; /* syslog numbers */

/* A configured instance of a plugin. Owned by the host, read-only for the plugin. */
struct tc_instance {
    const struct tc_host *host;
    const char *name;      /* name in the configuration */
    const void *conf;      /* option struct, filled and checked; NULL without options */
    void *state;           /* state_size bytes, zeroed before init, freed by the host */
    struct tc_turn *lobby; /* for requests that belong to no turn; see service.h */
#if TURNCAST_API_MINOR >= 5
    /* Since 1.5. Language of texts for people in this instance, as a tag of BCP 47: "en", "de". A
     * connector uses English for texts that it cannot translate. */
    const char *language;
#endif
};

/* A turn of one instance. Lasts from on_start until on_done has returned and each of its requests
 * has had its last on_reply. */
struct tc_turn {
    struct tc_instance *inst;
    void *state;    /* turn_size bytes, zeroed before on_start, freed by the host; lobby: NULL */
    const char *id; /* correlation_id; "" for the lobby */
    const char *agent;
    const char *conversation; /* or NULL */
    const char *route;        /* or NULL; tc_inbound.route of the message that started the turn */
    const char *memory;       /* or NULL; after a restart: text stored by tc_remember */
};

/* The callbacks. Each is optional and may be NULL. */
struct tc_sink {
    size_t size;
    int (*on_narration)(struct tc_turn *, const struct tc_narration *);
    int (*on_final)(struct tc_turn *, const struct tc_final *);
    int (*on_tool_call)(struct tc_turn *, const struct tc_tool_call *);
    int (*on_tool_result)(struct tc_turn *, const struct tc_tool_result *);
    int (*on_thinking)(struct tc_turn *, const struct tc_thinking *); /* text is never empty */
    int (*on_usage)(struct tc_turn *, const struct tc_usage *);       /* scope turn and call */
    int (*on_error)(struct tc_turn *, const struct tc_error *);
    int (*on_done)(struct tc_turn *, const struct tc_done *);
    int (*on_message)(struct tc_turn *, const struct tc_message *);
    int (*on_progress)(struct tc_turn *, const struct tc_progress *);
    int (*on_request)(struct tc_turn *, const struct tc_request *);
    int (*on_start)(struct tc_turn *, const struct tc_start *);
    int (*on_step)(struct tc_turn *, const struct tc_step *);
    int (*on_notice)(struct tc_turn *, const struct tc_notice *);
    int (*on_state)(struct tc_turn *, const struct tc_state *);
    int (*on_raw)(struct tc_turn *, const struct tc_raw *);
    int (*on_event)(struct tc_turn *,
                    const struct tc_event *); /* each event, after the typed callback */
    int (*on_idle)(struct tc_instance *);     /* the queue is empty: flush buffers */
    /* Result of an HTTP request; see service.h. */
    int (*on_reply)(struct tc_turn *, const struct tc_reply *, struct tc_verdict *);
    int (*on_wake)(struct tc_turn *); /* the timer set by tc_wake has expired */
    /* An HTTP request to a route; anyone who can reach the server can send one. The host sends the
     * response when the callback returns, or 503 if it returns -1 or too late (callback_ms). */
    int (*on_hit)(struct tc_turn *lobby, const struct tc_hit *, struct tc_answer *);
    int (*on_frame)(struct tc_turn *lobby, const struct tc_frame *);
#if TURNCAST_API_MINOR >= 4
    /* Since 1.4. A descriptor given to tc_watch is readable, or its other end is closed. */
    int (*on_ready)(struct tc_instance *, int fd);
#endif
};

/* Flags of a plugin. */
enum {
    TC_SEES_ALL = 1, /* visibility "all" unless configured otherwise; for logs, not for people */
    TC_DELIVERS = 2, /* outcomes stay on disk until delivered; see service.h */
#if TURNCAST_API_MINOR >= 5
    TC_CHATS = 4,       /* since 1.5: may call tc_chat_describe in init */
    TC_WANTS_STATE = 8, /* since 1.5: gets state events without `wants` in the configuration */
#endif
};

struct tc_plugin {
    uint32_t size, major, minor, flags;
    const char *name, *version, *summary;
    size_t conf_size, state_size, turn_size; /* allocated zeroed and freed by the host */
    const struct tc_option *options;         /* ends with a row whose key is NULL; or NULL */
    int (*init)(struct tc_instance *);       /* -1 (after tc_log) disables this instance only */
    void (*teardown)(struct tc_instance *);
    const struct tc_sink *sink;
    uint32_t pace_ms;            /* minimum interval of narration and thinking, joined; 0: off */
    const char *audience;        /* audience of the events; NULL: "user" */
    const struct tc_rate *rates; /* ends with a row whose count is 0; or NULL */
#if TURNCAST_API_MINOR >= 4
    const struct tc_rule *rules;  /* since 1.4; ends with a row whose key is NULL; or NULL */
    const struct tc_probe *probe; /* since 1.4; or NULL */
#endif
#if TURNCAST_API_MINOR >= 5
    const struct tc_chat *chat; /* since 1.5; or NULL: not a chat connector */
#endif
};

/* Wire format of another system for the events of a turn. Made by TC_FORMAT. */
struct tc_format {
    size_t size;
    const char *name;     /* "reasonix"…; see turncast-jsonl(7) */
    const char *protocol; /* version of the format; NULL: readable by every version */
    bool frames;          /* server-sent events instead of lines */
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. JSON object of settings of the format, see turncast-plugin(3); or NULL. Read at
     * the first call for a turn. */
    const char *settings;
#endif
};

/* Services of the host. Call them through the macros below, on the thread of the instance; log may
 * be called from any thread. NULL or -1 means that the memory limit of the turn is reached or the
 * input is invalid, which the host has logged. For the lifetime of memory see service.h. */
struct tc_host {
    size_t size;
    uint32_t major, minor;
    void (*log)(struct tc_instance *, enum tc_level, const char *, ...) TC_PRINTF(3, 4);
    void *(*alloc)(struct tc_turn *, size_t); /* zeroed */
    char *(*sprint)(struct tc_turn *, const char *, ...)TC_PRINTF(2, 3);
    char *(*json)(struct tc_turn *, const char *, ...);
    char *(*json_get)(struct tc_turn *, const char *, const char *);
    size_t (*redact)(struct tc_instance *, const char *, size_t, char *, size_t);
    bool (*has_format)(struct tc_instance *, const char *);
    const char *(*encode)(struct tc_turn *, const struct tc_format *, size_t *);
    char *(*keep)(struct tc_turn *, const char *);
    int (*http)(struct tc_turn *, const struct tc_http *);
    void (*wake)(struct tc_turn *, int64_t);
    int (*remember)(struct tc_turn *, const char *);
    const struct tc_piece *(*pieces)(struct tc_turn *, const struct tc_text *, size_t *);
    size_t (*settled)(struct tc_turn *, const char *, size_t);
    enum tc_accepted (*submit)(struct tc_turn *, const struct tc_inbound *, struct tc_receipt *);
    enum tc_accepted (*cancel)(struct tc_turn *, const char *, const char *, struct tc_receipt *);
    bool (*may_submit)(struct tc_turn *, const char *, const char *);
    int (*route)(struct tc_instance *, const char *);
    int64_t (*socket_open)(struct tc_instance *, const struct tc_socket *);
    int (*socket_send)(struct tc_instance *, int64_t, const char *, size_t);
    void (*socket_close)(struct tc_instance *, int64_t);
#if TURNCAST_API_MINOR >= 1
    /* Since 1.1. */
    const char *(*ticket)(struct tc_turn *, const char *);
    enum tc_accepted (*answer)(struct tc_turn *, const struct tc_decision *, struct tc_receipt *);
#endif
#if TURNCAST_API_MINOR >= 2
    /* Since 1.2. */
    bool (*knows)(struct tc_turn *, const char *, const char *);
#endif
#if TURNCAST_API_MINOR >= 4
    /* Since 1.4. */
    int64_t (*hold)(struct tc_turn *);
    int (*release)(struct tc_turn *, int64_t, const char *);
    int (*watch)(struct tc_instance *, int);
    void (*unwatch)(struct tc_instance *, int);
    void (*pause)(struct tc_instance *, bool);
#endif
#if TURNCAST_API_MINOR >= 5
    /* Since 1.5. */
    int (*secret)(struct tc_instance *, const char *, const char *);
    char *(*json_key)(struct tc_turn *, const char *, int);
    char *(*json_member)(struct tc_turn *, const char *, const char *);
    char *(*quote)(struct tc_turn *, const char *);
    char *(*hmac_sha256)(struct tc_turn *, const char *, size_t, const char *, size_t);
    bool (*same)(struct tc_turn *, const char *, const char *);
    bool (*ed25519_verify)(struct tc_turn *, const char *, const char *, const char *, size_t);
    enum tc_accepted (*chat_receive)(struct tc_turn *, const struct tc_chat_message *);
    int (*chat_act)(struct tc_turn *, const struct tc_chat_action *);
    int (*complete)(struct tc_turn *, uint64_t, const struct tc_completion *);
    int (*store)(struct tc_instance *, const char *, const char *);
    char *(*load)(struct tc_instance *, const char *);
    int (*socket_send_binary)(struct tc_instance *, int64_t, const void *, size_t);
    int (*hit_answer)(struct tc_instance *, uint64_t, const struct tc_answer *);
    int (*chat_describe)(struct tc_instance *, const struct tc_chat *);
#endif
#if TURNCAST_API_MINOR >= 6
    /* Since 1.6. */
    char *(*say)(struct tc_turn *, const char *, const char *);
    char *(*ed25519_sign)(struct tc_turn *, const char *, const char *, size_t);
    const char *(*header_value)(const struct tc_header *, size_t, const char *);
    int64_t (*random)(struct tc_turn *, int64_t, int64_t);
    bool (*is_recent)(struct tc_turn *, const char *, int64_t);
    const struct tc_field *(*chat_form)(struct tc_turn *, const struct tc_chat_action *, size_t *);
    char *(*cut)(struct tc_turn *, const char *, size_t);
    int (*webhook_keys)(struct tc_instance *, const char *, const char *, bool);
    char *(*webhook_sign)(struct tc_turn *, const char *, const char *, const char *, const char *,
                          size_t);
    const char *(*webhook_check)(struct tc_turn *, const char *, const struct tc_hit *);
    int (*route_signed)(struct tc_instance *, const char *, const struct tc_issuer *);
    int (*link_keep)(struct tc_instance *, const struct tc_link *);
    int (*link_open)(struct tc_turn *, const struct tc_socket *);
    int (*link_send)(struct tc_turn *, const char *);
    int (*link_step)(struct tc_turn *, enum tc_link_step, int64_t, const char *);
    char *(*fit)(struct tc_turn *, const char *, size_t);
    char *(*url_at)(struct tc_turn *, const char *, const char *, const char *);
    const struct tc_form_input *(*chat_inputs)(struct tc_turn *, const struct tc_field *, size_t,
                                               size_t, size_t, size_t *);
    int (*feed_add)(struct tc_turn *, const char *, const char *);
    void (*feed_go)(struct tc_turn *);
    const char *(*feed_position)(struct tc_turn *);
    void (*feed_ready)(struct tc_turn *, bool);
    void (*feed_page)(struct tc_turn *, const char *, const struct tc_reply *, const char *,
                      const char *);
    bool (*is_signed)(struct tc_turn *, const struct tc_hit *, const struct tc_signature *);
    int (*secret_of)(struct tc_instance *, const char *, const char *);
#endif
};

/* Logs one line, prefixed with the instance name; secrets are masked. */
#define tc_log(inst, ...) ((inst)->host->log((inst), __VA_ARGS__))
/* Allocates zeroed memory that lasts until the turn ends. */
#define tc_alloc(turn, n) ((turn)->inst->host->alloc((turn), (n)))
/* Returns a formatted string. */
#define tc_sprint(turn, ...) ((turn)->inst->host->sprint((turn), __VA_ARGS__))
/* Returns JSON text made from a jansson pack format: tc_json(turn, "{s:s, s:i}", "a", "b", "n", 1).
 * With hosts of 1.4 and later, j takes JSON text, and j* in an array adds the elements of an array
 * that is given as JSON text: list = tc_json(turn, "[j*, j]", list, item). A plugin that is linked
 * with libjansson.so.4, like the host, can pass a value of its own: tc_json(turn, "o", value) takes
 * over the reference; if the value is NULL, the result is NULL, which is logged. */
#define tc_json(turn, ...) ((turn)->inst->host->json((turn), __VA_ARGS__))
/* Returns the value at an RFC 6901 pointer: the text of a string, compact JSON for other values
 * ("null" for null); NULL if the value is absent, or if j is NULL or not JSON; the last case is
 * logged. */
#define tc_json_get(turn, j, ptr) ((turn)->inst->host->json_get((turn), (j), (ptr)))
#if TURNCAST_API_MINOR >= 5
/* Since 1.5. Returns the name of member i (from 0) of an object; NULL after the last one. */
#define tc_json_key(turn, j, i) ((turn)->inst->host->json_key((turn), (j), (i)))
/* Since 1.5. Returns the value of the member with that name, which may contain any characters; like
 * tc_json_get. */
#define tc_json_member(turn, j, name) ((turn)->inst->host->json_member((turn), (j), (name)))
/* Since 1.5. Returns the text percent-encoded, for one segment of a path or one value of a query.
 * ASCII letters and digits and - . _ ~ are not encoded. */
#define tc_quote(turn, text) ((turn)->inst->host->quote((turn), (text)))
/* Since 1.5. Returns HMAC-SHA-256 of the data as 64 lower-case hexadecimal digits. */
#define tc_hmac_sha256(turn, key, key_len, data, len)                                              \
    ((turn)->inst->host->hmac_sha256((turn), (key), (key_len), (data), (len)))
/* Since 1.5. Returns whether both texts are equal, in a time that depends only on their lengths,
 * for signatures and tokens. NULL is not equal to anything. */
#define tc_same(turn, a, b) ((turn)->inst->host->same((turn), (a), (b)))
/* Since 1.5. Returns whether this is the signature (128 hexadecimal digits) of the data for this
 * public key (64 hexadecimal digits). */
#define tc_ed25519_verify(turn, public_key, signature, data, len)                                  \
    ((turn)->inst->host->ed25519_verify((turn), (public_key), (signature), (data), (len)))
#endif
#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Returns the translation of a sentence of the host, which is named by its English text,
 * into the language of the instance: tc_say(turn, "Allowed by {by}", name). `value` replaces the
 * placeholder of the sentence; NULL if it has no placeholder. A text that is not a sentence of the
 * host is returned in English. */
#define tc_say(turn, english, value) ((turn)->inst->host->say((turn), (english), (value)))
/* Since 1.6. Returns the Ed25519 signature of the data as 128 lower-case hexadecimal digits, made
 * with this private key (64 hexadecimal digits, the seed of RFC 8032). */
#define tc_ed25519_sign(turn, private_key, data, len)                                              \
    ((turn)->inst->host->ed25519_sign((turn), (private_key), (data), (len)))
/* Since 1.6. Returns the value of the first header with that name, ignoring case, of a tc_hit, a
 * tc_reply or a tc_http; or NULL. */
#define tc_header_value(turn, message, name)                                                       \
    ((turn)->inst->host->header_value((message)->headers, (message)->header_count, (name)))
/* Since 1.6. Returns a random number from `least` to `most`, for delays: instances that fail at the
 * same time should not retry at the same time. Not suitable for cryptographic keys. */
#define tc_random(turn, least, most) ((turn)->inst->host->random((turn), (least), (most)))
/* Since 1.6. Returns whether the text is a Unix time in seconds that differs from the current time
 * by at most `seconds`. For the time of a signed request, so that an old request cannot be
 * repeated. */
#define tc_is_recent(turn, text, seconds) ((turn)->inst->host->is_recent((turn), (text), (seconds)))
/* Since 1.6. Returns whether the request to a route has this signature, and is at most five minutes
 * old. */
#define tc_is_signed(turn, hit, signature)                                                         \
    ((turn)->inst->host->is_signed((turn), (hit), (signature)))
/* Since 1.6. Returns the beginning of a text, at most `bytes` bytes, without splitting a character;
 * NULL for NULL. "%.*s" may split a character, and the result is then not valid in JSON. */
#define tc_cut(turn, text, bytes) ((turn)->inst->host->cut((turn), (text), (bytes)))
/* Since 1.6. Returns the text if it has at most `characters` characters, otherwise its beginning
 * with an ellipsis as the last character; an ellipsis for an empty text, NULL for NULL. For labels,
 * which must not be empty and must show that they are shortened. */
#define tc_fit(turn, text, characters) ((turn)->inst->host->fit((turn), (text), (characters)))
/* Since 1.6. Returns a URL from an external source in the form that tc_http accepts, if the
 * connector may request it and send a token there: the URL belongs to the server of the URL in this
 * option, or is an https: URL of one of the hosts, which are separated by blanks (".slack.com"
 * means all hosts below this name, "*" any host). Braces in the URL are escaped, so that they are
 * not placeholders. NULL: any other URL, or NULL. */
#define tc_url_at(turn, url, option, hosts)                                                        \
    ((turn)->inst->host->url_at((turn), (url), (option), (hosts)))
/* Since 1.6. Checks keys of Standard Webhooks, which are separated by white space, and masks each
 * of them in logs: whsec_ (shared), whsk_ (Ed25519, private) and, unless `sign` is true, whpk_
 * (public); at most 8. For init. -1: a key is not valid, or there is none; logged with the name of
 * the option. */
#define tc_webhook_keys(inst, option, keys, sign)                                                  \
    ((inst)->host->webhook_keys((inst), (option), (keys), (sign)))
/* Since 1.6. Returns the value of the header webhook-signature: a signature of id.timestamp.body by
 * each of the keys. NULL: one of the keys is not valid or cannot sign. */
#define tc_webhook_sign(turn, keys, id, timestamp, body, len)                                      \
    ((turn)->inst->host->webhook_sign((turn), (keys), (id), (timestamp), (body), (len)))
/* Since 1.6. Returns NULL if the request to a route is signed by one of the keys and at most five
 * minutes old; otherwise the reason as text. */
#define tc_webhook_check(turn, keys, hit) ((turn)->inst->host->webhook_check((turn), (keys), (hit)))
#endif
/* Masks the secrets in the strings of JSON text, for records that are kept beyond the turn. Like
 * snprintf, writes at most cap bytes including the NUL to out and returns the complete length. */
#define tc_redact(inst, json, len, out, cap)                                                       \
    ((inst)->host->redact((inst), (json), (len), (out), (cap)))

/* Returns whether the host can encode events in the format of that name. For init. */
#define tc_has_format(inst, name) ((inst)->host->has_format((inst), (name)))
/* Encodes the event of the current callback in another format: zero, one or several complete
 * messages, valid until the callback returns; *len is their length in bytes. Encode every event of
 * a turn, in one format, because the result depends on the previous events. NULL: failed. */
#define tc_encode(turn, format, len) ((turn)->inst->host->encode((turn), (format), (len)))

/* Copies the text into memory of the turn. */
#define tc_keep(turn, text) ((turn)->inst->host->keep((turn), (text)))
/* Queues an HTTP request: tc_http(turn, TC_HTTP(.url = …, .body = …)). Returns 0, or -1 if the
 * request is invalid or the turn has too many requests queued; logged. */
#define tc_http(turn, request) ((turn)->inst->host->http((turn), (request)))
/* Sets the timer of the turn: on_wake is called after ms milliseconds. A new call replaces the
 * timer; a negative value stops it. */
#define tc_wake(turn, ms) ((turn)->inst->host->wake((turn), (ms)))
/* Stores a text (at most 4 KiB; NULL: none) that is passed in tc_turn.memory if the turn is
 * delivered again after a restart of the host or the instance. Use it to record which messages have
 * been sent. */
#define tc_remember(turn, text) ((turn)->inst->host->remember((turn), (text)))
#if TURNCAST_API_MINOR >= 5
/* Since 1.5. Stores a text of at most 64 KiB (NULL: removes it) under a key of at most 128 bytes,
 * in at most 64 keys per instance. The text outlives the instance and the host: it is written to
 * disk after the requests of the callback, and kept until it is removed. Not for secrets. */
#define tc_store(inst, key, text) ((inst)->host->store((inst), (key), (text)))
/* Since 1.5. Returns the text that was stored last under the key, or NULL; also in init. */
#define tc_load(inst, key) ((inst)->host->load((inst), (key)))
#endif
/* Converts Markdown to messages of a service; *count is their number. NULL: nothing is visible. */
#define tc_pieces(turn, text, count) ((turn)->inst->host->pieces((turn), (text), (count)))
/* Returns the length in bytes of the beginning of an incomplete Markdown text whose rendering later
 * text cannot change. */
#define tc_settled(turn, text, len) ((turn)->inst->host->settled((turn), (text), (len)))
/* Passes a message of a person to the agent. Returns when the message is on disk. Needs the grant
 * "submit". */
#define tc_submit(lobby, inbound, receipt)                                                         \
    ((lobby)->inst->host->submit((lobby), (inbound), (receipt)))
/* Returns whether that person may submit messages in that chat (ids of the service). Call it before
 * you fetch attachments. */
#define tc_may_submit(lobby, user, chat) ((lobby)->inst->host->may_submit((lobby), (user), (chat)))
#if TURNCAST_API_MINOR >= 2
/* Since 1.2. Returns whether that conversation (thread may be NULL) has a stored session of the
 * agent or a turn that is running or waiting; also after a restart. */
#define tc_knows(lobby, chat, thread) ((lobby)->inst->host->knows((lobby), (chat), (thread)))
#endif
/* Stops the turn with that id for a person (user: id of the service). Returns TC_COMMAND,
 * TC_DENIED, or TC_KNOWN if the turn has already ended; `answer` always has a text for the person.
 * Needs the grant "cancel". */
#define tc_cancel(lobby, turn_id, user, receipt)                                                   \
    ((lobby)->inst->host->cancel((lobby), (turn_id), (user), (receipt)))
#if TURNCAST_API_MINOR >= 1
/* Since 1.1. Returns the ticket of an open request of this turn, for use in a button: at most 32
 * letters, digits, - and _; the same on each call; valid for this instance only. NULL: not open. */
#define tc_ticket(turn, request_id) ((turn)->inst->host->ticket((turn), (request_id)))
/* Since 1.1. Passes the decision of a person to the agent. TC_COMMAND: the decision counts;
 * TC_KNOWN: too late; TC_DENIED: this person may not decide, or not at this place, or the choice
 * does not exist; TC_NOT_KEPT: the decision was not stored; TC_INVALID: an argument is missing or
 * not valid. `answer` always has a text for the person. Needs the grant "answer". */
#define tc_answer(lobby, decision, receipt)                                                        \
    ((lobby)->inst->host->answer((lobby), (decision), (receipt)))
#endif
/* Registers a path of letters, digits, - _ and /, which begins with a slash; a path that ends with
 * a slash also stands for all paths below it. With hosts of 1.6 and later, the path may be empty.
 * Requests to "/hooks/INSTANCE" + path of the host's HTTP server are passed to on_hit. For init. -1
 * if the host has no HTTP server; logged. */
#define tc_route(inst, path) ((inst)->host->route((inst), (path)))
#if TURNCAST_API_MINOR >= 6
/* Since 1.6. Like tc_route, for requests that a service signs with JSON Web Tokens: on_hit is
 * called only if the token in the header Authorization is valid; then tc_hit.claims and tc_hit.key
 * are set. The path has no slash at the end. For init. */
#define tc_route_signed(inst, path, issuer) ((inst)->host->route_signed((inst), (path), (issuer)))
#endif
#if TURNCAST_API_MINOR >= 5
/* Since 1.5. Sends the response to a request (tc_hit.number) for which on_hit has set `later`. A
 * response to a request that has already been answered, or has expired, is ignored. -1 if the
 * response is invalid; logged. */
#define tc_hit_answer(inst, number, ...) ((inst)->host->hit_answer((inst), (number), __VA_ARGS__))
#endif
/* Opens a websocket and returns its number, above 0. Its events are passed to on_frame; the last
 * event is CLOSED. -1 if the URL is invalid; logged. */
#define tc_socket_open(inst, socket) ((inst)->host->socket_open((inst), (socket)))
/* Sends a text frame. -1 if the websocket does not exist or is not open, or if too many bytes wait.
 */
#define tc_socket_send(inst, socket, text, len)                                                    \
    ((inst)->host->socket_send((inst), (socket), (text), (len)))
#if TURNCAST_API_MINOR >= 5
/* Since 1.5. Sends a binary frame; the result is that of tc_socket_send. */
#define tc_socket_send_binary(inst, socket, data, len)                                             \
    ((inst)->host->socket_send_binary((inst), (socket), (data), (len)))
#endif
#define tc_socket_close(inst, socket) ((inst)->host->socket_close((inst), (socket)))

#ifndef __cplusplus
#define TC_HTTP(...) (&(const struct tc_http){.size = sizeof(struct tc_http), __VA_ARGS__})
#define TC_TEXT(...) (&(const struct tc_text){.size = sizeof(struct tc_text), __VA_ARGS__})
#define TC_INBOUND(...) (&(const struct tc_inbound){.size = sizeof(struct tc_inbound), __VA_ARGS__})
#if TURNCAST_API_MINOR >= 1 /* since 1.1 */
#define TC_DECISION(...)                                                                           \
    (&(const struct tc_decision){.size = sizeof(struct tc_decision), __VA_ARGS__})
#endif
#define TC_SOCKET(...) (&(const struct tc_socket){.size = sizeof(struct tc_socket), __VA_ARGS__})
#define TC_FORMAT(...) (&(const struct tc_format){.size = sizeof(struct tc_format), __VA_ARGS__})
/* TC_OPTION(struct conf, field, default as text or NULL, flags, help). The key is the name of the
 * field; its type is const char *, int64_t, bool, double or const char *const * (TC_T_LIST);
 * another type does not compile. */
#if TURNCAST_API_MINOR >= 4
#define TC_OPTION_TYPE(member)                                                                     \
    _Generic(member, const char *: TC_T_STR, int64_t: TC_T_INT, bool: TC_T_BOOL,                   \
             double: TC_T_REAL, const char *const *: TC_T_LIST)
#else
#define TC_OPTION_TYPE(member)                                                                     \
    _Generic(member, const char *: TC_T_STR, int64_t: TC_T_INT, bool: TC_T_BOOL, double: TC_T_REAL)
#endif
#define TC_OPTION(T, field, dflt_, flags_, help_)                                                  \
    {                                                                                              \
#field, TC_OPTION_TYPE(((T *)0)->field), offsetof(T, field), dflt_, flags_, help_          \
    }
#if TURNCAST_API_MINOR >= 4 /* since 1.4 */
#define TC_PROBE(...) (&(const struct tc_probe){.size = sizeof(struct tc_probe), __VA_ARGS__})
#endif
#if TURNCAST_API_MINOR >= 6 /* since 1.6 */
#define TC_ISSUER(...) (&(const struct tc_issuer){.size = sizeof(struct tc_issuer), __VA_ARGS__})
#define TC_SIGNATURE(...)                                                                          \
    (&(const struct tc_signature){.size = sizeof(struct tc_signature), __VA_ARGS__})
#define TC_LINK(...) (&(const struct tc_link){.size = sizeof(struct tc_link), __VA_ARGS__})
#endif
#if TURNCAST_API_MINOR >= 5 /* since 1.5 */
#define TC_COMPLETION(...)                                                                         \
    (&(const struct tc_completion){.size = sizeof(struct tc_completion), __VA_ARGS__})
#endif
#define TC_SINK(...) (&(const struct tc_sink){.size = sizeof(struct tc_sink), __VA_ARGS__})
#define TURNCAST_PLUGIN(...)                                                                       \
    extern const struct tc_plugin turncast_plugin;                                                 \
    TC_EXPORT const struct tc_plugin turncast_plugin = {.size = sizeof(struct tc_plugin),          \
                                                        .major = TURNCAST_API_MAJOR,               \
                                                        .minor = TURNCAST_API_MINOR,               \
                                                        __VA_ARGS__}
#endif

#ifdef __cplusplus
}
#endif
#endif
