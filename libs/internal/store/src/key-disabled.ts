/** Whether an API key is refused, as SQL: it was disabled, or it has expired. */
export const IS_KEY_DISABLED = '(disabled_at is not null or coalesce(expires_at <= now(), false))';
