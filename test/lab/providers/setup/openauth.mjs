// OpenAuth with a provider that asks for no password, in the folder that has its packages.
import { serve } from '@hono/node-server';
import { issuer } from '@openauthjs/openauth';
import { MemoryStorage } from '@openauthjs/openauth/storage/memory';
import { createSubjects } from '@openauthjs/openauth/subject';
import { object, string } from 'valibot';

const one = {
  type: 'one',
  init(routes, ctx) {
    routes.get('/authorize', (c) =>
      c.html('<form method="post" action="/one/go"><button>Go</button></form>'),
    );
    routes.post('/go', (c) => ctx.success(c, { id: 'ada' }));
  },
};
const app = issuer({
  providers: { one },
  subjects: createSubjects({ user: object({ id: string() }) }),
  storage: MemoryStorage(),
  allow: async () => true,
  success: (ctx, { id }) => ctx.subject('user', { id }),
});
serve({ fetch: app.fetch, port: Number(process.argv[2]), hostname: '127.0.0.1' }, () =>
  console.log('listening'),
);
