import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { createSigningKey } from '@ori/proof/signing';
import { cosign, cosignerKey } from '@ori/tlog/cosignature';
import { createLogKeys, renderVkeys } from '@ori/tlog/log-keys';
import { EMPTY_ROOT, type Hash, verifyConsistency } from '@ori/tlog/merkle';
import { parseNote, renderSignature, renderVkey } from '@ori/tlog/note';
import { parsePolicy, requireTrusted } from '@ori/tlog/policy';

/** What c2sp.org/tlog-witness asks of a witness of one log, in memory. */
export async function startTestWitness(origin: string, seed: string) {
  const folder = await mkdtemp(join(tmpdir(), 'ori-witness-'));
  const vkeys = renderVkeys(createLogKeys(origin, seed));
  const logs = parsePolicy(`log ${vkeys.log}\nquorum none\n`);
  const name = 'witness.example/w1';
  const key = createSigningKey(randomBytes(32));
  let last: { readonly size: number; readonly root: Hash } = { size: 0, root: EMPTY_ROOT };

  function answer(body: string): [status: number, text: string] {
    const end = body.indexOf('\n\n');
    const [old = '', ...path] = body.slice(0, end).split('\n');
    const note = body.slice(end + 2);
    const head = requireTrusted(note, logs);
    if (old !== `old ${last.size}`) return [409, `${last.size}\n`];
    const proof = path.map((line) => Buffer.from(line, 'base64'));
    if (!verifyConsistency(last, head, proof)) return [422, ''];
    last = head;
    const signature = cosign(parseNote(note).text, Math.floor(Date.now() / 1000), name, key);
    return [200, `${renderSignature(signature)}\n`];
  }
  const server = createServer((req, res) => {
    const answered = textOf(req).then((body) => {
      const [status, text] = answer(body);
      res.writeHead(status).end(text);
    });
    // Not a log of the policy, or one that leaves in the middle of its body.
    answered.catch(() => res.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async () => void server.close().closeAllConnections();
  /** A policy of the log, this witness, and the log's own completeness. */
  const policy = (logUrl = '') => `log ${vkeys.log} ${logUrl}
log ${vkeys.logMlDsa}
witness w1 ${renderVkey(cosignerKey(name, key))} ${url}
witness complete ${vkeys.complete}
witness complete-ml-dsa ${vkeys.completeMlDsa}
quorum w1
`;
  /** The path of its file. */
  const policyFile = join(folder, 'policy');
  await writeFile(policyFile, policy());
  return {
    url,
    policy,
    policyFile,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}
