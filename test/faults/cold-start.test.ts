import { addMember } from '@ori/administration/members';
import { addSubject, createUser } from '@ori/administration/users';
import { turnKey } from '@ori/turns/limiter';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createHttpClient } from '../env/http-client.ts';
import { SIGN_BODY, startWorld } from '../env/world.ts';

const AT_ONCE = 200;
/** The shipped default per account. */
const AT_ONCE_PER_ACCOUNT = 64;

/** On a shared machine a dependency may occasionally exceed its timeout. */
const HARDLY_ANY = AT_ONCE / 20;

test.each([1, 200])(
  `a signer that was just started serves ${AT_ONCE} requests at once, of %s members`,
  async (count) => {
    await using world = await startWorld({ process: true });
    await using redis = new DisposableRedis(world.environment['SIGNER_REDIS_URL'] ?? '');
    const members = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const subject = `member-${index}`;
        const { id: userId } = await createUser(world.store, { name: subject });
        await addSubject(world.store, { userId, issuer: world.issuer.url, subject });
        await addMember(world.store, { workspaceId: world.demo.workspaceId, userId });
        return { userId, subject };
      }),
    );
    const tokens = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => world.token(members[index % count])),
    );
    using client = createHttpClient(world.baseUrl, { connectionsMax: AT_ONCE });
    const answers = await Promise.all(
      tokens.map((token) => {
        const headers = ['Authorization', `Bearer ${token}`, 'Content-Type', 'application/json'];
        return client.ask({ method: 'POST', path: world.signPath, headers, body: SIGN_BODY });
      }),
    );

    const withStatus = (status: number) => answers.filter((answer) => answer.status === status).length;
    const served = withStatus(200) + withStatus(429);
    expect(served, answers.find(({ status }) => status >= 500)?.text).toBeGreaterThanOrEqual(
      AT_ONCE - HARDLY_ANY,
    );
    expect(withStatus(200)).toBeGreaterThanOrEqual(Math.min(AT_ONCE, AT_ONCE_PER_ACCOUNT) - HARDLY_ANY);
    const turns = await Promise.all(members.map(({ userId }) => redis.get(turnKey('user', userId))));
    const charged = turns.reduce((sum, turn) => sum + Number(turn ?? 0), 0);
    expect(charged - withStatus(200), 'turns without a proof').toBeLessThanOrEqual(HARDLY_ANY);
  },
);

class DisposableRedis extends Redis implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {
    this.disconnect();
  }
}
