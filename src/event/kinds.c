/* SPDX-License-Identifier: MIT
 * Properties of kinds, by kind and by name. */
#include "event/kinds.h"

#include "event/event.h"

struct kind_row {
    struct str name;
    enum visibility_class gate;
    enum overflow_class pressure;
};

#define K(lower, UPPER, gate_, pressure_)                                                          \
    [TC_##UPPER] = {.name = {#lower, sizeof(#lower) - 1}, .gate = gate_, .pressure = pressure_},
static const struct kind_row kinds[] = {EVENT_KINDS(K)};
#undef K
_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == TC_KINDS, "a row per kind");

const char *kind_name(enum tc_kind kind)
{
    return kinds[kind].name.p;
}

int kind_from_name(const char *name, size_t len)
{
    for (int i = 0; i < TC_KINDS; i++)
        if (str_equal(kinds[i].name, (struct str){name, len}))
            return i;
    return -1;
}

enum visibility_class kind_visibility(enum tc_kind kind)
{
    return kinds[kind].gate;
}

enum overflow_class kind_overflow(enum tc_kind kind)
{
    return kinds[kind].pressure;
}
