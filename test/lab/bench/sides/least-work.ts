import { hash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { promisify } from 'node:util';
import express from 'express';
import { Redis } from 'ioredis';
import { listen } from './listen.ts';
import { twoSignatures } from './two-signatures.ts';

// What the contract demands of a signing request, with the parts that everybody knows and nothing more: the token's hash is
// looked up, one script counts two turns and reserves the nonce, one line is written to a file, then two signatures are made.

const [pkcs8 = '', redisUrl = '', auditFile = ''] = process.argv.slice(2);
const answerOf = twoSignatures(pkcs8);
const sessions = new Map<string, { readonly user: string; readonly organization: string }>();

interface Commands {
  charge(user: string, organization: string, nonce: string, ...values: (string | number)[]): Promise<unknown>;
}
const redis = new Redis(redisUrl) as Redis & Commands;
// Redis may stop first at the end of a run.
redis.on('error', () => {});
redis.defineCommand('charge', {
  numberOfKeys: 3,
  lua: `
    for index = 1, 2 do
      if redis.call('incr', KEYS[index]) == 1 then redis.call('pexpire', KEYS[index], ARGV[1]) end
    end
    return redis.call('set', KEYS[3], '', 'PX', ARGV[2], 'NX')`,
});
const audit = createWriteStream(auditFile, { flags: 'a' });
const append = promisify((line: string, done: (error?: Error | null) => void) => audit.write(line, done));

const app = express();
app.post('/v1/interns/:internId/daemon/sign', express.json(), async (req, res) => {
  const token = hash('sha256', req.headers.authorization ?? '');
  const session = sessions.get(token) ?? { user: `least:u:${token}`, organization: 'least:o' };
  sessions.set(token, session);
  const { internId } = req.params;
  const nonce = randomBytes(16).toString('base64url');
  const { user, organization } = session;
  if ((await redis.charge(user, organization, `least:${internId}:${nonce}`, 60_000, 65_000)) !== 'OK') {
    throw new Error('the nonce was reserved before');
  }
  await append(`${JSON.stringify({ time: new Date().toISOString(), internId, nonce, ...req.body })}\n`);
  res.json(answerOf(internId, req.body, nonce));
});
listen(app);
