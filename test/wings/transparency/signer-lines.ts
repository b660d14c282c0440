import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { signingInputV1, signingInputV2 } from '@ori/proof';
import { commitmentV2 } from '@ori/tlog/entry';

/** The audit line of a proof that nobody made before. */
export function auditLine(at = Date.now()) {
  const bodySha256 = createHash('sha256').update(randomUUID()).digest('hex');
  const named = { internId: 'int_1', timestamp: Math.floor(at / 1000), user: 'ada', bodySha256 };
  const request = {
    nonce: randomBytes(16).toString('base64url'),
    method: 'POST',
    path: '/api/invoke',
  } as const;
  const { internId, timestamp, user: subject } = named;
  const line = JSON.stringify({
    time: new Date(at).toISOString(),
    event: 'proof_issued',
    requestId: randomUUID(),
    userId: 'usr_1',
    issuer: 'https://issuer.example',
    subject,
    internId,
    workspaceId: 'ws_1',
    organizationId: 'org_1',
    versions: [1, 2],
    timestamp,
    bodySha256,
    method: request.method,
    path: request.path,
    nonce: request.nonce,
    keyId: 'kid',
  });
  return { line, inputV1: signingInputV1(named), v2: commitmentV2(signingInputV2({ ...named, ...request })) };
}

/** An audit line as the signer writes it, and what a daemon knows of its proof. */
export type AuditLine = ReturnType<typeof auditLine>;

export function auditLines(count: number, at = Date.now()): AuditLine[] {
  return Array.from({ length: count }, (_, index) => auditLine(at + index));
}

/** Appends lines to an audit file as one write of a signer. */
export function appendLines(path: string, lines: readonly AuditLine[]): Promise<void> {
  return appendFile(path, lines.map(({ line }) => `${line}\n`).join(''));
}
