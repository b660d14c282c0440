import { expect, it } from 'vitest';
import { startManagementWorld } from '../world.ts';
import { createCast } from './cast.ts';
import { DropTenantPredicate } from './drop-tenant-predicate.ts';
import { trialsOf } from './oracle.ts';
import { runMatrix } from './run.ts';

it('returns no row of another tenant even if the queries omit the tenant predicate', {
  timeout: 240_000,
}, async () => {
  const forgetful = new DropTenantPredicate();
  await using world = await startManagementWorld({ wrap: (kysely) => kysely.withPlugin(forgetful) });
  const cast = await createCast(world.store, world.issuer);
  // 401 and 403 are decided before anything is looked for.
  const cells = await runMatrix(world, cast, trialsOf(cast), (status) => status !== 401 && status !== 403);
  expect(forgetful.dropped).toBeGreaterThan(300);
  const leaks = cells.filter(({ principal, text }) => {
    const who = cast.principals.find(({ name }) => name === principal);
    const foreign = [
      ...cast.interns,
      ...cast.credentials,
      ...cast.guardrails,
      ...cast.keyHashes,
      ...cast.internKeys,
      ...cast.members,
      ...cast.workspaces.map(({ id, organization }) => ({ id, organization, workspace: id })),
    ].filter(
      (owned) => owned.organization !== who?.organization && !who?.workspaces.includes(owned.workspace ?? ''),
    );
    // A refusal may repeat an id that the request itself named.
    return /^\{"data"/.test(text) && foreign.some(({ id }) => text.includes(id));
  });
  expect(leaks).toEqual([]);
  expect(cells.filter(({ actual }) => actual.status >= 500)).toEqual([]);
});
