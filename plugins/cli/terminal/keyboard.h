/* SPDX-License-Identifier: MIT
 * The keyboard of the terminal that the host sits at: /dev/tty, key by key while something is
 * asked, as it was before and after. Its modes are only touched while the host is in the
 * foreground; a key that ends or stops programs does so with the modes given back. */
#ifndef CLI_KEYBOARD_H
#define CLI_KEYBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct keyboard {
    int fd;       /* -1: there is none */
    bool grabbed; /* its modes are ours */
    bool known;   /* so is `was` */
    struct termios was;
    int64_t deaf_until_ms; /* what is typed until then is dropped */
};

void keyboard_open(struct keyboard *k);
void keyboard_close(struct keyboard *k);
/* There is one, and it types to the host. */
bool keyboard_is_ours(const struct keyboard *k);
/* Key by key and without an echo from now on; what was typed before is dropped, and so is what
 * comes before a person can have read what is asked. */
void keyboard_grab(struct keyboard *k);
void keyboard_release(struct keyboard *k);
/* Reads what was typed; returns its length, 0: nothing. Never blocks. */
size_t keyboard_read(struct keyboard *k, char *to, size_t cap);
/* The signal that this key stands for in the terminal's own modes, or 0. */
int keyboard_signal(const struct keyboard *k, char key);
/* Sends it to all that the terminal would have sent it to. */
void keyboard_send(struct keyboard *k, int signo);

#endif
