# SPDX-License-Identifier: MIT
# For Prometheus and Grafana; names and expressions are checked by tests/api/t_prometheus.py.

metricsdir = $(pkgdatadir)/metrics
dist_metrics_DATA = share/metrics/alerts.yml share/metrics/dashboard.json
