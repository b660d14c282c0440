import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens the address in the user's browser. Resolves to false if none can be started, which is not a failure because the
 * address is printed too. `BROWSER` selects one; it is run without a shell.
 */
export async function openBrowser(url: string, environment: Environment): Promise<boolean> {
  for (const command of browserCommands(process.platform, environment, url)) {
    if (await starts(command)) return true;
  }
  return false;
}

function starts([file = '', ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

/**
 * The commands that start a browser, to be tried in turn; none on a machine without a display. `BROWSER` is read as
 * elsewhere: a list, as in `PATH`, of commands with arguments, of which `%s` stands for the address.
 */
export function browserCommands(
  platform: NodeJS.Platform,
  { BROWSER, DISPLAY, WAYLAND_DISPLAY }: Environment,
  url: string,
): readonly (readonly string[])[] {
  if (BROWSER !== undefined && BROWSER !== '') {
    return BROWSER.split(delimiter)
      .filter((command) => command.trim() !== '')
      .map((command) => commandOf(command, url));
  }
  if (platform === 'darwin') return [['open', url]];
  if (platform === 'win32') return [['rundll32', 'url.dll,FileProtocolHandler', url]];
  return DISPLAY || WAYLAND_DISPLAY ? [['xdg-open', url]] : [];
}

function commandOf(command: string, url: string): readonly string[] {
  // A path may contain spaces.
  const words = existsSync(command) ? [command] : command.trim().split(/\s+/);
  return words.includes('%s') ? words.map((word) => (word === '%s' ? url : word)) : [...words, url];
}
