import { join } from 'node:path';
import { visitForms } from '../../../e2e/foreign-visit.ts';
import { springApplication } from '../install.ts';
import { type Launch, PASSWORD, started } from '../launch.ts';

export const spring: Launch = {
  name: 'Spring Authorization Server, Boot',
  asInstalled: 'no `typ`, `aud` is the client, no `client_id`, `scope` is a list',
  lines: 'a token customizer that sets the four',
  sub: '**the login**',
  install: springApplication,
  start: (baseUrl, folder) =>
    started(
      (port) => ({
        program: 'java',
        arguments: ['-XX:TieredStopAtLevel=1', '-jar', join(folder, 'target/spring-1.jar')],
        ready: /Started App/,
        environment: { PORT: String(port), AUDIENCE: baseUrl },
      }),
      (issuer) => ({
        issuer,
        subject: 'ada',
        settings: {},
        visit: (start, browser) =>
          visitForms(start, { username: 'ada', password: PASSWORD }, undefined, browser),
      }),
    ),
};
