#!/bin/sh
# A whole deployment on one Debian machine, without containers and systemd, to try it or to see how the parts fit:
# PostgreSQL, Redis, two signers, management and the gateway, with one organization, one person and one intern.
#
#   npm ci && npm run build && sudo sh deploy/one-machine.sh FOLDER ISSUER SUBJECT
#
# SUBJECT is the `sub` of that person's access tokens. Everything is kept in FOLDER and runs until Ctrl-C. Ports are
# ORI_PORT (8443, the gateway) and the nine after it, of loopback. Later, FOLDER alone starts all of it again, with what is
# built then and the people of FOLDER/team.yaml as it is then.
set -eu
umask 022
usage='usage: one-machine.sh FOLDER ISSUER SUBJECT, and one-machine.sh FOLDER to start it again'
folder=${1:?$usage}
here=$(cd "$(dirname "$0")" && pwd)
dist=${ORI_DIST:-$here/../dist}
# Each part runs as its own user, and reads no other's secrets.
signer=65532 management=65533 redis=65534
fail() { echo "one-machine.sh: $1" >&2; exit 1; }
if [ ! -e "$folder" ]; then
  issuer=${2:?$usage} subject=${3:?$usage} port=${ORI_PORT:-8443}
  base=https://localhost:$port/v1
elif [ -e "$folder/ori.env" ]; then
  [ $# -eq 1 ] || fail "$folder is set up already: start it with one-machine.sh $folder"
  issuer=$(sed -n 's/^ORI_ISSUER=//p' "$folder/.env") base=$(sed -n 's/^ORI_BASE_URL=//p' "$folder/.env")
  port=${base##*:} port=${port%/v1}
else
  fail "$folder exists, and was not set up completely by this script: remove it, or name another"
fi
[ "$(id -u)" -eq 0 ] || fail 'must run as root, to run each part as a user of its own'
[ -f "$dist/signer/ori-signer.js" ] || fail "nothing is built in $dist: run npm ci && npm run build"
node=$(PATH="$here/../node_modules/.bin:$PATH" command -v node)
for path in "$dist/signer" "$(dirname "$node")" "$(dirname "$folder")"; do
  setpriv --reuid "$signer" --regid "$signer" --clear-groups test -x "$path" || fail "other users cannot enter $path"
done
missing=''
for pair in redis-server:redis-server nginx:nginx openssl:openssl psql:postgresql; do
  PATH="$PATH:/usr/sbin" command -v "${pair%%:*}" > /dev/null || missing="$missing ${pair##*:}"
done
# shellcheck disable=SC2086
[ -z "$missing" ] || { apt-get update -qq && apt-get install --yes --no-install-recommends $missing; }
bin=$(dirname "$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb | tail -n 1)")

[ $# -eq 1 ] || mkdir -m 0755 "$folder"
folder=$(cd "$folder" && pwd)
exec 9> "$folder/lock"
flock --nonblock 9 || fail "what is in $folder runs already"
started=''
trap 'trap - EXIT; for pid in $started; do kill "$pid" 2> /dev/null || :; done; wait' EXIT
trap 'exit 0' INT TERM
# With exec, so that `$!` is the program and not a shell that would die alone.
as() { user=$1; shift; exec setpriv --reuid "$user" --regid "$(id -g "$user" 2> /dev/null || echo "$user")" --clear-groups "$@"; }
log() { printf '%s: %s\n' "$(date +%T)" "$1" >&2; }
until_answers() { tries=0; until "$@" > /dev/null 2>&1; do tries=$((tries + 1)); [ $tries -lt 300 ] || fail "no answer, see $folder/*.log: $*"; sleep 0.2; done; }

set_up() {
log 'secrets'
cp "$here/docker/prepare.sh" "$folder/"
ORI_ADMIN="$node $dist/admin/ori-admin.js" sh "$folder/prepare.sh" "$issuer" "$base"
sed -i "s/@postgres:5432/@127.0.0.1:$((port + 7))/; s/@redis:6379/@127.0.0.1:$((port + 8))/" "$folder"/secrets/*-url
chown -R root:root "$folder/secrets" "$folder/state"
chmod 0711 "$folder/secrets" "$folder/state" "$folder/state/audit"
chown -R "$signer:$signer" "$folder"/secrets/signer-* "$folder"/state/audit/signer-*
chown "$management:$management" "$folder"/secrets/management-*
chown -R "$redis:$redis" "$folder/secrets/redis.acl" "$folder/state/redis"
install -d -o "$database" -m 0700 "$folder/state/cluster"
chown "$database" "$folder/secrets/postgres-password"
(as "$database" "$bin/initdb" --pgdata="$folder/state/cluster" --username=superuser --auth=scram-sha-256 \
  --no-locale --encoding=UTF8 --pwfile="$folder/secrets/postgres-password" > "$folder/initdb.log")
cat > "$folder/team.yaml" << YAML
organizations:
  - name: Example
    workspaces:
      - name: Example
        default: true
        programme: true
        members: [{ subject: '$(printf %s "$subject" | sed "s/'/''/g")', name: Example }]
        interns: [{ name: example, id: int_example, status: running, signing_key: true }]
YAML
}
database=$(id -un postgres 2> /dev/null || echo nobody)
[ $# -eq 1 ] || set_up
# It ends after 90 days.
openssl x509 -in "$folder/secrets/gateway.crt" -noout -checkend 2592000 > /dev/null || openssl x509 -days 90 \
  -in "$folder/secrets/gateway.crt" -signkey "$folder/secrets/gateway.key" -out "$folder/secrets/gateway.crt" 2> /dev/null

log 'PostgreSQL'
as "$database" "$bin/postgres" -D "$folder/state/cluster" -p $((port + 7)) -c listen_addresses=127.0.0.1 \
  -c unix_socket_directories= > "$folder/postgres.log" 2>&1 &
started="$started $!"
ask() { PGPASSWORD=$(cat "$folder/secrets/postgres-password") psql --host=127.0.0.1 --port=$((port + 7)) --username=superuser --dbname=postgres --quiet "$@"; }
until_answers ask --command='SELECT 1'
[ $# -eq 1 ] || ask --set=ON_ERROR_STOP=1 --file="$folder/secrets/roles.sql"

log 'Redis'
as "$redis" redis-server --port $((port + 8)) --bind 127.0.0.1 --aclfile "$folder/secrets/redis.acl" \
  --dir "$folder/state/redis" --maxmemory-policy noeviction > "$folder/redis.log" 2>&1 &
started="$started $!"

log 'organization, person, intern'
export ORI_ADMIN_DATABASE_URL_FILE="$folder/secrets/owner-url" ORI_ADMIN_ISSUER="$issuer" ORI_ADMIN_BASE_URL="$base" \
  ORI_ADMIN_SIGNER_KEK_FILE="$folder/secrets/signer-kek.json"
admin() { "$node" "$dist/admin/ori-admin.js" "$@"; }
admin migrate > "$folder/migrate.log" 2>&1
export ORI_ADMIN_DATABASE_URL_FILE="$folder/secrets/operator-url"
admin apply -f "$folder/team.yaml" > /dev/null
admin signing-key rotate --due > /dev/null

log 'services'
# REQUIRE_DPOP: not at an issuer without DPoP (RFC 9449), such as Ory Hydra: its sessions cannot be bound to a key.
serve() { # NAME UID PREFIX INSTANCE PORT OPS_PORT SETTINGS…
  name=$1 uid=$2 prefix=$3 instance=$4 api=$5 ops=$6
  shift 6
  as "$uid" env -i PATH="$PATH" "${prefix}_PORT=$api" "${prefix}_OPS_PORT=$ops" "${prefix}_ISSUER=$issuer" \
    "${prefix}_AUDIENCE=$base" "${prefix}_TRUST_GATEWAY=true" "${prefix}_REQUIRE_HARDENED=true" "${prefix}_REQUIRE_DPOP=true" \
    "${prefix}_DATABASE_URL_FILE=$folder/secrets/$name-database-url" \
    "${prefix}_KEK_FILE=$folder/secrets/$name-kek.json" "$@" \
    "$node" "$dist/$name/ori-$name.js" > "$folder/$name-$instance.log" 2>&1 &
  started="$started $!"
}
for instance in 1 2; do
  serve signer $signer SIGNER $instance $((port + instance)) $((port + 3 + instance)) \
    "SIGNER_REDIS_URL_FILE=$folder/secrets/signer-redis-url" \
    "SIGNER_AUDIT_FILE=$folder/state/audit/signer-$instance/audit.jsonl"
done
serve management $management MANAGEMENT 1 $((port + 3)) $((port + 6))

log 'gateway'
mkdir -p "$folder/gateway/logs" "$folder/gateway/run" "$folder/gateway/conf/site"
cp "$here"/gateway/*.conf "$folder/gateway/conf/"
cp "$here"/gateway/site.example/limits.conf "$folder/gateway/conf/site/"
sed "s/9080/$((port + 9))/" "$here/gateway/site.example/status.conf" > "$folder/gateway/conf/site/status.conf"
: > "$folder/gateway/conf/site/regional-hosts.conf"
cat > "$folder/gateway/conf/site/listen.conf" << CONF
listen 127.0.0.1:$port ssl http2;
server_name localhost;
ssl_certificate $folder/secrets/gateway.crt;
ssl_certificate_key $folder/secrets/gateway.key;
CONF
members() {
  for member in "$@"; do echo "server 127.0.0.1:$member max_fails=1 fail_timeout=1s;"; done
  for member in "$@"; do echo "server 127.0.0.1:$member backup max_fails=0;"; done
}
members $((port + 1)) $((port + 2)) > "$folder/gateway/conf/site/signers.conf"
members $((port + 3)) > "$folder/gateway/conf/site/management.conf"
PATH="$PATH:/usr/sbin" nginx -p "$folder/gateway/" -c "$folder/gateway/conf/nginx.conf" > "$folder/nginx.log" 2>&1 &
started="$started $!"
for ops in $((port + 4)) $((port + 5)) $((port + 6)); do
  until_answers "$node" -e "fetch('http://127.0.0.1:$ops/readyz').then(({ ok }) => process.exit(ok ? 0 : 1))"
done
cp "$folder/secrets/gateway.crt" "$folder/gateway.crt"
chmod 0644 "$folder/gateway.crt"

# For `prometheus --config.file=FOLDER/prometheus/prometheus.yml`.
mkdir -p "$folder/prometheus"
cp -r "$here"/prometheus/*.yml "$here/prometheus/targets" "$folder/prometheus/"
target() { echo "- targets: [$(printf '"127.0.0.1:%s",' "$@")]" | sed 's/,]/]/' > "$folder/prometheus/targets/$name.yml"; }
name=signer; target $((port + 4)) $((port + 5))
name=management; target $((port + 6))
name=nginx; target $((port + 9))

printf 'ORI_BASE_URL=%s\nORI_INTERN=int_example\nNODE_EXTRA_CA_CERTS=%s\n' "$base" "$folder/gateway.crt" > "$folder/ori.env"
log 'ready'
cat "$folder/ori.env"
wait
