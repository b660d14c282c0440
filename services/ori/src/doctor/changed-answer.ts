import type { DaemonAnswer } from '../delivery/daemon-answer.ts';
import type { Change } from './arrival.ts';

type Head = Pick<DaemonAnswer, 'status' | 'headers'>;

/** In what the head that arrived differs from the one that the daemon kept, as far as a proof covers it or is explained by it. */
export function changesOfAnswer(kept: Head, came: Head): readonly Change[] {
  const names = ['content-type', 'content-encoding'];
  const parts = ({ status, headers }: Head) =>
    [status, ...names.map((name) => headers[name] ?? '')].map(String);
  const [sent, arrived] = [parts(kept), parts(came)];
  return ['status', ...names].flatMap((name, at): Change[] => {
    if (sent[at] === arrived[at]) return [];
    return [{ field: `answer's ${name}`, change: 'changed', sent: String(sent[at]), arrived: arrived[at] }];
  });
}
