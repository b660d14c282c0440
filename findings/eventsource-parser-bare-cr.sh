#!/bin/sh
# eventsource-parser 3.1.1: in a stream whose lines end with a bare CR, as the HTML standard allows, an event is given
# only when the byte after its last CR has come. If the server leaves the stream open, or the stream ends there, the last
# event is never given; with LF it is given at once.
# Met by: clients of event streams (MCP, model APIs) whose server or gateway writes CR; they wait for the last message.
# Source: HTML, section 9.2.6 (a line ends with CRLF, LF or CR), and the run below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund eventsource-parser@3.1.1
cat >run.mjs <<'JS'
import { createParser } from 'eventsource-parser';
function eventsIn(text) {
  const events = [];
  createParser({ onEvent: ({ data }) => events.push(data) }).feed(text);
  return events.join(',');
}
const seen = [eventsIn('data: 1\n\ndata: 2\n\n'), eventsIn('data: 1\r\rdata: 2\r\r')];
console.log(`LF: ${seen[0]}; CR: ${seen[1]}`);
process.exit(seen[0] === '1,2' && seen[1] === '1' ? 0 : 1);
JS
node run.mjs
