#!/bin/sh
# sh backup.sh FILE: the whole database, without its logins. README.md says what else to keep.
set -eu
pg_dump --format=custom --no-owner --no-privileges --file="$1"
