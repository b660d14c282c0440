/** The counter of the other route's handler: each route is a separate bundle. */
export const dynamic = 'force-dynamic';
export const GET = () => Response.json(globalThis.ran);
