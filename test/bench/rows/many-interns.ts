import { createPublicKey, verify } from 'node:crypto';
import { signingInputV2 } from '@ori/proof';
import { BODY_SHA256, SIGN_BODY } from '../../env/world.ts';
import type { Answer } from '../http-connection.ts';
import { type CallableIntern, openInternStage, PAGE, type Town } from '../intern-stage.ts';
import type { Row } from '../row.ts';
import { type Asker, takeTurns } from '../take-turns.ts';

/** The cost of a million interns: the first and last page of the list, and a proof whose key is not cached. */
export const manyInternsRow: Row = {
  name: 'many-interns',
  async run(bench) {
    const size = bench.isQuick ? 5_000 : 1_000_000;
    const perRound = bench.isQuick ? 20 : 80;
    const warm = bench.isQuick ? 5 : 40;
    bench.progress(`filling a database with ${size} interns`);
    await using stage = await openInternStage(size, warm + bench.rounds * perRound);
    const { small, large } = stage;
    const pages = {
      'small first': await listing(small, ''),
      'large first': await listing(large, ''),
      'small deepest': await listing(small, small.deepest),
      'large deepest': await listing(large, large.deepest),
    };
    const listed = await takeTurns(bench, pages, { perRound, warm: 5 * warm });
    const cold = { small: await signing(small), large: await signing(large) };
    const signed = await takeTurns(bench, cold, { perRound, warm });
    const finding = (title: string, ours: readonly number[], theirs: readonly number[]) => ({
      title: `${title}, ${size} interns`,
      unit: 'ms',
      ours: { name: `${size}`, rounds: ours },
      theirs: { name: '1000', rounds: theirs },
      mark: { atMost: 1.25 },
    });
    return [
      finding('GET /interns, first page', listed['large first'], listed['small first']),
      finding('GET /interns, deepest page', listed['large deepest'], listed['small deepest']),
      finding('sign, key cold', signed.large, signed.small),
    ];
  },
};

async function listing({ managementPort, apiKey }: Town, after: string): Promise<Asker> {
  const query = after === '' ? '' : `?starting_after=${after}`;
  const request = [
    `GET /v1/interns${query} HTTP/1.1`,
    `Host: 127.0.0.1:${managementPort}`,
    `Authorization: Bearer ${apiKey}`,
    '\r\n',
  ].join('\r\n');
  return {
    port: managementPort,
    next: () => request,
    check(answer) {
      const { data, has_more: hasMore } = bodyOf(answer) as { data: unknown[]; has_more: boolean };
      if (data.length !== PAGE || hasMore !== (after === ''))
        throw new Error(`another page:\n${answer.text}`);
    },
  };
}

async function signing(town: Town): Promise<Asker> {
  const { world } = town;
  const token = await world.token();
  let asked: CallableIntern;
  return {
    port: Number(new URL(world.baseUrl).port),
    next() {
      asked = town.nextIntern();
      return [
        `POST /v1/interns/${asked.internId}/daemon/sign HTTP/1.1`,
        `Host: ${new URL(world.baseUrl).host}`,
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        `Content-Length: ${SIGN_BODY.length}`,
        '',
        SIGN_BODY,
      ].join('\r\n');
    },
    check: (answer) => requireProof(answer, asked),
  };
}

function requireProof(answer: Answer, { internId, publicKey }: CallableIntern): void {
  const headers = bodyOf(answer) as Record<string, string>;
  const text = (name: string) => headers[`x-ori-invoke-${name}`] ?? '';
  const input = signingInputV2({
    ...{ internId, timestamp: Number(text('timestamp')), user: 'ada', nonce: text('nonce') },
    ...{ method: 'POST', path: '/api/invoke', bodySha256: BODY_SHA256 },
  });
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  if (!verify(null, input, key, Buffer.from(text('signature-v2'), 'base64'))) {
    throw new Error(`an invalid signature:\n${answer.text}`);
  }
}

const bodyOf = ({ text }: Answer): unknown => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
