import { MANAGEMENT_SPEC } from '@ori/management/config';
import { expect, test } from 'vitest';
import { SIGNER_SPEC } from '../../services/signer/src/config.ts';
import { readCompose } from './compose/compose-file.ts';
import { find, render } from './kubernetes/render.ts';
import { environmentOf } from './systemd/unit.ts';

/** `max_connections` minus `superuser_reserved_connections`, with the defaults of PostgreSQL and Debian. */
const POSTGRES_CONNECTIONS = 100 - 3;
/** The migrations, a timer of ori-admin and an operator, at two connections each. */
const OPERATORS = 6;

/** The variable names in `.env`. */
const PREPARED = Object.fromEntries(
  ['UID', 'GID', 'ISSUER', 'BASE_URL', 'LOG_ORIGIN'].map((name) => [`ORI_${name}`, 'x']),
);

const DEFAULTS = { SIGNER: SIGNER_SPEC, MANAGEMENT: MANAGEMENT_SPEC };

function poolOf(prefix: keyof typeof DEFAULTS, environment: Readonly<Record<string, unknown>>): number {
  return Number(environment[`${prefix}_DATABASE_POOL_MAX`] ?? DEFAULTS[prefix].databasePoolMax.defaultText);
}

test('Compose stays within the connections of a PostgreSQL with its defaults', () => {
  const needed = Object.entries(readCompose(PREPARED).services).flatMap(([name, { environment = {} }]) => {
    if (/^signer-\d$/.test(name)) return poolOf('SIGNER', environment);
    return name === 'management' ? poolOf('MANAGEMENT', environment) : [];
  });
  expect(needed).toHaveLength(3);
  expect(sum(needed) + OPERATORS).toBeLessThanOrEqual(POSTGRES_CONNECTIONS);
});

test('systemd stays within them, even while an instance is replaced', () => {
  const places = { i: '1', d: '/d', L: '/l' };
  const signer = poolOf('SIGNER', environmentOf('ori-signer@.service', places));
  const management = poolOf('MANAGEMENT', environmentOf('ori-management@.service', places));
  expect(2 * signer + 2 * management + OPERATORS).toBeLessThanOrEqual(POSTGRES_CONNECTIONS);
});

test('Kubernetes stays within them at full scale during a rollout', () => {
  const manifests = render('overlays/example');
  const replicas = (name: string) =>
    find(manifests, name, 'HorizontalPodAutoscaler').spec.maxReplicas as number;
  const settings = (name: string) => find(manifests, `${name}-settings`, 'ConfigMap').data;
  const surge = find(manifests, 'management').spec.strategy.rollingUpdate.maxSurge as number;
  const signers = replicas('signer') * poolOf('SIGNER', settings('signer'));
  const managements = (replicas('management') + surge) * poolOf('MANAGEMENT', settings('management'));
  expect(signers + managements + OPERATORS).toBeLessThanOrEqual(POSTGRES_CONNECTIONS);
});

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
