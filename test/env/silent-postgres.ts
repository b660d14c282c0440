import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from './serve.ts';

/** A server that accepts connections and says nothing, at an address that names a file of certificate authorities. */
export async function startSilentPostgres() {
  const authority = join(tmpdir(), `${randomUUID()}.pem`);
  await writeFile(authority, 'not read any further');
  const connections: Socket[] = [];
  const served = await serve(createServer((socket) => void connections.push(socket)));
  return {
    url: `postgres://u:p@${served.address}/db?sslmode=verify-full&sslrootcert=${authority}`,
    connections,
    /** As in the middle of its renewal. */
    removeAuthority: () => rm(authority),
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await rm(authority, { force: true });
    },
  };
}
