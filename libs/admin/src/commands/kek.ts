import { readFileSync } from 'node:fs';
import { countByKek, resealCredentials, resealSigningKeys } from '@ori/store/admin';
import { extendKekRing, generateKekRing } from '@ori/store/sealing';
import { readKekRing } from '@ori/store/sealing/read-kek-ring';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { PartialFailure } from '../failure.ts';
import { examples } from '../help.ts';
import { type SecretOptions, withSecretOutput } from '../secret-output.ts';

interface GenerateOptions extends SecretOptions {
  addTo?: string;
  first?: true;
}

export function addKekCommands(program: Command, context: () => Context): void {
  const kek = program
    .command('kek')
    .description('the ring of key-encryption keys: the first one seals, each one opens');

  kek
    .command('generate')
    .description('make a ring with one new key, or a copy of a ring with one key more; needs no database')
    .option('--add-to <ring>', 'the file of a ring to copy')
    .option('--first', 'put the new key at the front, where it seals; else at the end, where it opens')
    .option('--out <file>', 'write the ring to a new file, for its owner alone')
    .option('--show', 'print it although stdout is a terminal')
    .addHelpText(
      'after',
      examples(
        'ori-admin kek generate --out kek.json',
        'ori-admin kek generate --add-to kek.json --out kek-next.json',
      ),
    )
    .action(async ({ addTo, first, ...where }: GenerateOptions) => {
      const admin = context();
      await withSecretOutput(admin, where, async (output) => {
        const ring = addTo === undefined ? generateKekRing() : extend(addTo, first ?? false);
        output.deliver(ring);
        if (output.file === undefined) admin.stdout.write(ring);
        else
          admin.report(
            { file: output.file },
            { note: `Wrote ${output.file}. Keep it out of backups of the database.` },
          );
      });
    });

  kek
    .command('list')
    .description('the keys of the ring in ORI_ADMIN_KEK_FILE, by kid')
    .option('--usage', 'count what is sealed under each: one that seals nothing can be taken out')
    .action(async ({ usage }: { usage?: true }) => {
      const admin = context();
      if (usage) admin.config('databaseUrl', 'kekFile');
      const ring = admin.readRing();
      const counts = usage ? await admin.withDatabase(countByKek) : undefined;
      const kids = new Set([...ring.kids, ...(counts?.keys() ?? [])]);
      const rows = [...kids].map((kid) => ({
        kid,
        use: kid === ring.primary.kid ? 'seals' : ring.kids.includes(kid) ? 'opens' : 'missing',
        ...(counts && {
          seeds: counts.get(kid)?.seeds ?? 0,
          provider_keys: counts.get(kid)?.providerKeys ?? 0,
        }),
      }));
      const head = counts ? ['kid', 'use', 'seeds', 'provider keys'] : ['kid', 'use'];
      admin.reportList({ rows, hasMore: false }, head, (row) => [
        row.kid,
        row.use,
        ...(counts ? [row.seeds, row.provider_keys] : []),
      ]);
    });

  kek
    .command('reseal')
    .description('seal every seed and provider key anew under the first key of the ring')
    .addHelpText(
      'after',
      `
May run beside the services, and again after it broke off.
${examples('ori-admin kek reseal', 'ori-admin kek list --usage')}`,
    )
    .action(async () => {
      const admin = context();
      const { issuer, baseUrl } = admin.config('databaseUrl', 'kekFile', 'issuer', 'baseUrl');
      const ring = admin.readRing();
      const show = (what: string) => (done: number) => admin.progress.show(`resealing ${what}: ${done}`);
      const report = await admin
        .withDatabase(async (db) => ({
          seeds: await resealSigningKeys(db, { ring, home: { issuer, baseUrl }, onProgress: show('seeds') }),
          provider_keys: await resealCredentials(db, { ring, onProgress: show('provider keys') }),
        }))
        .finally(admin.progress.end);
      const failed = report.seeds.failed.length + report.provider_keys.failed.length;
      const count = ({ resealed, kept }: { resealed: number; kept: number }) =>
        `${resealed} resealed, ${kept} kept`;
      admin.report(report, {
        note: `Seeds: ${count(report.seeds)}. Provider keys: ${count(report.provider_keys)}.`,
      });
      if (failed > 0) {
        throw new PartialFailure(
          EXIT.conflict,
          `${failed} do not open with this ring, issuer and base address, and were left as they are: ` +
            [...report.seeds.failed, ...report.provider_keys.failed].slice(0, 20).join(', '),
          'Keep the former keys in the ring until these are resealed or deleted.',
        );
      }
    });
}

function extend(file: string, first: boolean): string {
  readKekRing(file, '--add-to');
  return extendKekRing(readFileSync(file, 'utf8'), { first });
}
