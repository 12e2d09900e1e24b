/* SPDX-License-Identifier: MIT
 * Tests of base/hash.h against the published values of FNV-1a. */
#include "base/hash.h"

#include "tap/tap.h"

int main(void)
{
    plan_lazy();
    ok(hash_bytes(HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325), "the hash of no bytes");
    ok(hash_bytes(HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c), "the hash of one byte");
    ok(hash_bytes(HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8), "the hash of a word");
    ok(hash_bytes(hash_bytes(HASH_START, "foo", 3), "bar", 3) ==
           hash_bytes(HASH_START, "foobar", 6),
       "a word in pieces has the same hash");
    ok(hash_bytes(HASH_START, "\xff", 1) == UINT64_C(0xaf64724c8602eb6e),
       "the hash of a byte above 127");
    ok(hash_string(HASH_START, "ab") == hash_bytes(HASH_START, "ab", 3),
       "a string is hashed with its NUL");
    ok(hash_string(hash_string(HASH_START, "a"), "bc") !=
           hash_string(hash_string(HASH_START, "ab"), "c"),
       "the end of a string changes the hash");
    return 0;
}
