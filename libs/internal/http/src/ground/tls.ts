import type { SecureContextOptions } from 'node:tls';
import { followFiles } from '@ori/runtime/follow-files';
import type { Logger } from '@ori/runtime/log';
import { problemsOfTlsFiles, readTlsFiles } from '@ori/runtime/tls-files';

/** The PEM files of a TLS listener, under the names of the configuration. */
export interface ListenerFiles {
  /** Absent: plain HTTP. */
  readonly tlsCertFile?: string | undefined;
  readonly tlsKeyFile?: string | undefined;
  /** Clients must have a certificate that one of these authorities signed. */
  readonly tlsClientCaFile?: string | undefined;
}

export function problemsOfTls(prefix: string, files: ListenerFiles): string[] {
  if (files.tlsCertFile === undefined && files.tlsClientCaFile !== undefined) {
    return [`${prefix}_TLS_CLIENT_CA_FILE: needs ${prefix}_TLS_CERT_FILE and ${prefix}_TLS_KEY_FILE`];
  }
  return problemsOfTlsFiles(`${prefix}_TLS`, filesOf(files));
}

/**
 * The options of `https.createServer`, read again when a file changes, without a restart and without a signal. While the
 * files cannot be used, as in the middle of a renewal, the previous ones stay in use.
 *
 * @returns undefined for plain HTTP
 * @throws when a file cannot be read
 */
export async function followListenerTls(
  files: ListenerFiles,
  use: (tls: SecureContextOptions) => void,
  log?: Logger,
) {
  if (files.tlsCertFile === undefined) return undefined;
  const named = filesOf(files);
  const paths = Object.values(named).filter((path) => path !== undefined);
  const read = async (): Promise<SecureContextOptions> => ({ ...readTlsFiles(named), minVersion: 'TLSv1.2' });
  return await followFiles(paths, read, {
    changed(tls) {
      use(tls);
      log?.info('TLS certificate reloaded');
    },
    failed: (err) =>
      log?.error({ err }, 'could not load the TLS files; the previous certificate stays in use'),
  });
}

const filesOf = ({ tlsCertFile: cert, tlsKeyFile: key, tlsClientCaFile: ca }: ListenerFiles) => ({
  cert,
  key,
  ca,
});
