#!/bin/sh
# h2o 2.2.5+dfsg2-7 and lighttpd 1.4.69-1 of Debian 12, as reverse proxies: an answer in chunks that breaks off behind them, because its
# server died, arrives with the chunk that ends it. curl says 18 (partial file) without a proxy, and 0 behind either.
# Who meets it: whoever takes a well ended answer of an unknown length for a whole one, such as clients of event streams.
# Source: seen here; RFC 9112, section 8: an answer in chunks without the last one is incomplete.
set -eu
work=$(mktemp -d)
trap 'kill $pids 2>/dev/null || :; rm -rf "$work"' EXIT
pids=
cd "$work"
apt-get download h2o=2.2.5+dfsg2-7 libh2o0.13=2.2.5+dfsg2-7 lighttpd=1.4.69-1 >/dev/null 2>&1
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(dirname "$(find "$work/root" -name 'libh2o*.so*' | head -1)"):${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH
cat >breaks.py <<'PY'
import socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    client, _ = server.accept()
    client.recv(65536)
    client.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n")
    client.close()
PY
python3 breaks.py >backend & pids="$pids $!"
free() { python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
h2o=$(free) lighttpd=$(free)
until [ -s backend ]; do sleep 0.1; done
backend=$(cat backend)
printf 'listen: {host: 127.0.0.1, port: %s}\nhosts:\n  default:\n    paths:\n      /:\n        proxy.reverse.url: http://127.0.0.1:%s/\n' "$h2o" "$backend" >h2o.conf
[ "$(id -u)" != 0 ] || echo 'user: root' >>h2o.conf
root/usr/bin/h2o -c h2o.conf >/dev/null 2>&1 & pids="$pids $!"
mkdir pages
printf 'server.modules=("mod_proxy")\nserver.document-root="%s/pages"\nserver.bind="127.0.0.1"\nserver.port=%s\nproxy.server=(""=>(("host"=>"127.0.0.1","port"=>%s)))\n' "$work" "$lighttpd" "$backend" >lighttpd.conf
root/usr/sbin/lighttpd -D -m root/usr/lib/lighttpd -f lighttpd.conf >/dev/null 2>&1 & pids="$pids $!"
get() { curl --silent --no-buffer --max-time 5 --output "$work/got" "http://127.0.0.1:$1/" && echo 0 || echo $?; }
for port in "$h2o" "$lighttpd"; do until [ "$(get "$port")" != 7 ]; do sleep 0.1; done; done
echo "direct $(get "$backend"), h2o $(get "$h2o"), lighttpd $(get "$lighttpd")"
[ "$(get "$backend") $(get "$h2o") $(get "$lighttpd")" = '18 0 0' ]
