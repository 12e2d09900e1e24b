/* SPDX-License-Identifier: MIT
 * What the files of the Telegram connector share: options, the state of the instance and of a
 * turn, and who owns which kind of request. */
#ifndef TELEGRAM_H
#define TELEGRAM_H

#include <jansson.h>
#include <turncast/plugin.h>

#define CHIPS 8
#define PLACES 8 /* of one question */
#define DRAFTS 8
#define ID_MAX 80
#define HEADLINE_MAX 240
#define THINKING_MAX 1000
/* Nothing takes effect later than this after its connection has ended. */
#define LATE_MS 10000
#define FILE_BYTES_MAX (20 << 20) /* what getFile gives */

struct telegram_conf {
    const char *token, *api_base;
    int64_t chat;
    const char *webhook, *webhook_secret;
    const char *finalize, *after, *overflow, *ambiguous;
    int64_t max_parts, progress_after_ms;
    bool thinking, rich, draft;
};

/* Where a turn is shown; made once, from its route. */
struct target {
    int64_t chat;    /* 0: nowhere */
    int64_t thread;  /* of a topic; 0: none, or the General one */
    int64_t message; /* the question; 0: none */
    bool group;
    bool general; /* in the General topic: only sendChatAction names it */
};

struct telegram_chip {
    char id[ID_MAX], name[48], summary[100];
    char state; /* r: runs, k: ok, f: failed */
    int64_t began_ms, took_ms;
};

/* Where a question is shown. */
struct telegram_place {
    struct target to;
    int64_t message;  /* 0: not there yet, or never */
    bool pending;     /* it is on its way */
    bool busy, stale; /* an edit of it is under way; and what it says is no longer right */
};

/* What one person has chosen so far, of several choices that belong together. */
struct draft {
    int64_t user;
    size_t at;       /* the question it is at */
    json_t *answers; /* one for each question before, and what is ticked of this one */
};

/* A request of the agent that is shown; it ends when what was decided is on its way to each
 * place. */
struct telegram_question {
    struct telegram_question *next;
    char *turn, *id;
    char *ticket;  /* NULL: it cannot be answered here */
    json_t *about; /* what is shown of it, see form_read */
    char *decided; /* in words; NULL: it is open */
    json_t *answers;
    size_t places, drafts;
    struct telegram_place place[PLACES];
    struct draft draft[DRAFTS];
    int64_t viewer; /* whose draft is shown */
};

/* What is shown of a turn that runs. */
struct live {
    struct target to;
    int64_t began_ms, active_ms, typing_ms, edited_ms, beat_ms;
    int64_t message;     /* the progress message; 0: none */
    int64_t doubt_ms;    /* when the reply to an edit was lost last; 0: never */
    bool creating, lost; /* lost: it may be there, but its id is not known */
    bool told_loss;      /* that an answer could not be delivered */
    bool over;           /* the outcome is on its way: nothing is shown any more */
    bool visible, dirty, plain, used;
    bool fresh;        /* the next narration begins a line */
    char said[ID_MAX]; /* the message that was narrated last */
    uint64_t shown;    /* hash of what the message says */
    unsigned tools;
    size_t chips;
    int64_t tokens;
    char headline[HEADLINE_MAX], notice[HEADLINE_MAX], thinking[THINKING_MAX + 4];
    struct telegram_chip chip[CHIPS];
};

struct inbox;

struct telegram {
    bool dead;         /* the token is no good: nothing is sent any more */
    char refusal[160]; /* why, in Telegram's words: a verdict's reason outlives the callback */
    bool ready;        /* getMe has answered */
    bool no_rich, no_draft, unhooked;
    bool forged; /* a press that is none of ours has been told of */
    char *username;
    int64_t self;
    int64_t offset; /* all before it is on disk; 0: not known */
    int64_t polled_ms, repoll_ms;
    uint64_t generation; /* of the poll whose answer counts */
    unsigned failures, conflicts;
    struct inbox *inbox; /* updates that wait for their files */
    struct button *buttons;
    struct telegram_question *questions;
    struct moved *moved;
};

static inline struct telegram *state_of(const struct tc_turn *turn)
{
    return turn->inst->state;
}

static inline const struct telegram_conf *conf_of(const struct tc_turn *turn)
{
    return turn->inst->conf;
}

/* ---- call.c ---- */

/* A request to be made. The JSON is taken over, NULL or not. */
struct telegram_call {
    const char *method;
    json_t *body, *tag;
    const struct target *to; /* whose order it keeps; NULL: it goes at once */
    bool apart;              /* in an order of its method's own: it holds no message up */
    bool paced;              /* counts as a message there */
    enum tc_priority priority;
    uint32_t flags;
    const char *key;
    int64_t timeout_ms, delay_ms, max_age_ms;
    const char *filename; /* of a document; NULL: an answer's */
};

int call_send(struct tc_turn *turn, const struct telegram_call *c);
/* {"k": kind}. */
json_t *call_tag(const char *kind);
/* chat_id, and the topic; NULL when there is no memory. */
json_t *call_body(struct tc_turn *turn, const struct target *to);
/* A document; the members of the body become fields. */
int call_send_document(struct tc_turn *turn, const struct telegram_call *c, const char *content,
                       size_t len);
/* The two parts of such a request again; the content is borrowed. NULL: it is none. */
json_t *call_read_document(const struct tc_http *http, const char **content, size_t *len);
int64_t call_now_ms(void);
/* A number in JSON, or 0. */
int64_t call_int(const json_t *o, const char *key);
const char *call_str(const json_t *o, const char *key);

/* ---- route.c ---- */

struct target route_read(const struct tc_turn *turn);
json_t *route_write(const json_t *message);
/* Chats that became supergroups, under new ids. */
int64_t route_chat_now(const struct telegram *s, int64_t chat);
void route_moved(struct telegram *s, int64_t from, int64_t to);
void route_free(struct telegram *s);

/* ---- error.c ---- */

enum refusal {
    REFUSED,          /* not known */
    REFUSED_SAME,     /* the edit changes nothing: it is done */
    REFUSED_MESSAGE,  /* the message to edit is no more */
    REFUSED_ENTITIES, /* the formatting */
    REFUSED_LONG,
    REFUSED_EMPTY,
    REFUSED_THREAD,
    REFUSED_REPLY, /* the message that is replied to is no more */
    REFUSED_MOVED, /* the chat has another id */
    REFUSED_CHAT,  /* nothing can be said there */
    REFUSED_FLOOD,
    REFUSED_TOKEN,  /* by no method */
    REFUSED_METHOD, /* it has none of that name */
};

struct answer {
    json_t *body; /* or NULL: no JSON */
    const json_t *result;
    enum refusal refusal;
    const char *description; /* "" when there is none */
    int status;              /* of HTTP; 0: no reply */
    int64_t retry_ms, moved_to;
    bool done;     /* the service itself has confirmed it: 2xx with "ok":true */
    bool in_doubt; /* it may have been done: no reply, a 5xx, or a 2xx of somebody else */
};

/* answer_free also when the reply was lost. */
struct answer answer_read(const struct tc_reply *reply);
void answer_free(struct answer *a);
/* What holds for any method: 429 waits as it is told, 401 and 404 end all. Returns whether the
 * verdict is final. */
bool answer_rule(struct tc_turn *turn, const struct answer *a, struct tc_verdict *v);

/* ---- message.c ---- */

struct message {
    struct tc_turn *turn;
    const char *text; /* until the callback returns */
    size_t len, units;
    json_t *entities;
};

void message_init(struct message *m, struct tc_turn *turn);
void message_fini(struct message *m);
void message_add(struct message *m, const char *text);
/* Text under an entity of that type. */
void message_mark(struct message *m, const char *type, const char *text);
void message_piece(struct message *m, const struct tc_piece *p);
/* Into a body: text and, when there are any and they are wanted, entities. */
void message_put(const struct message *m, json_t *body, bool plain);
/* About so many UTF-16 units of it, as they are; but what cannot be seen, or turns the direction of
 * what is read, is spelled out. *cut: the characters that are left. To be freed. */
char *message_spell(const char *text, size_t most, size_t *cut);
/* Copies what fits: control characters as blanks, cut between characters, with an ellipsis. */
void message_clip(char *out, size_t cap, const char *text);
/* "42s", "3m 05s", "1h 02m". */
void message_time(char *out, size_t cap, int64_t ms);

/* ---- poll.c ---- */

int poll_begin(struct tc_instance *inst);
void poll_wake(struct tc_turn *lobby);
/* What the inbox waits for has changed. */
void poll_nudge(struct tc_turn *lobby);
int poll_on_me(struct tc_turn *, const struct tc_reply *, const json_t *tag, struct tc_verdict *);
int poll_on_updates(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                    struct tc_verdict *);
int poll_on_hook(struct tc_turn *, const struct tc_reply *, const json_t *tag, struct tc_verdict *);
int poll_on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer);

/* ---- menu.c ---- */

/* The commands that Telegram offers as one types. */
void menu_publish(struct tc_turn *lobby);
/* The words that a command of the menu stands for; other text as it is. */
const char *menu_spell(struct tc_turn *lobby, const char *text);

/* ---- update.c ---- */

enum taken { TAKEN, TAKEN_LATER, TAKEN_NOT };

/* One update. LATER: it waits for its files; NOT: it has to come again. */
enum taken update_take(struct tc_turn *lobby, const json_t *update);
/* Hands a message to the agent and says what came of it. */
enum taken update_submit(struct tc_turn *lobby, const json_t *update, const json_t *files,
                         const char *note);
/* Whether it speaks to the bot: all does in a private chat. */
bool update_is_addressed(struct tc_turn *lobby, const json_t *message);
/* What a message replies to, or NULL; its words; those without the name of the bot. */
const json_t *update_replied_to(const json_t *message);
const char *update_text(const json_t *message);
char *update_spoken(struct tc_turn *lobby, const char *text);
/* Tells who wrote the message, under it. */
void update_say(struct tc_turn *lobby, const json_t *message, const char *text);
/* When Telegram refuses the reaction, the text `instead` is sent; NULL: nothing is. */
void update_react(struct tc_turn *lobby, const json_t *message, const char *emoji,
                  const char *instead);
int update_on_reacted(struct tc_turn *lobby, const struct tc_reply *reply, const json_t *tag,
                      struct tc_verdict *v);

/* ---- inbox.c ---- */

/* It has a file. */
bool inbox_wants(const json_t *message);
enum taken inbox_add(struct tc_turn *lobby, const json_t *update);
/* Whether that update waits; *done: it waited, and is on disk. */
bool inbox_has(const struct telegram *s, int64_t update_id, bool *done);
/* The lowest that waits, or 0. */
int64_t inbox_lowest(const struct telegram *s);
/* An update that is on disk while one before it waits. */
void inbox_note(struct telegram *s, int64_t update_id);
void inbox_forget_below(struct telegram *s, int64_t offset);
void inbox_wake(struct tc_turn *lobby);
/* When inbox_wake has something to do; 0: never. */
int64_t inbox_due(const struct telegram *s);
int inbox_on_file(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                  struct tc_verdict *);
int inbox_on_saved(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                   struct tc_verdict *);
void inbox_free(struct telegram *s);

/* ---- button.c ---- */

/* The keyboard of a turn: Stop. */
json_t *button_stop(struct tc_turn *turn);
void button_forget(struct telegram *s, const char *turn);
/* A press of it: what the person reads. */
const char *button_pressed(struct tc_turn *lobby, const char *token, int64_t user);
void button_free(struct telegram *s);

/* ---- press.c ---- */

void press_take(struct tc_turn *lobby, const json_t *query);
/* Whether the message is a reply to a question, and so none to the agent; *taken: what came of
 * it. */
bool press_reply(struct tc_turn *lobby, const json_t *message, enum taken *taken);

/* ---- live.c ---- */

void live_begin(struct tc_turn *turn);
/* Something happened; visible: worth a progress message. */
void live_touch(struct tc_turn *turn, bool visible);
void live_wake(struct tc_turn *turn);
/* The outcome comes: no typing and no edit from here on. */
void live_end(struct tc_turn *turn);
/* The progress message, also of an earlier run; 0: none. */
int64_t live_message(const struct tc_turn *turn, const json_t *tag);
/* An edit whose reply was lost, by this process or one before it, may still reach the message. */
bool live_may_come_late(const struct tc_turn *turn);
/* It has become the answer, or is gone. */
void live_use(struct tc_turn *turn);
int live_on_typed(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                  struct tc_verdict *);
int live_on_created(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                    struct tc_verdict *);
int live_on_edited(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                   struct tc_verdict *);
int live_on_draft(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                  struct tc_verdict *);

/* ---- chips.c ---- */

void chips_call(struct live *l, const struct tc_tool_call *ev);
void chips_narrate(struct live *l, const struct tc_narration *ev);
void chips_think(struct live *l, const char *text);
void chips_result(struct live *l, const struct tc_tool_result *ev);
/* All of the progress message. */
void chips_show(struct tc_turn *turn, struct message *m);
/* "Done in 42s · 7 tools". */
void chips_summary(const struct live *l, char *out, size_t cap);

/* ---- question.c ---- */

int question_on_request(struct tc_turn *turn, const struct tc_request *ev);
/* What is open at the end of its turn is over with it. */
void question_end(struct tc_turn *turn);
/* How many wait for somebody's decision, wherever they are shown. */
size_t question_waiting(const struct tc_turn *turn);
struct telegram_question *question_of_ticket(const struct telegram *s, const char *ticket);
struct telegram_question *question_at(const struct telegram *s, int64_t chat, int64_t message);
/* A new one, of that turn and id; what it is about is taken over. NULL: no memory. */
struct telegram_question *question_add(struct telegram *s, const char *turn, const char *id,
                                       const char *ticket, json_t *about);
struct telegram_question *question_find(const struct telegram *s, const char *turn, const char *id);
struct telegram_place *question_add_place(struct telegram_question *q, const struct target *to);
/* Another draft is to be seen. */
void question_show(struct tc_turn *lobby, struct telegram_question *q);
int question_on_asked(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                      struct tc_verdict *);
int question_on_decided(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                        struct tc_verdict *);
int question_on_shown(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                      struct tc_verdict *);
void question_free(struct telegram *s);

/* ---- whole.c ---- */

/* Sends the whole text of a request to a place, before its message with the buttons. */
void whole_send(struct tc_turn *turn, const struct target *to, const char *text,
                int64_t max_age_ms);

/* ---- form.c ---- */

/* What is shown of a request: {kind, tool, subject, subject_cut, more, more_cut, reason, message,
 * context, wait_ms, questions, choices}; each may be missing. From a host of API 1.2 on, subject is
 * its preview, there is no more, and whole says that all of it was sent before. */
json_t *form_read(const struct tc_turn *turn, const struct tc_request *ev);
void form_show(struct message *m, const struct telegram_question *q);
/* The buttons, or NULL: it has none. */
json_t *form_keyboard(const struct telegram_question *q);
/* Whether that is the text of a question that could be answered; *approval: by a yes or no. */
bool form_is_question(const char *text, bool *approval);
const char *form_label(const json_t *option);
/* "5 min". */
void form_time(char *out, size_t cap, int64_t ms);
/* Text of the agent, spelled out. */
void form_set_text(json_t *about, const char *key, const char *text, size_t most);

/* ---- draft.c ---- */

/* What that person has chosen so far. */
struct draft *draft_of(struct telegram_question *q, int64_t user);
const json_t *draft_question(const struct telegram_question *q, const struct draft *d);
bool draft_is_multi(const json_t *question);
/* Ticks an option, or takes the tick away. */
void draft_tick(struct draft *d, const char *label);
bool draft_is_ticked(const struct draft *d, const char *label);
/* The answer to the question it is at, behind what is ticked; NULL: what is ticked is all. False:
 * there is none. */
bool draft_answer(const struct telegram_question *q, struct draft *d, const char *text);
bool draft_is_complete(const struct telegram_question *q, const struct draft *d);
/* All answers under the ids of their questions; to be freed. */
char *draft_write(const struct telegram_question *q, const struct draft *d);
void draft_drop(struct draft *d);

/* ---- memory.c ---- */

/* Keeps what the next life of host or instance has to know of the turn. */
void memory_keep(struct tc_turn *turn);
/* The questions of an earlier life. */
void memory_read(struct tc_turn *turn);

/* ---- final.c ---- */

/* The outcome. verbatim: it is no Markdown. */
int final_send(struct tc_turn *turn, const char *text, size_t len, bool verbatim);
/* The same as messages; what final_send does when nothing else can. */
int final_parts(struct tc_turn *turn, const char *text, size_t len, bool verbatim);
/* Its pieces: the body of part i without its text; the text as a file, whose tag is taken over; a
 * message's body made an edit's. */
json_t *final_body(struct tc_turn *turn, const struct target *to, size_t i);
int final_document(struct tc_turn *turn, const struct target *to, json_t *tag, const char *text,
                   size_t len);
void final_make_edit(json_t *body, int64_t message);
int final_on_reply(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                   struct tc_verdict *);
int final_on_cleared(struct tc_turn *, const struct tc_reply *, const json_t *tag,
                     struct tc_verdict *);

/* ---- ladder.c ---- */

/* Chooses the next step for an outcome or request that was refused or is in doubt: send a poorer
 * form, or send it again. False: no step is left, and v->reason holds the cause. */
bool ladder_step(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                 const struct answer *a, struct tc_verdict *v);

#endif
