/**
 * The claim over the exact content of a request: its SHA-256 in base64url without padding. Name and encoding are those
 * of the CAMARA Security and Interoperability Profile; RFC 9449, section 4.2, permits additional claims.
 */
export const CONTENT_CLAIM = 'x-camara:bh';
