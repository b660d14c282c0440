import { capturedLog } from '@ori/test-env/captured-log';
import { expect, test } from 'vitest';
import { startApiServer } from '../server/server.ts';
import { parseTraceparent } from './traceparent.ts';

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test.each([
  [`00-${ID}-${SPAN}-01`, ID],
  [`cc-${ID}-${SPAN}-01-what-comes-later`, ID],
  [undefined, undefined],
  ['', undefined],
  [`00-${ID}-${SPAN}-01-more`, undefined],
  [`ff-${ID}-${SPAN}-01`, undefined],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
  [`00-${ID}-${'0'.repeat(16)}-01`, undefined],
  [`00-${ID.toUpperCase()}-${SPAN}-01`, undefined],
  ['canary-secret', undefined],
])('takes from %s the trace id %s', (traceparent, traceId) => {
  expect(parseTraceparent(traceparent)?.traceId).toBe(traceId);
});

test('the log line of a request has its trace id', async () => {
  const { log, lines } = capturedLog();
  const api = await startApiServer({
    app: (_req, res) => void res.end('ok'),
    host: '127.0.0.1',
    port: 0,
    deadlineMs: 10_000,
    log,
  });
  await fetch(api.url, { headers: { traceparent: `00-${ID}-${SPAN}-01` } });
  await api.stop({ graceMs: 0 });
  expect(lines.find(({ msg }) => msg === 'request')).toMatchObject({ traceId: ID });
});
