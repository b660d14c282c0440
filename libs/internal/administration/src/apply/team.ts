import { ED25519 } from '@ori/proof/algorithms';
import { parseJwkSet } from '@ori/proof/read-jwk-set';
import { INTERN_STATUSES } from '@ori/store/vocabulary';
import { idSchema, nameSchema, slugOf, slugSchema } from '@ori/store/writes/ids';
import { z } from 'zod';
import { internFields } from '../interns.ts';
import { emailSchema, subjectSchema } from '../users.ts';

/** A person, found by subject or else by e-mail address; created if the subject is not known yet. */
const person = z
  .strictObject({
    subject: subjectSchema.optional(),
    email: emailSchema.optional(),
    name: nameSchema.optional(),
  })
  .refine(
    ({ subject, email }) => subject !== undefined || email !== undefined,
    'expected a subject or an email',
  );
export type TeamPerson = z.infer<typeof person>;

const answerKey = z
  .string()
  .refine(
    (x) => parseJwkSet({ keys: [{ ...ED25519.jwk, x }] }).length === 1,
    'expected the public key that `answer-key make` printed',
  );

const intern = z
  .strictObject({
    name: nameSchema,
    id: idSchema.optional(),
    status: z.enum(INTERN_STATUSES).optional(),
    ...internFields,
    /** The subject of the person for whom a new one is created. */
    created_by: subjectSchema.optional(),
    /** Whether it gets a signing key if it has none. */
    signing_key: z.boolean().default(false),
    /** With which its daemon proves its answers: two while one replaces the other, null for none. */
    answer_keys: z
      .array(answerKey)
      .min(1)
      .max(2)
      .refine((keys) => new Set(keys).size === keys.length, 'expected two different keys')
      .nullish(),
  })
  .refine(({ name, hostname }) => hostname?.startsWith(`${name.toLowerCase()}.`) ?? true, {
    error: 'expected <intern_name>.<domain>',
    path: ['hostname'],
  });

/** Found by its slug, if the file has one, or else by its name. */
const workspace = z.strictObject({
  name: nameSchema,
  slug: slugSchema.optional(),
  default: z.boolean().optional(),
  programme: z.boolean().optional(),
  members: z.array(person).optional(),
  interns: z.array(intern).optional(),
  /** Names of API keys. */
  keys: z.array(nameSchema).optional(),
});
export type TeamWorkspace = z.infer<typeof workspace>;

const limit = (max: number) => z.int().min(1).max(max).nullable().optional();

const team = z.strictObject({
  name: nameSchema,
  id: idSchema.optional(),
  limits: z
    .strictObject({ turns_per_user: limit(1_000_000), turns_per_organization: limit(10_000_000) })
    .optional(),
  workspaces: z.array(workspace).optional(),
  /** Names of management keys. */
  keys: z.array(nameSchema).optional(),
});
export type Team = z.infer<typeof team>;

/** Each name once, where a name identifies something. */
function requireDistinct(teams: readonly Team[], report: (message: string) => void): void {
  const once = (what: string, names: readonly string[]) => {
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) report(`${what} ${JSON.stringify(twice)} occurs twice`);
  };
  once(
    'organization',
    teams.map(({ id, name }) => id ?? name),
  );
  const interns = teams.flatMap(({ workspaces = [] }) => workspaces.flatMap((one) => one.interns ?? []));
  once(
    'intern id',
    interns.flatMap(({ id }) => id ?? []),
  );
  for (const { name, workspaces = [], keys = [] } of teams) {
    once(`${name}: key`, keys);
    const slugs = workspaces.map((one) => one.slug ?? slugOf(one.name));
    once(`${name}: workspace`, slugs);
    if (workspaces.filter((one) => one.default).length > 1) report(`${name}: two default workspaces`);
    for (const { name: workspace, interns = [], keys: own = [] } of workspaces) {
      once(
        `${name}/${workspace}: intern`,
        interns.map((one) => one.name),
      );
      once(`${name}/${workspace}: key`, own);
    }
  }
}

/** The file of `ori-admin apply`. What a list does not name is left alone, or with `prune` removed; a list that is not there is not managed. */
export const TeamFile = z
  .strictObject({ organizations: z.array(team).min(1) })
  .superRefine(({ organizations }, context) =>
    requireDistinct(organizations, (message) => context.addIssue({ code: 'custom', message })),
  );
