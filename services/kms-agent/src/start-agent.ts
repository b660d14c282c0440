import { once } from 'node:events';
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { ConfigError } from '@ori/runtime/config';
import { createAwsKms } from './aws.ts';
import type { AgentConfig } from './config.ts';
import { createPkcs11 } from './pkcs11.ts';
import { type AgentKey, type AgentLog, serveTransit } from './serve-transit.ts';

export { type AgentConfig, loadAgentConfig } from './config.ts';

const SOCKET_MODE = 0o660;

/**
 * Listens on the socket. A socket that is left of a process before is replaced.
 *
 * @throws ConfigError when there is something else at its path
 */
export async function startAgent(
  { socket, key }: AgentConfig,
  log: AgentLog,
  wrapper: AgentKey = 'aws' in key ? createAwsKms(key.aws) : createPkcs11(key.pkcs11, log),
): Promise<{ stop(): Promise<void> }> {
  const former = lstatSync(socket, { throwIfNoEntry: false });
  if (former !== undefined && !former.isSocket()) {
    throw new ConfigError(['KMS_AGENT_SOCKET: there is something else at this path']);
  }
  rmSync(socket, { force: true });
  const server = serveTransit(wrapper, log);
  // Nobody else may connect before the mode is set.
  const mask = process.umask(0o177);
  try {
    server.listen(socket);
    await once(server, 'listening');
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
