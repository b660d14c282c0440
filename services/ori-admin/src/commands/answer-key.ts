import type { Command } from '../command.ts';
import { withSecretOutput } from '../secret-output.ts';

export function addAnswerKeyCommands(program: Command): void {
  program
    .command('answer-key')
    .description('the keys with which daemons prove their answers')
    .command('make')
    .description('make the key of a daemon; prints the public key; needs no database')
    .argument('<file>', 'a new file for the private key, that only its owner can read')
    .examples('ori-admin answer-key make answer.key')
    .does(async (admin, file: string) => {
      await withSecretOutput(admin, { out: file }, async (output) => {
        const { makeAnswerKey } = await import('@ori/administration/answer-keys');
        const { text, x } = makeAnswerKey();
        output.deliver(text);
        admin.report({ file, x }, { lines: [x], note: `Wrote ${file}. For apply: answer_keys: ["${x}"]` });
      });
    });
}
