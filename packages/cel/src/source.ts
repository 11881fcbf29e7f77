// A CEL source text and its errors. Offsets are UTF-16 units internally. Messages show lines and columns in code
// points, in the wording and layout of cel-go, because CRD errors quote them.

export interface Issue {
  /** UTF-16 offset, or -1 if the error has no position. */
  readonly offset: number;
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
  readonly message: string;
}

const MAX_ISSUES = 100;
const MAX_SNIPPET = 16_384;
const NON_ASCII = /[^\p{ASCII}]/u;

export class Source {
  readonly text: string;
  readonly #description: string;

  constructor(text: string, description = '<input>') {
    this.text = text;
    this.#description = description;
  }

  issue(offset: number, message: string): Issue {
    if (offset < 0) return { offset: -1, line: -1, column: 0, message };
    const before = this.text.slice(0, offset);
    const lineStart = before.lastIndexOf('\n') + 1;
    const line = lineStart === 0 ? 1 : before.split('\n').length;
    return { offset, line, column: countCodePoints(before.slice(lineStart)) + 1, message };
  }

  /** `ERROR: <input>:1:5: message`, the source line and a caret at the position. */
  render(issue: Issue): string {
    const head = `ERROR: ${this.#description}:${issue.line}:${issue.column}: ${issue.message}`;
    const snippet = issue.line < 1 ? undefined : this.text.split('\n')[issue.line - 1];
    if (snippet === undefined || this.text === '' || Buffer.byteLength(snippet) > MAX_SNIPPET) return head;
    const shown = snippet.replaceAll('\t', ' ');
    const points = [...shown];
    const dots = points.slice(0, issue.column - 1).map((c) => (NON_ASCII.test(c) ? '．' : '.'));
    const caret = NON_ASCII.test(points[issue.column - 1] ?? '') ? '＾' : '^';
    return `${head}\n | ${shown}\n | ${dots.join('')}${caret}`;
  }

  /** All errors in order of position, as one text. */
  renderAll(issues: readonly Issue[]): string {
    const sorted = [...issues.slice(0, MAX_ISSUES)].sort((a, b) => a.line - b.line || a.column - b.column);
    const lines = sorted.map((i) => this.render(i));
    const more = issues.length - MAX_ISSUES;
    if (more > 0) lines.push(`${more} more errors were truncated`);
    return lines.join('\n');
  }
}

/**
 * Collects errors. Only those that will be reported get a position, because computing it reads the text, and an invalid
 * text can have very many errors.
 */
export class Problems {
  readonly #source: Source;
  readonly list: Issue[] = [];

  constructor(source: Source) {
    this.#source = source;
  }

  add(offset: number, message: string): void {
    const shown = this.list.length < MAX_ISSUES;
    this.list.push(shown ? this.#source.issue(offset, message) : { offset, line: -1, column: 0, message });
  }
}

/** The length of a text in code points. */
export function countCodePoints(text: string): number {
  const { length } = text;
  for (let i = 0; i < length; i++) {
    if ((text.charCodeAt(i) & 0xf800) === 0xd800) return countFrom(text, i);
  }
  return length;
}

/** The same for a text whose first surrogate is at `start`. */
function countFrom(text: string, start: number): number {
  let count = text.length;
  for (let i = start + 1; i < text.length; i++) {
    // A low surrogate that follows a high one belongs to the same code point.
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) {
      count--;
      i++;
    }
  }
  return count;
}
