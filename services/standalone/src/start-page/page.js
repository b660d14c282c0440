// The script of the start page. It draws what the services answer, and decides nothing itself.

const form = document.querySelector('#call');
const { issuer, api, intern, daemon } = form.dataset;
const [way, signed, abuse, answers] = ['#way', '#signed', '#abuse', '#answers'].map((id) =>
  document.querySelector(id),
);
const trial = document.querySelector('#try');
const [trying, tried] = ['#trying', '#tried'].map((id) => document.querySelector(id));

// A link of the reference brings its request along, with the parameter of its path.
for (const [name, value] of new URLSearchParams(location.search)) {
  const field = trial.elements.namedItem(name);
  if (field) field.value = name === 'request' ? value.replace('{internId}', intern) : value;
}

/** The last call that got a proof: { user, path, body, proof, signed }. */
let made;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const { user, path, body } = Object.fromEntries(new FormData(form));
  void run(event.submitter, `Signing in as ${user} …`, () => call({ user, path, body }));
});

for (const button of abuse.querySelectorAll('button')) {
  button.addEventListener('click', () => run(button, '', () => ATTACKS[button.value](made, button)));
}

trial.addEventListener('submit', (event) => {
  event.preventDefault();
  void run(event.submitter, 'Sending …', () => ask(Object.fromEntries(new FormData(trial))), trying);
});

/** One thing at a time per button: its failure is told, and the button can be used again. */
async function run(button, doing, act, status = document.querySelector('#status')) {
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  status.classList.remove('problem');
  status.textContent = doing;
  try {
    await act();
    status.textContent = '';
  } catch (error) {
    status.classList.add('problem');
    status.textContent = `That did not work: ${error.message}`;
  } finally {
    button.removeAttribute('aria-disabled');
  }
}

async function call({ user, path, body }) {
  const { asked, proof, refusal, ...answer } = await post('/start/proof', { user, path, body });
  made = proof && { user, path, body, proof, signed: answer.signed };
  const { subject } = form.elements.user.selectedOptions[0].dataset;
  const steps = [
    step('Session', `${user} signed in at ${issuer}, as ${subject}, with a key that only this session has.`),
    step('Signer', `POST ${api}/interns/${intern}/daemon/sign`, code(asked), said(answer.status, refusal)),
  ];
  answers.replaceChildren();
  if (proof) {
    const accepted = await send({ intern: 'greeter', path, body, proof });
    steps.push(
      step('Five headers', headers(proof)),
      step('Daemon', `POST ${daemon}${path}, with the five headers and the body`, code(body)),
      step('Verdict', said(accepted.status, accepted.refusal), code(accepted.content)),
    );
    signed.replaceChildren(...fieldsOf(made.signed).flatMap((field) => [field, '\n']));
  } else steps.push(step('Verdict', 'There is no proof, so there is no call.'));
  way.querySelector('#bytes').hidden = made === undefined;
  way.querySelector('ol').replaceChildren(...steps);
  abuse.hidden = made === undefined;
  way.querySelector('h2').focus();
  steps.at(-1).scrollIntoView({ block: 'nearest' });
}

async function ask({ request, body }) {
  const user = form.elements.user.value;
  const answer = await post('/start/api', { user, request, body });
  show(tried, step(request, said(answer.status, answer.refusal), code(pretty(answer.content))));
}

/** Each sends the call that was made, with one thing changed, and shows the answer. */
const ATTACKS = {
  repeat: (call) => attack('Repeated', call, {}),
  byte: (call) => {
    const next = (character) => String.fromCharCode(character.charCodeAt(0) + 1);
    const changed = call.body.replace(/[a-y0-8](?=[^a-y0-8]*$)/, next);
    const body = changed === call.body ? `${call.body} ` : changed;
    return attack('One byte of the body changed', call, { body }, body);
  },
  path: (call) => attack('Path changed', call, { path: `${call.path}/x` }, `${call.path}/x`),
  async late(call, button) {
    const until = Number(call.proof['x-ori-invoke-timestamp']) * 1000 + 70_000;
    const label = button.textContent;
    for (let left = until - Date.now(); left > 0; left = until - Date.now()) {
      button.textContent = `Waiting ${Math.ceil(left / 1000)} s …`;
      await new Promise((resolve) => setTimeout(resolve, Math.min(1000, left)));
    }
    button.textContent = label;
    await attack('70 s old', call, {});
  },
  user: (call) => {
    const { subject } = form.querySelector('[value=grace]').dataset;
    const proof = { ...call.proof, 'x-ori-invoke-user': subject };
    return attack('In the name of grace', call, { proof }, `x-ori-invoke-user: ${subject}`);
  },
  intern: (call) => attack('To the daemon of analytical', call, { intern: 'analytical' }),
  async answer({ user, path, body }) {
    const { sent, arrived } = await post('/start/answer', { user, path, body });
    const known = new Set(fieldsOf(sent.expected));
    const other = fieldsOf(arrived.expected).filter((field) => !known.has(field));
    const covers = 'The client needs the daemon’s signature over these fields, which were not signed:';
    const parts = [code(arrived.content), said('exit 9', arrived.refusal), covers, marked(other)];
    show(answers, step('One byte of the answer changed', ...parts));
  },
};

async function attack(title, { path, body, proof, signed: covered }, changed, shown) {
  const answer = await send({ intern: 'greeter', path, body, proof, ...changed });
  const known = new Set(fieldsOf(covered));
  const other = fieldsOf(answer.expected ?? '').filter((field) => !known.has(field));
  const parts = [said(answer.status, answer.refusal)];
  if (shown !== undefined) parts.unshift(code(shown));
  if (other.length > 0)
    parts.push('The daemon needs a signature over these fields, which were not signed:', marked(other));
  show(answers, step(title, ...parts));
}

/** On top of the others, and in view. */
function show(list, answer) {
  list.prepend(answer);
  answer.scrollIntoView({ block: 'nearest' });
}

const send = (call) => post('/start/call', call);

async function post(url, content) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(content) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  return answer;
}

/** The netstrings of a signing input, each with its length and comma. */
function fieldsOf(text) {
  const fields = [];
  for (let at = 0; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = colon + Number(text.slice(at, colon)) + 2;
    fields.push(text.slice(at, end));
    at = end;
  }
  return fields;
}

/** An answer: its status and code, what it says, and the sentence of SPEC that demands it. */
function said(code, refusal) {
  const verdict = element('strong', `${code} ${refusal?.code ?? 'OK'}`);
  verdict.className = refusal ? 'bad' : 'good';
  if (refusal === undefined) return verdict;
  const { message, sentence } = refusal;
  const rule =
    sentence && element('span', element('b', `SPEC ${sentence.id}`), ` ${sentence.text.replaceAll('`', '')}`);
  if (rule) rule.className = 'quiet rule';
  return element('span', verdict, ` ${message}`, ...(rule ? [rule] : []));
}

function step(title, ...parts) {
  return element('li', element('h3', title), ...parts.map((part) => element('div', part)));
}

const headers = (proof) =>
  code(
    Object.entries(proof)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
  );
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const code = (text) => element('code', text);
const marked = (fields) => element('code', ...fields.map((field) => element('mark', field)));

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}
