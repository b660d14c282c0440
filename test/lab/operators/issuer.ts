import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import process from 'node:process';
import express from 'express';
import Provider from 'oidc-provider';
import {
  providerConfiguration,
  RESOURCE_SCOPES,
} from '../../../services/standalone/src/openid/configuration.ts';
import { interactionRoutes } from '../../../services/standalone/src/openid/interactions.ts';

/** `node issuer.ts URL RESOURCE [KEY CERTIFICATE]`: the standalone's OpenID provider, where containers can reach it too. */
const [issuer = '', resource = '', key, certificate] = process.argv.slice(2);
const users = [
  { name: 'ada', subject: 'auth0|5f7c' },
  { name: 'canary', subject: 'canary' },
];
const provider = new Provider(
  issuer,
  providerConfiguration({ users, resource, signerClientSecret: 'unused' }),
);
const app = express();
app.use(interactionRoutes({ provider, users, resource, resourceScopes: RESOURCE_SCOPES }));
app.use(provider.callback());
const server =
  key === undefined || certificate === undefined
    ? createServer(app)
    : createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, app);
server.listen(Number(new URL(issuer).port), new URL(issuer).hostname);
