/* SPDX-License-Identifier: MIT
 * Limits of the journal from the section `retention` of the configuration. */
#ifndef CORE_SETTINGS_RETENTION_H
#define CORE_SETTINGS_RETENTION_H

#include "conf/conf.h"
#include "io/journal/journal.h"

struct journal_limits retention_limits(const struct conf_retention *r);

#endif
