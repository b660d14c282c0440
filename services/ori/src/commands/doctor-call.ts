import { text } from 'node:stream/consumers';
import type { ProofHeaderValues } from '@ori/proof/wire';
import type { RequestBody } from '../adapters/request-body.ts';
import { type Change, changesOf, readDiagnosis, type SentCall } from '../core/arrival.ts';
import type { AttackResult } from '../core/attacks.ts';
import { clockAheadSeconds, isClockWrong } from '../core/clock.ts';
import { CliError } from '../core/errors.ts';
import { tellAttacks } from '../text/attacks.ts';
import { tellChange } from '../text/changes.ts';
import { tellClock } from '../text/clock.ts';
import { attackDaemon } from './attack-daemon.ts';
import type { Context } from './context.ts';
import { type DaemonAnswer, isGood } from './daemon-answer.ts';
import { type CallOptions, prepareCall, type ReadyCall } from './signed-call.ts';

/** Larger bodies are compared, but their change is not explained. */
const GUESS_BYTES_MAX = 1024 * 1024;
const ATTACK_BYTES_MAX = GUESS_BYTES_MAX;

type Verdict =
  | 'accepted'
  | 'unsafe'
  | 'unproven'
  | 'answered'
  | 'changed'
  | 'unchanged'
  | 'undiagnosed'
  | 'refused'
  | 'not_judged';

export interface DoctorOptions extends CallOptions {
  /** Make the call, and no attack. */
  readonly one?: boolean;
}

/**
 * Calls a daemon like `ori call`. If it refuses, reports whether the request arrived unchanged; if it accepts, attacks it
 * with requests that it must refuse. Throws CliError `call_changed`, `call_unchanged`, `call_undiagnosed` or
 * `daemon_refused` for a refusal, `call_not_judged` for another answer, `daemon_failed` for 5xx; `daemon_unsafe` if it
 * accepts an attack, `daemon_unproven` if it answers one with anything but the refusal of SPEC.md.
 */
export async function doctorCall(
  context: Context,
  intern: string,
  path: string,
  options: DoctorOptions,
): Promise<void> {
  await using ready = await prepareCall(context, intern, path, options);
  if (!options.one && ready.body.bytes > ATTACK_BYTES_MAX) {
    throw new CliError('usage', {
      detail: 'The daemon is attacked with the same body again and again, so it must be 1 MiB or less.',
      next: 'Use a smaller body, or --one to make only the call.',
    });
  }
  const { answer, proof } = await ready.send();
  answer.end();
  const { contentType } = ready;
  const sent = { origin: ready.origin.origin, path, contentType, proof, body: ready.body };
  const judged = await judge(answer, sent, ready.body);
  const attacks =
    judged.verdict === 'answered' && !options.one ? await attackDaemon(context, ready, path, proof) : [];
  const verdict = attacks.length === 0 ? judged.verdict : verdictOf(attacks);
  const clockSeconds = daemonAheadSeconds(answer, proof);
  present(context, { ready, path, answer, ...judged, verdict, attacks, clockSeconds });
  if (verdict !== 'accepted' && verdict !== 'answered')
    throw failureOf(answer, verdict, judged.changes, attacks);
}

function verdictOf(attacks: readonly AttackResult[]): Verdict {
  if (attacks.some(({ outcome }) => outcome === 'accepted')) return 'unsafe';
  return attacks.every(({ outcome }) => outcome === 'refused') ? 'accepted' : 'unproven';
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
  if (isGood(answer)) return { verdict: 'answered', changes: [] };
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
  readonly attacks: readonly AttackResult[];
  readonly clockSeconds: number | undefined;
}

function present({ terminal, json }: Context, judged: Judged): void {
  const { ready, path, answer, verdict, changes, attacks, clockSeconds } = judged;
  const { status, code = null } = answer;
  if (json) {
    terminal.printJson({ verdict, status, code, changes, attacks, daemon_clock_ahead: clockSeconds ?? null });
    return;
  }
  const answered = `${ready.origin.origin}${path} answered ${status}`;
  if (verdict === 'accepted') {
    const kinds = `${attacks.length} kinds of calls`;
    terminal.print(
      `${answered}: the request arrived unchanged, its proof was accepted, and ${kinds} that must be refused were refused.`,
    );
  } else if (attacks.length > 0) {
    terminal.print(`${answered} to the call, and to calls that must be refused:`, ...tellAttacks(attacks));
  } else if (verdict === 'answered') {
    terminal.print(`${answered}. With --one, nothing shows whether it verified the proof.`);
  }
  if (changes.length > 0)
    terminal.print('Changed on the way:', ...changes.map((change) => `  ${tellChange(change)}`));
  if (isClockWrong(clockSeconds))
    terminal.print(`The daemon's clock is ${tellClock(clockSeconds)}, compared with the signer's.`);
}

function failureOf(
  answer: DaemonAnswer,
  verdict: Exclude<Verdict, 'accepted' | 'answered'>,
  changes: readonly Change[],
  attacks: readonly AttackResult[],
): CliError {
  const { status, code, headers } = answer;
  const named = (outcome: AttackResult['outcome']) =>
    attacks.filter((result) => result.outcome === outcome).map(({ attack }) => attack);
  if (verdict === 'unsafe') return new CliError('daemon_unsafe', { holes: named('accepted') });
  if (verdict === 'unproven') return new CliError('daemon_unproven', { attacks: named('other') });
  if (status >= 500) return new CliError('daemon_failed', { status, code, isShown: false });
  if (code === undefined) return new CliError('call_not_judged', { status, location: headers.location });
  if (verdict === 'refused') return new CliError('daemon_refused', { status, code, isShown: false });
  if (verdict === 'changed') {
    return new CliError('call_changed', { status, code, fields: changes.map(({ field }) => field) });
  }
  return new CliError(verdict === 'unchanged' ? 'call_unchanged' : 'call_undiagnosed', { status, code });
}
