import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeCertificate } from '../../env/certificate.ts';
import { freePort } from '../../env/ports.ts';
import { findProgram, openRoom } from '../../env/room.ts';
import { ServerProcess } from '../../env/server-process.ts';

/** The program of OpenBao: `OPENBAO`, or `bao` on the PATH. */
export const OPENBAO = process.env['OPENBAO'] ?? findProgram('bao');

const README = new URL('../../../services/ori-admin/README.md', import.meta.url);

/** An OpenBao server over TLS, set up by the commands of ori-admin's README. */
export async function startOpenBao(program = OPENBAO ?? '') {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-openbao'));
  const [port, { key, cert }] = [await freePort(), makeCertificate()];
  const file = (name: string) => join(room.directory, name);
  await writeFile(file('tls.key'), key, { mode: 0o600 });
  await writeFile(file('tls.crt'), cert);
  const listener = `address = "127.0.0.1:${port}"
    tls_cert_file = "tls.crt"
    tls_key_file = "tls.key"`;
  await writeFile(
    file('bao.hcl'),
    `storage "file" { path = "data" }
listener "tcp" {
  ${listener}
}
api_addr = "https://localhost:${port}"
`,
  );
  const server = new ServerProcess({
    room,
    program,
    arguments: ['server', '-config=bao.hcl'],
    farewell: 'TERM' as const,
    ready: /server started!/,
  });
  await server.start();
  let token = '';
  const run = async (commands: string) => {
    const bao = `umask 077; bao() { "$OPENBAO" "$@"; }; ${commands}`;
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', bao], {
      cwd: room.directory,
      env: {
        PATH: process.env['PATH'],
        HOME: room.directory,
        OPENBAO: program,
        BAO_ADDR: `https://localhost:${port}`,
        BAO_CACERT: file('tls.crt'),
        BAO_TOKEN: token,
      },
    });
    return stdout;
  };
  const initial = await run('bao operator init -key-shares=1 -key-threshold=1 -format=json');
  const { unseal_keys_b64: keys, root_token: root } = JSON.parse(initial);
  const unseal = async () => void (await run(`bao operator unseal ${keys[0]}`));
  await unseal();
  token = root;
  const steps = [...(await readFile(README, 'utf8')).matchAll(/^ {4}((?:echo .* \| )?bao .*)$/gm)];
  await run(steps.map(([, line]) => line).join('\n'));
  const owned = stack.move();
  return {
    /** The value for `…_KMS_URL`. */
    url: `https://localhost:${port}/v1/transit/keys/ori-signer`,
    /** Files: of the server's certificate, of the token of the signer, and of ori-admin's. */
    certificate: file('tls.crt'),
    signerToken: file('signer-kms-token'),
    adminToken: file('admin-kms-token'),
    /** Runs shell commands as root of OpenBao. */
    run,
    seal: async (): Promise<void> => void (await run('bao operator seal')),
    unseal,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
