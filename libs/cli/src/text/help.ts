import { EXIT_MEANINGS } from '../core/exit-codes.ts';

const EXIT_CODES = [
  'Exit codes:',
  ...EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`),
];

/** What `ori --help` says below the commands. */
export const MAIN_HELP = `
Examples:
  ori login
  ori call int_7Qm2 /api/invoke --data '{"prompt":"hello"}' --daemon https://my-intern.example.com
  ori sign int_7Qm2 --path /api/invoke --file body.json > headers.txt
  curl -H @headers.txt -H 'content-type: application/json' --data-binary @body.json https://…/api/invoke
  ori doctor gateway /etc/nginx/nginx.conf
  ori doctor call int_7Qm2 /api/invoke --data '{"prompt":"hello"}'

Environment:
  ORI_TOKEN        access token to use in the place of a session
  ORI_PROFILE      whose session to use (else default)
  ORI_SESSION_STORE  keychain or file (else the keychain, where there is one)
  ORI_BASE_URL     base address of the API, ending in /v1 (else that of the session, else http://127.0.0.1:8080/v1)
  ORI_DAEMON_URL   where the daemon is, for ori call (else the hostname that the API lists)
  ORI_DPOP_KEY     file of the private key (JWK) that the token of ORI_TOKEN is bound to
  ORI_CLIENT_ID    client at the OpenID issuer (else ori-cli)
  BROWSER          what opens the sign-in page
  XDG_CONFIG_HOME  where ori/session.json is kept (else ~/.config)
  NO_COLOR         no colour on a screen either
  XDG_DATA_HOME    where ori/keys (what sessions are bound to) and ori/checkpoints (of signing logs) are kept
                   (else ~/.local/share)

${EXIT_CODES.join('\n')}`;

export const LOGIN_HELP = `
Examples:
  ori login                        in a browser on this machine
  ori login --device               with a code to type on any other device
  ori login --scope vault:read     no more than signing takes
  ori login --profile work         beside the session of the default profile
  ori login --with-token < token.txt`;

export const SIGN_HELP = `
The body comes from --data, --file or stdin; it stays here, only its SHA-256 is sent. A proof is good for one request,
for about a minute.

Examples:
  ori sign int_7Qm2 --path /api/invoke --file body.json > headers.txt
  curl -H @headers.txt -H 'content-type: application/json' --data-binary @body.json https://…/api/invoke
  ori sign int_7Qm2 --path /api/invoke --body-sha256 "$(sha256sum < body.json | cut -c1-64)" --json`;

export const DPOP_PROOF_HELP = `
A session that is bound to a key needs a new proof for each request (RFC 9449). For a token that was handed over, set
ORI_TOKEN to it and ORI_DPOP_KEY to the file of its private key.

Example:
  curl -H "Authorization: DPoP $ORI_TOKEN" -H "DPoP: $(ori dpop-proof GET "$URL")" "$URL"`;

export const CALL_HELP = `
The body comes from --data, --file or stdin. The path is sent as it is, byte for byte: percent-encode it yourself.
The daemon's answer goes to stdout unchanged; on a screen its control characters are made visible.

Examples:
  ori call int_7Qm2 /api/invoke --data '{"prompt":"hello"}'
  ori call difference /api/invoke -d @body.json -i
  ori call int_7Qm2 /api/import --file dump.ndjson --content-type application/x-ndjson -o answer.json
  jq -n '{prompt:"hello"}' | ori call int_7Qm2 /api/invoke --json`;

export const DOCTOR_GATEWAY_HELP = `
Reads the file with all that it includes, and starts nothing. Each finding says where it stands, what happens to a proof, and
how to fix it. To take one back, at the directive or on the line above it:

  # ori-doctor: allow RULE, because …

It reads nginx only. For Envoy, HAProxy, Caddy or a cloud's load balancer, make a call through it: ori doctor call says
what changed on the way.

Examples:
  ori doctor gateway /etc/nginx/nginx.conf
  nginx -T | ori doctor gateway -
  ori doctor gateway deploy/gateway/nginx.conf --json`;

export const DOCTOR_CALL_HELP = `
It is a real call, made once: what it asks for is done when the daemon accepts it. The answer itself is not printed.
What changed is known when the daemon tells what arrived: requireProof(verifier, { bodyBytesMax, diagnose: true }).

Examples:
  ori doctor call int_7Qm2 /api/invoke --data '{"prompt":"hello"}'
  ori doctor call int_7Qm2 /api/invoke --file body.json --daemon https://my-intern.example.com --json`;

export const COMPLETION_HELP = `
Examples:
  source <(ori completion bash)
  source <(ori completion zsh)
  ori completion fish | source`;
