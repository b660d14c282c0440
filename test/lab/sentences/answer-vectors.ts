import { createAnswerKey, readAnswerProof, signAnswer, verifyAnswer } from '@ori/proof/answer-proof';
import { ANSWER_VECTORS } from '../../vectors/read.ts';

// node answer-vectors.ts SENTENCE: the title of the first vector of a proven answer that `@ori/proof` judges otherwise, those of the
// sentence first.

const [sentence = ''] = process.argv.slice(2);
const own = ANSWER_VECTORS.filter(({ sentences }) => sentences.includes(sentence));
const wrong = [...own, ...ANSWER_VECTORS].find(({ seed, x, header, bodyBase64, expect, ...facts }) => {
  const answer = { ...facts, body: Buffer.from(bodyBase64, 'base64') };
  const proof = readAnswerProof(header);
  const isProven =
    proof?.signature !== undefined && proof.x === x && verifyAnswer(x, answer, proof.signature);
  if (isProven !== (expect === 'proven')) return true;
  return seed !== undefined && signAnswer(createAnswerKey(Buffer.from(seed, 'hex')), answer) !== header;
});
process.stdout.write(wrong?.title ?? '');
