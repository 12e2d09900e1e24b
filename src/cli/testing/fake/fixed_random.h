/* SPDX-License-Identifier: MIT
 * getrandom() of a connector under test: different each time, the same in each test. Linked as
 * fixed_clock.c is. */
#ifndef CLI_TESTING_FAKE_FIXED_RANDOM_H
#define CLI_TESTING_FAKE_FIXED_RANDOM_H

/* As at the start of the program. */
void fixed_random_reset(void);

#endif
