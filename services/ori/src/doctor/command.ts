import { text } from 'node:stream/consumers';
import type { ProofHeaderValues } from '@ori/proof/wire';
import type { RequestBody } from '../adapters/request-body.ts';
import { clockAheadSeconds, isClockWrong, tellClock } from '../core/clock.ts';
import { CliError } from '../core/errors.ts';
import { type DaemonAnswer, isGood, refusalOf } from '../delivery/daemon-answer.ts';
import type { Delivered } from '../delivery/deliver.ts';
import { type CallOptions, prepareCall } from '../delivery/signed-call.ts';
import type { Profile } from '../session/profile.ts';
import { type Change, changesOf, readDiagnosis, type SentCall, tellChange } from './arrival.ts';
import { changesOfAnswer } from './changed-answer.ts';

/** Larger bodies are compared, but their change is not explained. */
const GUESS_BYTES_MAX = 1024 * 1024;

type Verdict =
  | 'open'
  | 'accepted'
  | 'answer_changed'
  | 'changed'
  | 'unchanged'
  | 'undiagnosed'
  | 'refused'
  | 'not_judged';

interface Judgement {
  readonly verdict: Verdict;
  readonly changes: readonly Change[];
  /** Undefined if the call was accepted. */
  readonly failure?: CliError;
}

/**
 * Calls a daemon without a proof, which it must refuse, and then like `ori call`. If it refuses that, reports whether the
 * request arrived unchanged. Throws CliError `daemon_open` if it accepts the first; `call_changed`, `call_unchanged`,
 * `call_undiagnosed` or `daemon_refused` for a refusal, `call_not_judged` for another answer, `daemon_failed` for 5xx.
 */
export async function doctorCall(
  profile: Profile,
  intern: string,
  path: string,
  options: CallOptions,
): Promise<void> {
  await using ready = await prepareCall(profile, intern, path, options, { isDiagnosing: true });
  const { origin } = ready.origin;
  const { terminal, json } = profile;
  const unproven = await ready.sendUnproven();
  unproven.end();
  if (isGood(unproven)) {
    const { status } = unproven;
    if (json)
      terminal.printJson({
        verdict: 'open' satisfies Verdict,
        status,
        code: null,
        changes: [],
        daemon_clock_ahead: null,
      });
    throw new CliError('daemon_open', { address: `${origin}${path}`, status });
  }
  const { answer, proof, instead } = await ready.send();
  answer.end();
  const sent = { origin, path, contentType: ready.contentType, proof, body: ready.body };
  const { verdict, changes, failure } =
    instead === undefined ? await judge(answer, sent, ready.body) : judgeAnswer(answer, instead);
  const clockSeconds = daemonAheadSeconds(answer, proof);
  const { status, code = null } = answer;
  if (json) {
    terminal.printJson({ verdict, status, code, changes, daemon_clock_ahead: clockSeconds ?? null });
  } else {
    if (failure === undefined)
      terminal.print(
        `${origin}${path} answered ${unproven.status} without a proof, and ${status} with one: the call was accepted.`,
      );
    if (changes.length > 0)
      terminal.print('Changed on the way:', ...changes.map((change) => `  ${tellChange(change)}`));
    if (isClockWrong(clockSeconds))
      terminal.print(`The daemon's clock is ${tellClock(clockSeconds)}, compared with the signer's.`);
  }
  if (failure !== undefined) throw failure;
}

/** What the daemon kept is not what came first. */
function judgeAnswer(kept: DaemonAnswer, came: NonNullable<Delivered['instead']>): Judgement {
  const changes = changesOfAnswer(kept, came);
  const failure = new CliError('answer_changed', { fields: changes.map(({ field }) => field) });
  return { verdict: 'answer_changed', changes, failure };
}

async function judge(answer: DaemonAnswer, sent: SentCall, body: RequestBody): Promise<Judgement> {
  const { status, code, headers } = answer;
  if (isGood(answer)) return { verdict: 'accepted', changes: [] };
  if (code === undefined) {
    const unjudged = new CliError('call_not_judged', { status, location: headers.location });
    return { verdict: 'not_judged', changes: [], failure: status >= 500 ? refusalOf(answer) : unjudged };
  }
  if (status !== 401) return { verdict: 'refused', changes: [], failure: refusalOf(answer) };
  const said = { status, code };
  const diagnosis = readDiagnosis(answer.diagnosis);
  if (diagnosis === undefined)
    return { verdict: 'undiagnosed', changes: [], failure: new CliError('call_undiagnosed', said) };
  const known = body.bytes <= GUESS_BYTES_MAX ? { ...sent, text: await text(body.chunks()) } : sent;
  const changes = changesOf(known, diagnosis);
  if (changes.length === 0)
    return { verdict: 'unchanged', changes, failure: new CliError('call_unchanged', said) };
  const fields = changes.map(({ field }) => field);
  return { verdict: 'changed', changes, failure: new CliError('call_changed', { ...said, fields }) };
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
