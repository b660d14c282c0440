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
  readonly name: string;
  readonly call: Omit<ApiCall, 'bearer'>;
  readonly expect: (principal: Principal) => Verdict;
}

/** The status for a principal who may not use an operation of interns at all; undefined if it may. */
function refusedReader(principal: Principal): number | undefined {
  if (principal.kind === 'nobody' || principal.kind === 'management') return 401;
  if (principal.kind === 'session' && !principal.scopes?.includes('interns')) return 403;
  return principal.workspaces.length === 0 ? 404 : undefined;
}
const refusedManager = (principal: Principal, lists403: boolean): number | undefined => {
  if (principal.kind === 'management') return undefined;
  return principal.kind === 'nobody' || !lists403 ? 401 : 403;
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
      name: `list interns ${place?.id ?? ''}`,
      call: { path: `/interns${query(place)}` },
      expect: (principal) => {
        const refused = refusedReader(principal);
        if (refused !== undefined) return { status: refused };
        if (principal.kind === 'intern') return { status: 404 };
        if (place !== undefined && !principal.workspaces.includes(place.id)) return { status: 404 };
        const wanted = place === undefined ? principal.workspaces : [place.id];
        return {
          status: 200,
          ids: idsOf(cast.interns.filter(({ workspace }) => wanted.includes(workspace ?? ''))),
        };
      },
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
      trials.push({
        name: `list ${path} ${place?.id ?? ''}`,
        call: { path: `${path}${query(place)}` },
        expect: (principal) => {
          const refused = refusedManager(principal, false);
          return refused === undefined ? inPlace(principal, all) : { status: refused };
        },
      });
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
        name: `create ${path} in ${workspace.id}, except for its owner`,
        call: { method: 'POST', path, json: { ...fields, workspace_id: workspace.id } },
        expect: (principal) => {
          const refused = refusedManager(principal, true);
          if (refused !== undefined) return { status: refused };
          return { status: workspace.organization === principal.organization ? 0 : 400 };
        },
      });
    }
  }
  trials.push(...ofWorkspaces(cast));
  for (const path of ['/guardrails/assignments/keys', '/guardrails/assignments/members']) {
    trials.push({
      name: `list ${path}`,
      call: { path },
      expect: (principal) => ({ status: refusedManager(principal, false) ?? 200 }),
    });
  }

  const interns = [...cast.interns, { ...unknown, id: 'int_unknown' }];
  for (const [intern, part] of interns.flatMap((one) => [[one, ''] as const, [one, '/icon'] as const])) {
    trials.push({
      name: `get ${intern.id}${part}`,
      call: { path: `/interns/${intern.id}${part}` },
      expect: (principal) => {
        const refused = refusedReader(principal);
        if (refused !== undefined) return { status: refused };
        const seen = principal.workspaces.includes(intern.workspace ?? '');
        return { status: seen && (principal.intern ?? intern.id) === intern.id ? 200 : 404 };
      },
    });
  }

  for (const credential of [...cast.credentials, unknown]) {
    const path = `/byok/${credential.id}`;
    const call = { method: 'PATCH', path, json: { name: 'renamed' } };
    trials.push({ name: `change credential ${credential.id}`, call, expect: onOwn(credential, true, 200) });
    trials.push(...gotAndDeleted(path, credential));
  }
  for (const key of [...cast.keyHashes, ...cast.internKeys, { ...unknown, id: '0'.repeat(64) }]) {
    const path = `/keys/${key.id}`;
    const call = { method: 'PATCH', path, json: { name: 'renamed' } };
    trials.push({ name: `change ${path}`, call, expect: onOwn(key, false, 200) });
    trials.push(...gotAndDeleted(path, key));
  }
  trials.push({
    name: 'the own key',
    call: { path: '/key' },
    expect: ({ kind }) => ({ status: kind === 'nobody' || kind === 'session' ? 401 : 200 }),
  });

  for (const guardrail of [...cast.guardrails, unknown]) {
    const path = `/guardrails/${guardrail.id}`;
    const plain = onOwn(guardrail, false, 200);
    trials.push({ name: `get ${path}`, call: { path }, expect: plain });
    const tried = { method: 'POST', path: `${path}/evaluate`, json: { text: 'x' } };
    trials.push({ name: `try ${path}`, call: tried, expect: plain });
    trials.push({
      name: `change ${path}`,
      call: { method: 'PATCH', path, json: { name: 'renamed' } },
      expect: plain,
    });
    for (const [segment, member, targets] of [
      ['keys', 'key_hashes', cast.keyHashes],
      ['members', 'member_user_ids', cast.members],
    ] as const) {
      const at = `${path}/assignments/${segment}`;
      trials.push({ name: `list ${at}`, call: { path: at }, expect: plain });
      for (const target of targets) {
        const json = { [member]: [target.id] };
        trials.push({
          name: `assign ${at} to ${target.id}`,
          call: { method: 'POST', path: at, json },
          expect: (principal) => {
            const verdict = plain(principal);
            if (verdict.status !== 200) return verdict;
            return { status: target.organization === principal.organization ? 200 : 400 };
          },
        });
        trials.push({
          name: `unassign ${at} from ${target.id}`,
          call: { method: 'POST', path: `${at}/remove`, json },
          expect: plain,
        });
      }
    }
    const kept = onOwn(guardrail, false, 0);
    trials.push({
      name: `delete ${path}, except for its owner`,
      call: { method: 'DELETE', path },
      expect: kept,
    });
  }
  return trials;
}

const onOwn =
  (owned: Pick<Owned, 'organization'>, lists403: boolean, found: number) =>
  (principal: Principal): Verdict => {
    const refused = refusedManager(principal, lists403);
    if (refused !== undefined) return { status: refused };
    return { status: owned.organization === principal.organization ? found : 404 };
  };

function gotAndDeleted(path: string, owned: Owned): Trial[] {
  return [
    { name: `get ${path}`, call: { path }, expect: onOwn(owned, false, 200) },
    {
      name: `delete ${path}, except for its owner`,
      call: { method: 'DELETE', path },
      expect: onOwn(owned, false, 0),
    },
  ];
}

/** Workspaces and the people in them. */
function ofWorkspaces(cast: Cast): Trial[] {
  const listed = (idsFor: (principal: Principal) => string[]) => (principal: Principal) => {
    const refused = refusedManager(principal, false);
    return refused === undefined ? { status: 200, ids: idsFor(principal) } : { status: refused };
  };
  const trials: Trial[] = [
    {
      name: 'list workspaces',
      call: { path: '/workspaces' },
      expect: listed(({ organization }) =>
        idsOf(cast.workspaces.filter((workspace) => workspace.organization === organization)),
      ),
    },
    {
      name: 'create a workspace, except for managers',
      call: { method: 'POST', path: '/workspaces', json: { name: 'x' } },
      expect: (principal) => ({ status: refusedManager(principal, true) ?? 0 }),
    },
    {
      name: 'list people',
      call: { path: '/organization/members' },
      expect: listed(({ organization }) =>
        idsOf(cast.members.filter((member) => member.organization === organization)),
      ),
    },
  ];
  for (const workspace of [...cast.workspaces, { id: 'ws_nowhere', organization: 'none' }]) {
    const path = `/workspaces/${workspace.id}`;
    const isTheirs = ({ organization }: Principal) => organization === workspace.organization;
    const call = { method: 'PATCH', path, json: { description: 'changed' } };
    trials.push(
      { name: `get ${path}`, call: { path }, expect: onOwn(workspace, false, 200) },
      { name: `change ${path}`, call, expect: onOwn(workspace, true, 200) },
      {
        name: `delete ${path}, except for its owner`,
        call: { method: 'DELETE', path },
        expect: onOwn(workspace, true, 0),
      },
      {
        name: `list ${path}/members`,
        call: { path: `${path}/members` },
        expect: onOwn(workspace, true, 200),
      },
    );
    for (const person of cast.members) {
      for (const [verb, ofStranger] of [
        ['add', 400],
        ['remove', 200],
      ] as const) {
        trials.push({
          name: `${verb} ${person.id} in ${path}, except for its owner's own`,
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
