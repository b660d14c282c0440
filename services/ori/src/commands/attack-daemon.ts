import { buffer } from 'node:stream/consumers';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { bodyOf } from '../adapters/request-body.ts';
import {
  ATTACK_NAMES,
  ATTACKS,
  type AttackMaterial,
  type AttackName,
  type AttackResult,
  judgeAttack,
  otherBody,
  otherPath,
} from '../core/attacks.ts';
import type { Context } from './context.ts';
import type { ReadyCall } from './signed-call.ts';

/** Sends every request that a daemon must refuse, after it has accepted the call with the proof `spent`. */
export async function attackDaemon(
  { terminal }: Context,
  ready: ReadyCall,
  path: string,
  spent: ProofHeaderValues,
): Promise<AttackResult[]> {
  const body = await buffer(ready.body.chunks());
  const sign = async (): Promise<AttackMaterial> => ({
    path,
    body,
    spent,
    unused: await ready.sign(path, ready.body.sha256),
    elsewhere: await ready.sign(otherPath(path), bodyOf(otherBody(body)).sha256),
  });
  let material = await sign();
  const results: AttackResult[] = [];
  for (const name of ATTACK_NAMES) {
    terminal.detail(`Attack: ${name}`);
    let result = judgeAttack(name, await answersTo(name, material, ready));
    if (result.outcome === 'other' && result.code === 'nonce_replayed') {
      // An attack before this one was accepted, and spent the proof.
      material = await sign();
      result = judgeAttack(name, await answersTo(name, material, ready));
    }
    results.push(result);
  }
  return results;
}

async function answersTo(name: AttackName, material: AttackMaterial, ready: ReadyCall) {
  const { request, times = 1 }: { request: (typeof ATTACKS)[AttackName]['request']; times?: number } =
    ATTACKS[name];
  const { headers, path, body } = request(material);
  const send = async () => {
    const answer = await ready.sendInstead({ headers, path, body: bodyOf(body) });
    answer.end();
    return answer;
  };
  // The first alone: a daemon that only forgets under load is not confused with one that never remembers.
  const first = await send();
  return [first, ...(await Promise.all(Array.from({ length: times - 1 }, send)))];
}
