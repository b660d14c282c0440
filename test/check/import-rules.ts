/** A source file, by its path in the repository. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

interface Rule {
  readonly from: RegExp;
  /** Matched against the target of an import: a path, the package folder for `@ori/…`, or else the specifier itself. */
  readonly to: RegExp;
  readonly why: string;
}

const COMMANDS = 'libs/(?:cli|admin)';
const IO =
  'node:(?!crypto$|buffer$).*|express|ioredis|pg|kysely|pino|prom-client|openid-client|rate-limiter-flexible|.*/(?:adapters|http)/.*';

/** Forbidden imports between packages. Dependency cycles are forbidden too. */
const BETWEEN_PACKAGES: readonly Rule[] = [
  { from: /^libs\//, to: /^services\//, why: 'a library or command imports no service' },
  {
    from: /^libs\/(?!(?:cli|admin)\/)/,
    to: new RegExp(`^${COMMANDS}/`),
    why: 'a library imports no command',
  },
  { from: /^libs\/cli\//, to: /^libs\/admin\//, why: 'a command imports no other command' },
  { from: /^libs\/admin\//, to: /^libs\/cli\//, why: 'a command imports no other command' },
  {
    from: /^services\/(?!standalone\/)/,
    to: new RegExp(`^(?:services/|${COMMANDS}/)`),
    why: 'a service imports no other service and no command',
  },
  {
    from: /^services\/standalone\//,
    to: new RegExp(`^${COMMANDS}/`),
    why: 'the standalone imports no command',
  },
  { from: /^(?:libs|services)\//, to: /^test\//, why: 'the product imports nothing from test/' },
];

/** Forbidden imports of a folder. */
const OF_FOLDERS: readonly Rule[] = [
  {
    from: /^(?:services\/signer\/src\/stages|libs\/cli\/src\/core)\/|\/shape\.ts$/,
    to: new RegExp(`^(?:${IO})$`),
    why: 'stages, shapes and decisions import no I/O',
  },
  {
    from: /^libs\/proof\/src\/(?!engine-openssl|node-buffer|signing\.ts)/,
    to: /^node:/,
    why: 'the wire format imports nothing of Node',
  },
  {
    from: /^services\/[a-z-]+\/src\/adapters\//,
    to: /\/http\/|^express$/,
    why: 'adapters connect; http presents',
  },
];

/** Pure modules of packages that otherwise do I/O. */
const PURE = new Set(['libs/http/regional-host']);

const isTest = (path: string): boolean => /\.(?:test|fixture)\.ts$/.test(path);

/** The violations, one line each. Tests may import anything they test with. */
export function judgeImports(files: readonly SourceFile[]): string[] {
  const product = files.filter(({ path }) => /^(?:libs|services)\//.test(path) && !isTest(path));
  const imports = product.flatMap((file) => importsOf(file).map((to) => ({ from: file.path, to })));
  const broken = imports.flatMap(({ from, to }) => {
    const rules = packageOf(from) === packageOf(to) ? OF_FOLDERS : [...BETWEEN_PACKAGES, ...OF_FOLDERS];
    const applying = rules.filter((rule) => rule.from.test(from) && rule.to.test(to) && !PURE.has(to));
    return applying.map(({ why }) => `${from}: ${why} (${to})`);
  });
  const reaches = imports.flatMap(({ from, to }) =>
    to.startsWith('@') || !packageOf(to) || !to.endsWith('.ts') || packageOf(from) === packageOf(to)
      ? []
      : [`${from}: import another package by its name (${to})`],
  );
  return [...broken, ...reaches, ...circles(imports)];
}

function packageOf(path: string): string | undefined {
  return /^(?:libs|services)\/[a-z-]+/.exec(path)?.[0];
}

const SERVICES = ['signer', 'management', 'standalone', 'log'];

function importsOf({ path, text }: SourceFile): string[] {
  const specifiers = text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g);
  return [...specifiers].map(([, specifier = '']) => {
    if (specifier.startsWith('.')) return new URL(specifier, `file:///${path}`).pathname.slice(1);
    const [, name, entry = ''] = /^@ori\/([a-z-]+)(.*)$/.exec(specifier) ?? [];
    if (name === undefined) return specifier;
    if (name.startsWith('test')) return `test/${name}${entry}`;
    return `${SERVICES.includes(name) ? 'services' : 'libs'}/${name}${entry || '/'}`;
  });
}

function circles(imports: readonly { from: string; to: string }[]): string[] {
  const needs = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [a, b] = [packageOf(from), packageOf(to)];
    if (a === undefined || b === undefined || a === b) continue;
    needs.set(a, (needs.get(a) ?? new Set()).add(b));
  }
  const found = new Set<string>();
  const walk = (name: string, path: readonly string[]): void => {
    const at = path.indexOf(name);
    if (at !== -1) found.add([...path.slice(at), name].join(' -> '));
    else for (const next of needs.get(name) ?? []) walk(next, [...path, name]);
  };
  for (const name of needs.keys()) walk(name, []);
  return [...found].slice(0, 1).map((circle) => `circle of packages: ${circle}`);
}
