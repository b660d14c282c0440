/**
 * The script of the reference: a search over the operations, and a button that copies each example. The page is whole
 * without it. A browser offers no clipboard to a page over plain HTTP, except on this computer: then there is no button.
 */
export const PAGE_SCRIPT = `
const nav = document.querySelector('nav');
const links = [...nav.querySelectorAll('li a')].map((link) => {
  const target = document.getElementById(link.hash.slice(1));
  return { link, text: (target.closest('section') ?? target).textContent.toLowerCase() };
});
const label = document.createElement('label');
const field = document.createElement('input');
const found = document.createElement('p');
label.textContent = 'Search operations';
field.type = 'search';
field.id = label.htmlFor = 'search';
found.className = 'quiet';
found.setAttribute('role', 'status');
nav.prepend(label, field, found);

function search() {
  const words = field.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
  let count = 0;
  for (const { link, text } of links) {
    const isFound = words.every((word) => text.includes(word));
    link.parentElement.hidden = !isFound;
    if (isFound) count += 1;
  }
  for (const group of nav.querySelectorAll('details')) {
    const isEmpty = group.querySelector('li:not([hidden])') === null;
    group.hidden = isEmpty;
    group.open = words.length > 0 && !isEmpty;
  }
  found.textContent = words.length === 0 ? '' : count + ' of ' + links.length;
}
field.addEventListener('input', search);
field.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') nav.querySelector('details:not([hidden]) li:not([hidden]) a')?.click();
});

for (const example of navigator.clipboard ? document.querySelectorAll('pre') : []) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(example.textContent);
    button.textContent = 'Copied';
  });
  example.before(button);
}
`;
