#!/bin/sh
# Creates the files that compose.yaml reads, accessible only to the current user: secrets/, state/ and .env next to this
# file.
#
#   sh deploy/docker/prepare.sh ISSUER [BASE_URL]
#
# Everything will run as the current user, or as uid 65532 if that is root. The certificate is for localhost and signed
# by itself: replace it with yours. Nothing is overwritten. ORI_ADMIN is the command to run instead of ori-admin.
set -eu
umask 077
issuer=${1:?usage: prepare.sh ISSUER [BASE_URL]}
base_url=${2:-https://localhost:8443/v1}
cd "$(dirname "$0")"
for made in secrets state .env; do
  [ ! -e "$made" ] || { echo "prepare.sh: $PWD/$made already exists; nothing was done" >&2; exit 1; }
done
kek() { ${ORI_ADMIN:-docker run --rm --network none ori/admin:1.0.0} kek generate "$1"; }
signer_ring=$(kek signer)
management_ring=$(kek management)
random() { openssl rand -hex 24; }
write() { printf '%s' "$2" > "secrets/$1"; }

mkdir -p secrets state/audit/signer-1 state/audit/signer-2 state/log state/guard state/redis state/postgres state/postgres-socket state/prometheus state/alertmanager state/grafana
owner=$(random) operator=$(random) auditor=$(random) signer=$(random) management=$(random) redis=$(random)
write signer-kek.json "$signer_ring"
write management-kek.json "$management_ring"
write log-key "$(openssl rand -base64 32)"
write postgres-password "$(random)"
write grafana-password "$(random)"
write owner-url "postgres://ori:$owner@postgres:5432/ori"
write operator-url "postgres://operator_1:$operator@postgres:5432/ori"
write auditor-url "postgres://auditor_1:$auditor@postgres:5432/ori"
write signer-database-url "postgres://signer_1:$signer@postgres:5432/ori"
write management-database-url "postgres://management_1:$management@postgres:5432/ori"
write signer-redis-url "redis://ori-signer:$redis@redis:6379/0"

# The owner of the database is not a superuser; the logins of the services are only members of their group.
write roles.sql "CREATE ROLE ori LOGIN PASSWORD '$owner';
CREATE DATABASE ori OWNER ori;
REVOKE CONNECT ON DATABASE ori FROM PUBLIC;
CREATE ROLE ori_signer NOLOGIN;
CREATE ROLE ori_management NOLOGIN;
CREATE ROLE ori_operator NOLOGIN;
CREATE ROLE ori_auditor NOLOGIN;
CREATE ROLE operator_1 LOGIN PASSWORD '$operator' IN ROLE ori_operator;
CREATE ROLE auditor_1 LOGIN PASSWORD '$auditor' IN ROLE ori_auditor;
CREATE ROLE signer_1 LOGIN PASSWORD '$signer' IN ROLE ori_signer;
CREATE ROLE management_1 LOGIN PASSWORD '$management' IN ROLE ori_management;
ALTER ROLE signer_1 SET default_transaction_read_only = on;
GRANT CONNECT ON DATABASE ori TO operator_1, auditor_1, signer_1, management_1;
"
# Nobody can be the default user; but as that user Redis 7 loads what scripts wrote to the append-only file, and drops the rest.
write redis.acl "user default off ~* -@all +@write
user ori-signer on >$redis resetkeys ~ori:{*}:issued:* ~ori:turns:* ~ori:dpop:* resetchannels -@all +hello +auth +ping +info +select +client|setname +cluster|slots +cluster|info +script|load +set +get +incrby +decr +pttl +pexpire +time +eval +evalsha
"
said=$(openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 90 -subj /CN=localhost \
  -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout secrets/gateway.key -out secrets/gateway.crt 2>&1) \
  || { echo "prepare.sh: $said" >&2; exit 1; }

uid=$(id -u) gid=$(id -g)
if [ "$uid" -eq 0 ]; then
  uid=65532 gid=65532
  chown -R "$uid:$gid" secrets state
  # What compose.yaml mounts of the checkout, which root with a umask of 077 has alone.
  [ ! -e compose.yaml ] || chmod -R go+rX gateway-site blackbox.yml prometheus-targets ../prometheus ../grafana
fi
log_origin=${base_url#*://}
printf 'ORI_UID=%s\nORI_GID=%s\nORI_ISSUER=%s\nORI_BASE_URL=%s\nORI_LOG_ORIGIN=%s\n' \
  "$uid" "$gid" "$issuer" "$base_url" "${log_origin%/v1}/log" > .env
