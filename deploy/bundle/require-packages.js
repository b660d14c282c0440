// Runs before each script of package.json, on any Node, and says in one line what it needs first: a Node, and the packages
// of `npm ci --omit=dev` (npm start, npm run token) or of `npm ci`.
import process from 'node:process';

const [names, install] =
  process.argv[2] === 'demo'
    ? [['@ori/signer', 'zod'], 'npm ci --omit=dev']
    : [['@ori/signer', 'typescript', 'vitest', 'rolldown', 'postject/dist/api.js'], 'npm ci'];
const missing = names.find((name) => {
  try {
    import.meta.resolve(name);
    return false;
  } catch {
    return true;
  }
});
if (missing !== undefined)
  stop(`packages that are not installed, such as ${missing}. Install them: ${install}`);
if (Number(/^v(\d+)/.exec(process.version)?.[1]) < 24)
  stop(
    `Node 24, and this is Node ${process.version}. Install it from https://nodejs.org, then run ${install} again.`,
  );

function stop(/** @type {string} */ need) {
  process.stderr.write(`This needs ${need}\n`);
  process.exit(1);
}
