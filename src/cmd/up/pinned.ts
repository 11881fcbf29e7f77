// A terminal whose last lines stay where they are while others scroll by above them.

const UP = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A`);
const ERASE_BELOW = '\r\u001b[0J';

export class Pinned {
  readonly #write: (text: string) => void;
  #shown: readonly string[] = [];

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Text that scrolls: whole lines. */
  scroll(text: string): void {
    this.#write(`${this.#erased()}${text}${block(this.#shown)}`);
  }

  /** What stays; none: nothing does. Lines must fit the terminal. */
  pin(lines: readonly string[]): void {
    if (lines.length === this.#shown.length && lines.every((line, i) => line === this.#shown[i])) return;
    const erased = this.#erased();
    this.#shown = lines;
    this.#write(`${erased}${block(lines)}`);
  }

  #erased = (): string => (this.#shown.length === 0 ? '' : `${UP(this.#shown.length)}${ERASE_BELOW}`);
}

const block = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
