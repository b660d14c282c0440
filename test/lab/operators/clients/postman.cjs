const { run } = require('./node_modules/newman');

const { ORI_BASE_URL: baseUrl, ORI_API_KEY: apiKey, ORI_MANAGEMENT_KEY: managementKey } = process.env;

/** Sends a request of the collection as it was imported, and tells what answers. */
const send = (folder, bearerToken, told) =>
  new Promise((resolve, reject) => {
    const envVar = Object.entries({ baseUrl, bearerToken }).map(([key, value]) => ({ key, value }));
    const sent = run({ collection: `${process.cwd()}/collection.json`, folder, envVar }, (error) =>
      error ? reject(error) : resolve(),
    );
    sent.on('request', (_, { response }) => console.log(told(response.json().data) ?? response.text()));
  });

void send('List interns', apiKey, (interns) => interns && `lists ${interns.map(({ name }) => name)}`)
  .then(() =>
    send(
      'Create a guardrail',
      managementKey,
      (made) => made && `creates ${made.name} ${made.reset_interval}`,
    ),
  )
  .then(() => send('Create a guardrail', managementKey, (made) => made && `creates another, ${made.name}`));
