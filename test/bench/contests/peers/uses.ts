/** The replay protection that a daemon must add to a library that only verifies: refuses what was accepted before. */
export function rememberUses(seconds: number): (id: unknown) => void {
  const expiries = new Map<string, number>();
  return (id) => {
    const now = Date.now();
    for (const [known, expiry] of expiries) {
      if (expiry > now) break;
      expiries.delete(known);
    }
    if (typeof id !== 'string' || expiries.has(id)) throw new Error('used before');
    expiries.set(id, now + seconds * 1000);
  };
}

/** The nonce of an RFC 9421 signature. */
export function nonceOf(signatureInput: string | string[] | undefined): string | undefined {
  return /;nonce="([^"]+)"/.exec(String(signatureInput))?.[1];
}
