# SPDX-License-Identifier: MIT
# Example configuration, installed as documentation: an installation never changes the real one.

dist_doc_DATA = etc/turncast.conf

# systemd units below the prefix, where systemd searches for /usr and /usr/local; none is enabled.
systemdsystemdir = $(prefix)/lib/systemd/system
systemduserdir = $(prefix)/lib/systemd/user
sysusersdir = $(prefix)/lib/sysusers.d
tmpfilesdir = $(prefix)/lib/tmpfiles.d
nodist_systemdsystem_DATA = etc/systemd/turncast.service
nodist_systemduser_DATA = etc/systemd/user/turncast.service
nodist_sysusers_DATA = etc/systemd/sysusers/turncast.conf
nodist_tmpfiles_DATA = etc/systemd/tmpfiles/turncast.conf
UNITS = $(nodist_systemdsystem_DATA) $(nodist_systemduser_DATA) $(nodist_sysusers_DATA) \
	$(nodist_tmpfiles_DATA)
SET_PLACES = sed -e 's|@bindir[@]|$(bindir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g'
etc/systemd/turncast.service: etc/systemd/turncast.service.in
etc/systemd/user/turncast.service: etc/systemd/user.service.in
etc/systemd/sysusers/turncast.conf: etc/systemd/sysusers.conf
etc/systemd/tmpfiles/turncast.conf: etc/systemd/tmpfiles.conf
$(UNITS): Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && case $@ in \
	*/user/*) from=user.service.in ;; \
	*/sysusers/*) from=sysusers.conf ;; \
	*/tmpfiles/*) from=tmpfiles.conf ;; \
	*) from=turncast.service.in ;; esac; \
	$(SET_PLACES) "$(srcdir)/etc/systemd/$$from" >$@
CLEANFILES += $(UNITS)
EXTRA_DIST += etc/systemd/turncast.service.in etc/systemd/user.service.in etc/systemd/sysusers.conf \
	etc/systemd/tmpfiles.conf
