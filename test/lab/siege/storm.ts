import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { answer } from '../../env/worker.ts';

/** A storm of signing requests, each on a connection of its own, from 1,000 addresses. */
export interface Storm {
  readonly port: number;
  readonly path: string;
  readonly tokens: readonly string[];
  /** JSON. */
  readonly body: string;
  /** Undefined: as many as are answered, `atOnce` at a time. */
  readonly perSecond: number | undefined;
  readonly atOnce: number;
  readonly ms: number;
}

/** How many were sent and answered, and how many answers refused for overload. */
export interface Aftermath {
  readonly sent: number;
  readonly answered: number;
  readonly shed: number;
}

const ADDRESSES = 1000;

async function carryOut({ port, path, tokens, body, perSecond, atOnce, ms }: Storm): Promise<Aftermath> {
  const counts = { sent: 0, answered: 0, shed: 0 };
  let open = 0;
  const send = () =>
    new Promise<void>((resolve) => {
      const at = counts.sent++;
      open += 1;
      const socket = connect({ port, host: '127.0.0.1' });
      let answer = '';
      socket.setTimeout(10_000, () => socket.destroy());
      socket.on('data', (chunk) => {
        if (answer.length < 20) answer += chunk.toString('latin1');
      });
      socket
        .on('error', () => {})
        .once('close', () => {
          open -= 1;
          if (answer !== '') counts.answered += 1;
          if (/^HTTP\/1.1 50[0-9]/.test(answer)) counts.shed += 1;
          resolve();
        });
      const address = `10.1.${(at % ADDRESSES) >> 8}.${(at % ADDRESSES) & 255}`;
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\nAuthorization: Bearer ${tokens[at % tokens.length]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
  const begun = Date.now();
  if (perSecond === undefined) {
    const lane = async () => {
      while (Date.now() - begun < ms) await send();
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
    return counts;
  }
  for (; Date.now() - begun < ms; await pause(10)) {
    const due = ((Date.now() - begun) / 1000) * perSecond;
    while (counts.sent < due && open < atOnce) void send();
  }
  return counts;
}

/** A separate process, so that it slows the measured processes only by loading the machine. */
answer(carryOut);
