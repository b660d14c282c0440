import { spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram, openRoom } from '../../env/room.ts';
import { ROOT } from '../root.ts';
import { render } from './render.ts';

const kubectl = findProgram('kubectl');
const { spec } = render(join(ROOT, 'deploy/kubernetes/base')).find(
  ({ kind, metadata }) => kind === 'CronJob' && metadata.name === 'rotate-keys',
);

/** In place of a cluster: keeps what is created, and reports that job as ended. Patches are left to the real one. */
const CLUSTER = `#!/bin/sh
case "$*" in
  *"create job"*) cat "$HERE/job.json" ;;
  patch*) exec ${kubectl} "$@" ;;
  *"create -f -") cat > "$HERE/created.json" ;;
  *"jsonpath={.status.$ENDS}") echo 1 ;;
  *logs*) echo "what it printed" ;;
esac
`;

test.skipIf(kubectl === undefined).each([
  ['succeeded', 0],
  ['failed', 1],
])('ori-admin.sh runs one command as the job that rotates keys, and says that it %s', async (ends, code) => {
  await using room = await openRoom('ori-kubectl');
  const file = (name: string) => join(room.directory, name);
  await writeFile(file('kubectl'), CLUSTER);
  await chmod(file('kubectl'), 0o755);
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'x' }, spec: spec.jobTemplate.spec };
  await writeFile(file('job.json'), JSON.stringify(job));
  const words = ['intern', 'update', 'int_1', '--name', 'a "quoted" \\ name with spaces'];
  const { status, stdout } = spawnSync('sh', [join(ROOT, 'deploy/kubernetes/ori-admin.sh'), ...words], {
    env: { PATH: `${room.directory}${delimiter}${process.env['PATH']}`, HERE: room.directory, ENDS: ends },
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([code, 'what it printed\n']);
  const created = JSON.parse(await readFile(file('created.json'), 'utf8'));
  const expected = structuredClone(job);
  expected.spec.backoffLimit = 0;
  expected.spec.template.spec.containers[0].args = words;
  expect(created).toEqual(expected);
});
