/** What a handler hears of its request, by which Node 24 and the servers of Fetch handlers tell that the client left. */
const heard = new WeakMap<object, AbortController>();

function controllerOf(request: object): AbortController {
  const known = heard.get(request);
  if (known !== undefined) return known;
  const made = new AbortController();
  heard.set(request, made);
  return made;
}

const SIGNAL = {
  configurable: true,
  get(this: object) {
    return controllerOf(this).signal;
  },
};

/** From now on `request.signal` does not tell that the client left: an answer that ends there would be kept as if it were whole. */
export function holdSignal(request: object): void {
  if ('signal' in request) Reflect.defineProperty(request, 'signal', SIGNAL);
}

/** Nothing more is recorded, and the client left. */
export function tellSignal(request: object, reason?: unknown): void {
  if (Object.hasOwn(request, 'signal')) controllerOf(request).abort(reason);
}

/** Nothing more is recorded, and the client may leave yet. */
export function passSignal(request: { readonly signal?: AbortSignal }): void {
  if (!Reflect.deleteProperty(request, 'signal') || !heard.has(request)) return;
  const { signal } = request;
  const tell = (): void => controllerOf(request).abort(signal?.reason);
  if (signal?.aborted) tell();
  else signal?.addEventListener('abort', tell);
}
