import type { Database } from '@ori/store/database';
import { migrate } from '@ori/store/migrate';
import { openPglite } from '@ori/store/pglite';

export interface Store {
  readonly owner: Database;
  readonly signer: Database;
  readonly management: Database;
  close(): Promise<void>;
}

/** The database with its schema, embedded in this process and lost at `close`. Each service has its own role. */
export async function openStore(): Promise<Store> {
  const owner = await openPglite();
  await migrate(owner);
  const [signer, management] = [owner.as('ori_signer'), owner.as('ori_management')];
  return { owner, signer, management, close: () => owner.close() };
}
