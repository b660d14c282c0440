import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Logger } from '@ori/runtime/log';
import { type KeyWrapper, KmsError } from '@ori/store/sealing';
import { AGENT_PATH } from '@ori/store/sealing/transit';
import { z } from 'zod';

const BODY_BYTES_MAX = 16 * 1024;
const KEK_BYTES = 32;

export type AgentLog = Pick<Logger, 'info' | 'error'>;

const toWrap = z.strictObject({ plaintext: z.base64().transform((text) => Buffer.from(text, 'base64')) });
const toUnwrap = z.strictObject({ ciphertext: z.string().min(1).max(4096) });

/** The two calls of a transit engine that wrap and unwrap a KEK. Nothing else is answered, and nothing else wrapped. */
export function serveTransit(key: KeyWrapper, log: AgentLog): Server {
  const operations: Readonly<Record<string, (body: unknown) => Promise<object>>> = {
    async encrypt(body) {
      const { plaintext } = toWrap.parse(body);
      try {
        if (plaintext.length !== KEK_BYTES) throw new KmsError('refused', 'a KEK is 32 bytes');
        return { ciphertext: await key.wrap(plaintext) };
      } finally {
        plaintext.fill(0);
      }
    },
    async decrypt(body) {
      const plaintext = await key.unwrap(toUnwrap.parse(body).ciphertext);
      try {
        return { plaintext: plaintext.toString('base64') };
      } finally {
        plaintext.fill(0);
      }
    },
  };
  const answer = async (request: IncomingMessage): Promise<{ status: number; body: object }> => {
    const name = Object.keys(operations).find((name) => request.url === AGENT_PATH.replace('keys', name));
    const operation = name === undefined ? undefined : operations[name];
    if (operation === undefined || request.method !== 'POST') return { status: 404, body: { errors: [] } };
    try {
      const data = await operation(JSON.parse(await bodyOf(request)));
      log.info({ operation: name }, 'answered');
      return { status: 200, body: { data } };
    } catch (err) {
      const { status, why } = judge(err);
      log.error({ operation: name, why }, 'refused');
      return { status, body: { errors: [why] } };
    }
  };
  return createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
      response.end(JSON.stringify(body));
    });
  }).setTimeout(10_000);
}

/** The status and message for an error; neither quotes the input. */
function judge(error: unknown): { status: number; why: string } {
  if (error instanceof KmsError) return { status: error.code === 'refused' ? 400 : 503, why: error.message };
  if (error instanceof z.ZodError || error instanceof SyntaxError)
    return { status: 400, why: 'unreadable body' };
  return { status: 500, why: 'internal error' };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new KmsError('refused', 'the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
