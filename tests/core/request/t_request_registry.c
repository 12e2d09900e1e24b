/* SPDX-License-Identifier: MIT
 * What is asked, where and until when; what need not be; what a decision must be to count. */
#include "core/request/request_registry.h"

#include <stdio.h>
#include <string.h>

#include "base/sys/clock.h"
#include "core/asked.h"
#include "tap/tap.h"

#define TIMEOUT_MS 300000

static char name[] = "agent", tool[] = "Bash", deny[] = "rm *", prefix[] = "git status";
static char slack[] = "slack", tg[] = "tg", chat[] = "7", thread[] = "9", asked_tool[] = "Ask";

static char http[] = CONF_PLACE_HTTP, key[] = "ann", web_tool[] = "Web", two_tool[] = "Two";

static struct conf_place places[] = {{.instance = slack}, {tg, chat, thread}, {0}};
static struct conf_place web[] = {{.instance = slack}, {.instance = http, .chat = key}, {0}};
static struct conf_rule rules[] = {
    {.action = CONF_DENY, .tool = tool, .match = CONF_GLOB, .pattern = deny},
    {.action = CONF_ALLOW, .tool = tool, .match = CONF_PREFIX, .pattern = prefix},
    {.action = CONF_ASK, .tool = asked_tool, .to = places},
    {.action = CONF_ASK, .tool = web_tool, .to = web},
    {.action = CONF_ASK, .tool = two_tool, .four_eyes = true},
};
static struct conf_agent conf = {
    .name = name, .ask_timeout_ms = TIMEOUT_MS, .rules = rules, .n_rules = 5};

static struct request_registry *all;
static struct request_turn *turn;

/* Stands for one of the loop's: nothing of it is looked at. */
static struct approvals *memory(void)
{
    static char place;
    return (struct approvals *)(void *)&place;
}

static struct journal_async *record(void)
{
    static char place;
    return (struct journal_async *)(void *)&place;
}

static enum language language; /* of turns that begin */

static void begin(bool unattended)
{
    asked_reset();
    all = request_registry_new(&(struct request_registry_spec){
        .journal = record(), .approvals = memory(), .unattended = unattended});
    turn =
        request_turn_begin(all, &(struct request_turn_spec){.id = "t",
                                                            .conversation = "c",
                                                            .agent = &conf,
                                                            .dialect = &asked_dialect,
                                                            .language = language,
                                                            .answer = request_api_handle_answer});
}

static void end(void)
{
    request_turn_end(turn);
    request_registry_free(all);
    is_int(asked_timers(), 0, "  no timer is left");
}

static const char *log_of(const struct buf *b)
{
    return b->len ? b->p : "";
}

static struct tc_request see(const char *id, const char *kind, const char *with, const char *args)
{
    struct tc_request r = {.request_id = id,
                           .kind = kind,
                           .state = "open",
                           .tool = with,
                           .args = args,
                           .blocking = true};
    request_turn_add(turn, &r);
    return r;
}

static enum tc_accepted say(struct request_decision d, const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf text = {0};
    d.turn = d.turn ? d.turn : "t";
    d.by = d.by ? d.by : "Ann (tg)";
    const enum tc_accepted got = request_answer(all, &d, &text);
    is_str(log_of(&text), wanted, "%s", what);
    return got;
}
#define SAY(wanted, what, ...) say((struct request_decision){__VA_ARGS__}, (wanted), (what))

#define LS "{\"command\":\"ls\"}"

static void test_open(void)
{
    begin(false);
    const struct tc_request r = see("1", "approval", "Bash", LS);
    is_str(r.choices,
           "[{\"id\":\"allow\",\"label\":\"Allow\"},"
           "{\"id\":\"allow_session\",\"label\":\"Allow for this session\"},"
           "{\"id\":\"allow_always\",\"label\":\"Always allow\"},"
           "{\"id\":\"deny\",\"label\":\"Deny\"}]",
           "an approval has its choices, the harmless one last");
    is_int(r.expires_ms, (int64_t)(clock_wall_s() * 1000) + TIMEOUT_MS,
           "an approval has its expiry time");
    ok(r.blocking && !r.to, "an approval is blocking, and goes to all instances of the turn");
    is_int(SAY("Allowed.", "a user allows the request", .request = "1", .choice = "allow"),
           TC_COMMAND, "the decision is accepted");
    is_str(log_of(&asked.agent), "1:allow;", "the agent receives the decision");
    is_str(log_of(&asked.told), "1:allow by Ann (tg);", "the decision is cast");
    is_int(SAY("Already allowed by Ann (tg).", "another user denies the request", .request = "1",
               .choice = "deny", .by = "Bob (sl)"),
           TC_KNOWN, "the late decision has no effect");
    is_int(SAY("This request is already closed.", "a decision for an unknown request",
               .request = "2", .choice = "allow"),
           TC_KNOWN, "an unknown request is reported as closed");
    is_int(SAY("This request is already closed.", "a decision for an unknown turn", .turn = "u",
               .request = "1", .choice = "allow"),
           TC_KNOWN, "an unknown request is reported as closed");
    is_str(log_of(&asked.told), "1:allow by Ann (tg);", "no other decision is cast");
    is_str(log_of(&asked.noted), "t 1 Bash ls;t 1 Bash ls allow;",
           "the request and its decision are in the journal");
    end();
}

static void test_who_need_not_be_asked(void)
{
    begin(false);
    const struct tc_request r = see("1", "approval", "Bash", "{\"command\":\"git status -s\"}");
    ok(!r.choices && !r.blocking, "a request that a rule allows does not block");
    is_str(log_of(&asked.told), "", "the decision of a rule is cast after the request");
    asked_pass(0);
    is_str(log_of(&asked.told), "1:allow by policy;", "the decision of the rule is cast");
    is_str(log_of(&asked.noted), "", "a request that a rule decides is not in the journal");
    see("2", "approval", "Bash", "{\"command\":\"rm x\"}");
    asked_pass(0);
    is_str(log_of(&asked.agent),
           "1:allow;2:deny reason=Denied by a rule in the turncast configuration.;",
           "a rule denies a request");
    asked.remembered = "make";
    see("3", "approval", "Bash", "{\"command\":\"make\"}");
    asked_pass(0);
    ok(strstr(log_of(&asked.told), "3:allow by an earlier \"always allow\" decision;") != NULL,
       "a request with an earlier approval is decided");
    asked.remembered = "rm y";
    see("4", "approval", "Bash", "{\"command\":\"rm y\"}");
    asked_pass(0);
    ok(strstr(log_of(&asked.told), "4:deny by policy;") != NULL,
       "a rule that denies has priority over an approval");
    end();
    begin(true);
    ok(!see("1", "approval", "Bash", LS).choices,
       "without a connector that can answer a request has no choices");
    asked_pass(0);
    is_str(log_of(&asked.agent),
           "1:deny reason=Denied: no connector is available to ask a person.;",
           "without a connector that can answer a request is denied");
    end();
}

static void test_time(void)
{
    begin(false);
    see("1", "approval", "Bash", LS);
    asked_pass(TIMEOUT_MS - 1);
    is_str(log_of(&asked.told), "", "a request is open until its expiry time");
    asked_pass(1);
    is_str(log_of(&asked.told), "1:timeout by host;", "an expired request is denied");
    is_str(log_of(&asked.agent), "1:deny reason=Denied: nobody answered within 300 s.;",
           "the denial has a reason");
    is_int(SAY("This request has expired: nobody answered in time.",
               "a decision after the expiry time", .request = "1", .choice = "allow"),
           TC_KNOWN, "the late decision has no effect");
    conf.ask_timeout_ms = 0;
    is_int(see("2", "approval", "Bash", LS).expires_ms, 0,
           "without ask_timeout_s a request has no expiry time");
    conf.ask_timeout_ms = TIMEOUT_MS;
    request_turn_cancel_open(turn);
    ok(strstr(log_of(&asked.told), "2:cancelled by host;") != NULL,
       "the request is cancelled when its agent ends");
    end();
}

/* A time that passes is nobody's call: the turn knows the language. */
static void test_time_in_german(void)
{
    language = LANGUAGE_DE;
    begin(false);
    see("1", "approval", "Bash", LS);
    asked_pass(TIMEOUT_MS);
    is_str(log_of(&asked.agent),
           "1:deny reason=Abgelehnt: Niemand hat innerhalb von 300 s geantwortet.;",
           "the reason is in the language of the turn");
    is_int(SAY("This request has expired: nobody answered in time.",
               "a decision after the expiry time, in English", .request = "1", .choice = "allow"),
           TC_KNOWN, "the answer to a late decision is in the language of its user");
    end();
    language = LANGUAGE_EN;
}

static void test_places(void)
{
    begin(false);
    is_str(see("1", "approval", "Ask", LS).to, "[\"slack\",\"tg:7:9\"]",
           "a rule sets the places of a request");
    is_int(SAY("This request does not belong to this chat.", "a decision from another chat",
               .request = "1", .choice = "allow", .instance = "tg", .chat = "7"),
           TC_DENIED, "a decision from another place is refused");
    is_int(SAY("This request does not belong to this chat.", "a decision from another thread",
               .request = "1", .choice = "allow", .instance = "tg", .chat = "7", .thread = "8"),
           TC_DENIED, "a decision from another place is refused");
    is_int(SAY("Denied.", "a decision from the listed thread", .request = "1", .choice = "deny",
               .instance = "tg", .chat = "7", .thread = "9"),
           TC_COMMAND, "a decision from a listed place is accepted");
    see("2", "approval", "Ask", LS);
    is_int(SAY("Allowed.", "a decision from any chat of a listed instance", .request = "2",
               .choice = "allow", .instance = "slack", .chat = "C1", .thread = "2.2"),
           TC_COMMAND, "a decision from a listed place is accepted");
    see("3", "approval", "Ask", LS);
    is_int(SAY("Allowed.", "a decision of the operator", .request = "3", .choice = "allow"),
           TC_COMMAND, "the operator may decide everywhere");
    end();
}

static void test_places_http(void)
{
    begin(false);
    see("1", "approval", "Ask", LS);
    is_int(SAY("This request does not belong to this chat.", "a decision over HTTP", .request = "1",
               .choice = "allow", .instance = http, .chat = key, .user = key),
           TC_DENIED, "a decision over HTTP is refused for a request to instances");
    const struct request_decision ann = {
        .turn = "t", .request = "1", .instance = http, .chat = key, .user = key};
    is_int(request_registry_bar(all, &ann), REQUESTS_ELSEWHERE,
           "a request to instances is not offered over HTTP");
    is_str(see("2", "approval", "Web", LS).to, "[\"slack\",\"http:ann\"]",
           "a rule may list a key of the HTTP API");
    is_int(SAY("This request does not belong to this chat.", "a decision with another key",
               .request = "2", .choice = "allow", .instance = http, .chat = "bob", .user = "bob"),
           TC_DENIED, "a decision with another key is refused");
    is_int(SAY("Allowed.", "a decision with the listed key", .request = "2", .choice = "allow",
               .instance = http, .chat = key, .user = key),
           TC_COMMAND, "may");
    is_int(request_registry_bar(all, &ann), REQUESTS_ELSEWHERE,
           "the first request is still barred");
    SAY("Denied.", "the operator denies the first request", .request = "1", .choice = "deny");
    is_int(request_registry_bar(all, &ann), REQUESTS_FREE, "a closed request has no bar");
    end();
}

/* A turn of other people's messages. */
static void begin_for(const char *source, const char *const *askers, size_t n)
{
    begin(false);
    request_turn_end(turn);
    turn =
        request_turn_begin(all, &(struct request_turn_spec){.id = "t",
                                                            .conversation = "c",
                                                            .agent = &conf,
                                                            .dialect = &asked_dialect,
                                                            .source = source,
                                                            .askers = askers,
                                                            .n_askers = n,
                                                            .answer = request_api_handle_answer});
}

static enum requests_bar bar(const char *instance, const char *user)
{
    return request_registry_bar(
        all, &(struct request_decision){
                 .turn = "t", .request = "1", .instance = instance, .chat = "7", .user = user});
}

static void test_four_eyes(void)
{
    static const char own[] = "You started this turn, so another person must allow this call "
                              "(four_eyes). You can deny it.";
    const char *two[] = {"5", "6"}, *const unknown[] = {"5", NULL}, *const keys[] = {"ann:x"};
    begin_for("tg", two, 2);
    see("1", "approval", "Two", LS);
    is_int(bar("tg", "5"), REQUESTS_FOUR_EYES, "four_eyes bars the user who started the turn");
    is_int(bar("tg", "6"), REQUESTS_FOUR_EYES, "four_eyes bars a user who wrote a merged message");
    is_int(bar("tg", "55"), REQUESTS_FREE, "four_eyes does not bar another user");
    is_int(bar("slack", "5"), REQUESTS_FREE,
           "four_eyes does not bar a user with the same id elsewhere");
    is_int(bar(http, "5"), REQUESTS_FREE, "four_eyes does not bar a key with the same name");
    is_int(bar(NULL, NULL), REQUESTS_FREE, "four_eyes does not bar the operator");
    two[0] = "8"; /* the list was copied */
    is_int(SAY(own, "the user who started the turn allows the request", .request = "1",
               .choice = "allow_always", .instance = "tg", .user = "5"),
           TC_DENIED, "the approval is refused");
    is_int(SAY("Denied.", "the user who started the turn denies the request", .request = "1",
               .choice = "deny", .instance = "tg", .user = "5"),
           TC_COMMAND, "the decision is accepted");
    see("2", "approval", "Bash", LS);
    is_int(SAY("Allowed.", "a request without four_eyes", .request = "2", .choice = "allow",
               .instance = "tg", .user = "6"),
           TC_COMMAND, "the user who started the turn may allow a request without four_eyes");
    end();
    begin_for("tg", unknown, 2);
    see("1", "approval", "Two", LS);
    is_int(bar("tg", "9"), REQUESTS_FOUR_EYES,
           "four_eyes bars all users of the instance if an author is unknown");
    is_int(bar("slack", "9"), REQUESTS_FREE,
           "four_eyes does not bar users elsewhere if an author is unknown");
    end();
    begin_for(http, keys, 1);
    conf.four_eyes = true;
    see("1", "approval", "Bash", LS);
    is_int(bar(http, "ann"), REQUESTS_FOUR_EYES, "an end user of a key counts as the key");
    is_int(bar(http, "an"), REQUESTS_FREE, "a key with a similar name is not barred");
    conf.four_eyes = false;
    end();
}

static bool agent_waits(void *ctx, const char *request_id)
{
    (void)ctx;
    return strcmp(request_id, "bad") != 0;
}

/* The agent has been refused it by the dialog: nobody can be asked. */
static void test_refused(void)
{
    begin(false);
    request_turn_end(turn);
    turn =
        request_turn_begin(all, &(struct request_turn_spec){.id = "t",
                                                            .agent = &conf,
                                                            .dialect = &asked_dialect,
                                                            .waits = agent_waits,
                                                            .answer = request_api_handle_answer});
    const struct tc_request r = see("bad", "approval", "Bash", NULL);
    ok(!r.choices && !r.blocking, "a request that cannot be shown does not block");
    is_int(SAY("This request is already closed.", "a user decides a request that cannot be shown",
               .request = "bad", .choice = "allow"),
           TC_KNOWN, "a decision for the request is refused");
    asked_pass(0);
    is_str(log_of(&asked.told), "bad:deny by host;", "the request is cast as denied");
    is_str(log_of(&asked.agent), "", "the agent receives no decision");
    ok(see("good", "approval", "Bash", LS).choices != NULL, "other requests are asked");
    end();
}

static bool agent_takes_args(void *ctx, const char *request_id)
{
    (void)ctx;
    return strcmp(request_id, "edits") == 0;
}

/* What the agent cannot do, nobody can allow. The call can still be decided. */
static void test_fixed_arguments(void)
{
    begin(false);
    request_turn_end(turn);
    turn =
        request_turn_begin(all, &(struct request_turn_spec){.id = "t",
                                                            .agent = &conf,
                                                            .dialect = &asked_dialect,
                                                            .takes_args = agent_takes_args,
                                                            .answer = request_api_handle_answer});
    see("fixed", "approval", "Bash", LS);
    see("edits", "approval", "Bash", LS);
    is_int(SAY("The arguments of this call cannot be changed. You can allow or deny it.",
               "changed arguments for an agent that does not support them", .request = "fixed",
               .choice = "allow", .args = "{\"command\":\"id\"}"),
           TC_DENIED, "the decision is refused");
    is_str(log_of(&asked.agent), "", "the agent receives no decision");
    is_int(
        SAY("Allowed.", "another decision for the request", .request = "fixed", .choice = "allow"),
        TC_COMMAND, "counts");
    is_int(SAY("Allowed.", "changed arguments for an agent that supports them", .request = "edits",
               .choice = "allow", .args = "{\"command\":\"id\"}"),
           TC_COMMAND, "the decision with changed arguments is accepted");
    end();
}

static void look_at_shown(void *ctx, const struct request_view *v)
{
    *(struct tc_request *)ctx = *v->shown;
}

static void test_shown(void)
{
    begin(false);
    struct tc_request r = {.request_id = "1",
                           .kind = "approval",
                           .state = "open",
                           .tool = "Bash",
                           .subject = "ls\xe2\x80\x8b\n",
                           .args = "{\"command\":\"ls\\u200b\\n\",\"cwd\":\"/\"}",
                           .blocking = true},
                      listed = {0};
    request_turn_add(turn, &r);
    request_each_open(all, look_at_shown, &listed);
    is_str(listed.preview, "ls<U+200B>\n\ncwd: /",
           "the preview has all arguments, with invisible characters marked");
    is_str(listed.args, r.args, "the event has the unchanged arguments");
    end();
}

static void test_decisions(void)
{
    begin(false);
    see("1", "approval", "Bash", LS);
    is_int(SAY("This choice is not available for this request.", "an answer to an approval",
               .request = "1", .choice = "answer", .text = "x"),
           TC_DENIED, "an answer to an approval is refused");
    is_int(
        SAY("Changed arguments must be a JSON object and can only be sent when allowing the call.",
            "a denial with changed arguments", .request = "1", .choice = "deny", .args = "{}"),
        TC_DENIED, "changed arguments in a denial are refused");
    is_int(
        SAY("Changed arguments must be a JSON object and can only be sent when allowing the call.",
            "changed arguments that are an array", .request = "1", .choice = "allow",
            .args = "[1]"),
        TC_DENIED, "changed arguments that are not an object are refused");
    is_str(log_of(&asked.agent), "", "the agent receives no refused decision");
    SAY("Allowed.", "an approval with changed arguments", .request = "1", .choice = "allow",
        .args = "{\"command\":\"pwd\"}");
    see("2", "approval", "Bash", LS);
    SAY("Denied.", "the denial has a reason", .request = "2", .choice = "deny_stop",
        .text = "no \"rm\"");
    see("3", "approval", "Bash", LS);
    SAY("Allowed.", "a decision that the agent suggests", .request = "3", .choice = "allow_agent");
    is_str(log_of(&asked.agent),
           "1:allow args={\"command\":\"pwd\"};2:deny reason=no \"rm\" interrupt;"
           "3:allow remember;",
           "the agent receives arguments, reason and suggestion");
    is_str(log_of(&asked.kept), "", "no approval is stored for these decisions");
    see("4", "approval", "Bash", LS);
    SAY("Allowed.", "an approval for the session", .request = "4", .choice = "allow_session");
    is_str(log_of(&asked.kept), "1 Bash ls by Ann (tg);", "the approval for the session is stored");
    end();
}

#define QUESTION(id, multi)                                                                        \
    "{\"id\":\"" id "\",\"prompt\":\"?\",\"options\":[],\"multi\":" multi "}"

static void ask_questions(const char *id, const char *questions)
{
    struct tc_request r = {.request_id = id,
                           .kind = "ask",
                           .state = "open",
                           .tool = "AskUserQuestion",
                           .questions = questions,
                           .blocking = true};
    request_turn_add(turn, &r);
}

static void test_questions(void)
{
    static const struct {
        const char *text, *answers, *wanted; /* NULL: refused */
    } cases[] = {
        {"Red", NULL, "{\"0\":\"Red\"}"}, {NULL, "{\"0\":\"Red\"}", "{\"0\":\"Red\"}"},
        {NULL, "{\"1\":\"Red\"}", NULL},  {NULL, "{\"0\":[\"Red\"]}", NULL},
        {NULL, "{\"0\":1}", NULL},        {NULL, "[]", NULL},
        {NULL, "{\"0\":\"Red\"", NULL},   {"", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(false);
        ask_questions("q", "[" QUESTION("0", "false") "]");
        const enum tc_accepted got = SAY(
            cases[i].wanted ? "Answered." : "Please answer every question.", "an answer",
            .request = "q", .choice = "answer", .text = cases[i].text, .answers = cases[i].answers);
        is_int(got, cases[i].wanted ? TC_COMMAND : TC_DENIED, "  %s",
               cases[i].answers ? cases[i].answers : cases[i].text);
        CLEANUP_BUF struct buf wanted = {0};
        if (cases[i].wanted)
            buf_printf(&wanted, "q:answered answers=%s;", cases[i].wanted);
        is_str(log_of(&asked.agent), log_of(&wanted), "  the agent receives the answer");
        end();
    }
    begin(false);
    ask_questions("q", "[" QUESTION("0", "false") "," QUESTION("1", "true") "]");
    is_int(SAY("Please answer every question.", "one text for two questions", .request = "q",
               .choice = "answer", .text = "Red"),
           TC_DENIED, "an incomplete answer is refused");
    is_int(SAY("Please answer every question.", "one answer for two questions", .request = "q",
               .choice = "answer", .answers = "{\"0\":\"Red\"}"),
           TC_DENIED, "an incomplete answer is refused");
    SAY("Answered.", "answers to both questions", .request = "q", .choice = "answer",
        .answers = "{\"0\":\"Red\",\"1\":[\"Red\",\"Blue\"]}");
    ask_questions("r", "[" QUESTION("0", "false") "]");
    is_int(SAY("Denied.", "a question is declined", .request = "r", .choice = "deny"), TC_COMMAND,
           "declining a question is accepted");
    end();
}

static void test_credential(void)
{
    begin(false);
    see("1", "credential", NULL, NULL);
    SAY("Answered.", "a credential", .request = "1", .choice = "answer", .text = "hunter2");
    is_str(log_of(&asked.agent), "1:answered answers={\"answer\":\"hunter2\"};",
           "the agent receives the credential");
    is_str(log_of(&asked.told), "1:answered by Ann (tg);",
           "the cast decision does not have the credential");
    end();
}

static void test_many(void)
{
    char id[16];
    begin(false);
    for (int i = 0; i < 65; i++) {
        snprintf(id, sizeof id, "%d", i);
        see(id, "approval", "Bash", LS);
    }
    asked_pass(0);
    is_str(log_of(&asked.told), "64:deny by host;",
           "requests above the limit of open requests are denied");
    for (int i = 65; i < 1000; i++) {
        snprintf(id, sizeof id, "%d", i);
        see(id, "approval", "Bash", LS);
    }
    asked_pass(0);
    ok(strstr(log_of(&asked.told), ";999:deny by host;") != NULL,
       "requests above the limit are denied in a flood, too");
    is_int(SAY("Allowed.", "a decision for the first request", .request = "0", .choice = "allow"),
           TC_COMMAND, "the first request is still open");
    end();
}

static void test_guest_tickets(void)
{
    char one[REQUEST_TICKET_SIZE], two[REQUEST_TICKET_SIZE];
    static const char *const others[][3] = {{"tg2", "t", "r"}, {"tg", "tr", ""}, {"tg", "t", "q"}};
    request_make_guest_ticket(one, "tg", "t", "r");
    request_make_guest_ticket(two, "tg", "t", "r");
    is_str(one, two, "every host makes the same ticket");
    is_int(strlen(one), REQUEST_TICKET_SIZE - 1, "the ticket fits into button data");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        request_make_guest_ticket(two, others[i][0], others[i][1], others[i][2]);
        ok(strcmp(one, two) != 0, "another request has another ticket");
    }
}

int main(void)
{
    plan_lazy();
    clock_fake(1000, 1e9);
    test_open();
    test_who_need_not_be_asked();
    test_time();
    test_time_in_german();
    test_places();
    test_places_http();
    test_four_eyes();
    test_shown();
    test_refused();
    test_fixed_arguments();
    test_decisions();
    test_questions();
    test_credential();
    test_many();
    test_guest_tickets();
    asked_reset();
    return 0;
}
