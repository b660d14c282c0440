import { findHsm } from './kms.ts';
import { KUBECTL_FOLDER } from './kubectl.ts';
import { installPackages, mayInstall } from './packages.ts';
import { findPostgres } from './postgres-server.ts';
import { findProgram } from './room.ts';
import { unpackKubectl } from './setup-kubectl.ts';
import { setUpPrometheus } from './setup-prometheus.ts';

/**
 * `npm run setup`: installs what the tests need, and reports what it found or did. With `--proofs`, Coq too, which takes
 * 600 MB; with `--deep`, also what the ports of the verifier to other languages need.
 */
function main(): number {
  const { failed, sentence } = setUpPrometheus();
  const prometheus = failed ? complain(sentence) : say(sentence);
  const isDeep = process.argv.includes('--deep');
  if (isDeep && !setUpPorts()) return 1;
  if (isDeep || process.argv.includes('--proofs')) setUpCoq();
  return setUpRedis() &&
    setUpPostgres() &&
    setUpNginx() &&
    setUpSystemd() &&
    setUpKubectl() &&
    setUpHsm() &&
    setUpKeychain() &&
    prometheus
    ? 0
    : 1;
}

function setUpRedis(): boolean {
  const found = findProgram('redis-server');
  if (found) return say(`Redis: ${found} is there; nothing to do.`);
  if (mayInstall()) return install('Redis', 'redis-server');
  return complain(
    'Redis: there is no redis-server here. Install it (Debian and Ubuntu: `sudo apt-get install redis-server`; macOS: `brew install redis`).',
  );
}

/** Tests that need nginx are skipped without it, so its absence is not an error. */
function setUpNginx(): boolean {
  const found = findProgram('nginx', ['/usr/sbin', '/usr/local/sbin']);
  if (found) return say(`nginx: ${found} is there; nothing to do.`);
  if (mayInstall()) return install('nginx', 'nginx');
  return say(
    'nginx: not installed; the tests of the gateway will be skipped. Install it (Debian and Ubuntu: `sudo apt-get install nginx`).',
  );
}

/** Tests that need them are skipped without them. Installing systemd starts nothing: it does not become this machine's init. */
function setUpSystemd(): boolean {
  const programs = ['systemd-analyze', 'logrotate'];
  if (programs.every((name) => findProgram(name, ['/usr/sbin'])))
    return say('systemd: systemd-analyze and logrotate are there; nothing to do.');
  if (!mayInstall()) return say('systemd: install systemd and logrotate to test the units.');
  return installPackages(['systemd', 'logrotate'])
    ? say('systemd: installed systemd and logrotate by apt-get.')
    : complain('systemd: apt-get could not install systemd and logrotate; its own words are above.');
}

function setUpKubectl(): boolean {
  const found = findProgram('kubectl', [KUBECTL_FOLDER]);
  if (found) return say(`kubectl: ${found} is there; nothing to do.`);
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return say('kubectl: install kubectl to test the manifests of Kubernetes.');
  unpackKubectl();
  return say(`kubectl: unpacked into ${KUBECTL_FOLDER}.`);
}

/** Tests that need it are skipped without it. */
function setUpHsm(): boolean {
  if (findHsm() !== undefined) return say('SoftHSM: softhsm2 and pkcs11-tool are there; nothing to do.');
  if (!mayInstall()) return say('SoftHSM: install softhsm2 and opensc to test KEKs in a PKCS#11 token.');
  return installPackages(['softhsm2', 'opensc'])
    ? say('SoftHSM: installed softhsm2 and opensc by apt-get.')
    : complain('SoftHSM: apt-get could not install softhsm2 and opensc; its own words are above.');
}

/** The Secret Service of a desktop session. Tests that need it are skipped without it. */
function setUpKeychain(): boolean {
  const programs = ['dbus-run-session', 'gnome-keyring-daemon'];
  if (programs.every((name) => findProgram(name))) {
    return say('Keychain: dbus and gnome-keyring are there; nothing to do.');
  }
  if (!mayInstall()) return say('Keychain: install dbus and gnome-keyring to test sessions in a keychain.');
  return installPackages(['dbus', 'gnome-keyring'])
    ? say('Keychain: installed dbus and gnome-keyring by apt-get.')
    : complain('Keychain: apt-get could not install dbus and gnome-keyring; its own words are above.');
}

/** Go and Ruby; Ed25519 and an ASGI server for Python. The deep tests skip a port without its toolchain, with a message. */
function setUpPorts(): boolean {
  if (!mayInstall())
    return say('Ports: install golang-go, python3-cryptography, python3-uvicorn and ruby to test them.');
  const installed = installPackages(['golang-go', 'python3-cryptography', 'python3-uvicorn', 'ruby']);
  return installed
    ? say('Ports: golang-go, python3-cryptography, python3-uvicorn and ruby are installed.')
    : complain('Ports: apt-get could not install golang-go, python3-cryptography, python3-uvicorn and ruby.');
}

/** The test of the signing input's proof is skipped without it, so its absence is not an error. */
function setUpCoq(): boolean {
  const found = findProgram('coqc');
  if (found) return say(`Coq: ${found} is there; nothing to do.`);
  if (mayInstall()) return install('Coq', 'coq', 'coqc');
  return say(
    'Coq: not installed; the proof of the signing input will not be checked. Install the package coq.',
  );
}

/** Installs a Debian package for one of its programs, without leaving any of its servers running. */
function install(title: string, name: string, program = name): boolean {
  const installed = installPackages([name]);
  const found = findProgram(program, ['/usr/sbin']);
  if (!installed || !found) {
    return complain(`${title}: apt-get could not install ${name}; its own words are above.`);
  }
  return say(`${title}: installed ${found} by apt-get.`);
}

function setUpPostgres(): boolean {
  const found = findPostgres();
  if (found) return say(`PostgreSQL: ${found} is there; nothing to do.`);
  return complain(
    'PostgreSQL: not installed, and npm has none for this platform. Run `npm ci`, or install PostgreSQL.',
  );
}

function say(sentence: string): true {
  console.log(sentence);
  return true;
}

function complain(sentence: string): false {
  console.error(sentence);
  return false;
}

process.exitCode = main();
