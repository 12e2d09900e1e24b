# SPDX-License-Identifier: MIT
# Manual pages, in mdoc: one line each; those of the connectors are beside their code.

dist_man_MANS += man/turncast.1
dist_man_MANS += man/turncast-plugin.3
dist_man_MANS += man/turncast.conf.5
dist_man_MANS += man/turncast-bus.7
dist_man_MANS += man/turncast-events.7
dist_man_MANS += man/turncast-http.7
dist_man_MANS += man/turncast-test.7
dist_man_MANS += man/turncast-upgrade.7
