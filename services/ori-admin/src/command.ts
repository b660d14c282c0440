import { Command as Base } from 'commander';
import type { Context } from './context.ts';

/** A command of `ori-admin`, and every command below it. */
export class Command extends Base {
  readonly #context: () => Context;

  constructor(name: string | undefined, context: () => Context) {
    super(name);
    this.#context = context;
  }

  override createCommand(name?: string): Command {
    return new Command(name, this.#context);
  }

  /** A block of examples below its help. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', examples(...lines));
  }

  /** What it does with its arguments and options. */
  does<Words extends unknown[]>(work: (admin: Context, ...words: Words) => void | Promise<void>): this {
    return this.action((...words) => work(this.#context(), ...(words as unknown as Words)));
  }
}

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
