# SPDX-License-Identifier: MIT
# What an author of connectors starts from; installed as documentation, built by nobody but tests.

exampledir = $(docdir)/examples
dist_example_DATA = examples/hello.c
