#!/bin/bash
# The page deploy/systemd/README.md, word for word, under a systemd of its own: from nothing to a proof, then what the units
# promise. Namespaces hold all of it: folders are copies, the network has only itself, and nothing of this machine's own start
# runs, least of all systemd-tmpfiles, which empties /tmp. As root; a minute.
#
#   bash test/lab/operators/systemd.sh [probe|page]     whether it can run here; the page alone. ORI_DIST: in place of dist/
#
# Needs Debian's systemd, postgresql, redis-server, nginx, openssl, logrotate and iproute2.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
room=$(mktemp -d /tmp/ori-systemd-XXXXXX)
trap 'rm -rf "$room"; find "${group:-/nothing}" -depth -type d -exec rmdir {} + 2> /dev/null || :' EXIT
mkdir "$room/dist"
chmod 0755 "$room"
for program in /lib/systemd/systemd pg_createcluster redis-server nginx openssl logrotate ip; do PATH=$PATH:/usr/sbin command -v $program > /dev/null; done

cat > "$room/machine.sh" << 'M'
set -eu
mount --make-rprivate /
mount -t tmpfs run /run
mkdir -p /run/lab /run/layers /run/root && mount --bind "$1" /run/lab && mount --bind "$2" /run/lab/dist && mount --bind "$4" /run/root
for folder in etc opt usr var; do
  mkdir "/run/layers/$folder" "/run/layers/$folder-work"
  mount -t overlay overlay -o "lowerdir=/$folder,upperdir=/run/layers/$folder,workdir=/run/layers/$folder-work" "/$folder"
done
mkdir /run/dev && mount -t tmpfs -o mode=0755 dev /run/dev && mkdir -m 1777 /run/dev/shm
cp -a /dev/{null,zero,full,random,urandom,tty,ptmx,pts,fd,stdin,stdout,stderr} /run/dev/
mount --move /run/dev /dev
for folder in /tmp /dev/shm; do mount -t tmpfs -o mode=1777 tmpfs $folder; done
case $4 in /tmp/*) mkdir -p "$4" && mount --bind /run/root "$4" ;; esac
mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys
umount -l /sys/fs/cgroup && mount -t cgroup2 cgroup /sys/fs/cgroup
ip link set lo up
rm -rf /etc/fstab /usr/lib/systemd/system-generators {/etc,/usr/lib}/systemd/system/*.{wants,requires} \
  /etc/postgresql/*/main /var/lib/postgresql/*/main /var/lib/redis/* /var/log/journal
cat > /etc/systemd/system/lab.service << U
[Unit]
DefaultDependencies=no
Requires=systemd-journald.service
After=systemd-journald.service
SuccessAction=exit-force
FailureAction=exit-force
FailureActionExitStatus=1
[Service]
Type=oneshot
WorkingDirectory=/run/lab
EnvironmentFile=/run/lab/environment
ExecStart=/bin/bash -eu script.sh $3
StandardOutput=file:/run/lab/out
StandardError=inherit
U
mount --make-rshared /    # as outside of a container; else no credential reaches its service
container=lab exec /lib/systemd/systemd --unit=lab.service --log-target=journal --show-status=no
M
# In a group of its own, below which systemd makes those of its services.
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)$(sed -n 's/^0:://p' /proc/self/cgroup)/ori-systemd-$$
mkdir "$group"
start() (
  echo "$BASHPID" > "$group/cgroup.procs"
  timeout -s KILL 600 unshare --mount --pid --fork --mount-proc --uts --ipc --net --cgroup --kill-child \
    bash "$room/machine.sh" "$room" "${ORI_DIST:-$root/dist}" "$1" "$root" > "$room/console" 2>&1
)
: > "$room/environment"
if [ "${1:-}" = probe ]; then
  echo 'test "$(cat /proc/1/comm)" = systemd' > "$room/script.sh"
  ORI_DIST=$room/dist start probe; exit
fi

for name in deploy node_modules; do ln -s "$root/$name" "$room/"; done
sed -n '/^organizations:/,/^```/{/^```/d; p}' "$root/README.md" > "$room/team.yaml"
printf '#!/bin/sh\nexec node %s/browser.ts "$1"\n' "$root/test/lab/operators" > "$room/browser"; chmod 0755 "$room/browser"
cat > "$room/environment" << V
PATH=/usr/local/sbin:/usr/local/bin:$root/node_modules/.bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=/run/lab
LAB=$root/test/lab/operators
BROWSER=/run/lab/browser
ORI_SESSION_STORE=file
ORI_BASE_URL=https://localhost/v1
NODE_EXTRA_CA_CERTS=/run/lab/fullchain.pem
CURL_CA_BUNDLE=/run/lab/fullchain.pem
V
page() { # From this heading to the next: its blocks of this language.
  awk -v heading="## $1" '/^## /{ inside = $0 == heading } inside && /^```$/{ code = 0 } inside && code; inside && /^```sh$/{ code = 1 }' "$root/deploy/systemd/README.md"
}
page 'From nothing to the first proof' |
  sed 's#^issuer=.*#issuer=http://127.0.0.1:4000 host=localhost#; s#https://api.example.com#https://localhost#
       s#^ori login#check "the gateway answers" curl -sf -o answer https://localhost/v1/openapi.json\n&#' > "$room/page.sh"
awk '/^## Upgrade/{ inside = 1 } /^## Replace/{ inside = 0 } inside && /^    /' "$root/deploy/systemd/README.md" > "$room/upgrade.sh"
cat > "$room/script.sh" << 'S'
trap 'cat page.log >&2; journalctl --no-pager --quiet --no-hostname --lines=15 >&2' ERR
. "$LAB/checks.sh"
for name in apt-get npm; do ln -s /bin/true "/usr/local/bin/$name"; done
pg_createcluster "$(ls /usr/lib/postgresql | tail -n 1)" main > /dev/null
systemctl start "postgresql@$(ls /usr/lib/postgresql | tail -n 1)-main"
systemd-run --quiet --unit=issuer "$(command -v node)" "$LAB/issuer.ts" http://127.0.0.1:4000 https://localhost/v1
certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout key.pem -out fullchain.pem 2> /dev/null
}
certificate
. ./page.sh > page.log 2>&1
check 'the page leads from nothing to a proof, and doctor has no complaint' sh -c "grep -xF 'x-ori-invoke-user: auth0|5f7c' page.log && ! grep FAIL page.log"
[ "${1:-}" != page ] || { ended; exit; }
units='ori-signer@1 ori-signer@2 ori-management@1 ori-management@2 ori-gateway'
signs() { ori sign int_charles --path /api/invoke --data '{"prompt":"hello"}' | grep -qxF 'x-ori-invoke-user: auth0|5f7c'; }
check 'all are active' systemctl is-active $units ori-rotate-keys.timer ori-audit-export.timer
nothing_failed() { [ -z "$(systemctl list-units --failed --plain --no-legend | tee /dev/stderr)" ]; }
check 'what the timers start ends well' systemctl start ori-rotate-keys ori-audit-export

sed -i 's#api.example.com#localhost#' /etc/ori/log.env
systemctl enable --quiet --now ori-log
check 'the log reads what the signers wrote' curl -sf -o answer http://127.0.0.1:9084/readyz

# A daemon that believes its guard, and the canary.
cp -r dist/guard /opt/ori/
systemd-run --quiet --unit=greeter "$(command -v node)" -e "require('http').createServer((q, r) => r.end(q.headers['x-ori-verified-user'])).listen(8000)"
sed 's#api.example.com#localhost#; s#int_7Qm2#int_charles#; /ROOT_FILE/d' /etc/ori/guard@1.env > /etc/ori/guard@greeter.env
echo NODE_EXTRA_CA_CERTS=/etc/ssl/localhost/fullchain.pem >> /etc/ori/guard@greeter.env
systemctl enable --quiet --now ori-guard@greeter
called() { [ "$(ori call int_charles /api/invoke --daemon http://127.0.0.1:8086 --data '{}')" = 'auth0|5f7c' ]; }
check 'a call through the guard' called
if [ -e dist/bin/ori-linux-x64 ]; then
  install -D dist/bin/ori-linux-x64 /opt/ori/bin/ori
  ori-admin apply -f deploy/prometheus/canary.yaml > login.log 2>&1
  install -d -o ori-canary -g ori-canary -m 0700 /var/lib/ori-canary
  WHO=canary runuser -u ori-canary -- env HOME=/var/lib/ori-canary /opt/ori/bin/ori login --profile canary >> login.log 2>&1
  sed -i 's#api.example.com#localhost#' /etc/ori/canary.env
  echo NODE_EXTRA_CA_CERTS=/etc/ssl/localhost/fullchain.pem >> /etc/ori/canary.env
  systemctl enable --quiet --now ori-canary
  sings() { curl -sf http://127.0.0.1:9087/metrics | grep -E '^ori_canary_\w*(up|success)\w* 1$'; }
  check 'the canary signs and verifies' sings
fi

answers() { [ "$(systemctl show -P MainPID "$1")" != "$main" ] && curl -sf -o answer "http://127.0.0.1:$2/readyz"; }
for pair in ori-signer@1:9081 ori-management@1:9082 ori-log:9084; do
  name=${pair%:*}; main=$(systemctl show -P MainPID "$name"); begun=$(milliseconds)
  systemctl kill --signal=KILL "$name"
  check "$name, killed: another signer signs at once" signs
  check "$name is started again" answers "$name" "${pair#*:}"
  echo "       after $(($(milliseconds) - begun)) ms"
done

# Reload: an audit file that logrotate has moved, a certificate that was renewed, a log of the gateway.
logrotate --force /etc/logrotate.d/ori-signer && logrotate --force /etc/logrotate.d/ori-gateway
written() { signs; ls /var/log/ori-signer/*.jsonl-* && [ -n "$(cat /var/log/ori-signer/audit-?.jsonl)" ]; }
check 'logrotate: the signers write to new audit files' written
check 'logrotate: the gateway writes to new files' test -s /var/lib/ori-gateway/logs/access.log
certificate; cp fullchain.pem key.pem /etc/ssl/localhost/; systemctl reload ori-gateway
shown() { openssl s_client -connect localhost:443 < /dev/null 2> said | openssl x509 -outform PEM | cmp - fullchain.pem; }
check 'reload: the gateway shows the new certificate' shown

# The upgrade of the page, with a proof after the other.
: > going; (while [ -e going ]; do signs || echo refused; done) > upgrade.log 2>&1 & proofs=$!
. ./upgrade.sh > upgrade-page.log 2>&1
rm going; wait $proofs
check 'upgrade: no proof was refused' sh -c '! cat upgrade.log | grep .'

echo SIGNER_AUDIENCE=nonsense >> /etc/ori/signer@2.env; systemctl restart ori-signer@2
given_up() { [ "$(systemctl show -P Result -P ExecMainStatus -P NRestarts ori-signer@2 | sort | tr '\n' ' ')" = '0 2 exit-code ' ]; }
check 'an invalid configuration ends with 2, and is not tried again' given_up
check 'the journal says which' sh -c 'journalctl -u ori-signer@2 | grep -q SIGNER_AUDIENCE'
sed -i '$d' /etc/ori/signer@2.env; systemctl restart ori-signer@2

for name in $(systemctl list-units --plain --no-legend --state=active 'ori-*.service' | cut -d' ' -f1); do
  begun=$(milliseconds); systemctl stop "$name"
  check "$name stops after $(($(milliseconds) - begun)) ms" test "$(systemctl show -P Result "$name")" = success
done
check 'nothing failed' nothing_failed
ended
S
start "${1:-}" && code=0 || code=$?
cat "$room/out" || cat "$room/console"
exit "$code"
