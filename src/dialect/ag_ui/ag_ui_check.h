/* SPDX-License-Identifier: MIT
 * Validators for AG-UI value shapes; the reference client aborts a stream at the first invalid
 * one. Pure. */
#ifndef DIALECT_AG_UI_AG_UI_CHECK_H
#define DIALECT_AG_UI_AG_UI_CHECK_H

#include <stdbool.h>

#include "base/str.h"

/* A member as written, null included; p NULL if absent. */
struct str ag_ui_get_raw(struct str object, const char *key);
bool ag_ui_is_object(struct str value);
/* An array whose elements all pass the check. */
bool ag_ui_is_array_of(struct str value, bool (*passes)(struct str));
/* A whole number that a double holds exactly. */
bool ag_ui_is_integer(struct str value);
/* A JSON patch with known operations and valid pointers. */
bool ag_ui_is_patch(struct str value);
/* Messages of a conversation. */
bool ag_ui_is_messages(struct str value);
/* Parts of a content. */
bool ag_ui_is_parts(struct str value);
/* The input of a run. */
bool ag_ui_is_input(struct str value);
/* An event RAW or CUSTOM. */
bool ag_ui_is_custom_event(struct str event);

#endif
