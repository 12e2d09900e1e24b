# SPDX-License-Identifier: MIT
# Plugins with one fault each, and the healthy ones that run beside them; made as an outsider would
# make them: one compiler call, the public header, nothing of ours.

fault_modules = \
	tests/fault/aborts.so \
	tests/fault/badname.so \
	tests/fault/badoption.so \
	tests/fault/badrate.so \
	tests/fault/fails.so \
	tests/fault/function.so \
	tests/fault/hangsinit.so \
	tests/fault/hangsteardown.so \
	tests/fault/initfails.so \
	tests/fault/manyrates.so \
	tests/fault/newminor.so \
	tests/fault/nosink.so \
	tests/fault/nosymbol.so \
	tests/fault/old10.so \
	tests/fault/oldmajor.so \
	tests/fault/paced.so \
	tests/fault/rated.so \
	tests/fault/recorder.so \
	tests/fault/sleeps.so \
	tests/fault/talker.so \
	tests/fault/toolong.so \
	tests/fault/tooshort.so \
	tests/fault/twooptions.so \
	tests/fault/undefined.so

SUFFIXES = .so
.c.so:
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(CC) $(PLUGIN_CPP) $(CPPFLAGS) $(TC_CFLAGS) $(TC_SANITIZE_FLAGS) $(CFLAGS) \
		-fvisibility=hidden -fPIC -shared $(LDFLAGS) -o $@ $<

check_DATA = $(fault_modules)
$(fault_modules): include/turncast/plugin.h include/turncast/service.h
tests/fault/old10.so: tests/fault/abi10.h
EXTRA_DIST += $(fault_modules:.so=.c) tests/fault/abi10.h
CLEANFILES += $(fault_modules)
