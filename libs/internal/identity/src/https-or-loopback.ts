/** Whether nobody on the way can read or change what goes to this URL. */
export function isHttpsOrLoopback(value: string): boolean {
  const { protocol, hostname } = URL.parse(value) ?? { protocol: '', hostname: '' };
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}
