// Runs in an empty project that installed the tarballs: verifies a valid proof, then its replay, through every entry point.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createLocalKeySet, createVerifier, ProofError, toRefusal } from '@ori/verifier';
import { requireProof } from '@ori/verifier/express';
import { requireProof as requireFetchProof } from '@ori/verifier/fetch';
import { REDIS_SCRIPTS } from '@ori/verifier/redis';
import { createTestReplayStore, createTestSigner } from '@ori/verifier/testing';

const internId = 'int_7Qm2';
const signer = createTestSigner({ internId });
const newVerifier = () =>
  createVerifier({ internId, keys: createLocalKeySet(signer.jwks), replay: createTestReplayStore() });
const path = '/api/invoke';
const body = '{"prompt":"hello"}';
const isReplay = (error) =>
  error instanceof ProofError && toRefusal(error)?.status === 401 && error.code === 'nonce_replayed';

const verifier = newVerifier();
const request = signer.request({ path, body, user: 'user_2abc' });
const proof = await verifier.verify(request);
assert.equal(proof.user, 'user_2abc');
await assert.rejects(verifier.verify(request), isReplay);

const guard = requireProof(newVerifier(), { bodyBytesMax: 1000 });
const server = createServer((req, res) => guard(req, res, () => res.end(req.proof.user)));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const headers = { 'content-type': 'application/json', ...signer.sign({ path, body }) };
const url = `http://127.0.0.1:${server.address().port}${path}`;
assert.equal((await fetch(url, { method: 'POST', body, headers })).status, 200);
assert.equal((await fetch(url, { method: 'POST', body, headers })).status, 401);
server.close();
server.closeAllConnections();

const handle = requireFetchProof(newVerifier(), { bodyBytesMax: 1000 }, () => new Response('ok'));
const call = () => handle(new Request(`https://daemon.example${path}`, { method: 'POST', body, headers }));
assert.equal((await call()).status, 200);
assert.equal((await call()).status, 401);

assert.ok(REDIS_SCRIPTS.spendV2.length > 0);
console.log(`verified and refused on Node ${process.versions.node.split('.')[0]}`);
