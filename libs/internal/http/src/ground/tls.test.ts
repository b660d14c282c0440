import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls, { connect, type PeerCertificate } from 'node:tls';
import { createMetrics } from '@ori/runtime/metrics';
import { capturedLog } from '@ori/test-env/captured-log';
import { makeCertificate } from '@ori/test-env/certificate';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startApiServer } from '../server/server.ts';
import { problemsOfTls } from './tls.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-tls-'));
});
afterEach(() => rm(folder, { recursive: true }));

const files = () => ({ tlsCertFile: join(folder, 'tls.crt'), tlsKeyFile: join(folder, 'tls.key') });

async function write({ cert, key }: { cert: string; key: string }): Promise<void> {
  await writeFile(files().tlsKeyFile, key, { mode: 0o600 });
  await writeFile(files().tlsCertFile, cert);
}

/** @returns the certificate that the server shows, and the answer to one request */
function ask(
  port: number,
  ca: string,
  options: object = {},
): Promise<{ shown: PeerCertificate; text: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ...options });
    let text = '';
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const shown = socket.getPeerCertificate();
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.once('close', () => resolve({ shown, text }));
      socket.write('GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    });
  });
}

const serve = (options: object = {}) =>
  startApiServer({
    app: (_req, res) => void res.end('ok'),
    host: '127.0.0.1',
    port: 0,
    deadlineMs: 5000,
    tls: files(),
    ...options,
  });

test('answers over TLS 1.2 and 1.3, and refuses older versions, whatever the process would allow', async () => {
  const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;
  onTestFinished(() => void Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS }));
  Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT@SECLEVEL=0' });
  const certificate = makeCertificate();
  await write(certificate);
  const server = await serve();
  try {
    expect(server.url).toMatch(/^https:/);
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
      const { text } = await ask(server.port, certificate.cert, { maxVersion });
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    await expect(ask(server.port, certificate.cert, old)).rejects.toMatchObject({
      code: expect.stringContaining('PROTOCOL_VERSION'),
    });
  } finally {
    await server.stop({ graceMs: 0 });
  }
});

test('tells when its own certificate ends, and that of the gateway', async () => {
  const [own, gateway] = [
    makeCertificate({ daysLeft: 1 }),
    makeCertificate({ name: 'gateway', daysLeft: 2 }),
  ];
  await write(own);
  const tlsClientCaFile = join(folder, 'ca.crt');
  await writeFile(tlsClientCaFile, gateway.cert);
  const metrics = createMetrics({ service: 'test' });
  const server = await serve({ metrics, tls: { ...files(), tlsClientCaFile } });
  try {
    await ask(server.port, own.cert, gateway);
    const ends = (await metrics.registry.metrics()).matchAll(/_end_timestamp_seconds\{of="(\w+)"\} (\d+)/g);
    const days = [...ends].map(([, of, at]) => [
      of,
      Math.round((Number(at) * 1000 - Date.now()) / 86_400_000),
    ]);
    expect(Object.fromEntries(days)).toEqual({ listener: 1, gateway: 2 });
  } finally {
    metrics.close();
    await server.stop({ graceMs: 0 });
  }
});

test('uses a renewed certificate without a restart, and keeps the last one while the files do not fit', async () => {
  const [first, second] = [makeCertificate(), makeCertificate()];
  await write(first);
  const { log, lines } = capturedLog();
  const server = await serve({ log });
  const isLogged = (text: string) =>
    expect.poll(() => lines.some(({ msg }) => String(msg).startsWith(text)), { timeout: 5000 }).toBe(true);
  try {
    await writeFile(files().tlsCertFile, second.cert);
    await isLogged('could not load the TLS files');
    expect((await ask(server.port, first.cert)).text).toContain('200');
    await write(second);
    await isLogged('TLS certificate reloaded');
    expect((await ask(server.port, second.cert)).text).toContain('200');
  } finally {
    await server.stop({ graceMs: 0 });
  }
});

test('names the files that cannot be used', async () => {
  const [one, other] = [makeCertificate(), makeCertificate()];
  const problems = (changed: object = {}) => problemsOfTls('SIGNER', { ...files(), ...changed });
  expect(problems()).toEqual([expect.stringMatching(/^SIGNER_TLS_…_FILE: .*ENOENT/)]);
  await write(one);
  expect(problems()).toEqual([]);
  expect(problems({ tlsKeyFile: undefined })).toEqual([expect.stringContaining('set both or neither')]);
  expect(problemsOfTls('SIGNER', { tlsClientCaFile: files().tlsCertFile })).toEqual([
    expect.stringContaining('SIGNER_TLS_CLIENT_CA_FILE'),
  ]);
  await chmod(files().tlsKeyFile, 0o644);
  expect(problems()).toEqual([expect.stringContaining('chmod 0600')]);
  await rm(files().tlsKeyFile);
  await write({ cert: one.cert, key: other.key });
  expect(problems()).toEqual([expect.stringContaining('VALUES_MISMATCH')]);
});
