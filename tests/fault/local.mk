# SPDX-License-Identifier: MIT
# Plugins with one fault each, and the healthy ones that run beside them; made as an outsider would
# make them: one compiler call, the public header, nothing of ours.

fault_modules = \
	tests/fault/badname.so \
	tests/fault/badoption.so \
	tests/fault/badrate.so \
	tests/fault/badtext.so \
	tests/fault/breach.so \
	tests/fault/denied.so \
	tests/fault/fails.so \
	tests/fault/function.so \
	tests/fault/greedy.so \
	tests/fault/hangsinit.so \
	tests/fault/hangsteardown.so \
	tests/fault/initfails.so \
	tests/fault/manyrates.so \
	tests/fault/meets.so \
	tests/fault/newminor.so \
	tests/fault/nosink.so \
	tests/fault/nosymbol.so \
	tests/fault/old10.so \
	tests/fault/oldmajor.so \
	tests/fault/paced.so \
	tests/fault/puppet.so \
	tests/fault/rated.so \
	tests/fault/recorder.so \
	tests/fault/sleeps.so \
	tests/fault/staterecorder.so \
	tests/fault/talker.so \
	tests/fault/toolong.so \
	tests/fault/tooshort.so \
	tests/fault/twooptions.so \
	tests/fault/undefined.so \
	tests/fault/waits.so

# Of one source, by what they do as they are loaded.
fault_loads = \
	tests/fault/loads_aborts.so \
	tests/fault/loads_closes.so \
	tests/fault/loads_exits.so \
	tests/fault/loads_exits7.so \
	tests/fault/loads_forks.so \
	tests/fault/loads_hangs.so \
	tests/fault/loads_looks.so \
	tests/fault/loads_prints.so \
	tests/fault/loads_scribbles.so \
	tests/fault/loads_segfaults.so

FAULT_CC = $(CC) $(PLUGIN_CPP) $(CPPFLAGS) $(TC_CFLAGS) $(TC_SANITIZE_FLAGS) $(CFLAGS) \
	-fvisibility=hidden -fPIC -shared $(LDFLAGS)

SUFFIXES = .so
.c.so:
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(FAULT_CC) -o $@ $<

$(fault_loads): tests/fault/loads.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)way=`basename $@ .so`; \
		$(FAULT_CC) -DLOADS=$${way#loads_} -o $@ $(srcdir)/tests/fault/loads.c

check_DATA = $(fault_modules) $(fault_loads)
$(fault_modules) $(fault_loads): $(turncastinclude_HEADERS)
tests/fault/old10.so: tests/fault/abi10.h
tests/fault/staterecorder.so: tests/fault/recorder.c
EXTRA_DIST += $(fault_modules:.so=.c) tests/fault/loads.c tests/fault/abi10.h
CLEANFILES += $(fault_modules) $(fault_loads)

# Loaded before the program's own libraries: by no sanitizer, whose allocator it stands in front of.
check_DATA += tests/fault/torture.so
tests/fault/torture.so: tests/fault/torture.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(CC) -D_GNU_SOURCE $(CPPFLAGS) $(TC_CFLAGS) $(CFLAGS) -fno-plt -U_FORTIFY_SOURCE \
		-fvisibility=hidden -fPIC -shared $(LDFLAGS) -o $@ $(srcdir)/tests/fault/torture.c
EXTRA_DIST += tests/fault/torture.c
CLEANFILES += tests/fault/torture.so
