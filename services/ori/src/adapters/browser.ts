import { spawn } from 'node:child_process';

/**
 * Opens the address in the user's browser. Resolves to false if none can be started, which is not a failure because the
 * address is printed too. `BROWSER` selects one; it is run without a shell.
 */
export function openBrowser(
  url: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const command = browserCommand(process.platform, environment);
  if (command === undefined) return Promise.resolve(false);
  const [file, ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(file, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

/** The command that starts a browser; undefined on a machine without a display. */
export function browserCommand(
  platform: NodeJS.Platform,
  environment: Readonly<Record<string, string | undefined>>,
): readonly [string, ...string[]] | undefined {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = environment;
  if (BROWSER !== undefined && BROWSER !== '') return [BROWSER];
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}
