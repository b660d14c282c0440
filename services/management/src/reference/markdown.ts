import { Html } from '@ori/faces/html';
import { marked } from 'marked';

/** Our own Markdown, which is trusted, as markup; its headings begin below that of the page. */
export function markdown(text: string): Html {
  return new Html(marked.parse(text, { async: false }));
}
