import { type PeerCertificate, TLSSocket } from 'node:tls';
import { instrumentsOf, type Registry } from './instruments.ts';

/** Records when the certificates of a connection expire; nothing for a connection without TLS. The names are label values. */
export type NoteCertificates = (
  socket: unknown,
  names: { readonly own: string; readonly peer: string },
) => void;

/** Exposes when each recorded certificate expires, as of its latest connection. */
export function collectCertificateEnds(registry: Registry): NoteCertificates {
  const ends = new Map<string, number>();
  instrumentsOf(registry).readings(
    'ori_certificate_end_timestamp_seconds',
    'When the certificate of the latest connection expires, in Unix seconds; only with TLS.',
    ['of'],
    () => [...ends].map(([of, end]) => [{ of }, end]),
  );
  return (socket, { own, peer }) => {
    if (!(socket instanceof TLSSocket)) return;
    const shown = { [own]: socket.getCertificate(), [peer]: socket.getPeerCertificate() };
    for (const [of, certificate] of Object.entries(shown)) {
      const { valid_to: end } = (certificate ?? {}) as Partial<PeerCertificate>;
      if (end !== undefined) ends.set(of, Date.parse(end) / 1000);
    }
  };
}
