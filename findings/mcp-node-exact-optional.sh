#!/bin/sh
# @modelcontextprotocol/node 2.1.2 with @types/node 24: toNodeHandler does not accept Node's own IncomingMessage in a
# TypeScript project with exactOptionalPropertyTypes, because its parameter says `method?: string` and Node's says
# `method?: string | undefined` (TS2379). Without the option it compiles.
# Met by: authors of MCP servers in strict TypeScript projects. They pass an object with a method, or turn the option off.
# Source: the declarations of both packages; seen while compiling an example.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm pkg set type=module >/dev/null
npm install --silent --no-audit --no-fund @modelcontextprotocol/node@2.1.2 @modelcontextprotocol/server@2.4.0 \
  @types/node@24.19.2 typescript@5.9.3
cat >server.ts <<'TS'
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
const answer = toNodeHandler(createMcpHandler(() => new McpServer({ name: 'a', version: '1.0.0' })));
createServer((request, response) => void answer(request, response)).listen(8080);
TS
compile() {
  npx tsc --noEmit --strict --skipLibCheck --module nodenext --target es2022 --types node "$@" server.ts
}
compile || { echo "changed: it does not compile without the option either"; exit 1; }
said=$(compile --exactOptionalPropertyTypes || true)
echo "$said" | head -3
echo "$said" | grep -q TS2379
