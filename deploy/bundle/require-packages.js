// Runs before scripts of npm, and says in one line which packages they need: `npm start` those of `npm ci --omit=dev`, the
// others all of them.
import process from 'node:process';

const [names, install] =
  process.argv[2] === 'start'
    ? [['@ori/signer', 'zod'], 'npm ci --omit=dev']
    : [['typescript', 'rolldown', 'postject/dist/api.js'], 'npm ci'];
for (const name of names) {
  try {
    import.meta.resolve(name);
  } catch {
    process.stderr.write(
      `This needs packages that are not installed, such as ${name}. Install them: ${install}\n`,
    );
    process.exit(1);
  }
}
