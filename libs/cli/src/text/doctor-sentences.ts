import type { CliErrorFacts } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { Sentence } from './sentence.ts';

type DoctorCode =
  | 'configuration_unreadable'
  | 'configuration_malformed'
  | 'gateway_without_route'
  | 'gateway_faulty';

/** The failures that only `ori doctor` has. */
export const DOCTOR_SENTENCES: { readonly [Code in DoctorCode]: Sentence<CliErrorFacts[Code]> } = {
  configuration_unreadable: {
    exit: EXIT.usage,
    what: ({ file, why }) => `Cannot read ${file}: ${why}.`,
    next: ({ from }) =>
      from === undefined
        ? 'Check the name and its permissions.'
        : `It is included at ${from.file}:${from.line}; a relative name starts at the folder of the main file.`,
  },
  configuration_malformed: {
    exit: EXIT.usage,
    what: ({ file, line, why }) => `${file}:${line}: ${why}.`,
    next: () => 'nginx would not start with it; nginx -t says more.',
  },
  gateway_without_route: {
    exit: EXIT.usage,
    what: ({ file }) => `Nothing in ${file} passes requests on, so there is nothing to judge.`,
    next: () => 'Name the main configuration, nginx.conf, or a file with the servers that call a daemon.',
  },
  gateway_faulty: {
    exit: EXIT.unexpected,
    what: ({ errors, warnings }) =>
      `This gateway is not safe for proofs: ${counted(errors, 'error')}, ${counted(warnings, 'warning')}.`,
    next: () => 'What was found is above. A warning that is settled: # ori-doctor: allow RULE, because …',
  },
};

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
