import { TeamFile } from '@ori/administration/apply/team';
import { expect, test } from 'vitest';
import { LineCounter, parseDocument } from 'yaml';
import { problemsOf } from './file-problems.ts';

function problemsAbout(text: string): string[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const parsed = TeamFile.safeParse(document.toJS());
  return problemsOf(parsed.error?.issues ?? [], document, lines);
}

const members = `organizations:
  - name: x
    workspaces:
      - name: a
        members:
`;

test.each([
  [
    `${members}          - { subject: a, nam: Ada }\n`,
    'line 6: organizations.0.workspaces.0.members.0.nam: unknown name, did you mean name?',
  ],
  [
    'organizations:\n  - name: x\n    limits: { hourly: 3 }\n',
    'line 3: organizations.0.limits.hourly: unknown name, expected one of turns_per_user, turns_per_organization',
  ],
  ['organizations:\n  - name: 5\n', 'line 2: organizations.0.name: '],
  ['organizations:\n  - keys: [a]\n', 'line 2: organizations.0.name: '],
  ['{"organization": []}', 'line 1: organization: unknown name, did you mean organizations?'],
  ['[]', 'file: '],
])('%j', (text, problem) => {
  expect(problemsAbout(text)).toContainEqual(expect.stringContaining(problem));
});

test('a file that is right has none', () => {
  expect(problemsAbout(`${members}          - { subject: a, name: Ada }\n`)).toEqual([]);
});
