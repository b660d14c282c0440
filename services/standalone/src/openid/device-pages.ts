import { pageHeaders } from '@ori/faces/html';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { renderDeviceCodePage, renderDeviceConfirmPage, renderDeviceDonePage } from './pages.ts';

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>;

/**
 * The pages of the device flow (RFC 8628). A link with the code (`verification_uri_complete`) only fills it in: the
 * user still compares it with the device, and no page needs a script.
 */
export const deviceFlow = {
  enabled: true,
  userCodeInputSource(ctx, _form, _out, error) {
    const { userCode: linked } = ctx.state;
    const typed = error !== undefined && 'userCode' in error ? error.userCode : linked;
    ctx.set(pageHeaders());
    ctx.body = renderDeviceCodePage({
      ...formOf(ctx),
      code: typeof typed === 'string' ? typed : '',
      problem: problemOf(error),
    });
  },
  userCodeConfirmSource(ctx, _form, client, _deviceInfo, code) {
    ctx.set(pageHeaders());
    ctx.body = renderDeviceConfirmPage({
      ...formOf(ctx),
      code,
      client: client.clientName ?? client.clientId,
    });
  },
  successSource(ctx) {
    ctx.set(pageHeaders());
    ctx.body = renderDeviceDonePage(ctx.oidc.client?.clientName ?? 'The program');
  },
} as const satisfies DeviceFlow;

/** Moves the code of a `verification_uri_complete` from the query, where the provider would answer it with a script. */
export async function keepUserCode(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  if (ctx.method === 'GET' && ctx.path === '/device') {
    const { user_code: userCode } = ctx.query;
    Object.assign(ctx.state, { userCode });
    ctx.querystring = '';
  }
  await next();
}

function formOf(ctx: KoaContextWithOIDC): { action: string; xsrf: string } {
  const { secret: xsrf } = ctx.oidc.session?.state ?? {};
  return { action: ctx.oidc.urlFor('code_verification'), xsrf: typeof xsrf === 'string' ? xsrf : '' };
}

function problemOf(error: Error | undefined): string | undefined {
  switch (error?.name) {
    case undefined:
      return undefined;
    case 'AbortedError':
      return 'The sign-in was stopped. Start again on the device for a new code.';
    case 'ExpiredError':
      return 'This code has expired. Start again on the device for a new one.';
    case 'AlreadyUsedError':
      return 'This code was already used. Start again on the device for a new one.';
    case 'NoCodeError':
    case 'NotFoundError':
      return 'No device displays this code. Compare it and type it again.';
    default:
      return 'That did not work. Type the code again.';
  }
}
