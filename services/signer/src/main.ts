import { ConfigError } from '@ori/service-kit/config';
import { readKekRing } from './adapters/read-kek-ring.ts';
import { loadSignerConfig, type SignerConfig } from './config.ts';
import { startSigner } from './start-signer.ts';

/** Exit codes; 0 after a graceful stop. */
const EXIT = { failed: 1, configuration: 2, usage: 64 } as const;

function readConfig(): SignerConfig {
  const config = loadSignerConfig(process.env);
  readKekRing(config.kekFile);
  return config;
}

async function run(config: SignerConfig): Promise<void> {
  const signer = await startSigner(config);
  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(EXIT.failed);
    stopping = true;
    signer.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(EXIT.failed, error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => {
    signer.reopenAudit().catch((error: unknown) => console.error(messageOf(error)));
  });
}

function fail(code: number, error: unknown): never {
  console.error(messageOf(error));
  process.exit(code);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown failure';
}

const [command, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (command !== undefined && command !== 'check-config')) {
  fail(EXIT.usage, new Error('usage: node services/signer/src/main.ts [check-config]'));
}
try {
  const config = readConfig();
  if (command === 'check-config') console.log('the SIGNER_… configuration is valid');
  else await run(config);
} catch (error) {
  fail(error instanceof ConfigError ? EXIT.configuration : EXIT.failed, error);
}
