/** What the handler of the other route counted: each route is a bundle of its own. */
export const dynamic = 'force-dynamic';
export const GET = () => Response.json(globalThis.ran);
