import { text } from 'node:stream/consumers';
import type { RequestBody } from '../adapters/request-body.ts';
import { type Change, changesOf, readDiagnosis, type SentCall } from '../core/arrival.ts';
import { CliError } from '../core/errors.ts';
import { tellChange } from '../text/changes.ts';
import type { Context } from './context.ts';
import { type DaemonAnswer, isGood } from './daemon-answer.ts';
import { type CallOptions, prepareCall, type ReadyCall } from './signed-call.ts';

/** Larger bodies are compared, but nothing is guessed about them. */
const GUESS_BYTES_MAX = 1024 * 1024;

type Verdict = 'accepted' | 'changed' | 'unchanged' | 'undiagnosed' | 'refused' | 'not_judged';

/**
 * Calls a daemon as `ori call` does, and says whether the call arrived as it was signed. Throws CliError `call_changed`,
 * `call_unchanged`, `call_undiagnosed` or `daemon_refused` for a refusal, `call_not_judged` for another answer, `daemon_failed`
 * for 5xx.
 */
export async function doctorCall(
  context: Context,
  internId: string,
  path: string,
  options: CallOptions,
): Promise<void> {
  await using ready = await prepareCall(context, internId, path, options);
  const { answer, proof } = await ready.send();
  answer.end();
  const { contentType } = options;
  const sent = { origin: ready.origin.origin, path, contentType, proof, body: ready.body };
  const { verdict, changes } = await judge(answer, sent, ready.body);
  present(context, { ready, path, answer, verdict, changes });
  if (verdict !== 'accepted') throw failureOf(answer, verdict, changes);
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
}

function present({ terminal, json }: Context, { ready, path, answer, verdict, changes }: Judged): void {
  const { status, code = null } = answer;
  if (json) terminal.printJson({ verdict, status, code, changes });
  if (json) return;
  if (verdict === 'accepted') {
    terminal.print(
      `${ready.origin.origin}${path} answered ${status}: the call arrived as it was signed, and its proof was accepted.`,
    );
  }
  if (changes.length > 0)
    terminal.print('Not as it was signed:', ...changes.map((change) => `  ${tellChange(change)}`));
}

function failureOf(
  answer: DaemonAnswer,
  verdict: Exclude<Verdict, 'accepted'>,
  changes: readonly Change[],
): CliError {
  const { status, code, headers } = answer;
  if (status >= 500)
    return new CliError('daemon_failed', { status, ...(code === undefined ? {} : { code }) });
  if (code === undefined) {
    const { location } = headers;
    return new CliError('call_not_judged', { status, ...(location === undefined ? {} : { location }) });
  }
  if (verdict === 'refused') return new CliError('daemon_refused', { status, code });
  if (verdict === 'changed') {
    return new CliError('call_changed', { status, code, fields: changes.map(({ field }) => field) });
  }
  return new CliError(verdict === 'unchanged' ? 'call_unchanged' : 'call_undiagnosed', { status, code });
}
