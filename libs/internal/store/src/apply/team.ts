import { z } from 'zod';
import { idSchema, nameSchema, slugOf, slugSchema } from '../queries/admin/ids.ts';
import { INTERN_STATUSES } from '../vocabulary.ts';

const text = z.string().max(65_536).nullable().optional();

/** A person, found by subject or else by e-mail address; created if the subject is not known yet. */
const person = z
  .strictObject({
    subject: z
      .string()
      .regex(/^[\x20-\x7e]{1,255}$/, 'expected 1 to 255 printable ASCII characters')
      .optional(),
    email: z.email('expected an e-mail address').max(320).optional(),
    name: nameSchema.optional(),
  })
  .refine(
    ({ subject, email }) => subject !== undefined || email !== undefined,
    'expected a subject or an email',
  );
export type TeamPerson = z.infer<typeof person>;

const intern = z.strictObject({
  name: nameSchema,
  id: idSchema.optional(),
  status: z.enum(INTERN_STATUSES).optional(),
  model: z
    .string()
    .regex(/^[^/\s]+\/[^\s]+$/, 'expected <provider>/<model>')
    .nullable()
    .optional(),
  hostname: z.string().nullable().optional(),
  description: text,
  instructions: text,
  /** Whether it gets a signing key if it has none. */
  signing_key: z.boolean().default(false),
});

const workspace = z
  .strictObject({
    name: nameSchema,
    slug: slugSchema.optional(),
    default: z.boolean().optional(),
    programme: z.boolean().optional(),
    members: z.array(person).optional(),
    interns: z.array(intern).optional(),
    /** Names of API keys. */
    keys: z.array(nameSchema).optional(),
  })
  .transform((given) => ({ ...given, slug: given.slug ?? slugOf(given.name) }));
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
function requireDistinct(teams: readonly Team[], complain: (message: string) => void): void {
  const once = (what: string, names: readonly string[]) => {
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) complain(`${what} ${JSON.stringify(twice)} occurs twice`);
  };
  once(
    'organization',
    teams.map(({ id, name }) => id ?? name),
  );
  for (const { name, workspaces = [], keys = [] } of teams) {
    once(`${name}: key`, keys);
    const slugs = workspaces.map(({ slug }) => slug);
    once(`${name}: workspace`, slugs);
    if (workspaces.filter((one) => one.default).length > 1) complain(`${name}: two default workspaces`);
    for (const { slug, interns = [], keys: own = [] } of workspaces) {
      once(
        `${name}/${slug}: intern`,
        interns.map((one) => one.name),
      );
      once(`${name}/${slug}: key`, own);
    }
  }
}

/** The file of `ori-admin apply`. What a list does not name is left alone, or with `prune` removed; a list that is not there is not managed. */
export const TeamFile = z
  .strictObject({ organizations: z.array(team).min(1) })
  .superRefine(({ organizations }, context) =>
    requireDistinct(organizations, (message) => context.addIssue({ code: 'custom', message })),
  );
