import type { SecureContextOptions } from 'node:tls';
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

/** A renewed certificate is used within this time, without a restart and without a signal. */
const REREAD_EVERY_MS = 10_000;

export function problemsOfTls(prefix: string, files: ListenerFiles): string[] {
  if (files.tlsCertFile === undefined && files.tlsClientCaFile !== undefined) {
    return [`${prefix}_TLS_CLIENT_CA_FILE: needs ${prefix}_TLS_CERT_FILE and ${prefix}_TLS_KEY_FILE`];
  }
  return problemsOfTlsFiles(`${prefix}_TLS`, filesOf(files));
}

/** @returns the options of `https.createServer`; undefined for plain HTTP. @throws when a file cannot be read */
export function readListenerTls(files: ListenerFiles): SecureContextOptions | undefined {
  return files.tlsCertFile === undefined
    ? undefined
    : { ...readTlsFiles(filesOf(files)), minVersion: 'TLSv1.2' };
}

/**
 * Reloads the files when they change. While they cannot be used, as in the middle of a renewal, the previous ones stay
 * in use.
 *
 * @returns stops the watch
 */
export function followListenerTls(
  server: { setSecureContext(options: SecureContextOptions): void },
  files: ListenerFiles,
  log?: Logger,
): () => void {
  let known = JSON.stringify(readListenerTls(files));
  const timer = setInterval(() => {
    try {
      const tls = readListenerTls(files);
      const now = JSON.stringify(tls);
      if (tls === undefined || now === known) return;
      server.setSecureContext(tls);
      known = now;
      log?.info('TLS certificate reloaded');
    } catch (err) {
      log?.error({ err }, 'could not load the TLS files; the previous certificate stays in use');
    }
  }, REREAD_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

const filesOf = ({ tlsCertFile: cert, tlsKeyFile: key, tlsClientCaFile: ca }: ListenerFiles) => ({
  cert,
  key,
  ca,
});
