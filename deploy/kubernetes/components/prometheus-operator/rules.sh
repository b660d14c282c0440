#!/bin/sh
# The shipped rules as PrometheusRules: RUNBOOKS=https://… sh rules.sh | kubectl -n ori apply -f -
for name in slo alerts; do
  printf -- '---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: { name: ori-%s }\nspec:\n' "$name"
  sh "$(dirname "$0")/../../../prometheus/render.sh" "$name" | sed 's/^/  /'
done
