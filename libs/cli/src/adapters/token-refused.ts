/**
 * The API answered 401: the access token is no good, whatever its stated end. A refresh may help, once.
 */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}
