import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addSubject } from '@ori/administration/users';
import { createRemoteKeySet, createVerifier } from '@ori/verifier';
import { requireProof } from '@ori/verifier/node';
import { createTestReplayStore } from '@ori/verifier/testing';
import { openRoom } from '../env/room.ts';
import { startWorld, type World } from '../env/world.ts';
import { makeOriHome, type OriHome } from './cli-process.ts';
import { listen, send } from './cli-world.ts';

/** A provider that is not ours, and the person who signs in there. */
export interface ForeignIssuer {
  readonly issuer: string;
  /** Of the issuers file. */
  readonly settings: object;
  readonly subject: string;
}

/** The file of issuers that names only this one. It ends with the stack. */
export async function issuersFile(
  stack: AsyncDisposableStack,
  { issuer, settings }: ForeignIssuer,
): Promise<string> {
  const room = stack.use(await openRoom('ori-provider'));
  const file = join(room.directory, 'issuers.json');
  await writeFile(file, JSON.stringify({ issuers: [{ issuer, ...settings }] }), { mode: 0o600 });
  return file;
}

/** A signer on the port that takes tokens of the issuers in the file, a daemon that says who calls, and a home of `ori`. */
export async function startProviderWorld(
  stack: AsyncDisposableStack,
  { port, file, issuer, subject }: ForeignIssuer & { readonly port: number; readonly file: string },
): Promise<{ world: World; home: OriHome }> {
  const introspection = { INTROSPECTION_CLIENT_ID: '', INTROSPECTION_CLIENT_SECRET: '' };
  const environment = { ISSUER: '', ISSUERS_FILE: file, ...introspection };
  const world = stack.use(await startWorld({ port, environment }));
  const { demo, store, baseUrl } = world;
  await addSubject(store, { userId: demo.userId, issuer, subject });
  const verifier = createVerifier({
    internId: demo.internId,
    keys: createRemoteKeySet(`${baseUrl}/interns/${demo.internId}/daemon/jwks.json`),
    replay: createTestReplayStore(),
  });
  const daemon = await listen(
    requireProof(verifier, { bodyBytesMax: 1024 }, (_req, res, { proof }) =>
      send(res, { status: 200, body: { user: proof.user } }),
    ),
  );
  stack.defer(() => daemon.stop());
  const home = stack.use(await makeOriHome({ ORI_BASE_URL: baseUrl, ORI_DAEMON_URL: daemon.url }));
  return { world, home };
}
