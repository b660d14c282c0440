import { createDpopKey, dpopHeaders } from '@ori/test-env/dpop';
import { createHttpClient, type Reply } from '@ori/test-env/http-client';
import { freePort } from '@ori/test-env/ports';
import { openRoom } from '@ori/test-env/room';
import { hostAsProcess } from '@ori/test-env/signer-host';
import { SIGN_BODY, startWorld } from '@ori/test-env/world';
import { expect, test } from 'vitest';

const COPIES = 1000;
const SIGNERS = 4;

test('of a thousand copies of one proof across four processes, one is accepted', async () => {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld({ process: true }));
  const room = stack.use(await openRoom('ori-dpop-replay'));
  const clients = [stack.use(createHttpClient(world.baseUrl))];
  while (clients.length < SIGNERS) {
    const [port, opsPort] = [await freePort(), await freePort()];
    const place = { SIGNER_PORT: String(port), SIGNER_OPS_PORT: String(opsPort) };
    stack.use(await hostAsProcess({ ...world.environment, SIGNER_BASE_URL: world.baseUrl, ...place }, room));
    clients.push(stack.use(createHttpClient(`http://127.0.0.1:${port}/v1`)));
  }
  const key = await createDpopKey();
  const accessToken = await world.token({ claims: { cnf: { jkt: key.thumbprint } } });
  const url = new URL(world.signPath, world.baseUrl).href;
  const send = (client: (typeof clients)[number], proof: string): Promise<Reply> => {
    const headers = [...dpopHeaders(accessToken, proof), 'Content-Type', 'application/json'];
    return client.ask({ method: 'POST', path: world.signPath, headers, body: SIGN_BODY });
  };
  const [first] = clients;
  if (first === undefined) throw new TypeError('no signer');
  const challenge = await send(first, await key.proof({ url, accessToken, content: SIGN_BODY }));
  const nonce = String(challenge.headers['dpop-nonce']);
  const proof = await key.proof({ url, accessToken, nonce, content: SIGN_BODY });
  const replies = await Promise.all(
    Array.from({ length: COPIES }, (_, index) => send(clients[index % SIGNERS] ?? first, proof)),
  );
  const taken = replies.filter(({ status }) => status === 200);
  expect(taken).toHaveLength(1);
  // On a busy machine Redis may not answer in time. Then nothing was accepted either.
  expect(replies.filter(({ status }) => ![200, 401, 500].includes(status))).toEqual([]);
  expect((await world.audit()).trim().split('\n')).toHaveLength(1);
});
