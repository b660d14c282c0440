import { z } from 'zod';
import { metadataAddress } from '../core/address.ts';
import { CliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { requestApi } from './api.ts';

/** It is shown to the person, who cannot read more. */
const Word = z.string().max(1024);
const Words = z.array(Word).max(100);

const MetadataShape = z.object({
  resource: Word,
  authorization_servers: Words.min(1),
  scopes_supported: Words.optional(),
  dpop_bound_access_tokens_required: z.boolean().optional(),
  'x-ori_sign_in': z
    .array(
      z.object({
        issuer: Word,
        client_id: Word.min(1).optional(),
        scopes: Words.optional(),
        resource: z.boolean().optional(),
        consent: z.boolean().optional(),
        redirect_port: z.int().min(1).max(65_535).optional(),
      }),
    )
    .max(100)
    .optional(),
});

export interface IssuerChoice {
  /** Must be one of the API's. */
  readonly named?: string | undefined;
  /** The issuer of the last sign-in at this API, used if the API still has it. */
  readonly last?: string | undefined;
}

/**
 * Fetches the protected-resource metadata (RFC 9728) of a base address. Throws CliError `resource_mismatch` if it
 * describes another address (section 3.3), `metadata_unusable` if it is not valid metadata, `issuer_not_chosen` if the
 * choice fits none of its issuers or several. The issuer is checked when it is opened.
 */
export async function fetchProtectedResource(baseUrl: string, choice: IssuerChoice, signal: AbortSignal) {
  const url = metadataAddress(baseUrl);
  const answer = await requestApi(url, { method: 'GET' }, signal);
  if (answer.status !== 200)
    throw new CliError('metadata_unusable', { url, why: `it answered ${answer.status}` });
  const metadata = MetadataShape.safeParse(parseJson(answer.body));
  if (!metadata.success) throw new CliError('metadata_unusable', { url, why: 'it is not RFC 9728 metadata' });
  const { resource, authorization_servers, scopes_supported } = metadata.data;
  // Section 3.3: identical. It is sent as it is here.
  if (resource !== baseUrl) throw new CliError('resource_mismatch', { baseUrl, resource });
  const issuer = chooseIssuer(baseUrl, authorization_servers, choice);
  const signIn = metadata.data['x-ori_sign_in']?.find((one) => one.issuer === issuer);
  return {
    /** Value of the `resource` parameter (RFC 8707); null if the issuer refuses it. */
    resource: signIn?.resource === false ? null : resource,
    issuer,
    scopes: scopes_supported,
    /** It accepts only sessions that are bound to a key. */
    demandsBinding: metadata.data.dpop_bound_access_tokens_required === true,
    clientId: signIn?.client_id,
    /** The scopes to request, in the issuer's words; undefined if they are ours. */
    scopesToRequest: signIn?.scopes,
    /** Whether the person is asked to agree each time. */
    consent: signIn?.consent !== false,
    /** Port of the redirect address, for an issuer that compares it exactly. */
    redirectPort: signIn?.redirect_port,
  };
}

function chooseIssuer(baseUrl: string, issuers: readonly string[], { named, last }: IssuerChoice): string {
  const [first = '', ...others] = issuers;
  const chosen = named ?? last ?? '';
  if (issuers.includes(chosen)) return chosen;
  if (named !== undefined || others.length > 0)
    throw new CliError('issuer_not_chosen', { baseUrl, issuers, named });
  return first;
}
