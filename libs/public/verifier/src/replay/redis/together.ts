interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer | PromiseLike<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers what is asked about the same thing within one turn of the event loop, and gives each its answer of `answerAll`, which gets at
 * most `most` at a time and returns the answers in the same order. What it throws, each of them throws.
 */
export function together<About, Question, Answer>(
  most: number,
  answerAll: (about: About, questions: readonly Question[]) => Promise<readonly Answer[]>,
): (about: About, question: Question) => Promise<Answer> {
  const gathered = new Map<About, Waiting<Question, Answer>[]>();
  async function send(about: About, waiting: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await answerAll(
        about,
        waiting.map(({ question }) => question),
      );
      for (const [index, answer] of answers.entries()) waiting[index]?.resolve(answer);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
  function sendAll(about: About): void {
    const waiting = gathered.get(about) ?? [];
    gathered.delete(about);
    for (let first = 0; first < waiting.length; first += most)
      void send(about, waiting.slice(first, first + most));
  }
  return (about, question) =>
    new Promise((resolve, reject) => {
      const waiting = gathered.get(about);
      if (waiting === undefined) {
        gathered.set(about, [{ question, resolve, reject }]);
        setImmediate(sendAll, about);
      } else {
        waiting.push({ question, resolve, reject });
      }
    });
}
