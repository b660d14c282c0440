import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SHELLS, type Shell } from '../../services/ori/src/text/completion.ts';
import { ORI } from './cli-process.ts';
import { listen } from './cli-world.ts';

const STAND_IN = 'ori() { echo "<$*>"; }; ori-proof() { echo "<$*>"; }';

/** How each shell starts without its user's files, and how it is told to load the script. */
const STARTS: Readonly<Record<Shell, { command: string; setUp: string }>> = {
  bash: { command: 'bash --norc --noprofile -i', setUp: `${STAND_IN}; source ./ori.bash` },
  zsh: {
    command: 'zsh -f -i',
    setUp: `autoload -Uz compinit; compinit -u -D; ${STAND_IN}; source ./ori.zsh`,
  },
  fish: {
    command: 'fish --no-config -i',
    setUp: 'function ori; echo "<$argv>"; end; function ori-proof; echo "<$argv>"; end; source ./ori.fish',
  },
};

/** What is typed, with the Tab key as `\t`, and what the shell then runs. */
const TYPED = [
  ['ori doc\tca\t', '<doctor call>'],
  ['ori interns li\t--st\t', '<interns list --status>'],
  ['ori --verbose who\t', '<--verbose whoami>'],
  ['ori call --dae\t', '<call --daemon>'],
  ['ori completion fi\t', '<completion fish>'],
  ['ori call --pro\two\t', '<call --profile work>'],
  ['ori call --data bod\t', '<call --data body.json>'],
  ['ori sign --file bod\t', '<sign --file body.json>'],
  ['ori profiles use wo\t', '<profiles use work>'],
  ['ori call gree\t', '<call greeter>'],
  ['ori-proof call gree\t', '<call greeter>'],
] as const;

const isInstalled = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`]);
    return true;
  } catch {
    process.stderr.write(`cli-completion: ${program} is not installed: skipped\n`);
    return false;
  }
};
const hasTerminal = isInstalled('script');

for (const shell of SHELLS) {
  it.runIf(hasTerminal && isInstalled(shell))(`completes what is typed into a real ${shell}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ori-completion-'));
    await writeFile(join(folder, `ori.${shell}`), execFileSync(process.execPath, [ORI, 'completion', shell]));
    await writeFile(join(folder, 'body.json'), '{}');
    for (const name of ['ori', 'ori-proof']) await symlink(ORI, join(folder, name));
    // An intern whose name a shell would carry out is not offered.
    const names = ['greeter', '$(touch carried-out)'];
    const data = names.map((name) => ({ id: 'int_1', name, status: 'running', hostname: null, model: null }));
    const api = await listen((_request, response) => response.end(JSON.stringify({ data })));
    const profiles = join(folder, '.config/ori/profiles/work');
    await mkdir(profiles, { recursive: true });
    await writeFile(join(profiles, 'session.json'), '{}', { mode: 0o600 });
    const { command, setUp } = STARTS[shell];
    // A terminal of its own: a shell completes nothing on a pipe.
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: folder,
      env: {
        ORI_TOKEN: 'canary',
        ORI_BASE_URL: `${api.url}/v1`,
        PATH: `${folder}:${process.env['PATH']}`,
        HOME: folder,
        TERM: 'xterm',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const closed = once(child, 'close');
    const ran = linesRun(child.stdout);
    child.stdin.write(`${setUp}\r`);
    const got: [string, string | undefined][] = [];
    for (const [typed] of TYPED) {
      child.stdin.write(`${typed}\r`);
      got.push([typed, (await ran.next()).value]);
    }
    child.stdin.end('exit\r');
    expect(got).toEqual(TYPED);
    // The shell writes its history into the folder as it ends.
    for await (const _line of ran);
    await closed;
    await api.stop();
    expect(existsSync(join(folder, 'carried-out'))).toBe(false);
    await rm(folder, { recursive: true });
  });
}

it.runIf(isInstalled('zsh'))(
  'zsh offers candidates at the first Tab, and says what to do without compinit',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ori-completion-'));
    await symlink(ORI, join(folder, 'ori'));
    await writeFile(join(folder, '_ori'), execFileSync(process.execPath, [ORI, 'completion', 'zsh']));
    const zsh = (commands: string) => {
      const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder };
      const { status, stdout, stderr } = spawnSync('zsh', ['-fc', commands], {
        cwd: folder,
        env,
        encoding: 'utf8',
      });
      return [status, stdout + stderr];
    };
    const tab =
      '_describe() { print $#candidates }; _files() { print files }; words=(ori ca); CURRENT=2; _ori; _ori';
    const [, both = ''] = zsh(`fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u; ${tab}`);
    expect(both).toMatch(/^(\d\d)\n\1\n$/);
    expect(zsh('source ./_ori')).toEqual([
      0,
      expect.stringMatching(/^ori: .*autoload -Uz compinit && compinit\n$/),
    ]);
    await rm(folder, { recursive: true });
  },
);

/** Each line that the stand-in for `ori` printed. What the shell echoes of the typed ones never looks like it. */
async function* linesRun(output: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of output) {
    text += chunk;
    for (let match = /<[^$*>]*>/.exec(text); match !== null; match = /<[^$*>]*>/.exec(text)) {
      text = text.slice(match.index + match[0].length);
      yield match[0];
    }
  }
}
