/* SPDX-License-Identifier: MIT
 * Sets the modes of /dev/tty while a request is shown. */
#include "keyboard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define DEAF_MS 300 /* keys typed sooner than a person can read are dropped */

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* Opens a new file description, so that O_NONBLOCK does not affect other processes. */
void keyboard_open(struct keyboard *k)
{
    *k = (struct keyboard){.fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)};
}

void keyboard_close(struct keyboard *k)
{
    keyboard_release(k);
    if (k->fd >= 0)
        close(k->fd);
    k->fd = -1;
}

bool keyboard_is_ours(const struct keyboard *k)
{
    return k->fd >= 0 && tcgetpgrp(k->fd) == getpgrp();
}

/* If our modes are still set, from before the host was put into the background, they must not be
 * saved as the original ones. */
static bool keyboard_read_modes(struct keyboard *k)
{
    struct termios now;
    if (tcgetattr(k->fd, &now) < 0)
        return false;
    if (!k->known || (now.c_lflag & ICANON))
        k->was = now;
    k->known = true;
    return true;
}

/* Ctrl-C keeps its signal. Other signal keys arrive as keys, because the host must restore the
 * modes before it ends or stops. */
void keyboard_grab(struct keyboard *k)
{
    if (!k->grabbed && !keyboard_read_modes(k))
        return;
    struct termios now = k->was;
    now.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    now.c_iflag |= ICRNL;
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    now.c_cc[VSUSP] = now.c_cc[VQUIT] = _POSIX_VDISABLE;
    k->grabbed = tcsetattr(k->fd, TCSANOW, &now) == 0;
    tcflush(k->fd, TCIFLUSH);
    k->deaf_until_ms = now_ms() + DEAF_MS;
}

/* In the background, the terminal belongs to the shell, which sets its own modes. */
void keyboard_release(struct keyboard *k)
{
    if (k->grabbed && keyboard_is_ours(k))
        tcsetattr(k->fd, TCSANOW, &k->was);
    k->grabbed = false;
}

size_t keyboard_read(struct keyboard *k, char *to, size_t cap)
{
    const ssize_t n = read(k->fd, to, cap);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        keyboard_close(k); /* the terminal was closed */
    return n > 0 && now_ms() >= k->deaf_until_ms ? (size_t)n : 0;
}

int keyboard_signal(const struct keyboard *k, char key)
{
    const cc_t c = (cc_t)key;
    if (c == _POSIX_VDISABLE || !(k->was.c_lflag & ISIG))
        return 0;
    return c == k->was.c_cc[VSUSP] ? SIGTSTP : c == k->was.c_cc[VQUIT] ? SIGQUIT : 0;
}

void keyboard_send(struct keyboard *k, int signo)
{
    keyboard_release(k);
    kill(0, signo);
}
