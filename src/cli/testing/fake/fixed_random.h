/* SPDX-License-Identifier: MIT
 * getrandom() for a connector under test: values differ within a test, and are the same in each
 * test. Linked like fixed_clock.c. */
#ifndef CLI_TESTING_FAKE_FIXED_RANDOM_H
#define CLI_TESTING_FAKE_FIXED_RANDOM_H

/* Resets to the start of the program. */
void fixed_random_reset(void);

#endif
