import { text } from 'node:stream/consumers';
import type { ProofHeaderValues } from '@ori/proof/wire';
import type { RequestBody } from '../adapters/request-body.ts';
import { type Change, changesOf, readDiagnosis, type SentCall } from '../core/arrival.ts';
import { clockAheadSeconds, isClockWrong } from '../core/clock.ts';
import { CliError } from '../core/errors.ts';
import { tellChange } from '../text/changes.ts';
import { tellClock } from '../text/clock.ts';
import type { Context } from './context.ts';
import { type DaemonAnswer, isGood, refusalOf } from './daemon-answer.ts';
import { type CallOptions, prepareCall, type ReadyCall } from './signed-call.ts';

/** Larger bodies are compared, but their change is not explained. */
const GUESS_BYTES_MAX = 1024 * 1024;

type Verdict = 'accepted' | 'changed' | 'unchanged' | 'undiagnosed' | 'refused' | 'not_judged';

/**
 * Calls a daemon like `ori call`. If it refuses, reports whether the request arrived unchanged. Throws CliError
 * `call_changed`, `call_unchanged`, `call_undiagnosed` or `daemon_refused` for a refusal, `call_not_judged` for another
 * answer, `daemon_failed` for 5xx.
 */
export async function doctorCall(
  context: Context,
  intern: string,
  path: string,
  options: CallOptions,
): Promise<void> {
  await using ready = await prepareCall(context, intern, path, options);
  const { answer, proof } = await ready.send();
  answer.end();
  const { contentType } = ready;
  const sent = { origin: ready.origin.origin, path, contentType, proof, body: ready.body };
  const { verdict, changes } = await judge(answer, sent, ready.body);
  const clockSeconds = daemonAheadSeconds(answer, proof);
  present(context, { ready, path, answer, verdict, changes, clockSeconds });
  if (verdict !== 'accepted') throw failureOf(answer, verdict, changes);
}

/**
 * How far the clock of the answering server is ahead of the signer's, which dated the proof a moment before, in
 * seconds.
 */
function daemonAheadSeconds({ headers }: DaemonAnswer, proof: ProofHeaderValues): number | undefined {
  const signedAt = Number(proof['x-ori-invoke-timestamp']);
  const behind = clockAheadSeconds({ date: headers.date, age: headers.age }, signedAt);
  return behind === undefined ? undefined : -behind;
}

async function judge(
  answer: DaemonAnswer,
  sent: SentCall,
  body: RequestBody,
): Promise<{ verdict: Verdict; changes: readonly Change[] }> {
  if (isGood(answer)) return { verdict: 'accepted', changes: [] };
  if (answer.code === undefined) return { verdict: 'not_judged', changes: [] };
  if (answer.status !== 401) return { verdict: 'refused', changes: [] };
  const diagnosis = readDiagnosis(answer.diagnosis);
  if (diagnosis === undefined) return { verdict: 'undiagnosed', changes: [] };
  const known = body.bytes <= GUESS_BYTES_MAX ? { ...sent, text: await text(body.chunks()) } : sent;
  const changes = changesOf(known, diagnosis);
  return { verdict: changes.length === 0 ? 'unchanged' : 'changed', changes };
}

interface Judged {
  readonly ready: ReadyCall;
  readonly path: string;
  readonly answer: DaemonAnswer;
  readonly verdict: Verdict;
  readonly changes: readonly Change[];
  readonly clockSeconds: number | undefined;
}

function present({ terminal, json }: Context, judged: Judged): void {
  const { ready, path, answer, verdict, changes, clockSeconds } = judged;
  const { status, code = null } = answer;
  if (json) {
    terminal.printJson({ verdict, status, code, changes, daemon_clock_ahead: clockSeconds ?? null });
    return;
  }
  if (verdict === 'accepted')
    terminal.print(`${ready.origin.origin}${path} answered ${status}: the call was accepted.`);
  if (changes.length > 0)
    terminal.print('Changed on the way:', ...changes.map((change) => `  ${tellChange(change)}`));
  if (isClockWrong(clockSeconds))
    terminal.print(`The daemon's clock is ${tellClock(clockSeconds)}, compared with the signer's.`);
}

function failureOf(
  answer: DaemonAnswer,
  verdict: Exclude<Verdict, 'accepted'>,
  changes: readonly Change[],
): CliError {
  const { status, code, headers } = answer;
  if (status >= 500) return refusalOf(answer);
  if (code === undefined) return new CliError('call_not_judged', { status, location: headers.location });
  if (verdict === 'refused') return refusalOf(answer);
  if (verdict === 'changed') {
    return new CliError('call_changed', { status, code, fields: changes.map(({ field }) => field) });
  }
  return new CliError(verdict === 'unchanged' ? 'call_unchanged' : 'call_undiagnosed', { status, code });
}
