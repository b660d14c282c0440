declare module 'rate-limiter-flexible/lib/RateLimiterStoreAbstract.js' {
  import type { RateLimiterStoreAbstract } from 'rate-limiter-flexible';

  const StoreAbstract: typeof RateLimiterStoreAbstract;
  // biome-ignore lint/style/noDefaultExport: that is how Node shows a CommonJS module
  export default StoreAbstract;
}
