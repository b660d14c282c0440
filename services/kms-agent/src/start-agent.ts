import { once } from 'node:events';
import { chmodSync, lstatSync } from 'node:fs';
import { ConfigError } from '@ori/runtime/config';
import { listenAlone } from '@ori/runtime/listen-alone';
import { createAwsKms } from './aws.ts';
import type { AgentConfig } from './config.ts';
import { createPkcs11 } from './pkcs11.ts';
import { type AgentKey, type AgentLog, serveTransit } from './serve-transit.ts';

export { type AgentConfig, loadAgentConfig } from './config.ts';

const SOCKET_MODE = 0o660;

/**
 * Listens on the socket. Replaces a socket that an earlier process left behind.
 *
 * @throws ConfigError if its path is not a socket; Error if another process listens on it
 */
export async function startAgent(
  { socket, key }: AgentConfig,
  log: AgentLog,
  injected?: AgentKey,
): Promise<{ stop(): Promise<void> }> {
  const former = lstatSync(socket, { throwIfNoEntry: false });
  if (former !== undefined && !former.isSocket()) {
    throw new ConfigError(['KMS_AGENT_SOCKET: the path exists and is not a socket']);
  }
  const server = serveTransit(injected ?? openKey(key, log), log);
  // No other user may connect before the mode is set.
  const mask = process.umask(0o177);
  try {
    await listenAlone(server, socket);
  } finally {
    process.umask(mask);
  }
  chmodSync(socket, SOCKET_MODE);
  log.info({ socket }, 'listening');
  return {
    async stop() {
      server.close();
      await once(server, 'close');
    },
  };
}

function openKey(key: AgentConfig['key'], log: AgentLog): AgentKey {
  return 'aws' in key ? createAwsKms(key.aws) : createPkcs11(key.pkcs11, log);
}
