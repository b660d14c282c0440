#!/bin/sh
# The shipped rules as PrometheusRules: RUNBOOKS=https://… sh rules.sh | kubectl -n ori apply -f -
# RELEASE is the value of the label by which your Prometheus selects them, as in kustomization.yaml.
for name in slo alerts; do
  printf -- '---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: ori-%s\n  labels: { release: %s }\nspec:\n' \
    "$name" "${RELEASE:-kube-prometheus-stack}"
  sh "$(dirname "$0")/../../../prometheus/render.sh" "$name" | sed 's/^/  /'
done
