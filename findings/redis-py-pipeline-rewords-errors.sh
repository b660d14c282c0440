#!/bin/sh
# redis-py 8.1.0: an error of the server keeps its own first word outside a pipeline ("NOREPLICAS Not enough …"); of a pipeline
# whose execute() raises, the message begins with "Command # 1 (" and the command with its arguments instead, in the message of
# the exception, in its args, and so in logs. execute(raise_on_error=False) returns the server's words.
# Met by: code that tells errors by their first word, and anyone who must keep arguments out of logs.
# Source: the run below, against Debian's or any other redis-server of the PATH.
set -eu
folder=$(mktemp -d)
redis-server --port 0 --unixsocket "$folder/s" --save '' --dir "$folder" --min-replicas-to-write 1 >/dev/null &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet redis==8.1.0
"$folder/venv/bin/python" - "$folder/s" <<'PY'
import sys, redis
client = redis.Redis(unix_socket_path=sys.argv[1], retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0))
def said(use):
    try:
        return str(use())
    except redis.ResponseError as error:
        return str(error)
def pipelined(**options):
    pipeline = client.pipeline(transaction=False)
    pipeline.set("key", "private")
    return pipeline.execute(**options)
plain, raised = said(lambda: client.set("key", "private")), said(pipelined)
returned = str(pipelined(raise_on_error=False)[0])
print(plain, raised, returned, sep="\n")
assert plain.startswith("NOREPLICAS") and returned.startswith("NOREPLICAS")
assert raised.startswith("Command # 1 (SET key private)")
PY
