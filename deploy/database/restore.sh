#!/bin/sh
# sh restore.sh FILE: into an empty database, as its owner. README.md says what to do after it.
set -eu
# The row-level security in the dump names the group roles; `migrate` grants them what they need. Where they exist, the
# owner needs no right to create roles.
for role in $(pg_restore --schema-only --file=- "$1" | grep -o ' TO ori_[a-z_]*' | cut -c5- | sort -u); do
  psql --quiet --set=ON_ERROR_STOP=1 --command="DO \$\$ BEGIN IF to_regrole('$role') IS NULL THEN CREATE ROLE $role NOLOGIN; END IF; END \$\$"
done
pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname="$PGDATABASE" "$1"
${ORI_ADMIN:-ori-admin} migrate
