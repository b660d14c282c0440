#!/bin/sh
# sh restore.sh FILE: into an empty database, as its owner. README.md says what to do after it.
set -eu
# The dump's row-level security names these two; `migrate` grants them what they need.
for role in ori_signer ori_management; do
  psql --quiet --set=ON_ERROR_STOP=1 --command="DO \$\$ BEGIN CREATE ROLE $role NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END \$\$"
done
pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname="$PGDATABASE" "$1"
${ORI_ADMIN:-npx @ori/admin} migrate
