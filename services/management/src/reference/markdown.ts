import { Html } from '@ori/faces/html';
import { marked } from 'marked';

/** A line of it, without a paragraph around it. */
export function markdownLine(text: string): Html {
  return new Html(marked.parseInline(text, { async: false }));
}

/** Our own Markdown, which is trusted, as markup; its headings begin below that of the page. */
export function markdown(text: string): Html {
  return new Html(marked.parse(text, { async: false }));
}
