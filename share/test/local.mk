# SPDX-License-Identifier: MIT
# The turn that `turncast test` plays.

testdatadir = $(pkgdatadir)/test
dist_testdata_DATA = share/test/recording.jsonl
