import type { Model } from '../../../lab/model/explore.ts';

/**
 * One call and the questions about it (REPLAY-STORES.md, N14 to N22), over a network that delays, repeats and reorders, with a store
 * that can lose everything. The units are small ones of the real times, in their order: a store may forget a nonce long before the last
 * question about it.
 */
const MAX_AGE = 1;
const TOLERANCE = 1;
const RETENTION = MAX_AGE + TOLERANCE;
const QUESTION_MAX = 3;
const KEPT = 6;
const TIME_MAX = 11;

/** A guard that is left out. */
export type BrokenAnswer =
  | 'question-spends-nothing'
  | 'void-stamped-as-the-question'
  | 'no-fence-for-questions'
  | 'void-known-is-certain'
  | 'record-forgotten-with-the-nonce'
  | 'late-answer-trusted'
  | 'record-after-the-spend';

export interface AnswerState {
  readonly time: number;
  readonly fence: number;
  readonly floor: number;
  /** When the call was signed, by the signer's clock. */
  readonly call: number | undefined;
  /** When the question was signed. The network has it for ever. */
  readonly question: number | undefined;
  /** The timestamp under which the nonce is remembered. */
  readonly spent: number | undefined;
  readonly isVoid: boolean;
  readonly record: { readonly endedAt: number | undefined } | undefined;
  readonly runs: number;
  /** The client was told `call_not_received`, and may have signed again. */
  readonly isTold: boolean;
  readonly lossesLeft: number;
}

export type AnswerAction =
  | { readonly do: 'sign' | 'question'; readonly skew: number }
  | { readonly do: 'tick' | 'call' | 'ask' | 'end' | 'lose' | 'crash' };

const SKEWS = [-1, 0, 1];

export function createAnswerModel(
  broken: ReadonlySet<BrokenAnswer> = new Set(),
): Model<AnswerState, AnswerAction, object> {
  const kept = broken.has('record-forgotten-with-the-nonce') ? RETENTION : KEPT;

  function tick(state: AnswerState): AnswerState {
    const time = state.time + 1;
    const { spent, record } = state;
    const isForgotten = spent !== undefined && spent <= time - RETENTION;
    const isOver = record?.endedAt !== undefined && time - record.endedAt > kept;
    return {
      ...state,
      time,
      floor: isForgotten ? Math.max(state.floor, spent) : state.floor,
      spent: isForgotten ? undefined : spent,
      isVoid: isForgotten ? false : state.isVoid,
      record: isOver ? undefined : record,
    };
  }

  const isAccepted = ({ time, fence, floor }: AnswerState, at: number): boolean =>
    at >= time - MAX_AGE && at <= time + TOLERANCE && at > fence + TOLERANCE && at > floor;

  function call(state: AnswerState): AnswerState {
    const { call: at = Number.NaN } = state;
    if (!isAccepted(state, at) || state.spent !== undefined) return state;
    const record = broken.has('record-after-the-spend') ? undefined : { endedAt: undefined };
    return { ...state, spent: at, record, runs: state.runs + 1 };
  }

  function ask(state: AnswerState): AnswerState {
    const { time, fence, question: at = Number.NaN, call: signed = at } = state;
    // Another nonce, so `spent` says nothing of it: the network can repeat a question only for its verdict.
    if (!isAccepted({ ...state, floor: -99 }, at)) return state;
    const isTrusted = broken.has('late-answer-trusted') || at - signed <= QUESTION_MAX;
    const told = (after: AnswerState): AnswerState => ({ ...after, isTold: after.isTold || isTrusted });
    if (state.record !== undefined) return state;
    const isCertain = at - QUESTION_MAX > fence + TOLERANCE || broken.has('no-fence-for-questions');
    if (state.isVoid) return isCertain || broken.has('void-known-is-certain') ? told(state) : state;
    if (state.spent !== undefined) return state;
    if (broken.has('question-spends-nothing')) return told(state);
    const stamped = broken.has('void-stamped-as-the-question') ? at : time + TOLERANCE;
    const after = { ...state, spent: stamped, isVoid: true };
    return isCertain ? told(after) : after;
  }

  function apply(state: AnswerState, action: AnswerAction): AnswerState {
    switch (action.do) {
      case 'tick':
        return tick(state);
      case 'sign':
        return { ...state, call: state.time + action.skew };
      case 'question':
        return { ...state, question: state.time + action.skew };
      case 'call':
        return call(state);
      case 'ask':
        return ask(state);
      case 'end':
        return state.record && state.record.endedAt === undefined
          ? { ...state, record: { endedAt: state.time } }
          : state;
      case 'crash':
        return state.record && state.record.endedAt === undefined ? { ...state, lossesLeft: 0 } : state;
      case 'lose':
        return {
          ...state,
          spent: undefined,
          isVoid: false,
          record: undefined,
          fence: state.time,
          floor: -99,
          lossesLeft: state.lossesLeft - 1,
        };
    }
  }

  return {
    initial: {
      time: 0,
      fence: -20,
      floor: -99,
      call: undefined,
      question: undefined,
      spent: undefined,
      isVoid: false,
      record: undefined,
      runs: 0,
      isTold: false,
      lossesLeft: 1,
    },
    actions: ({ time, call, question, lossesLeft }) => [
      ...(time < TIME_MAX ? [{ do: 'tick' } as const] : []),
      ...(call === undefined
        ? SKEWS.map((skew) => ({ do: 'sign', skew }) as const)
        : [{ do: 'call' } as const]),
      ...(call === undefined ? [] : SKEWS.map((skew) => ({ do: 'question', skew }) as const)),
      ...(question === undefined ? [] : [{ do: 'ask' } as const]),
      { do: 'end' },
      ...(lossesLeft > 0 ? [{ do: 'lose' } as const] : []),
    ],
    apply: (state, action) => ({ state: apply(state, action), event: {} }),
    encode: (state) => JSON.stringify(state),
    invariants: {},
    always: {
      'runs-once': ({ runs }) => (runs > 1 ? 'the call ran twice' : undefined),
      'not-received-is-true': ({ runs, isTold }) =>
        runs > 0 && isTold ? 'the client was told that a call was not received, and it ran' : undefined,
    },
  };
}
