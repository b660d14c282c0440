import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of a package: the folder of the package, with its name. */
const PACKAGE_FILE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENCE_FILE = /^(licen[cs]e|notice|copying)/i;
const RULE = '-'.repeat(80);

/** The folders of the packages that modules came from. */
export function packagesOf(modules: Iterable<string>): string[] {
  const folders = [...modules].map((id) => PACKAGE_FILE.exec(id)?.[1]);
  return [...new Set(folders.filter((folder) => folder !== undefined))];
}

/**
 * The text of `THIRD-PARTY-LICENSES`: the licences of the bundled packages, which must accompany them.
 *
 * @param folders of packages, in any order, possibly repeated
 * @throws Error for a package that states no licence
 */
export function renderLicences(folders: readonly string[]): string {
  const notices = new Map(
    folders.map((folder) => {
      const manifest = readManifest(folder);
      return [`${manifest.name} ${manifest.version}`, noticeOf(folder, manifest)];
    }),
  );
  return [...notices.keys()]
    .toSorted()
    .map((title) => `${title}\n\n${notices.get(title)}\n`)
    .join(`\n${RULE}\n`);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function noticeOf(folder: string, { name, license, author }: Manifest): string {
  if (license === undefined) throw new Error(`${name} states no licence`);
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file));
  if (files.length > 0) {
    return files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
  }
  return `License: ${license}\nAuthor: ${typeof author === 'object' ? author.name : author}\n(as its package.json has it, which comes without a text)`;
}
