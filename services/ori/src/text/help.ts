import { EXIT_MEANINGS } from '../core/exit-codes.ts';

const EXIT_CODES = [
  'Exit codes:',
  ...EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`),
];

export const MAIN_HELP = `
Examples:
  ori login
  ori call int_7Qm2 /api/invoke --data '{"prompt":"hello"}' --daemon https://my-intern.example.com
  ori sign int_7Qm2 --path /api/invoke --file body.json > headers.txt
  curl -H @headers.txt -H 'content-type: application/json' --data-binary @body.json https://…/api/invoke
  ori proxy int_7Qm2
  ori mcp int_7Qm2
  ori doctor call int_7Qm2 /api/invoke --data '{"prompt":"hello"}'

Environment:
  ORI_TOKEN        access token, or API or management key, to use instead of a session
  ORI_PROFILE      profile to use (default: that of ori profiles use)
  ORI_SESSION_STORE  keychain or file (default: the keychain, where there is one)
  ORI_BASE_URL     base address of the API, ending in /v1 (default: the session's, else
                   http://127.0.0.1:8080/v1)
  ORI_DAEMON_URL   origin of the daemon (default: that of ori profiles daemon, else the
                   hostname that the API lists)
  ORI_DPOP_KEY     file of the private key (JWK) that the token of ORI_TOKEN is bound to
  ORI_CLIENT_ID    client at the OpenID issuer (default: as the API says)
  BROWSER          program that opens the sign-in page
  XDG_CONFIG_HOME  folder of ori/session.json (default: ~/.config)
  TRACEPARENT      trace to continue (W3C Trace Context; default: a new trace)
  HTTPS_PROXY, NO_PROXY  proxy for requests to https addresses, and the hosts that need none
  NODE_EXTRA_CA_CERTS  file of further certificate authorities to trust (PEM)
  XDG_DATA_HOME    where ori/keys (what sessions are bound to) and ori/checkpoints (of signing logs) are kept
                   (default: ~/.local/share)
  XDG_CACHE_HOME   folder of compiled code, for faster starts (default: ~/.cache)

${EXIT_CODES.join('\n')}`;

export const LOGIN_HELP = `
Examples:
  ori login                        in a browser on this machine
  ori login --device               with a code to type on another device
  ori login --scope vault:read     only what signing needs
  ori login --profile work         in addition to the default profile
  ori login --base-url https://api.example.com/v1
  ori login --with-token < token.txt`;

export const SIGN_HELP = `
The body comes from --data, --file or stdin. Only its SHA-256 is sent. A proof is valid for one request and for about
a minute.

Examples:
  ori sign int_7Qm2 --path /api/invoke --file body.json > headers.txt
  curl -H @headers.txt -H 'content-type: application/json' --data-binary @body.json https://…/api/invoke
  ori sign int_7Qm2 --path /api/invoke --body-sha256 "$(sha256sum < body.json | cut -c1-64)" --json`;

export const HEADERS_HELP = `
A session that is bound to a key needs a new DPoP proof for each request (RFC 9449), over its exact content: that of
--data or --file, otherwise none. To use a token of your own, set ORI_TOKEN to it and ORI_DPOP_KEY to the file of its
private key.

Examples:
  curl -H @<(ori headers GET "$URL") "$URL"
  curl -H @<(ori headers POST "$URL" --file body.json) -H 'content-type: application/json' --data-binary @body.json "$URL"`;

export const API_HELP = `
Sessions can use /interns. Other routes, such as /guardrails, want a management key in ORI_TOKEN.

Examples:
  ori api /interns -X GET -f limit=1
  ori api /interns --paginate --jq '.[].name'
  ORI_TOKEN="$(cat management-key.txt)" ori api /guardrails -f name='no secrets'`;

export const CALL_HELP = `
The body comes from --data, --file or stdin. The path is sent as it is, byte for byte: percent-encode it yourself.
The daemon's answer goes to stdout unchanged; on a terminal its control characters are escaped.

Examples:
  ori call int_7Qm2 /api/invoke --data '{"prompt":"hello"}'
  ori call greeter /api/invoke -d @body.json -i
  ori call int_7Qm2 /api/import --file dump.ndjson --content-type application/x-ndjson -o answer.json
  jq -n '{prompt:"hello"}' | ori call int_7Qm2 /api/invoke --json`;

export const PROXY_HELP = `
Prints an address on this computer. A POST to a path below it is signed as you and passed on to the daemon; the answer
comes back as it is. The address contains a secret, so only programs that you give it to can use it; the header
x-ori-proxy-secret may carry the secret instead. Nothing else is signed, and web pages are refused, unless
--allow-origin names their origin. The arguments of a program can be read by other users of this computer: give curl
the address in a file that only you can read.

Examples:
  (umask 077; ori proxy int_7Qm2 --port 4999 > address.txt)
  curl --config <(printf 'url = "%s/api/invoke"' "$(cat address.txt)") --json '{"prompt":"hello"}'
  ori proxy int_7Qm2 --allow-origin http://localhost:5173`;

export const MCP_HELP = `
For the configuration of an MCP client, as the command of a server: each JSON-RPC message becomes one signed POST to
the path. Signs in with a browser if nobody is signed in. Failures are JSON-RPC errors, whose data has the code of ori.

Examples:
  ori mcp int_7Qm2
  ori mcp greeter /api/mcp --daemon https://my-intern.example.com`;

export const DOCTOR_CALL_HELP = `
This makes a real call: if the daemon accepts it, it is carried out. The answer is not printed. Before, the same call is
sent without a proof: a daemon that accepts that is open to anybody.
If the daemon refuses it, the report says what changed on the way, if the daemon reports what it received: one with
@ori/verifier does, with requireProof(verifier, { bodyBytesMax, diagnose: true }).

Examples:
  ori doctor call int_7Qm2 /api/invoke --data '{"prompt":"hello"}'
  ori doctor call int_7Qm2 /api/invoke --file body.json --daemon https://my-intern.example.com --json`;

export const COMPLETION_HELP = `
Examples:
  source <(ori completion bash)
  source <(ori completion zsh)
  ori completion fish | source`;
