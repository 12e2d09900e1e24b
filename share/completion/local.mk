# SPDX-License-Identifier: MIT
# Completion for shells, where bash-completion, zsh and fish look for it.

zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = share/completion/_turncast
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = share/completion/turncast.fish

# The file for bash has the name of the program.
bashcompletiondir = $(datadir)/bash-completion/completions
EXTRA_DIST += share/completion/turncast.bash
install-data-local:
	$(MKDIR_P) "$(DESTDIR)$(bashcompletiondir)"
	$(INSTALL_DATA) "$(srcdir)/share/completion/turncast.bash" \
		"$(DESTDIR)$(bashcompletiondir)/turncast"
uninstall-local:
	rm -f "$(DESTDIR)$(bashcompletiondir)/turncast"
