import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../env/ports.ts';
import { shippedServer } from '../../env/programs.ts';
import { findProgram, openRoom, type Room } from '../../env/room.ts';
import { ServerProcess } from '../../env/server-process.ts';

const MODULES = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib64/softhsm/libsofthsm2.so'];
const PIN = '31415926';
const TOKEN = 'ori test';
const KEY_ID = '0a';

interface Hsm {
  readonly module: string;
  readonly tool: string;
  readonly util: string;
}

/** SoftHSM2 and OpenSC's command, if they are installed. */
export function findHsm(): Hsm | undefined {
  const module = MODULES.find((path) => existsSync(path));
  const tool = findProgram('pkcs11-tool');
  const util = findProgram('softhsm2-util');
  return module && tool && util ? { module, tool, util } : undefined;
}

/** Creates a SoftHSM2 token with one AES key. Returns the environment with which an agent uses it. */
export function createToken({ module, tool, util }: Hsm, room: Room): Record<string, string> {
  const [conf, tokens] = [join(room.directory, 'softhsm2.conf'), join(room.directory, 'tokens')];
  mkdirSync(tokens, { mode: 0o700 });
  writeFileSync(conf, `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`);
  const options = { env: { ...process.env, SOFTHSM2_CONF: conf, PIN }, stdio: 'ignore' as const };
  execFileSync(util, ['--init-token', '--free', '--label', TOKEN, '--pin', PIN, '--so-pin', PIN], options);
  const generate = ['--keygen', '--key-type', 'AES:32', '--id', KEY_ID, '--label', 'kek', '--sensitive'];
  const login = ['--module', module, '--token-label', TOKEN, '--login', '--pin', 'env:PIN'];
  execFileSync(tool, [...login, ...generate], options);
  return {
    SOFTHSM2_CONF: conf,
    KMS_AGENT_BACKEND: 'pkcs11',
    KMS_AGENT_PKCS11_MODULE: module,
    KMS_AGENT_PKCS11_TOKEN: TOKEN,
    KMS_AGENT_PKCS11_PIN: PIN,
    KMS_AGENT_PKCS11_KEY_ID: KEY_ID,
  };
}

/** moto imitates AWS KMS for AWS's own client. */
export const MOTO = findProgram('moto_server');

/** Starts moto with one key. Returns the environment with which an agent uses it. */
export async function startMoto(room: Room): Promise<Record<string, string>> {
  const port = await freePort();
  const server = new ServerProcess({
    room,
    program: MOTO ?? '',
    arguments: ['-p', String(port)],
    ready: /Running on/,
    farewell: 'TERM',
    environment: { HOME: process.env['HOME'] ?? '' },
  });
  await server.start();
  const [id, region, endpoint] = ['AKIATEST', 'eu-central-1', `http://127.0.0.1:${port}`];
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      Authorization: `AWS4-HMAC-SHA256 Credential=${id}/20260101/${region}/kms/aws4_request`,
      'X-Amz-Target': 'TrentService.CreateKey',
    },
    body: '{}',
  });
  const { KeyMetadata } = (await answer.json()) as { KeyMetadata: { KeyId: string } };
  return {
    AWS_ENDPOINT_URL_KMS: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: id,
    AWS_SECRET_ACCESS_KEY: 'not-a-secret',
    KMS_AGENT_BACKEND: 'aws',
    KMS_AGENT_AWS_KEY_ID: KeyMetadata.KeyId,
  };
}

export async function startKmsAgent(environment: (room: Room) => Record<string, string>) {
  const room = await openRoom('ori-kms');
  const socket = join(room.directory, 'kms.sock');
  const output: string[] = [];
  const env = { KMS_AGENT_SOCKET: socket, ...environment(room) };
  const server = await shippedServer(room, 'kms-agent/ori-kms-agent', env, (line) => void output.push(line));
  try {
    await server.start();
  } catch (error) {
    await room[Symbol.asyncDispose]();
    throw error;
  }
  return {
    /** The value for `…_KMS_URL`. */
    url: `unix:${socket}`,
    output,
    stop: (): Promise<void> => server.end('SIGTERM'),
    start: (): Promise<void> => server.start(),
    [Symbol.asyncDispose]: () => room[Symbol.asyncDispose](),
  };
}

/** `ori-kms-agent` as it ships, on its own socket. */
export type KmsAgent = Awaited<ReturnType<typeof startKmsAgent>>;
