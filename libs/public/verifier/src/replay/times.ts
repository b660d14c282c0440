/** A streamed body must end within this time of `begin`, and stores remember proofs that much longer. */
export const STREAM_SECONDS_MAX = 30;

/** The most that a verifier may tolerate. */
export const TOLERANCE_SECONDS_MAX = 60;

/** The longest retention of any policy: 600 s of age, and the tolerance. */
export const RETENTION_SECONDS_MAX = 600 + TOLERANCE_SECONDS_MAX + STREAM_SECONDS_MAX;

/** The most that a verifier, or a store in memory, keeps of answers. Beyond this, the oldest are lost; their calls stay recorded. */
export const ANSWERS_BYTES_MAX = 64 * 1024 * 1024;

/** How long an answer is kept, and a call is recorded as running at most. */
export const ANSWER_SECONDS = 600;
export const RUNNING_SECONDS_MAX = 86_400;

/** How long after its last sign of life a process counts as gone, and its calls as lost. */
export const LIFE_SECONDS = 15;

/** A question comes within this time of its call's timestamp. An unknown nonce may therefore be of a call before a younger fence. */
export const QUESTION_SECONDS_MAX = 300;
