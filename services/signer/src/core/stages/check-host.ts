import { isRegionalHost } from '@ori/http/regional-host';
import { SigningError } from './signing-error.ts';
import { type Made, made } from './stage.ts';

/** The global host name, on which intern operations exist. */
export type GlobalHost = Made<'checkHost'>;

/**
 * Refuses a request to a regional host name: intern operations exist on the global one only.
 *
 * @param authority the `Host` of the request, with or without a port; undefined if none was sent
 * @throws SigningError `regional_host_refused`
 */
export function checkHost(authority: string | undefined, regionalHosts: ReadonlySet<string>): GlobalHost {
  if (isRegionalHost(authority, regionalHosts)) {
    throw new SigningError('regional_host_refused', 'the host is regional');
  }
  return made<GlobalHost>({});
}
