import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Debian's golang-golang-x-mod-dev puts the packages here. */
const GO_PATH = '/usr/share/gocode';

/** Why Go cannot verify on this machine. Undefined if it can. */
export const noGo: string | undefined = (() => {
  try {
    execFileSync('go', ['version']);
  } catch {
    return 'no go: apt-get install golang-go golang-golang-x-mod-dev';
  }
  return existsSync(join(GO_PATH, 'src/golang.org/x/mod/sumdb/tlog'))
    ? undefined
    : 'no golang.org/x/mod: apt-get install golang-golang-x-mod-dev';
})();

/** A question to `go/main.go`. Bytes are sent as base64. */
export type Question = Readonly<Record<string, unknown>>;

/** Asks Go's own implementation, in one run. @returns one answer each: `ok` or `refused: …` */
export async function askGo(folder: string, questions: readonly Question[]): Promise<string[]> {
  const program = join(folder, 'verify');
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOPATH: GO_PATH,
    GOFLAGS: '',
    GOCACHE: join(folder, 'go'),
  };
  execFileSync('go', ['build', '-o', program, join(import.meta.dirname, 'go/main.go')], { env });
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers: string[] = [];
  const reading = (async () => {
    for await (const line of createInterface({ input: child.stdout })) answers.push(line);
  })();
  for (const question of questions) {
    const json = JSON.stringify(question, (_key, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('base64') : value,
    );
    if (!child.stdin.write(`${json}\n`)) await new Promise((resolve) => child.stdin.once('drain', resolve));
  }
  child.stdin.end();
  await reading;
  return answers;
}
