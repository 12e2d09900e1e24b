# SPDX-License-Identifier: MIT
# Configuration to begin with. It is documentation: an installation never touches the real one.

dist_doc_DATA = etc/turncast.conf
