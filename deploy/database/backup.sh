#!/bin/sh
# sh backup.sh FILE: the whole database, without its logins. README.md says what else to keep.
set -eu
# It names people: nobody else may read it. One that fails, as without the database, must not replace the former one.
(umask 077 && pg_dump --format=custom --no-owner --no-privileges --file="$1.new")
mv "$1.new" "$1"
# For the alert OriBackupOld.
if [ -n "${METRICS_FOLDER:-}" ]; then
  echo "ori_backup_timestamp_seconds $(date +%s)" >"$METRICS_FOLDER/ori_backup.$$"
  mv "$METRICS_FOLDER/ori_backup.$$" "$METRICS_FOLDER/ori_backup.prom"
fi
