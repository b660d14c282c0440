import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../root.ts';
import { filesOf, type Image } from './build-image.ts';

const component = { '@id': z.string().startsWith('pkg:') };

/** What https://github.com/openvex/spec (v0.2.0) requires of the members that our document has. */
const vex = z.strictObject({
  '@context': z.literal('https://openvex.dev/ns/v0.2.0'),
  '@id': z.url(),
  author: z.string().min(1),
  role: z.string(),
  timestamp: z.iso.datetime(),
  version: z.int().min(1),
  statements: z
    .array(
      z.strictObject({
        vulnerability: z.strictObject({ name: z.string().regex(/^CVE-\d{4}-\d+$/), description: z.string() }),
        products: z
          .array(
            z.strictObject({ ...component, subcomponents: z.array(z.strictObject(component)).nonempty() }),
          )
          .nonempty(),
        status: z.literal('not_affected'),
        justification: z.enum(['component_not_present', 'vulnerable_code_not_present']),
        status_notes: z.string().min(1),
      }),
    )
    .nonempty(),
});

/** Traces that the vulnerable code would leave in an image: the name of a program, or of a function in a library. */
const TRACES: Readonly<Record<string, RegExp>> = {
  'CVE-2019-1010023': /^(ldd|sh|bash|dash)$/,
  'CVE-2022-0563': /^(chfn|chsh)$/,
  'CVE-2023-45853': /zipOpenNewFileInZip/,
};

export async function readVex(): Promise<z.infer<typeof vex>> {
  return vex.parse(JSON.parse(await readFile(`${ROOT}deploy/docker/openvex.json`, 'utf8')));
}

/** What the statements about an image claim that is not so: components that it lacks, vulnerable code that it has. */
export async function falseStatements(name: string, image: Image): Promise<string[]> {
  const bom = JSON.parse(await readFile(join(image.root, 'sbom.cdx.json'), 'utf8'));
  const components = new Set(bom.components.map(({ purl }: { purl: string }) => purl.replace(/@.*/, '')));
  const files = (await filesOf(image)).filter((file) => /\/s?bin\/|\.so/.test(file));
  const problems: string[] = [];
  for (const { vulnerability, products } of (await readVex()).statements) {
    for (const { subcomponents } of products.filter((product) => product['@id'] === `pkg:oci/${name}`)) {
      const absent = subcomponents.map((one) => one['@id']).filter((id) => !components.has(id));
      problems.push(...absent.map((id) => `${vulnerability.name}: ${name} has no ${id}`));
      const trace = TRACES[vulnerability.name];
      if (trace === undefined) problems.push(`${vulnerability.name}: nothing shows that it is not there`);
      for (const file of files) {
        const isFound =
          trace?.test(basename(file)) ||
          (/\.so/.test(file) && trace?.test(await readFile(join(image.root, file), 'latin1')));
        if (isFound) problems.push(`${vulnerability.name}: ${name} has ${file}`);
      }
    }
  }
  return problems;
}
