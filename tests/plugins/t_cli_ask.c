/* SPDX-License-Identifier: MIT
 * Tests of the questions that the connector cli asks, on a real terminal whose keyboard is the
 * test, with a fake clock. */
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "plugins/fake_plugin.h"
#include "tap/tap.h"

#define APPROVAL                                                                                   \
    "\"kind\":\"approval\",\"state\":\"open\",\"blocking\":true,\"tool\":\"Bash\","                \
    "\"choices\":[{\"id\":\"allow\",\"label\":\"Allow\"},{\"id\":\"allow_session\",\"label\":"     \
    "\"Session\"},{\"id\":\"deny\",\"label\":\"Deny\"}]"
#define QUESTIONS                                                                                  \
    "\"kind\":\"ask\",\"state\":\"open\",\"blocking\":true,\"choices\":[{\"id\":\"answer\","       \
    "\"label\":\"Answer\"},{\"id\":\"deny\",\"label\":\"Deny\"}]"
#define COLOUR                                                                                     \
    "{\"id\":\"0\",\"header\":\"Paint\",\"prompt\":\"Which colour?\",\"multi\":false,\"options\":" \
    "[{\"label\":\"Red\",\"description\":\"as a rose\"},{\"label\":\"Blue\"}]}"
#define PARTS                                                                                      \
    "{\"id\":\"1\",\"prompt\":\"Which parts?\",\"multi\":true,\"options\":[{\"label\":\"Door\"},"  \
    "{\"label\":\"Roof\"},{\"label\":\"Wall\"}]}"

struct scene {
    struct fake_host *stage;
    struct fake_turn *turn;
    int master, saved;
    struct termios before;
    char screen[1 << 15]; /* all that was written */
    size_t len;
};

static struct termios get_modes(int fd)
{
    struct termios t = {0};
    tcgetattr(fd, &t);
    return t;
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
    return a->c_iflag == b->c_iflag && a->c_lflag == b->c_lflag && a->c_oflag == b->c_oflag &&
           memcmp(a->c_cc, b->c_cc, sizeof a->c_cc) == 0;
}

/* Opens a terminal of `columns` for this process, and starts the module on it. */
static void start_scene_in(struct scene *s, unsigned short columns, const char *language)
{
    const char *const options[] = {"color", "never", "language", language, NULL};
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    int slave;
    if (openpty(&s->master, &slave, NULL, NULL, &size))
        bail("no pseudo terminal");
    fcntl(s->master, F_SETFL, O_NONBLOCK);
    ioctl(slave, TIOCSCTTY, 1);
    s->before = get_modes(slave);
    s->saved = dup(2);
    dup2(slave, 2);
    close(slave);
    s->stage = fake_plugin_new("cli", options);
    if (fake_host_init(s->stage))
        bail("cli does not start");
    s->turn = fake_host_open(s->stage, "t1", NULL, NULL, NULL);
    s->len = 0;
    s->screen[0] = '\0';
}

static void start_scene(struct scene *s, unsigned short columns)
{
    start_scene_in(s, columns, "en");
}

static void read_screen(struct scene *s)
{
    ssize_t n;
    while ((n = read(s->master, s->screen + s->len, sizeof s->screen - 1 - s->len)) > 0)
        s->len += (size_t)n;
    s->screen[s->len] = '\0';
}

static void advance_clock(struct scene *s, int64_t ms)
{
    for (; ms > 0; ms -= 50)
        fake_host_advance(s->stage, 50);
    read_screen(s);
}

static void type_keys(struct scene *s, const char *keys)
{
    if (write(s->master, keys, strlen(keys)) < 0)
        bail("cannot write to the terminal");
    advance_clock(s, 50);
}

/* Sends an open request, and waits until keys are accepted. */
static void send_request(struct scene *s, const char *id, const char *rest)
{
    char *const payload = xasprintf("{\"request_id\":\"%s\",%s}", id, rest);
    fake_host_event(s->stage, s->turn, "request", payload);
    free(payload);
    advance_clock(s, 350);
}

static void send_resolved(struct scene *s, const char *id, const char *decision, const char *by)
{
    char *const payload = xasprintf("{\"request_id\":\"%s\",\"kind\":\"approval\",\"state\":"
                                    "\"resolved\",\"blocking\":true,\"decision\":\"%s\","
                                    "\"by\":\"%s\"}",
                                    id, decision, by);
    fake_host_event(s->stage, s->turn, "request", payload);
    free(payload);
    read_screen(s);
}

/* Sets the expected decision. */
static void expect_decision(struct scene *s, const char *want, enum tc_accepted result,
                            const char *answer)
{
    struct fake_promise **end = &s->stage->promises;
    while (*end)
        end = &(*end)->next;
    *end = xmalloc(sizeof **end);
    **end = (struct fake_promise){.call = "answer",
                                  .want = json_loads(want, 0, NULL),
                                  .result = result,
                                  .answer = xstrdup(answer)};
}

/* Checks that the expected decisions were made, and no others. */
static void check_decisions(const struct scene *s, const char *what)
{
    if (!ok(!s->stage->promises && !s->stage->faults.len, "%s", what))
        diag("%s; on the screen: %s", s->stage->faults.len ? s->stage->faults.p : "no decision",
             s->screen);
}

static void end_scene(struct scene *s, const char *what)
{
    fake_host_event(s->stage, s->turn, "final", "{\"text\":\"\"}");
    fake_host_event(s->stage, s->turn, "done", "{\"reason\":\"completed\"}");
    read_screen(s);
    fake_host_free(s->stage);
    read_screen(s);
    const struct termios after = get_modes(2);
    ok(same_modes(&s->before, &after), "%s: the terminal modes are restored", what);
    signal(SIGHUP, SIG_IGN); /* the terminal is closed */
    ioctl(2, TIOCNOTTY);
    dup2(s->saved, 2);
    close(s->saved);
    close(s->master);
}

static void test_allow(void)
{
    struct scene s;
    start_scene(&s, 100);
    send_request(&s, "r1",
                 APPROVAL ",\"subject\":\"rm -rf \\u001b[2Jbuild\\nmake\",\"reason\":\"clean\","
                          "\"message\":\"please\"");
    has_str(s.screen,
            "? Approval needed: Bash\r\n│ rm -rf ^[[2Jbuild\r\n│ make\r\n│ clean\r\n"
            "│ please\r\n[a]llow  [s]ession  [d]eny  ",
            "the request is complete and visible, and lists the keys");
    const struct termios asked = get_modes(2);
    ok(!(asked.c_lflag & (ICANON | ECHO)) && (asked.c_lflag & ISIG),
       "the terminal reads single keys, and ctrl-C still works");
    fake_host_event(s.stage, s.turn, "narration", "{\"text\":\"Meanwhile.\\n\\nMore\"}");
    read_screen(&s);
    has_str(s.screen, "\r\033[KMeanwhile.\r\n[a]llow", "other output is written before the prompt");
    type_keys(&s, "\033[Aq?w");
    check_decisions(&s, "other keys, also an arrow key, decide nothing");
    expect_decision(&s, "{\"ticket\":\"ticket-r1\",\"choice\":\"allow\",\"user\":\"terminal\"}",
                    TC_COMMAND, NULL);
    type_keys(&s, "a");
    check_decisions(&s, "a allows");
    const struct termios between = get_modes(2);
    ok(same_modes(&s.before, &between), "the terminal modes are restored after the decision");
    send_resolved(&s, "r1", "allow", "ann (terminal)");
    has_str(s.screen, "? allowed by ann (terminal)\r\n", "the decision is shown");
    send_request(&s, "r2", APPROVAL);
    expect_decision(&s, "{\"ticket\":\"ticket-r2\",\"choice\":\"allow_session\"}", TC_COMMAND,
                    NULL);
    type_keys(&s, "s");
    check_decisions(&s, "the key s allows for the session");
    end_scene(&s, "allowed");
}

/* The host sends a preview of the call, with all arguments. */
static void test_preview(void)
{
    struct scene s;
    start_scene(&s, 100);
    send_request(&s, "r1",
                 APPROVAL ",\"subject\":\"[2 lines]\\nls\\nrm\",\"preview\":\"[2 lines]\\nls\\n"
                          "rm<U+202E>\\ntimeout: 5\",\"args\":{\"command\":\"ls\\nrm\"}");
    has_str(s.screen,
            "? Approval needed: Bash\r\n│ [2 lines]\r\n│ ls\r\n│ rm<U+202E>\r\n"
            "│ timeout: 5\r\n[a]llow  ",
            "the preview is shown");
    expect_decision(&s, "{\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type_keys(&s, "a");
    check_decisions(&s, "the key decides the request with a preview");
    end_scene(&s, "preview");
}

static void test_deny(void)
{
    struct scene s;
    start_scene(&s, 30);
    send_request(&s, "r1", APPROVAL ",\"subject\":\"x\"");
    expect_decision(&s, "{\"choice\":\"deny\",\"text\":\"not tödäy\"}", TC_COMMAND, NULL);
    type_keys(&s, "dnot todä\177\177\177ödäx\bx\b");
    has_str(s.screen, "reason (Esc: back…not tödä", "a narrow window shows the end of the reason");
    type_keys(&s, "y\n");
    check_decisions(&s, "the key d denies, with a reason");
    send_resolved(&s, "r1", "deny", "ann");
    send_request(&s, "r2", APPROVAL);
    expect_decision(&s, "{\"choice\":\"deny\",\"text\":null}", TC_COMMAND, NULL);
    type_keys(&s, "dzzz\025");
    type_keys(&s, "\033");
    type_keys(&s, "d\n");
    check_decisions(&s, "the key d denies without a reason after a second key");
    end_scene(&s, "denied");
}

static void test_questions(void)
{
    struct scene s;
    start_scene(&s, 100);
    send_request(&s, "r1", QUESTIONS ",\"questions\":[" COLOUR "]");
    has_str(s.screen,
            "? Question\r\n│ Paint\r\n│ Which colour?\r\n  1) Red - as a rose\r\n"
            "  2) Blue\r\nenter a number (1-2), or type an answer> ",
            "a question is shown with its options");
    type_keys(&s, "3\n");
    type_keys(&s, "1,2\n");
    has_str(s.screen, "! no such option\r\n", "a number above the last option is refused");
    expect_decision(&s, "{\"choice\":\"answer\",\"answers\":{\"0\":\"Blue\"}}", TC_COMMAND, NULL);
    type_keys(&s, "2\n");
    check_decisions(&s, "a number answers the question");
    send_resolved(&s, "r1", "answered", "ann");
    send_request(&s, "r2", QUESTIONS ",\"questions\":[" COLOUR "," PARTS "]");
    type_keys(&s, "green, I think\n1,2,3\n");
    has_str(s.screen, "│ Which parts?\r\n", "the second question follows the first");
    check_decisions(&s, "input that was typed before is not an answer to the next question");
    advance_clock(&s, 300);
    expect_decision(&s,
                    "{\"choice\":\"answer\",\"answers\":{\"0\":\"green, I think\",\"1\":[\"Wall\","
                    "\"Door\"]}}",
                    TC_COMMAND, NULL);
    type_keys(&s, "3, 1\n");
    check_decisions(&s, "a typed answer, and several options");
    send_resolved(&s, "r2", "answered", "ann");
    send_request(&s, "r3", QUESTIONS ",\"questions\":[" PARTS "]");
    expect_decision(&s, "{\"choice\":\"deny\",\"text\":\"no idea\"}", TC_COMMAND, NULL);
    type_keys(&s, "\033");
    type_keys(&s, "no idea\n");
    check_decisions(&s, "Esc declines");
    send_resolved(&s, "r3", "deny", "ann");
    send_request(
        &s, "r4",
        "\"kind\":\"credential\",\"state\":\"open\",\"blocking\":true,\"message\":\"Token?\","
        "\"choices\":[{\"id\":\"answer\",\"label\":\"Answer\"}]");
    expect_decision(&s, "{\"choice\":\"answer\",\"text\":\"s3cret\",\"answers\":null}", TC_COMMAND,
                    NULL);
    type_keys(&s, "s3cret");
    type_keys(&s, "\n");
    check_decisions(&s, "a text");
    has_str(s.screen, "> ******", "a secret is shown as asterisks");
    ok(!strstr(s.screen, "s3c"), "a secret is not shown on the screen");
    end_scene(&s, "answered");
}

static void test_german(void)
{
    struct scene s;
    start_scene_in(&s, 100, "de");
    send_request(&s, "r1", APPROVAL ",\"subject\":\"x\"");
    has_str(s.screen, "? Freigabe erforderlich: Bash\r\n│ x\r\n[a] ja  ",
            "a German request with its keys");
    expect_decision(&s, "{\"choice\":\"deny\",\"text\":\"no\"}", TC_COMMAND, NULL);
    type_keys(&s, "dno");
    has_str(s.screen, "Begründung (Esc: zurück)> no", "the German prompt for the reason");
    type_keys(&s, "\n");
    check_decisions(&s, "the keys are the same in German");
    send_resolved(&s, "r1", "deny", "ann");
    has_str(s.screen, "? abgelehnt von ann\r\n", "the German decision with the name of the user");
    send_request(&s, "r2", QUESTIONS ",\"questions\":[" COLOUR "]");
    has_str(s.screen, "\r\nNummer eingeben (1-2)", "the German prompt of a question");
    type_keys(&s, "3\n");
    has_str(s.screen, "! keine der Möglichkeiten\r\n", "a German message for a wrong number");
    end_scene(&s, "German");
}

/* A terminal that cannot show umlauts gets English texts. */
static void test_ascii(void)
{
    struct scene s;
    setenv("LC_ALL", "de_DE.ISO-8859-1", 1);
    start_scene_in(&s, 100, "de");
    send_request(&s, "r1", APPROVAL);
    has_str(s.screen, "? Approval needed: Bash", "a terminal with ASCII only gets English texts");
    end_scene(&s, "ASCII");
    setenv("LC_ALL", "C.UTF-8", 1);
}

static void test_elsewhere(void)
{
    struct scene s;
    start_scene(&s, 100);
    send_request(&s, "r1", APPROVAL ",\"subject\":\"one\"");
    send_request(&s, "r2", APPROVAL ",\"subject\":\"two\"");
    send_request(&s, "r3", APPROVAL ",\"subject\":\"three\"");
    ok(!strstr(s.screen, "two"), "one request is shown at a time");
    type_keys(&s, "d");
    send_resolved(&s, "r1", "allow", "Bob (telegram)");
    has_str(s.screen, "\r\033[K? allowed by Bob (telegram)\r\n",
            "a decision elsewhere removes the prompt");
    has_str(s.screen, "│ two\r\n[a]llow", "the next request is shown");
    type_keys(&s, "a");
    check_decisions(&s, "a key that was typed for the previous request is ignored");
    send_resolved(&s, "r3", "deny", "Bob (telegram)");
    has_str(s.screen, "? denied by Bob (telegram)\r\n[a]llow",
            "a waiting request that is decided elsewhere is reported");
    advance_clock(&s, 300);
    expect_decision(&s, "{\"ticket\":\"ticket-r2\",\"choice\":\"allow\"}", TC_KNOWN,
                    "Bob was faster.");
    type_keys(&s, "a");
    check_decisions(&s, "a decision that is too late");
    has_str(s.screen, "! Bob was faster.\r\n", "the reply of the host is shown");
    ok(!strstr(s.screen, "three"), "a request that is decided meanwhile is never shown");
    send_request(&s, "r4", APPROVAL ",\"subject\":\"four\"");
    expect_decision(&s, "{\"ticket\":\"ticket-r4\"}", TC_NOT_KEPT, NULL);
    type_keys(&s, "a");
    expect_decision(&s, "{\"ticket\":\"ticket-r4\"}", TC_COMMAND, NULL);
    advance_clock(&s, 300);
    type_keys(&s, "a");
    check_decisions(&s, "a request whose decision the host could not accept is shown again");
    end_scene(&s, "answered elsewhere");
}

static void test_places(void)
{
    struct scene s;
    start_scene(&s, 100);
    const size_t before = s.len;
    char *const other = xasprintf(APPROVAL ",\"to\":[\"ops:5\",\"%sx\"]", FAKE_INSTANCE);
    char *const here = xasprintf(APPROVAL ",\"to\":[\"ops:5\",\"%s:terminal\"]", FAKE_INSTANCE);
    send_request(&s, "r1", other);
    ok(!strstr(s.screen + before, "[a]llow"),
       "a request that is asked elsewhere only is not shown");
    send_request(&s, "r2", here);
    expect_decision(&s, "{\"ticket\":\"ticket-r2\",\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type_keys(&s, "a");
    check_decisions(&s, "a request that is also asked here is shown");
    end_scene(&s, "places");
    free(other);
    free(here);
}

static void test_typed_ahead(void)
{
    struct scene s;
    start_scene(&s, 100);
    if (write(s.master, "a\na", 3) != 3)
        bail("cannot write to the terminal");
    fake_host_event(s.stage, s.turn, "request", "{\"request_id\":\"r1\"," APPROVAL "}");
    advance_clock(&s, 200);
    type_keys(&s, "a");
    check_decisions(&s, "keys that are typed before the request can be read are ignored");
    advance_clock(&s, 50);
    expect_decision(&s, "{\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type_keys(&s, "a");
    check_decisions(&s, "keys are accepted after 300 ms");
    end_scene(&s, "typed ahead");
}

static void test_foreground(void)
{
    struct scene s;
    start_scene(&s, 100);
    send_request(&s, "r1", APPROVAL);
    signal(SIGTSTP, SIG_IGN);
    type_keys(&s, "\032");
    signal(SIGTSTP, SIG_DFL);
    has_str(s.screen, "[d]eny  \r\033[K[a]llow", "after ctrl-Z the prompt is shown again");
    signal(SIGTTOU, SIG_IGN);
    const pid_t other = fork();
    if (other == 0) {
        setpgid(0, 0);
        pause();
        _exit(0);
    }
    setpgid(other, other);
    tcsetpgrp(2, other);
    const size_t before = s.len;
    send_request(&s, "r2", APPROVAL ",\"subject\":\"two\"");
    type_keys(&s, "a");
    check_decisions(&s, "no key is read in the background");
    has_str(s.screen + before, "? Approval needed: Bash: two\r\n",
            "a request in the background is one line");
    tcsetpgrp(2, getpgrp());
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    advance_clock(&s, 400);
    expect_decision(&s, "{\"ticket\":\"ticket-r1\",\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type_keys(&s, "a");
    check_decisions(&s, "the request is shown again in the foreground");
    send_resolved(&s, "r1", "allow", "ann");
    advance_clock(&s, 400);
    expect_decision(&s, "{\"ticket\":\"ticket-r2\",\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type_keys(&s, "a");
    check_decisions(&s, "a request that arrived in the background is shown");
    end_scene(&s, "foreground");
}

/* Ends the instance while a text is entered. */
static void test_end(void)
{
    struct scene s;
    start_scene(&s, 100);
    send_request(&s, "r1", APPROVAL);
    type_keys(&s, "dwhy");
    end_scene(&s, "ended while asking");
}

static void test_all(void)
{
    plan_lazy();
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    test_allow();
    test_preview();
    test_deny();
    test_questions();
    test_german();
    test_ascii();
    test_elsewhere();
    test_places();
    test_typed_ahead();
    test_foreground();
    test_end();
}

/* In a new session, because only the leader of a session gets a terminal. */
int main(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        test_all();
        return 0;
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
