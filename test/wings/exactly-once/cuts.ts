import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createTestSigner, type TestSigner } from '@ori/verifier/testing';
import { type Cut, startCuttingHop } from '../../env/cutting-hop.ts';
import { createRandom, type Random } from '../../lab/exactly-once/random.ts';
import { type DaemonSettings, STEPS, type Step } from './cut-daemon.ts';

/** How calls over connections that are cut ended. */
export interface CutTally {
  calls: number;
  /** Answered by the call itself, by a kept answer, or after it was signed again. */
  direct: number;
  kept: number;
  again: number;
  /** The outcome is unknown: 410. */
  lost: number;
  unanswered: number;
  twice: number;
  /** The answer of another call, or `call_not_received` of one that ran. */
  wrong: number;
  kills: number;
  /** Questions of another person, and those that told anything. */
  foreign: number;
  told: number;
}

export interface CutOptions {
  readonly daemon: Omit<DaemonSettings, 'jwks' | 'internId' | 'file'> & { internId: string };
  readonly folder: string;
  readonly calls: number;
  readonly seed: string;
  /** The daemon is killed at some step of every so many calls, and started again. */
  readonly killEvery?: number;
  /** Called when the daemon was killed. */
  readonly onKill?: () => Promise<void>;
}

interface Heard {
  readonly status: number;
  readonly isKept: boolean;
  readonly text: string;
}

const ANSWER_MS = 10_000;
/** Half a minute in all, with a daemon that runs: its store may refuse what was signed in the first seconds. */
const ASKED_MAX = 70;
const LANES = 8;

/** Makes calls through a proxy that cuts their connections and those of the questions about them. */
export async function callThroughCuts(options: CutOptions): Promise<CutTally> {
  const { daemon, folder, calls, seed, killEvery, onKill } = options;
  const signer = createTestSigner({ internId: daemon.internId });
  const file = join(folder, `executions-${daemon.internId}`);
  const tally: CutTally = {
    calls,
    direct: 0,
    kept: 0,
    again: 0,
    lost: 0,
    unanswered: 0,
    twice: 0,
    wrong: 0,
    kills: 0,
    foreign: 0,
    told: 0,
  };
  const settings = { ...daemon, jwks: signer.jwks, file };
  writeFileSync(file, '');
  await using processes = await startDaemon(settings, async () => {
    tally.kills += 1;
    await onKill?.();
  });
  const notReceived = new Set<string>();
  const random = createRandom(seed);
  const ids = Array.from({ length: calls }, (_, id) => id);
  const inLane = async (): Promise<void> => {
    let next: Cut | undefined;
    await using hop = await startCuttingHop(
      () => processes.port,
      () => {
        const cut = next;
        next = undefined;
        return cut;
      },
    );
    for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
      const draw = random.derive(id);
      const doom = killEvery !== undefined && id % killEvery === 0 ? draw.pick(STEPS) : undefined;
      if (doom !== undefined) await processes.doom(doom);
      await oneCall(`c${id}`, {
        signer,
        tally,
        notReceived,
        port: hop.port,
        cutNext: (cut) => {
          next = cut;
        },
        running: processes.running,
        random: draw,
        isDoomed: doom !== undefined,
      });
      if (doom !== undefined) await processes.doom(undefined);
    }
    await hop.settled();
  };
  await Promise.all(Array.from({ length: killEvery === undefined ? LANES : 1 }, inLane));
  countExecutions(readFileSync(file, 'latin1'), notReceived, tally);
  return tally;
}

interface CallParts {
  readonly signer: TestSigner;
  readonly tally: CutTally;
  readonly notReceived: Set<string>;
  readonly port: number;
  cutNext(cut: Cut): void;
  /** Resolves when a daemon that was killed has started again. */
  readonly running: () => Promise<unknown>;
  readonly random: Random;
  readonly isDoomed: boolean;
}

async function oneCall(id: string, parts: CallParts): Promise<void> {
  const { signer, tally, notReceived, port, cutNext, running, random, isDoomed } = parts;
  const body = JSON.stringify({ id, slowMs: random.chance(0.15) ? random.below(60) : 0 });
  const sign = (path: string, content: string, user = 'ada') => signer.sign({ path, body: content, user });
  let how: 'direct' | 'again' = 'direct';
  let proof = sign('/api/invoke', body);
  if (!isDoomed) cutNext(drawCut(random));
  let heard = await post(port, '/api/invoke', body, proof);
  for (let asked = 0; asked < ASKED_MAX && heard?.status !== 200; asked += 1) {
    const path = `/.well-known/ori/calls/${proof['x-ori-invoke-nonce']}`;
    await running();
    if (random.chance(0.1)) await askForeign(path, parts);
    const isCut = random.chance(0.3);
    if (isCut) cutNext(drawCut(random));
    const ask = () => post(port, path, '', sign(path, ''));
    const [answer, second] = await Promise.all([ask(), random.chance(0.2) ? ask() : undefined]);
    if (second?.status === 200 && answer?.status === 200 && second.text !== answer.text) tally.wrong += 1;
    if (answer?.isKept) {
      tally.kept += 1;
      if (!answer.text.startsWith(`{"done":"${id}"`)) tally.wrong += 1;
      return;
    }
    if (answer?.status === 410) {
      tally.lost += 1;
      return;
    }
    if (answer?.text.includes('call_not_received')) {
      notReceived.add(proof['x-ori-invoke-nonce'] ?? '');
      how = 'again';
      proof = sign('/api/invoke', body);
      if (random.chance(0.3)) cutNext(drawCut(random));
      heard = await post(port, '/api/invoke', body, proof);
    } else {
      await new Promise((resolve) => setTimeout(resolve, Math.min(500, 20 * (asked + 1))));
    }
  }
  if (heard?.status !== 200) tally.unanswered += 1;
  else tally[how] += 1;
  if (heard?.status === 200 && !heard.text.startsWith(`{"done":"${id}"`)) tally.wrong += 1;
}

/** Mostly one of the two ends of the call; sometimes the call is only late. */
function drawCut(random: Random): Cut {
  const kind = random.next();
  if (kind < 0.45) return { request: random.below(800) };
  if (kind < 0.9) return { answer: random.below(900) };
  return { late: random.below(60) };
}

/** Another person learns nothing, and changes nothing. */
async function askForeign(path: string, { signer, port, tally }: CallParts): Promise<void> {
  const known = await post(port, path, '', signer.sign({ path, body: '', user: 'mallory' }));
  tally.foreign += 1;
  if (known?.isKept || known?.status === 200 || known?.status === 409) tally.told += 1;
}

/** Undefined if the connection ended before a whole answer. */
function post(port: number, path: string, body: string, proof: object): Promise<Heard | undefined> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length, ...proof };
    const sent = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path,
      headers,
      agent: false,
      timeout: ANSWER_MS,
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(undefined));
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', () => resolve(undefined));
      response.on('close', () => {
        const { statusCode: status = 0, complete } = response;
        const isKept = response.headers['ori-answer'] === 'kept';
        resolve(complete ? { status, isKept, text } : undefined);
      });
    });
    sent.end(body);
  });
}

function countExecutions(lines: string, notReceived: ReadonlySet<string>, tally: CutTally): void {
  const ran = new Set<string>();
  for (const line of lines.split('\n').filter(Boolean)) {
    const [nonce = '', id = ''] = line.split(' ');
    if (ran.has(id)) tally.twice += 1;
    if (notReceived.has(nonce)) tally.wrong += 1;
    ran.add(id);
  }
}

/** The daemon as a process, which is started again whenever it was killed. */
async function startDaemon(settings: object, onKill: () => Promise<void>) {
  let isOver = false;
  const start = async () => {
    const child = fork(join(import.meta.dirname, 'cut-daemon.ts'), [JSON.stringify(settings)]);
    child.once('exit', () => {
      if (!isOver) current = onKill().then(start);
    });
    const [{ port }] = await once(child, 'message');
    return { child, port: port as number };
  };
  let current = start();
  let { port } = await current;
  const settle = async () => {
    ({ port } = await current);
  };
  return {
    get port() {
      void settle();
      return port;
    },
    running: settle,
    async doom(step: Step | undefined) {
      const { child } = await current;
      // It may be dying of an earlier one.
      const isOverOrTold = Promise.race([once(child, 'message'), once(child, 'exit')]);
      if (child.connected) child.send({ step }, () => undefined);
      await isOverOrTold;
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      (await current).child.disconnect();
    },
  };
}
