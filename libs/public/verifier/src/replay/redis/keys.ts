/** The sorted set of an intern's spent proofs. The braces keep both keys in one slot of a Redis Cluster. */
export function spentKey(internId: string): string {
  return `ori:{${internId}}:spent`;
}

/** The record of a call whose answer is kept: its person, the process that runs it, and how it ended. */
export function answerKey(internId: string, nonce: string): string {
  return `ori:{${internId}}:answer:${nonce}`;
}
