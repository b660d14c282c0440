import type { TestProject } from 'vitest/node';

/** All runs of the tests share the servers that `main.ts` has started: a killed process starts again in half the time. */
export function setup(project: Pick<TestProject, 'provide'>): void {
  project.provide('backends', JSON.parse(process.env['MUTATION_BACKENDS'] ?? ''));
}
