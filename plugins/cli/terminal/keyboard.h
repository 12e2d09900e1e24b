/* SPDX-License-Identifier: MIT
 * Keyboard of the host's terminal, /dev/tty: reads single keys while a request is shown, and
 * restores the modes afterwards. Changes modes only while the host is in the foreground; for a key
 * that ends or stops programs, the modes are restored first. */
#ifndef CLI_KEYBOARD_H
#define CLI_KEYBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct keyboard {
    int fd;       /* -1: none */
    bool grabbed; /* our modes are set */
    bool known;   /* `was` is valid */
    struct termios was;
    int64_t deaf_until_ms; /* input until this time is dropped */
};

void keyboard_open(struct keyboard *k);
void keyboard_close(struct keyboard *k);
/* Whether there is a keyboard whose input goes to the host. */
bool keyboard_is_ours(const struct keyboard *k);
/* Starts reading single keys without echo; drops earlier input, and input before a person can have
 * read the request. */
void keyboard_grab(struct keyboard *k);
void keyboard_release(struct keyboard *k);
/* Reads typed input; returns its length, 0: none. Never blocks. */
size_t keyboard_read(struct keyboard *k, char *to, size_t cap);
/* The signal of this key in the terminal's original modes, or 0. */
int keyboard_signal(const struct keyboard *k, char key);
/* Sends it to the processes to which the terminal would have sent it. */
void keyboard_send(struct keyboard *k, int signo);

#endif
