const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no network',
  ETIMEDOUT: 'it did not answer',
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  EMFILE: 'the process has no file descriptor left',
  ENFILE: 'the system has no file descriptor left',
  ENOSPC: 'no space is left',
  EROFS: 'it is read-only',
  ERR_PROXY_TUNNEL: 'the proxy of HTTPS_PROXY does not connect to it (NO_PROXY lists exceptions)',
  EPROTO: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed (to trust it, set NODE_EXTRA_CA_CERTS)',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain is self-signed (to trust it, set NODE_EXTRA_CA_CERTS)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is not trusted here (to trust it, set NODE_EXTRA_CA_CERTS)',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'the authority of its certificate is not known here (to trust it, set NODE_EXTRA_CA_CERTS)',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** Describes a system error, including those in causes and in the attempts of a connection. */
export function explainSystemError(error: unknown): string {
  const code = systemErrorCode(error);
  if (code?.startsWith('HPE_')) return `its answer is not valid HTTP, or not one answer (${code})`;
  if (code !== undefined) return (Object.hasOwn(WHY, code) ? WHY[code] : undefined) ?? code;
  return error instanceof Error ? error.message : 'for a reason unknown';
}

/** The code of the error, or of the first of its causes with one. */
export function systemErrorCode(error: unknown): string | undefined {
  for (const link of chainOf(error)) {
    if ('code' in link && typeof link.code === 'string' && /^E[A-Z_]+$|^[A-Z]+_[A-Z_]+$/.test(link.code))
      return link.code;
  }
  return undefined;
}

/** An error, its cause, the cause of that, and so on; of several causes the first. */
export function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (
    let at = error;
    at instanceof Error && chain.length < 6;
    at = at.cause ?? (at instanceof AggregateError ? at.errors[0] : undefined)
  ) {
    chain.push(at);
  }
  return chain;
}
