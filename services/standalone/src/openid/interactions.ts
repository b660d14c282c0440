import { pageHeaders } from '@ori/faces/html';
import { type ErrorRequestHandler, type Request, type Response, Router, urlencoded } from 'express';
import type Provider from 'oidc-provider';
import type { Interaction } from 'oidc-provider';
import { type ProviderUser, renderConsentPage, renderProblemPage, renderSignInPage } from './pages.ts';

export interface InteractionOptions {
  readonly provider: Provider;
  readonly users: readonly ProviderUser[];
  readonly resource: string;
  readonly resourceScopes: readonly string[];
}

/**
 * The two questions between an authorization request and its code: who are you, and do you allow it. The provider keeps
 * the state and checks the flow; these routes only ask.
 */
export function interactionRoutes(options: InteractionOptions): Router {
  const { provider } = options;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/interaction/:uid', async (req, res) => {
    const interaction = await provider.interactionDetails(req, res);
    const client = await provider.Client.find(clientIdOf(interaction));
    res
      .set(pageHeaders({ formTarget: redirectOf(interaction) }))
      .send(render(options, interaction, client?.clientName ?? 'A program'));
  });
  routes.post('/interaction/:uid', urlencoded({ extended: false, limit: 4096 }), async (req, res) => {
    const interaction = await provider.interactionDetails(req, res);
    if (interaction.prompt.name === 'login') await answerSignIn(options, req, res);
    else await answerConsent(options, interaction, req, res);
  });
  routes.use(problemPage);
  return routes;
}

function render(options: InteractionOptions, interaction: Interaction, client: string): string {
  const action = `/interaction/${interaction.uid}`;
  if (interaction.prompt.name === 'login') return renderSignInPage({ action, client, users: options.users });
  const user = options.users.find(({ subject }) => subject === interaction.session?.accountId);
  const onDevice = interaction.deviceCode !== undefined;
  return renderConsentPage({
    action,
    client,
    user: user?.name ?? '',
    scopes: scopesOf(interaction),
    onDevice,
  });
}

async function answerSignIn(
  { provider, users }: InteractionOptions,
  req: Request,
  res: Response,
): Promise<void> {
  const user = users.find(({ name }) => name === req.body?.user);
  if (user === undefined) {
    res
      .status(400)
      .set(pageHeaders())
      .send(renderProblemPage({ sentence: 'There is no such demo member.' }));
    return;
  }
  const login = { accountId: user.subject, remember: false };
  await provider.interactionFinished(req, res, { login }, { mergeWithLastSubmission: false });
}

async function answerConsent(
  { provider, resource, resourceScopes }: InteractionOptions,
  interaction: Interaction,
  req: Request,
  res: Response,
): Promise<void> {
  if (req.body?.decision !== 'allow') {
    const denied = { error: 'access_denied', error_description: 'the member denied the request' };
    await provider.interactionFinished(req, res, denied, { mergeWithLastSubmission: false });
    return;
  }
  const grant = new provider.Grant({
    accountId: text(interaction.session?.accountId),
    clientId: clientIdOf(interaction),
  });
  const requested = scopesOf(interaction);
  grant.addOIDCScope(requested.filter((scope) => !resourceScopes.includes(scope)).join(' '));
  grant.addResourceScope(resource, requested.filter((scope) => resourceScopes.includes(scope)).join(' '));
  await provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } });
}

function scopesOf(interaction: Interaction): string[] {
  const { scope } = interaction.params;
  return text(scope).split(' ').filter(Boolean);
}

function clientIdOf(interaction: Interaction): string {
  const { client_id: clientId } = interaction.params;
  return text(clientId);
}

function redirectOf(interaction: Interaction): string | undefined {
  const { redirect_uri: redirectUri } = interaction.params;
  return typeof redirectUri === 'string' ? redirectUri : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const problemPage: ErrorRequestHandler = (_error, _req, res, _next) => {
  const sentence = 'This sign-in is over, or was started in another browser.';
  res.status(400).set(pageHeaders()).send(renderProblemPage({ sentence }));
};
