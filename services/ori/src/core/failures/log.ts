import { failure } from './failure.ts';

export const LOG_FAILURES = {
  proof_not_for_call: failure.usage<{ internId: string; of: 'headers' | 'proof' }>({
    what: ({ internId, of }) =>
      of === 'headers'
        ? `The proof is not for this call: no published key of ${internId} signed it.`
        : `The file of --proof is about another call to ${internId}, or to another intern.`,
    next: () => 'Check the intern, --path, the body and --headers: all must be those of the same call.',
  }),
  proof_not_logged: failure.refused<{ origin: string; isSigned: boolean }>({
    what: ({ origin }) => `The log ${origin} has no entry for this proof.`,
    next: ({ isSigned }) =>
      isSigned
        ? 'Its signature is valid. A proof appears in the log a few seconds after it was made. If it never does, its signing key was used elsewhere.'
        : 'Its signature could not be checked, because no published key is for its time, or the API cannot be reached. Check the intern, --path, the body and --headers; set ORI_BASE_URL to the API.',
  }),
  key_not_logged: failure.refused<{ origin: string; keys: string }>({
    what: ({ origin, keys }) => `The log ${origin} has no leaf of a published key: ${keys}.`,
    next: () =>
      'A key appears in the log a few seconds after a signer first publishes it. If it never does, somebody else served this key set.',
  }),
  log_file_unusable: failure.usage<{ file: string; why: string }>({
    what: ({ file, why }) => `Cannot use ${file}: ${why}.`,
    next: () =>
      '--policy takes a tlog-policy file from the operator of the log, --proof a file that --out has written.',
  }),
  not_a_log: failure.usage<{ address: string; why: string }>({
    what: ({ address, why }) => `${address} is not a log: ${why}.`,
    next: () => 'Check the address of the log in the policy file.',
  }),
  log_not_trusted: failure.refused<{ code: string; why: string }>({
    what: ({ code, why }) => `The log cannot be trusted (${code}): ${why}.`,
    next: () => 'Check the policy file. Two signed checkpoints that disagree are evidence: keep them.',
  }),
};
