/* SPDX-License-Identifier: MIT
 * Appends to the file `tally` which tools each turn has called, and how often.
 *
 * Build: g++ -std=c++20 -shared -fPIC $(pkg-config --cflags turncast) tally.cc -o tally.so
 * Instance: tally = { };
 *
 * Callbacks are noexcept: an exception ends the process of the instance, which is started again. */
#include <fstream>
#include <map>
#include <string>

#include <turncast/plugin.h>

using Tally = std::map<std::string, int>;

/* The host owns the memory of the pointer, this file what it points to. */
static Tally *&tally_of(tc_turn *turn)
{
    return *static_cast<Tally **>(turn->state);
}

static int on_start(tc_turn *turn, const tc_start *) noexcept
{
    tally_of(turn) = new Tally;
    return 0;
}

static int on_tool_call(tc_turn *turn, const tc_tool_call *call) noexcept
{
    ++(*tally_of(turn))[call->name];
    return 0;
}

static int on_done(tc_turn *turn, const tc_done *done) noexcept
{
    std::ofstream file("tally", std::ios::app);
    file << turn->agent << ' ' << done->reason;
    for (const auto &[tool, calls] : *tally_of(turn))
        file << ' ' << tool << '=' << calls;
    file << std::endl;
    delete tally_of(turn);
    return file ? 0 : -1;
}

static const tc_sink sink = {.size = sizeof sink,
                             .on_tool_call = on_tool_call,
                             .on_done = on_done,
                             .on_start = on_start};

extern "C" {
extern TC_EXPORT const tc_plugin turncast_plugin;
constinit const tc_plugin turncast_plugin = {.size = sizeof turncast_plugin,
                                             .major = TURNCAST_API_MAJOR,
                                             .minor = TURNCAST_API_MINOR,
                                             .flags = TC_SEES_ALL,
                                             .name = "tally",
                                             .version = "1.0",
                                             .summary = "counts tool calls",
                                             .turn_size = sizeof(Tally *),
                                             .sink = &sink};
}
