/* SPDX-License-Identifier: MIT
 * Prints questions, and controls the echo of the terminal. */
#include "cli/init/init_ask.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define INIT_LINE_MAX 4096

bool init_ask_is_possible(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Reads one byte; `mask` is the signal mask during the wait, in which a blocked signal can
 * arrive. */
static ssize_t init_ask_read_byte(char *c, const sigset_t *mask)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    return ppoll(&in, 1, NULL, mask) < 0 ? -1 : read(STDIN_FILENO, c, 1);
}

/* Reads byte by byte, so that nothing of the next line stays in a buffer. -1: end of input, or a
 * signal. */
static int init_ask_read(char line[INIT_LINE_MAX], const sigset_t *mask)
{
    size_t n = 0;
    char c = '\0';
    for (ssize_t got; (got = init_ask_read_byte(&c, mask)) == 1 && c != '\n';)
        if (n < INIT_LINE_MAX - 1)
            line[n++] = c;
    line[n] = '\0';
    return n == 0 && c != '\n' ? -1 : 0;
}

static char *init_ask_trim(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    size_t n = strlen(line);
    while (n > 0 && isspace((unsigned char)line[n - 1]))
        n--;
    line[n] = '\0';
    return line;
}

static void init_ask_print(const char *question, const char *fallback)
{
    printf("%s", question);
    if (fallback && *fallback)
        printf(" [%s]", fallback);
    printf(": ");
    fflush(stdout);
}

char *init_ask_line(const char *question, const char *fallback)
{
    char line[INIT_LINE_MAX];
    init_ask_print(question, fallback);
    if (init_ask_read(line, NULL) < 0) {
        putchar('\n');
        return NULL;
    }
    const char *const text = init_ask_trim(line);
    return xstrdup(*text || !fallback ? text : fallback);
}

bool init_ask_yes_no(const char *question, bool fallback)
{
    CLEANUP_FREE char *answer = init_ask_line(question, fallback ? "Y/n" : "y/N");
    const char c = answer ? (char)tolower((unsigned char)*answer) : 'n';
    const bool unsaid = answer && strchr(answer, '/');
    return unsaid || (c != 'y' && c != 'n') ? fallback : c == 'y';
}

static void init_ask_on_signal(int signo)
{
    (void)signo; /* the signal interrupts the wait */
}

char *init_ask_secret(const char *question)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    enum { N_SIGNALS = sizeof signals / sizeof *signals };
    struct sigaction before[N_SIGNALS];
    const struct sigaction stop = {.sa_handler = init_ask_on_signal};
    struct termios shown, hidden;
    sigset_t blocked, mask;
    char line[INIT_LINE_MAX];
    if (tcgetattr(STDIN_FILENO, &shown) < 0)
        return NULL;
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    sigemptyset(&blocked);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaddset(&blocked, signals[i]);
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &stop, &before[i]);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    init_ask_print(question, NULL);
    errno = 0;
    const int rc = init_ask_read(line, &mask);
    const bool interrupted = errno == EINTR;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    putchar('\n');
    char *const secret = rc < 0 || interrupted ? NULL : xstrdup(init_ask_trim(line));
    explicit_bzero(line, sizeof line);
    if (interrupted)
        raise(SIGINT);
    return secret;
}
