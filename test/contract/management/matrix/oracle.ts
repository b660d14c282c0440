import { randomUUID } from 'node:crypto';
import type { ApiCall } from '../world.ts';
import type { Cast, Owned, Principal } from './cast.ts';

/** The answer that the interface requires: a status (0: do not try), and for a list the ids in it, in any order. */
export interface Verdict {
  readonly status: number;
  readonly ids?: readonly string[];
}

/** One operation on one resource, and the answer that each principal must get. */
export interface Trial {
  readonly call: Omit<ApiCall, 'bearer'>;
  readonly expect: (principal: Principal) => Verdict;
}

type Judge = Trial['expect'];

/** What is answered to whoever may use an operation of interns; nobody else reaches it. */
const toReaders =
  (verdict: Judge): Judge =>
  (principal) => {
    if (principal.kind === 'nobody' || principal.kind === 'management') return { status: 401 };
    if (principal.kind === 'session' && !principal.scopes?.includes('interns')) return { status: 403 };
    return principal.workspaces.length === 0 ? { status: 404 } : verdict(principal);
  };
/** The same of the other operations. */
const toManagers =
  (lists403: boolean, verdict: Judge): Judge =>
  (principal) => {
    if (principal.kind === 'management') return verdict(principal);
    return { status: principal.kind === 'nobody' || !lists403 ? 401 : 403 };
  };

/** Every operation of the interface on every resource of the cast, and on some that do not exist. */
export function trialsOf(cast: Cast): readonly Trial[] {
  const nowhere: Owned = { id: 'ws_nowhere', organization: 'none', workspace: null };
  const unknown: Owned = { id: randomUUID(), organization: 'none', workspace: 'none' };
  const places = [undefined, ...cast.workspaces, { ...nowhere, isDefault: false, inProgramme: false }];
  const trials: Trial[] = [];
  const query = (place: { id: string } | undefined) =>
    place === undefined ? '' : `?workspace_id=${place.id}`;

  for (const place of places) {
    trials.push({
      call: { path: `/interns${query(place)}` },
      expect: toReaders((principal) => {
        if (principal.kind === 'intern') return { status: 404 };
        if (place !== undefined && !principal.workspaces.includes(place.id)) return { status: 404 };
        const wanted = place === undefined ? principal.workspaces : [place.id];
        return {
          status: 200,
          ids: idsOf(cast.interns.filter(({ workspace }) => wanted.includes(workspace ?? ''))),
        };
      }),
    });
    const inPlace = (principal: Principal, all: readonly Owned[]): Verdict => {
      const chosen = cast.workspaces.find(
        ({ id, organization, isDefault }) =>
          organization === principal.organization && (place === undefined ? isDefault : id === place.id),
      );
      if (chosen === undefined) return { status: 400 };
      const mine = all.filter(({ organization }) => organization === principal.organization);
      return {
        status: 200,
        ids: idsOf(mine.filter(({ workspace }) => workspace === null || workspace === chosen.id)),
      };
    };
    for (const [path, all] of [
      ['/byok', cast.credentials],
      ['/guardrails', cast.guardrails],
      ['/keys', [...cast.keyHashes, ...cast.internKeys]],
    ] as const) {
      const expect = toManagers(false, (principal) => inPlace(principal, all));
      trials.push({ call: { path: `${path}${query(place)}` }, expect });
    }
  }

  const created = [
    ['/guardrails', { name: 'x' }],
    ['/keys', { name: 'x' }],
    ['/byok', { provider: 'openai', key: 'sk-0123456789abcdefghijklmn' }],
  ] as const;
  for (const workspace of cast.workspaces) {
    for (const [path, fields] of created) {
      trials.push({
        call: { method: 'POST', path, json: { ...fields, workspace_id: workspace.id } },
        expect: toManagers(true, ({ organization }) => ({
          status: workspace.organization === organization ? 0 : 400,
        })),
      });
    }
  }
  trials.push(...ofWorkspaces(cast));
  for (const path of ['/guardrails/assignments/keys', '/guardrails/assignments/members']) {
    trials.push({ call: { path }, expect: toManagers(false, () => ({ status: 200 })) });
  }

  const interns = [...cast.interns, { ...unknown, id: 'int_unknown' }];
  for (const [intern, part] of interns.flatMap((one) => [[one, ''] as const, [one, '/icon'] as const])) {
    trials.push({
      call: { path: `/interns/${intern.id}${part}` },
      expect: toReaders((principal) => {
        const seen = principal.workspaces.includes(intern.workspace ?? '');
        return { status: seen && (principal.intern ?? intern.id) === intern.id ? 200 : 404 };
      }),
    });
  }

  for (const credential of [...cast.credentials, unknown]) {
    const path = `/byok/${credential.id}`;
    const call = { method: 'PATCH', path, json: { name: 'renamed' } };
    trials.push({ call, expect: onOwn(credential, true, 200) });
    trials.push(...gotAndDeleted(path, credential));
  }
  for (const key of [...cast.keyHashes, ...cast.internKeys, { ...unknown, id: '0'.repeat(64) }]) {
    const path = `/keys/${key.id}`;
    const call = { method: 'PATCH', path, json: { name: 'renamed' } };
    trials.push({ call, expect: onOwn(key, false, 200) });
    trials.push(...gotAndDeleted(path, key));
  }
  trials.push({
    call: { path: '/key' },
    expect: ({ kind }) => ({ status: kind === 'nobody' || kind === 'session' ? 401 : 200 }),
  });

  for (const guardrail of [...cast.guardrails, unknown]) {
    const path = `/guardrails/${guardrail.id}`;
    const plain = onOwn(guardrail, false, 200);
    trials.push({ call: { path }, expect: plain });
    trials.push({ call: { method: 'PATCH', path, json: { name: 'renamed' } }, expect: plain });
    for (const [segment, member, targets] of [
      ['keys', 'key_hashes', cast.keyHashes],
      ['members', 'member_user_ids', cast.members],
    ] as const) {
      const at = `${path}/assignments/${segment}`;
      trials.push({ call: { path: at }, expect: plain });
      for (const target of targets) {
        const json = { [member]: [target.id] };
        trials.push({
          call: { method: 'POST', path: at, json },
          expect: (principal) => {
            const verdict = plain(principal);
            if (verdict.status !== 200) return verdict;
            return { status: target.organization === principal.organization ? 200 : 400 };
          },
        });
        trials.push({ call: { method: 'POST', path: `${at}/remove`, json }, expect: plain });
      }
    }
    trials.push({ call: { method: 'DELETE', path }, expect: onOwn(guardrail, false, 0) });
  }
  return trials;
}

const onOwn = (owned: Pick<Owned, 'organization'>, lists403: boolean, found: number): Judge =>
  toManagers(lists403, ({ organization }) => ({ status: owned.organization === organization ? found : 404 }));

function gotAndDeleted(path: string, owned: Owned): Trial[] {
  return [
    { call: { path }, expect: onOwn(owned, false, 200) },
    { call: { method: 'DELETE', path }, expect: onOwn(owned, false, 0) },
  ];
}

/** Workspaces and the people in them. */
function ofWorkspaces(cast: Cast): Trial[] {
  const listed = (all: readonly Owned[] | Cast['workspaces']): Judge =>
    toManagers(false, (principal) => ({
      status: 200,
      ids: idsOf(all.filter(({ organization }) => organization === principal.organization)),
    }));
  const trials: Trial[] = [
    { call: { path: '/workspaces' }, expect: listed(cast.workspaces) },
    { call: { path: '/organization/members' }, expect: listed(cast.members) },
    {
      call: { method: 'POST', path: '/workspaces', json: { name: 'x' } },
      expect: toManagers(true, () => ({ status: 0 })),
    },
  ];
  for (const workspace of [...cast.workspaces, { id: 'ws_nowhere', organization: 'none' }]) {
    const path = `/workspaces/${workspace.id}`;
    const isTheirs = ({ organization }: Principal) => organization === workspace.organization;
    const call = { method: 'PATCH', path, json: { description: 'changed' } };
    trials.push(
      { call: { path }, expect: onOwn(workspace, false, 200) },
      { call, expect: onOwn(workspace, true, 200) },
      { call: { method: 'DELETE', path }, expect: onOwn(workspace, true, 0) },
      { call: { path: `${path}/members` }, expect: onOwn(workspace, true, 200) },
    );
    for (const person of cast.members) {
      for (const [verb, ofStranger] of [
        ['add', 400],
        ['remove', 200],
      ] as const) {
        trials.push({
          call: { method: 'POST', path: `${path}/members/${verb}`, json: { user_ids: [person.id] } },
          expect: (principal) => {
            if (!isTheirs(principal)) return onOwn(workspace, true, 404)(principal);
            const own = person.organization === principal.organization;
            return onOwn(workspace, true, own ? 0 : ofStranger)(principal);
          },
        });
      }
    }
  }
  return trials;
}

function idsOf(all: readonly { readonly id: string }[]): string[] {
  return all.map(({ id }) => id).sort();
}
