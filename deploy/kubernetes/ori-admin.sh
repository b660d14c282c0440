#!/bin/sh
# Runs one command of ori-admin in the cluster, with the login, ring and settings of the CronJob rotate-keys:
#
#   sh ori-admin.sh signing-key list --expiring
#
# Its output stays in the log of the pod, so do not run commands that print a secret (`key create`).
set -eu
namespace=${ORI_NAMESPACE:-ori} job=ori-admin-$(date +%s)-$$

# The words as a JSON array.
words=
for word in "$@"; do
  words="$words${words:+,}\"$(printf '%s' "$word" | sed 's/[\\"]/\\&/g')\""
done
patch="[{\"op\":\"replace\",\"path\":\"/spec/template/spec/containers/0/args\",\"value\":[$words]},
  {\"op\":\"replace\",\"path\":\"/spec/backoffLimit\",\"value\":0}]"

kubectl -n "$namespace" create job "$job" --from=cronjob/rotate-keys --dry-run=client -o json |
  kubectl patch --local -f - --type=json -p "$patch" -o json |
  kubectl -n "$namespace" create -f - >&2
status() { kubectl -n "$namespace" get "job/$job" -o "jsonpath={.status.$1}"; }
until [ -n "$(status succeeded)$(status failed)" ]; do sleep 1; done
kubectl -n "$namespace" logs "job/$job"
[ "$(status succeeded)" = 1 ]
