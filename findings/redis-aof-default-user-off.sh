#!/bin/sh
# Redis 7.0.15 (Debian 12) with an append-only file and `user default off`: what a script or a transaction wrote is dropped
# when the server loads the file, because EXEC is checked against the rights of the default user. A plain write is kept, the
# server starts, and only its log says `NOPERM`. `user default off ~* +@write` keeps all of it, and still nobody can log in.
# Met by: whoever turns the default user off, as guides to hardening say, and believes in the append-only file.
# Source: redis issue 14541, fixed for later versions by pull request 14545; the same is valkey issue 3983.
set -eu
folder=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download redis-tools=5:7.0.15-1~deb12u10 libjemalloc2 liblua5.1-0 liblzf1 lua-cjson lua-bitop >/dev/null 2>&1
for package in *.deb; do dpkg-deb -x "$package" .; done
LD_LIBRARY_PATH=$(echo "$folder"/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
ask() { ./usr/bin/redis-cli -p 18747 --user app --pass app --no-auth-warning "$@"; }
start() {
  ln -sf redis-check-rdb usr/bin/redis-server
  ./usr/bin/redis-server --port 18747 --bind 127.0.0.1 --aclfile "$folder/users.acl" --appendonly yes --save '' >"$1" & server=$!
  until [ "$(ask ping 2>/dev/null)" = PONG ]; do sleep 0.1; done
}
seen() { # what the default user may do
  rm -rf appendonlydir
  printf 'user default off %s\nuser app on >app ~* +@all\n' "$1" >users.acl
  start log
  ask set plain 1 >/dev/null
  ask eval "redis.call('set', 'one', 1) redis.call('set', 'two', 2)" 0 >/dev/null
  ask shutdown nosave; wait "$server" || :
  start log
  echo "plain $(ask exists plain), of the script $(ask exists one two), NOPERM in the log: $(grep -c NOPERM log || :)"
  ask shutdown nosave; wait "$server" || :
}
bare=$(seen ''); allowed=$(seen '~* +@write')
echo "user default off:             $bare"
echo "user default off ~* +@write:  $allowed"
[ "$bare" = 'plain 1, of the script 0, NOPERM in the log: 2' ] && [ "$allowed" = 'plain 1, of the script 2, NOPERM in the log: 0' ]
