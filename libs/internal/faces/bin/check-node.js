// Runs after an install of the workspace and prints in one line which Node will run it. npm's own warnings, five lines
// for each package, are off (.npmrc), because they check the Node that npm runs on. `devEngines` refuses a Node that is
// too old.
import process from 'node:process';

const NODE_MAJOR = 24;
const majorOf = (/** @type {string} */ version) => Number(/^v?(\d+)/.exec(version)?.[1]);
// biome-ignore lint/style/noProcessEnv: its own program, like main.ts.
const [installing = process.version] = /(?<=node\/)\S+/.exec(process.env.npm_config_user_agent ?? '') ?? [];

if (majorOf(process.version) < NODE_MAJOR) {
  process.stderr.write(
    `This needs Node ${NODE_MAJOR}, and this is Node ${process.version}. Install it from https://nodejs.org, then run npm ci again.\n`,
  );
  process.exitCode = 1;
} else if (majorOf(installing) < NODE_MAJOR) {
  process.stderr.write(
    `npm runs on Node ${installing}. npm start, npm test and ori run on Node ${process.version}, which is now in node_modules.\n`,
  );
}
