/**
 * The API answered 401: the access token is invalid, whatever its stated expiry. A refresh may help, once.
 */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}
