/* SPDX-License-Identifier: MIT
 * PLURAL(): the form of a word that fits a count, for texts that people read:
 *     buf_printf(out, "%zu message%s waiting", n, PLURAL(n, "", "s"));
 * Pure. */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

#define PLURAL(n, one, many) ((n) == 1 ? (one) : (many))

#endif
