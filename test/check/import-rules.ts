import { dirname, join } from 'node:path/posix';

/** A source file, by its path in the repository. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A workspace of the product, as its package.json describes it. */
export interface Package {
  readonly name: string;
  /** `libs/public/proof`, `services/signer` */
  readonly folder: string;
  readonly exports: Readonly<Record<string, string>>;
}

interface Rule {
  readonly from: RegExp;
  /** Matched against the path of an imported file, or else against the specifier itself. */
  readonly allowed?: RegExp;
  /** Allowed besides with `import type`, which leaves nothing at run time. */
  readonly allowedTypes?: RegExp;
  readonly forbidden?: RegExp;
  readonly why: string;
}

const ROOM = /^(?:libs\/(?:public|internal)|services)\/[a-z-]+(?=\/)/;

/** By folder: public <- internal <- services. */
const BETWEEN_ROOMS: readonly Rule[] = [
  { from: /^libs\/public\//, forbidden: /^(?:libs\/internal|services)\//, why: 'public imports only public' },
  { from: /^libs\/internal\//, forbidden: /^services\//, why: 'internal imports no service' },
  {
    from: /^services\/(?!standalone\/)/,
    forbidden: /^services\//,
    why: 'a service imports no other service',
  },
  {
    from: /^services\/standalone\//,
    forbidden: /^services\/ori(?:-admin)?\//,
    why: 'the standalone imports no command',
  },
];

const TEST: Rule = {
  from: ROOM,
  forbidden: /^(?:test\/|@ori\/test)/,
  why: 'the product imports nothing of test/',
};

/** Code that decides names what it may import. Nothing listed here does I/O. */
const OF_FOLDERS: readonly Rule[] = [
  {
    from: /^services\/signer\/src\/core\/stages\//,
    allowed:
      /^(?:services\/signer\/src\/core\/stages\/|libs\/public\/proof\/|libs\/internal\/(?:api\/|http\/src\/ground\/(?:regional-host|strict-json)|identity\/src\/(?:access-token|read-bearer|dpop\/)))/,
    allowedTypes: /^libs\/internal\/(?:store\/src\/facts|turns\/src\/turn)\.ts$/,
    why: 'a stage imports only stages and what decides',
  },
  {
    from: /^services\/signer\/src\/(?!(?:effects\/(?:audit-file|turns)|facts\/clock-watch)\.ts$)/,
    allowed: /^(?!services\/signer\/src\/core\/stages\/evidence\.ts$)/,
    allowedTypes: /./,
    why: 'only an adapter states what it did',
  },
  {
    from: /^services\/signer\/src\/(?!core\/stages\/)/,
    forbidden: /^services\/signer\/src\/core\/stages\/stage\.ts$/,
    why: 'only a stage makes its result',
  },
  {
    from: /^services\/ori\/src\/core\//,
    allowed: /^(?:services\/ori\/src\/core\/|libs\/public\/proof\/|libs\/internal\/api\/|zod$)/,
    why: 'the core of a command imports only what decides',
  },
  {
    from: /^services\/management\/src\/.*\/shape\.ts$/,
    allowed:
      /^(?:services\/management\/src\/(?:fields|page|interns\/cursor|.*\/shape)\.ts|libs\/internal\/(?:api\/|identity\/src\/api-key-hash|store\/src\/(?:vocabulary|byok\/(?:credential|provider)))|zod$)/,
    why: 'a shape imports only shapes and vocabularies',
  },
  {
    from: /^libs\/public\/proof\/src\/(?!engine-openssl|node-buffer|signing\.ts)/,
    forbidden: /^node:/,
    why: 'the wire format imports nothing of Node',
  },
  {
    from: /^libs\/internal\/(?:store\/src\/facts|turns\/src\/turn|runtime\/src\/budget)\.ts$/,
    allowed: /(?!)/,
    why: 'types that several packages share import nothing',
  },
  {
    from: /^services\/(?:[a-z-]+\/src\/adapters|signer\/src\/(?:core|keys|facts|effects))\//,
    forbidden: /^services\/.*\/(?:http|edge)\/|^express$/,
    why: 'adapters connect; http presents',
  },
  {
    from: /^libs\/internal\/http\/src\/ground\//,
    forbidden: /^libs\/internal\/http\/src\/(?:observe|overload|server)\//,
    why: 'the ground floor of http imports only itself',
  },
  {
    from: /^libs\/internal\/http\/src\/(?:observe|overload)\//,
    forbidden: /^libs\/internal\/http\/src\/server\//,
    why: 'the server of http stands on the other floors',
  },
  {
    from: /^services\/management\/src\/(?!http\/|reference\/|start-management)/,
    forbidden: /^services\/management\/src\/http\//,
    why: 'a subject of management imports nothing of http',
  },
  {
    from: /^services\/signer\/src\/(?!ops\/|start-signer\.ts$)/,
    forbidden: /^services\/signer\/src\/ops\//,
    why: 'signing does not depend on what operators watch',
  },
];

/** Stages, shapes and the core of `ori`. */
const DECIDING =
  /^services\/(?:signer\/src\/core\/stages\/|ori\/src\/core\/|management\/src\/.*\/shape\.ts$)/;

const STAGE = /^services\/signer\/src\/core\/stages\/(?!stage\.ts$)/;

const isTest = (path: string): boolean => /\.(?:test|fixture)\.ts$/.test(path);

const roomOf = (path: string): string | undefined => ROOM.exec(path)?.[0];

/**
 * The violations, one line each. Tests may import anything they test with.
 *
 * @param wings their folders. The core loads a wing by `import()`, where it is used, or not at all.
 */
export function judgeImports(
  files: readonly SourceFile[],
  packages: readonly Package[],
  wings: readonly string[] = [],
): string[] {
  const wingOf = (path: string) => wings.find((wing) => path.startsWith(`${wing}/`));
  const product = files.filter(({ path }) => ROOM.test(path) && !isTest(path));
  const edges = product.flatMap((file) =>
    importsOf(file).map(({ specifier, isType, isDynamic }) => ({
      from: file.path,
      to: resolve(file.path, specifier, packages),
      specifier,
      isType,
      isDynamic,
    })),
  );
  const broken = edges.flatMap(({ from, to, specifier, isType, isDynamic }) => {
    const isInside = roomOf(from) === roomOf(to);
    const rules = isInside ? [TEST, ...OF_FOLDERS] : [TEST, ...BETWEEN_ROOMS, ...OF_FOLDERS];
    const problems = rules
      .filter((rule) => rule.from.test(from) && breaks(rule, to, isType))
      .map(({ why }) => why);
    if (!isInside && roomOf(to) && specifier.startsWith('.'))
      problems.push('import another package by its name');
    if (wingOf(to) && !wingOf(from) && !isType && !isDynamic)
      problems.push('the core imports no wing: load it by import() where it is used');
    return problems.map((why) => `${from}: ${why} (${specifier})`);
  });
  const rooms = edges.flatMap(({ from, to }) => {
    const [a, b] = [roomOf(from), roomOf(to)];
    return a !== undefined && b !== undefined && a !== b ? [{ from: a, to: b }] : [];
  });
  const ambient = product.flatMap(({ path, text }) => {
    const found = DECIDING.test(path) ? AMBIENT_IO.exec(withoutComments(text)) : null;
    return found === null ? [] : [`${path}: code that decides does no I/O (${found[0]})`];
  });
  const stages = product.filter(({ path }) => STAGE.test(path));
  const waiting = stages
    .filter(({ text }) => /\b(?:async|await|Promise)\b/.test(withoutComments(text)))
    .map(({ path }) => `${path}: a stage is synchronous`);
  const foreign = stages.flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(/^(?!import ).*?\bmade\b(?:<(\w+)>\()?/gm)]
      .filter(([, name = '-']) => !new RegExp(`^export (?:interface|type) ${name}\\b`, 'm').test(text))
      .map(() => `${path}: a stage makes only what its own file declares`),
  );
  const barrels = packages
    .filter(({ folder, exports }) => folder.startsWith('libs/internal/') && '.' in exports)
    .map(({ folder }) => `${folder}: an internal package has an entry for each use, and none for everything`);
  const entries = packages
    .filter(({ folder }) => folder.startsWith('libs/internal/'))
    .flatMap(({ folder, exports }) => Object.values(exports).map((entry) => join(folder, entry)));
  const reexporting = product
    .filter(({ path, text }) => entries.includes(path) && REEXPORTS_ONLY.test(withoutComments(text)))
    .map(({ path }) => `${path}: an entry that only re-exports is a barrel`);
  return [
    ...reexporting,
    ...barrels,
    ...broken,
    ...ambient,
    ...waiting,
    ...foreign,
    ...circles('packages', rooms),
    ...circles('files', edges),
  ];
}

function breaks({ allowed, allowedTypes, forbidden }: Rule, to: string, isType: boolean): boolean {
  if (isType && allowedTypes?.test(to)) return false;
  return allowed?.test(to) === false || forbidden?.test(to) === true;
}

const IMPORT =
  /(?:^|;)[ \t]*(?:import|export)\s+(type\s)?[^;'"]*?from\s*['"]([^'"]+)['"]|(?:^|;)[ \t]*import\s+()['"]([^'"]+)['"]|\bimport\(()['"`]([^'"`]+)['"`]\)/gm;

const REEXPORTS_ONLY = /^(?:\s*export\s[^;'"]*?from\s*['"][^'"]+['"];?)+\s*$/;

/** How code that imports nothing could do I/O all the same. */
const AMBIENT_IO = /\bimport\((?!['"`][^'"`$]+['"`]\))|\b(?:fetch|require)\(|\b(?:process|globalThis)\b[.?[]/;

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm, '');

function importsOf({ text }: SourceFile): { specifier: string; isType: boolean; isDynamic: boolean }[] {
  return [...text.matchAll(IMPORT)].map(([, type, from, , bare, , dynamic]) => ({
    specifier: from ?? bare ?? dynamic ?? '',
    isType: type !== undefined,
    isDynamic: dynamic !== undefined,
  }));
}

/** The path of the imported file, or the specifier if it is not of this repository. */
function resolve(from: string, specifier: string, packages: readonly Package[]): string {
  if (specifier.startsWith('.')) return join(dirname(from), specifier);
  const [, name, entry = ''] = /^(@ori\/[a-z-]+)(.*)$/.exec(specifier) ?? [];
  const target = packages.find((candidate) => candidate.name === name);
  return target ? join(target.folder, target.exports[`.${entry}`] ?? `missing${entry}`) : specifier;
}

/** The first circle, if there is one. */
function circles(what: string, edges: readonly { from: string; to: string }[]): string[] {
  const needs = new Map<string, Set<string>>();
  for (const { from, to } of edges) needs.set(from, (needs.get(from) ?? new Set()).add(to));
  const done = new Set<string>();
  const walk = (name: string, path: readonly string[]): string | undefined => {
    const at = path.indexOf(name);
    if (at !== -1) return [...path.slice(at), name].join(' -> ');
    if (done.has(name)) return undefined;
    for (const next of needs.get(name) ?? []) {
      const found = walk(next, [...path, name]);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of needs.keys()) {
    const found = walk(name, []);
    if (found !== undefined) return [`circle of ${what}: ${found}`];
  }
  return [];
}
