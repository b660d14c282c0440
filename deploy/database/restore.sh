#!/bin/sh
# sh restore.sh FILE: into an empty database, as its owner. README.md says what to do after it.
set -eu
# The row-level security in the dump names the group roles; `migrate` grants them what they need.
for role in $(pg_restore --schema-only --file=- "$1" | grep -o ' TO ori_[a-z_]*' | cut -c5- | sort -u); do
  psql --quiet --set=ON_ERROR_STOP=1 --command="DO \$\$ BEGIN CREATE ROLE $role NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END \$\$"
done
pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname="$PGDATABASE" "$1"
${ORI_ADMIN:-ori-admin} migrate
