/** The client options that a Redis store requires. */
export const STRICT = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
} as const;
