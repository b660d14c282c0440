import { countByKek, resealTable } from '@ori/administration/reseal';
import { ConfigError } from '@ori/runtime/config';
import { readSecretFile } from '@ori/runtime/secret-file';
import {
  extendKekRing,
  generateKekRing,
  promoteKek,
  removeKek,
  unwrapKekRing,
  wrapKekRing,
} from '@ori/sealing/change-kek-ring';
import { KEK_OWNERS, type KekOwner, type KekRing } from '@ori/sealing/kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { openKms } from '@ori/sealing/open-kms';
import { readRingFile } from '@ori/sealing/read-kek-ring';
import { Argument } from 'commander';
import { type Command, examples } from '../command.ts';
import { type Context, ringSetting } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { PartialFailure } from '../failure.ts';
import { addInstances, type InstanceOptions, requireInstances } from '../kek-instances.ts';
import { type SecretOptions, withSecretOutput } from '../secret-output.ts';

interface GenerateOptions extends SecretOptions {
  addTo?: string;
}

const service = () =>
  new Argument('<service>', 'the service that uses the ring').choices(KEK_OWNERS as unknown as string[]);

function addRingOutput(command: Command): Command {
  return command
    .option('--out <file>', 'write the ring to a new file that only its owner can read')
    .option('--show', 'print it even if stdout is a terminal');
}

export function addKekCommands(program: Command): void {
  const kek = program
    .command('kek')
    .description(
      'the rings of key-encryption keys, one for each service: the first key seals, every key opens',
    );

  addRingOutput(kek.command('generate'))
    .description('generate a ring with one new key, or a copy of a ring with a key added; needs no database')
    .addArgument(service())
    .option('--add-to <ring>', 'the ring file to copy; the new key only opens until it is promoted')
    .examples(
      'ori-admin kek generate signer --out signer-kek.json',
      'ori-admin kek generate signer --add-to signer-kek.json --out signer-kek-next.json',
    )
    .does(async (admin, owner: KekOwner, { addTo, ...where }: GenerateOptions) => {
      await writeRing(admin, where, async () => {
        if (addTo === undefined) return await wrapped(admin, owner, generateKekRing(owner));
        const file = { path: addTo, variable: '--add-to', owner, ...admin.kms(owner) };
        return await wrapped(admin, owner, extendKekRing(readRingFile(file), owner));
      });
    });

  addInstances(addRingOutput(kek.command('promote')))
    .description(
      'print a copy of the ring with this key first, so that it seals; requires that every instance holds the key',
    )
    .addArgument(service())
    .argument('<kid>', 'the key')
    .does(async (admin, owner: KekOwner, kid: string, { instances, unchecked, ...where }: RingChange) => {
      await requireKid(admin, owner, kid);
      await requireInstances('holds', kid, { instances, unchecked });
      await writeRing(admin, where, async () => promoteKek(ringText(admin, owner), owner, kid));
    });

  addInstances(addRingOutput(kek.command('remove')))
    .description(
      'print a copy of the ring without this key; requires that no row is sealed under it, and no instance seals under it',
    )
    .addArgument(service())
    .argument('<kid>', 'the key')
    .does(async (admin, owner: KekOwner, kid: string, { instances, unchecked, ...where }: RingChange) => {
      const { primary } = await requireKid(admin, owner, kid);
      if (kid === primary.kid)
        throw new PartialFailure(`The ring seals under ${kid}.`, 'Promote another key first.');
      await requireInstances('seals under', primary.kid, { instances, unchecked });
      const sealed = (await admin.withDatabase((db) => countByKek(db, owner))).get(kid) ?? 0;
      if (sealed > 0) {
        const next = `Run ori-admin kek reseal ${owner} first. No ring was written.`;
        throw new PartialFailure(`${sealed} rows are sealed under ${kid}.`, next);
      }
      await writeRing(admin, where, async () => removeKek(ringText(admin, owner), owner, kid));
    });

  addRingOutput(kek.command('wrap'))
    .description(
      'a copy of a ring whose keys the KMS wraps: of a ring in plain text, or anew under the newest KMS key',
    )
    .addArgument(service())
    .argument('<ring>', 'the file of the ring')
    .does(async (admin, owner: KekOwner, ring: string, where: SecretOptions) => {
      await writeRing(admin, where, async () => await rewrap(admin, owner, ring, wrapKekRing));
    });

  addRingOutput(kek.command('unwrap'))
    .description('a copy of a ring with the keys in plain text: to leave the KMS')
    .addArgument(service())
    .argument('<ring>', 'the file of the ring')
    .does(async (admin, owner: KekOwner, ring: string, where: SecretOptions) => {
      await writeRing(admin, where, async () => await rewrap(admin, owner, ring));
    });

  kek
    .command('list')
    .alias('ls')
    .description("list the keys of a service's ring, by kid")
    .addArgument(service())
    .option('--usage', 'count the rows sealed under each key; a key with none can be removed')
    .does(async (admin, owner: KekOwner, { usage }: { usage?: true }) => {
      if (usage) admin.config('databaseUrl', ringSetting(owner));
      const ring = await admin.readRing(owner);
      const counts = usage ? await admin.withDatabase((db) => countByKek(db, owner)) : undefined;
      const rows = [...new Set([...ring.kids, ...(counts?.keys() ?? [])])].map((kid) => ({
        kid,
        use: kid === ring.primary.kid ? 'seals' : ring.kids.includes(kid) ? 'opens' : 'missing',
        ...(counts && { sealed: counts.get(kid) ?? 0 }),
      }));
      admin.reportList({ rows, hasMore: false }, (row) => row);
      const missing = rows.filter(({ use }) => use === 'missing').map(({ kid }) => kid);
      if (missing.length > 0) {
        throw new PartialFailure(
          `The ring lacks ${missing.join(', ')}, under which rows are sealed.`,
          'The service cannot open them: put the key back into its ring.',
          EXIT.unexpected,
        );
      }
    });

  addInstances(kek.command('reseal'))
    .description('re-seal all rows of a service under the first key of its ring')
    .addArgument(service())
    .addHelpText(
      'after',
      `
Can run while the services run, and can be repeated after an interruption.
${examples('ori-admin kek reseal signer --instances http://signer-1:9081,http://signer-2:9081', 'ori-admin kek list signer --usage')}`,
    )
    .does(async (admin, owner: KekOwner, options: InstanceOptions) => resealRing(admin, owner, options));
}

interface RingChange extends SecretOptions, InstanceOptions {}

async function resealRing(admin: Context, owner: KekOwner, options: InstanceOptions): Promise<void> {
  admin.config('databaseUrl', ringSetting(owner));
  const ring = await admin.readRing(owner);
  await requireInstances('seals under', ring.primary.kid, options);
  const onProgress = (done: number, total: number) => admin.progress.show(`resealing: ${done} of ${total}`);
  const report = await admin
    .withDatabase((db) => resealTable(db, owner, { ring, onProgress }))
    .finally(admin.progress.end);
  const { resealed, kept, failed } = report;
  admin.report(report, { note: `${resealed} resealed, ${kept} kept.` });
  if (failed.length > 0) {
    throw new PartialFailure(
      `${failed.length} do not open with this ring, and were left unchanged: ` +
        failed.slice(0, 20).join(', '),
      'Keep the former keys in the ring until these are resealed or deleted.',
    );
  }
}

async function writeRing(admin: Context, where: SecretOptions, make: () => Promise<string>): Promise<void> {
  await withSecretOutput(admin, where, async (output) => {
    const ring = await make();
    output.deliver(ring);
    if (output.file === undefined) admin.stdout.write(ring);
    else {
      admin.report(
        { file: output.file },
        { note: `Wrote ${output.file}. Keep it out of backups of the database.` },
      );
    }
  });
}

/** The ring for the service's file: with its keys wrapped where a KMS is configured. */
async function wrapped(admin: Context, owner: KekOwner, ring: string): Promise<string> {
  const { kmsUrl, kmsTokenFile } = admin.kms(owner);
  return kmsUrl === undefined ? ring : await wrapKekRing(ring, await openKms({ kmsUrl, kmsTokenFile }));
}

async function rewrap(
  admin: Context,
  owner: KekOwner,
  file: string,
  change: typeof wrapKekRing = async (text) => text,
): Promise<string> {
  const { kmsUrl, kmsTokenFile } = admin.kms(owner);
  const name = `ORI_ADMIN_${owner.toUpperCase()}_KMS_URL`;
  if (kmsUrl === undefined) throw new ConfigError([`${name}: is required but not set`]);
  const kms = await openKms({ kmsUrl, kmsTokenFile });
  const plain = await unwrapKekRing(readSecretFile(file), kms);
  parseKekRing(plain, owner);
  return await change(plain, kms);
}

const ringText = (admin: Context, owner: KekOwner): string => readRingFile(admin.ringFile(owner));

async function requireKid(admin: Context, owner: KekOwner, kid: string): Promise<KekRing> {
  const ring = await admin.readRing(owner);
  const { kids } = ring;
  if (kids.includes(kid)) return ring;
  throw new PartialFailure(`The ring has no key ${kid}.`, `Its keys are ${kids.join(', ')}.`, EXIT.notFound);
}
