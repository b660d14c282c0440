#!/bin/bash
# Starlette 1.10.0 under Granian 2.8.9: a FileResponse sends no body through the ASGI middleware around it. Granian offers the
# extension http.response.pathsend, and Starlette then sends the path of the file in place of http.response.body. So a
# middleware that hashes, records, signs or compresses what passes sees an empty answer, with the Content-Length of the file.
# Under uvicorn, which has no such extension, the same middleware sees all bytes. It helps to take the extension out of the
# scope that the application gets.
# Seen: "granian: 12 bytes for the client, 0 for the middleware, http.response.pathsend",
#       "uvicorn: 12 bytes for the client, 12 for the middleware, http.response.body".
# Who meets it: authors of ASGI middleware that reads answers; daemons that keep or prove answers.
# Source: https://asgi.readthedocs.io/en/latest/extensions.html#path-send
set -eu
cd "$(mktemp -d)"
python3 -m venv venv
venv/bin/pip install --quiet starlette==1.10.0 granian==2.8.9 uvicorn==0.54.0
printf 'twelve bytes' > file.txt
cat > app.py <<'PYTHON'
from starlette.responses import FileResponse

inner = FileResponse("file.txt")


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    seen, types = 0, []

    async def count(message):
        nonlocal seen
        types.append(message["type"])
        seen += len(message.get("body", b""))
        await send(message)

    await inner(scope, receive, count)
    with open("seen", "w") as file:
        file.write(f"{seen} for the middleware, {types[-1]}")
PYTHON
for server in granian uvicorn; do
  case $server in
    granian) venv/bin/granian app:app --interface asgi --port 18431 --log-level error & ;;
    uvicorn) venv/bin/uvicorn app:app --port 18431 --lifespan off --log-level error & ;;
  esac
  length=$(curl --silent --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:18431/ | wc -c)
  until [ -s seen ]; do sleep 0.1; done
  echo "$server: $length bytes for the client, $(cat seen)"
  rm seen
  kill %% && wait %% || true
done | tee said
grep -q '^granian: 12 bytes for the client, 0 for the middleware, http.response.pathsend$' said
grep -q '^uvicorn: 12 bytes for the client, 12 for the middleware, http.response.body$' said
