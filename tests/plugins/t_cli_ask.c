/* SPDX-License-Identifier: MIT
 * Tests of what the cli connector asks: a real terminal, whose keyboard is the test's, and a clock
 * that stands still. */
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

static struct termios modes(int fd)
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

/* A terminal of `columns` for this process, and the module on it. */
static void set_in(struct scene *s, unsigned short columns, const char *language)
{
    const char *const options[] = {"color", "never", "language", language, NULL};
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    int slave;
    if (openpty(&s->master, &slave, NULL, NULL, &size))
        bail("no pseudo terminal");
    fcntl(s->master, F_SETFL, O_NONBLOCK);
    ioctl(slave, TIOCSCTTY, 1);
    s->before = modes(slave);
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

static void set(struct scene *s, unsigned short columns)
{
    set_in(s, columns, "en");
}

static void look(struct scene *s)
{
    ssize_t n;
    while ((n = read(s->master, s->screen + s->len, sizeof s->screen - 1 - s->len)) > 0)
        s->len += (size_t)n;
    s->screen[s->len] = '\0';
}

static void pass(struct scene *s, int64_t ms)
{
    for (; ms > 0; ms -= 50)
        fake_host_advance(s->stage, 50);
    look(s);
}

static void type(struct scene *s, const char *keys)
{
    if (write(s->master, keys, strlen(keys)) < 0)
        bail("nothing can be typed");
    pass(s, 50);
}

/* An open request, and a moment to read it. */
static void request(struct scene *s, const char *id, const char *rest)
{
    char *const payload = xasprintf("{\"request_id\":\"%s\",%s}", id, rest);
    fake_host_event(s->stage, s->turn, "request", payload);
    free(payload);
    pass(s, 350);
}

static void resolve(struct scene *s, const char *id, const char *decision, const char *by)
{
    char *const payload = xasprintf("{\"request_id\":\"%s\",\"kind\":\"approval\",\"state\":"
                                    "\"resolved\",\"blocking\":true,\"decision\":\"%s\","
                                    "\"by\":\"%s\"}",
                                    id, decision, by);
    fake_host_event(s->stage, s->turn, "request", payload);
    free(payload);
    look(s);
}

/* The next decision is to be this. */
static void expect(struct scene *s, const char *want, enum tc_accepted result, const char *answer)
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

/* All that was expected has come, and nothing else. */
static void decided(const struct scene *s, const char *what)
{
    if (!ok(!s->stage->promises && !s->stage->faults.len, "%s", what))
        diag("%s; on the screen: %s", s->stage->faults.len ? s->stage->faults.p : "nothing came",
             s->screen);
}

static void strike(struct scene *s, const char *what)
{
    fake_host_event(s->stage, s->turn, "final", "{\"text\":\"\"}");
    fake_host_event(s->stage, s->turn, "done", "{\"reason\":\"completed\"}");
    look(s);
    fake_host_free(s->stage);
    look(s);
    const struct termios after = modes(2);
    ok(same_modes(&s->before, &after), "%s: the terminal is as it was", what);
    signal(SIGHUP, SIG_IGN); /* the terminal goes */
    ioctl(2, TIOCNOTTY);
    dup2(s->saved, 2);
    close(s->saved);
    close(s->master);
}

static void test_allow(void)
{
    struct scene s;
    set(&s, 100);
    request(&s, "r1",
            APPROVAL ",\"subject\":\"rm -rf \\u001b[2Jbuild\\nmake\",\"reason\":\"clean\","
                     "\"message\":\"please\"");
    has_str(s.screen,
            "? Approval needed: Bash\r\n│ rm -rf ^[[2Jbuild\r\n│ make\r\n│ clean\r\n"
            "│ please\r\n[a]llow  [s]ession  [d]eny  ",
            "all of it, visible, and the keys");
    const struct termios asked = modes(2);
    ok(!(asked.c_lflag & (ICANON | ECHO)) && (asked.c_lflag & ISIG),
       "key by key, with ctrl-C the terminal's");
    fake_host_event(s.stage, s.turn, "narration", "{\"text\":\"Meanwhile.\\n\\nMore\"}");
    look(&s);
    has_str(s.screen, "\r\033[KMeanwhile.\r\n[a]llow",
            "what comes meanwhile comes before the prompt");
    type(&s, "\033[Aq?w");
    decided(&s, "other keys, of an arrow too, decide nothing");
    expect(&s, "{\"ticket\":\"ticket-r1\",\"choice\":\"allow\",\"user\":\"terminal\"}", TC_COMMAND,
           NULL);
    type(&s, "a");
    decided(&s, "a allows");
    const struct termios between = modes(2);
    ok(same_modes(&s.before, &between), "and gives the keyboard back");
    resolve(&s, "r1", "allow", "ann (terminal)");
    has_str(s.screen, "? allowed by ann (terminal)\r\n", "what came of it");
    request(&s, "r2", APPROVAL);
    expect(&s, "{\"ticket\":\"ticket-r2\",\"choice\":\"allow_session\"}", TC_COMMAND, NULL);
    type(&s, "s");
    decided(&s, "s allows for the session");
    strike(&s, "allowed");
}

/* The host has made it visible, with all arguments. */
static void test_preview(void)
{
    struct scene s;
    set(&s, 100);
    request(&s, "r1",
            APPROVAL ",\"subject\":\"[2 lines]\\nls\\nrm\",\"preview\":\"[2 lines]\\nls\\n"
                     "rm<U+202E>\\ntimeout: 5\",\"args\":{\"command\":\"ls\\nrm\"}");
    has_str(s.screen,
            "? Approval needed: Bash\r\n│ [2 lines]\r\n│ ls\r\n│ rm<U+202E>\r\n"
            "│ timeout: 5\r\n[a]llow  ",
            "the preview is what is shown");
    expect(&s, "{\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type(&s, "a");
    decided(&s, "and decided");
    strike(&s, "preview");
}

static void test_deny(void)
{
    struct scene s;
    set(&s, 30);
    request(&s, "r1", APPROVAL ",\"subject\":\"x\"");
    expect(&s, "{\"choice\":\"deny\",\"text\":\"not tödäy\"}", TC_COMMAND, NULL);
    type(&s, "dnot todä\177\177\177ödäx\bx\b");
    has_str(s.screen, "reason (Esc: back…not tödä", "a narrow window");
    type(&s, "y\n");
    decided(&s, "d denies, with a reason");
    resolve(&s, "r1", "deny", "ann");
    request(&s, "r2", APPROVAL);
    expect(&s, "{\"choice\":\"deny\",\"text\":null}", TC_COMMAND, NULL);
    type(&s, "dzzz\025");
    type(&s, "\033");
    type(&s, "d\n");
    decided(&s, "or without, after thinking twice");
    strike(&s, "denied");
}

static void test_questions(void)
{
    struct scene s;
    set(&s, 100);
    request(&s, "r1", QUESTIONS ",\"questions\":[" COLOUR "]");
    has_str(s.screen,
            "? Question\r\n│ Paint\r\n│ Which colour?\r\n  1) Red - as a rose\r\n"
            "  2) Blue\r\nenter a number (1-2), or type an answer> ",
            "a question with its options");
    type(&s, "3\n");
    type(&s, "1,2\n");
    has_str(s.screen, "! no such option\r\n", "a number too many");
    expect(&s, "{\"choice\":\"answer\",\"answers\":{\"0\":\"Blue\"}}", TC_COMMAND, NULL);
    type(&s, "2\n");
    decided(&s, "a number answers");
    resolve(&s, "r1", "answered", "ann");
    request(&s, "r2", QUESTIONS ",\"questions\":[" COLOUR "," PARTS "]");
    type(&s, "green, I think\n1,2,3\n");
    has_str(s.screen, "│ Which parts?\r\n", "one after the other");
    decided(&s, "what was typed on is not the next one's answer");
    pass(&s, 300);
    expect(&s,
           "{\"choice\":\"answer\",\"answers\":{\"0\":\"green, I think\",\"1\":[\"Wall\","
           "\"Door\"]}}",
           TC_COMMAND, NULL);
    type(&s, "3, 1\n");
    decided(&s, "own words, and several options");
    resolve(&s, "r2", "answered", "ann");
    request(&s, "r3", QUESTIONS ",\"questions\":[" PARTS "]");
    expect(&s, "{\"choice\":\"deny\",\"text\":\"no idea\"}", TC_COMMAND, NULL);
    type(&s, "\033");
    type(&s, "no idea\n");
    decided(&s, "Esc declines");
    resolve(&s, "r3", "deny", "ann");
    request(&s, "r4",
            "\"kind\":\"credential\",\"state\":\"open\",\"blocking\":true,\"message\":\"Token?\","
            "\"choices\":[{\"id\":\"answer\",\"label\":\"Answer\"}]");
    expect(&s, "{\"choice\":\"answer\",\"text\":\"s3cret\",\"answers\":null}", TC_COMMAND, NULL);
    type(&s, "s3cret");
    type(&s, "\n");
    decided(&s, "a text");
    has_str(s.screen, "> ******", "a secret is stars");
    ok(!strstr(s.screen, "s3c"), "and nowhere on the screen");
    strike(&s, "answered");
}

static void test_german(void)
{
    struct scene s;
    set_in(&s, 100, "de");
    request(&s, "r1", APPROVAL ",\"subject\":\"x\"");
    has_str(s.screen, "? Freigabe erforderlich: Bash\r\n│ x\r\n[a] ja  ", "a request and its keys");
    expect(&s, "{\"choice\":\"deny\",\"text\":\"no\"}", TC_COMMAND, NULL);
    type(&s, "dno");
    has_str(s.screen, "Begründung (Esc: zurück)> no", "the reason is asked for");
    type(&s, "\n");
    decided(&s, "the keys are the same");
    resolve(&s, "r1", "deny", "ann");
    has_str(s.screen, "? abgelehnt von ann\r\n", "who decided");
    request(&s, "r2", QUESTIONS ",\"questions\":[" COLOUR "]");
    has_str(s.screen, "\r\nNummer eingeben (1-2)", "a question");
    type(&s, "3\n");
    has_str(s.screen, "! keine der Möglichkeiten\r\n", "a number too many");
    strike(&s, "German");
}

/* What cannot show an umlaut gets English. */
static void test_ascii(void)
{
    struct scene s;
    setenv("LC_ALL", "de_DE.ISO-8859-1", 1);
    set_in(&s, 100, "de");
    request(&s, "r1", APPROVAL);
    has_str(s.screen, "? Approval needed: Bash", "a terminal of ASCII: English");
    strike(&s, "ASCII");
    setenv("LC_ALL", "C.UTF-8", 1);
}

static void test_elsewhere(void)
{
    struct scene s;
    set(&s, 100);
    request(&s, "r1", APPROVAL ",\"subject\":\"one\"");
    request(&s, "r2", APPROVAL ",\"subject\":\"two\"");
    request(&s, "r3", APPROVAL ",\"subject\":\"three\"");
    ok(!strstr(s.screen, "two"), "one at a time");
    type(&s, "d");
    resolve(&s, "r1", "allow", "Bob (telegram)");
    has_str(s.screen, "\r\033[K? allowed by Bob (telegram)\r\n",
            "who decided takes the prompt away");
    has_str(s.screen, "│ two\r\n[a]llow", "and the next one is asked");
    type(&s, "a");
    decided(&s, "a key meant for the one before is not taken");
    resolve(&s, "r3", "deny", "Bob (telegram)");
    has_str(s.screen, "? denied by Bob (telegram)\r\n[a]llow", "the one behind is withdrawn");
    pass(&s, 300);
    expect(&s, "{\"ticket\":\"ticket-r2\",\"choice\":\"allow\"}", TC_KNOWN, "Bob was faster.");
    type(&s, "a");
    decided(&s, "too late");
    has_str(s.screen, "! Bob was faster.\r\n", "is said");
    ok(!strstr(s.screen, "three"), "and what is over was never asked");
    request(&s, "r4", APPROVAL ",\"subject\":\"four\"");
    expect(&s, "{\"ticket\":\"ticket-r4\"}", TC_NOT_KEPT, NULL);
    type(&s, "a");
    expect(&s, "{\"ticket\":\"ticket-r4\"}", TC_COMMAND, NULL);
    pass(&s, 300);
    type(&s, "a");
    decided(&s, "what the host could not take is asked again");
    strike(&s, "answered elsewhere");
}

static void test_places(void)
{
    struct scene s;
    set(&s, 100);
    const size_t before = s.len;
    char *const other = xasprintf(APPROVAL ",\"to\":[\"ops:5\",\"%sx\"]", FAKE_INSTANCE);
    char *const here = xasprintf(APPROVAL ",\"to\":[\"ops:5\",\"%s:terminal\"]", FAKE_INSTANCE);
    request(&s, "r1", other);
    ok(!strstr(s.screen + before, "[a]llow"), "what is asked elsewhere only is not asked");
    request(&s, "r2", here);
    expect(&s, "{\"ticket\":\"ticket-r2\",\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type(&s, "a");
    decided(&s, "what is asked here, too, is");
    strike(&s, "places");
    free(other);
    free(here);
}

static void test_typed_ahead(void)
{
    struct scene s;
    set(&s, 100);
    if (write(s.master, "a\na", 3) != 3)
        bail("nothing can be typed");
    fake_host_event(s.stage, s.turn, "request", "{\"request_id\":\"r1\"," APPROVAL "}");
    pass(&s, 200);
    type(&s, "a");
    decided(&s, "what was typed before one can have read it is dropped");
    pass(&s, 50);
    expect(&s, "{\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type(&s, "a");
    decided(&s, "300 ms later it counts");
    strike(&s, "typed ahead");
}

static void test_foreground(void)
{
    struct scene s;
    set(&s, 100);
    request(&s, "r1", APPROVAL);
    signal(SIGTSTP, SIG_IGN);
    type(&s, "\032");
    signal(SIGTSTP, SIG_DFL);
    has_str(s.screen, "[d]eny  \r\033[K[a]llow", "after ctrl-Z the prompt comes again");
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
    request(&s, "r2", APPROVAL ",\"subject\":\"two\"");
    type(&s, "a");
    decided(&s, "in the background no key is taken");
    has_str(s.screen + before, "? Approval needed: Bash: two\r\n", "a request is a line");
    tcsetpgrp(2, getpgrp());
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    pass(&s, 400);
    expect(&s, "{\"ticket\":\"ticket-r1\",\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type(&s, "a");
    decided(&s, "back in the foreground it is asked again");
    resolve(&s, "r1", "allow", "ann");
    pass(&s, 400);
    expect(&s, "{\"ticket\":\"ticket-r2\",\"choice\":\"allow\"}", TC_COMMAND, NULL);
    type(&s, "a");
    decided(&s, "and so is what came meanwhile");
    strike(&s, "foreground");
}

/* Torn down in the middle of a text. */
static void test_end(void)
{
    struct scene s;
    set(&s, 100);
    request(&s, "r1", APPROVAL);
    type(&s, "dwhy");
    strike(&s, "ended while asking");
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

/* In a session of its own: only its leader gets a terminal. */
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
