import { join } from 'node:path';
import { bundle } from '../../deploy/bundle/bundle.ts';
import { openRoom, type Room } from './room.ts';
import { sharedBackend } from './run.ts';
import { ServerProcess } from './server-process.ts';

/** The programs that a deployment starts. */
export type Program =
  | 'signer/main'
  | 'management/main'
  | 'signer/ori-signer'
  | 'management/ori-management'
  | 'log/ori-log'
  | 'guard/ori-guard'
  | 'kms-agent/ori-kms-agent'
  | 'admin/ori-admin';

/** Builds everything that ships into a new folder. */
export async function buildPrograms(): Promise<Room> {
  const room = await openRoom('ori-programs');
  await bundle(room.directory);
  return room;
}

let own: Promise<Room> | undefined;

/** The folder of what ships, built once per test run, or once per script outside of a test run. */
export async function shippedFolder(): Promise<string> {
  const shared = await sharedBackend('programs');
  if (shared !== undefined) return shared;
  own ??= buildPrograms();
  return (await own).directory;
}

/** The path of a program as it ships. */
export async function shipped(program: Program): Promise<string> {
  return join(await shippedFolder(), `${program}.js`);
}

/** A server as it ships, not started yet, with no other environment. It ends with its room. @param flags of Node */
export async function shippedServer(
  room: Room,
  program: Program,
  environment: Readonly<Record<string, string>>,
  hear: (line: string) => void = () => {},
  flags: readonly string[] = [],
): Promise<ServerProcess> {
  return new ServerProcess({
    room,
    environment,
    hear,
    program: process.execPath,
    arguments: [...flags, await shipped(program)],
    ready: /"msg":"listening"/,
    farewell: 'KILL',
  });
}
