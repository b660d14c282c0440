import { once } from 'node:events';
import { connect } from 'node:net';
import { residentBytes } from '@ori/test-env/peak-memory';
import { PATH } from '@ori/test-env/verifier/guarded-daemons';
import { signer, startDaemon } from './daemons.ts';

const CONNECTIONS = 100;
const BODY_BYTES = 100_000;
/** The rest, of which one byte is sent every 5 s. No daemon waits for its end. */
const REST_BYTES = 1000;

/** What became of requests whose bodies do not end. */
export interface Slow {
  readonly cell: string;
  /** The statuses of the answers, each with its number. `closed` if there was none. */
  readonly statuses: Readonly<Record<string, number>>;
  /** By how much the daemon's memory grew per connection, beyond what it was sent; 0 for workerd, which is not measured. */
  readonly overheadBytes: number;
}

/** Sends 100 requests whose bodies trickle, until the daemon has answered all or closed their connections. */
export async function trickle(runtime: string, adapter: string): Promise<Slow> {
  const { port, stop, pid } = await startDaemon(runtime, adapter);
  try {
    const headers = {
      ...signer.sign({ path: PATH, body: 'never sent' }),
      'content-type': 'application/json',
    };
    const lines = Object.entries({ host: 'daemon', 'content-length': BODY_BYTES, ...headers });
    const head = `POST ${PATH} HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`;
    const before = residentBytes(pid);
    let peak = 0;
    const statuses = await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        const socket = connect(port, '127.0.0.1').setEncoding('latin1');
        socket.write(head);
        socket.write(Buffer.alloc(BODY_BYTES - REST_BYTES, 'x'));
        const timer = setInterval(() => socket.write('x'), 5000);
        const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => []);
        clearInterval(timer);
        peak = Math.max(peak, residentBytes(pid));
        socket.on('error', () => undefined).destroy();
        return /^HTTP\/1.1 (\d+)/.exec(String(answer))?.[1] ?? 'closed';
      }),
    );
    const counts = [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => [
      status,
      all.length,
    ]);
    const overhead = (peak - before) / CONNECTIONS - BODY_BYTES;
    return {
      cell: `${runtime}, ${adapter}`,
      statuses: Object.fromEntries(counts),
      overheadBytes: Math.max(0, Math.round(overhead)),
    };
  } finally {
    await stop();
  }
}
