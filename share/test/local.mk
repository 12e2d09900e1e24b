# SPDX-License-Identifier: MIT
# The recorded turn that `turncast test` plays.

testdatadir = $(pkgdatadir)/test
dist_testdata_DATA = share/test/recording.jsonl
