import type { Context } from './context.ts';
import { findIntern, internsOf } from './intern-id.ts';

/** Shows one intern, by id or by name. */
export async function internsGet(context: Context, named: string): Promise<void> {
  const intern = findIntern(await internsOf(context), named);
  if (context.json) {
    context.terminal.printJson(intern);
    return;
  }
  const shown = Object.entries(intern).filter(([, value]) => typeof value === 'string' && value !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  context.terminal.print(...shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`));
}
