#!/bin/sh
# The shipped rules as PrometheusRules: sh rules.sh | kubectl -n ori apply -f -
for name in slo alerts; do
  printf -- '---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: { name: ori-%s }\nspec:\n' "$name"
  sed 's/^/  /' "$(dirname "$0")/../../../prometheus/$name.rules.yml"
done
