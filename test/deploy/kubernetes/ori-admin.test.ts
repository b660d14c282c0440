import { spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { kubectl } from '../../env/kubectl.ts';
import { openRoom } from '../../env/room.ts';
import { ROOT } from '../root.ts';
import { find, type Manifest, render } from './render.ts';

const { spec } = find(render('base'), 'rotate-keys');

/** In place of a cluster: keeps what is created, and runs what is executed there. Patches are left to the real one. */
const CLUSTER = `#!/bin/sh
echo "$*" >> "$HERE/calls"
case "$*" in
  *"create job"*) cat "$HERE/job.json" ;;
  patch*) exec ${kubectl()} "$@" ;;
  *"create -f -") cat > "$HERE/created.json" ;;
  *"{.status.ready}") [ ! -e "$HERE/asked" ] || echo 1; touch "$HERE/asked" ;;
  *" wait "*) echo "error: no matching resources found" >&2; exit 1 ;;
  *" exec "*) while [ "$1" != -- ]; do shift; done; shift 3; printf '<%s>' "$@"; cat; exit "$STATUS" ;;
esac
`;

test.each([0, 4])(
  'ori-admin runs one command in a pod of the job that rotates keys, hands through input, output and exit code %d, and removes it',
  async (code) => {
    await using room = await openRoom('ori-kubectl');
    const file = (name: string) => join(room.directory, name);
    await writeFile(file('kubectl'), CLUSTER);
    await chmod(file('kubectl'), 0o755);
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'x' }, spec: spec.jobTemplate.spec };
    await writeFile(file('job.json'), JSON.stringify(job));
    const words = ['byok', 'create', '--name', 'a "quoted" \\ name with spaces'];
    const { status, stdout } = spawnSync(join(ROOT, 'deploy/kubernetes/ori-admin'), words, {
      env: {
        PATH: `${room.directory}${delimiter}${process.env['PATH']}`,
        HERE: room.directory,
        STATUS: String(code),
      },
      input: 'secret',
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([code, `${words.map((word) => `<${word}>`).join('')}secret`]);
    const created = JSON.parse(await readFile(file('created.json'), 'utf8'));
    const { args, command, env, ...rest } = created.spec.template.spec.containers[0];
    const { args: _, env: before, ...expected } = job.spec.template.spec.containers[0];
    expect(rest).toEqual(expected);
    expect(args).toBeUndefined();
    // It waits, and holds nothing of the command.
    expect(JSON.stringify(command)).not.toMatch(/byok|secret/);
    expect(env.map(({ name }: Manifest) => name)).toEqual([
      ...before.map(({ name }: Manifest) => name),
      'ORI_ADMIN_MANAGEMENT_KEK_FILE',
    ]);
    // The daily job itself sees nothing of management.
    const secretOf = ({ spec: { template } }: Manifest) => template.spec.volumes[0].secret;
    expect(secretOf(job).items.map(({ key }: Manifest) => key)).toEqual(['database-url', 'kek.json']);
    expect(secretOf(created)).toEqual({ secretName: 'operator', defaultMode: 0o440 });
    expect(created.spec.backoffLimit).toBe(0);
    expect(await readFile(file('calls'), 'utf8')).toMatch(/ delete job ori-admin-[0-9-]+ --wait=false\n$/);
  },
);
