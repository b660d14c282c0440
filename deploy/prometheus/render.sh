#!/bin/sh
# sh render.sh slo|alerts: the rules. With RUNBOOKS, the address at which you publish README.md, runbook_url leads there.
exec sed "s|https://git.ori.example/daemon-proof/blob/HEAD/deploy/prometheus/README.md|${RUNBOOKS:-&}|" \
  "$(dirname "$0")/$1.rules.yml"
