// A terminal whose last lines stay where they are while others scroll by above them.

import { stripVTControlCharacters } from 'node:util';
import { terminalText } from '../terminalText.ts';

const UP = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A`);
const ERASE_BELOW = '\r\u001b[0J';

export class Pinned {
  readonly #write: (text: string) => void;
  readonly #columns: () => number;
  #shown: readonly string[] = [];

  /** `columns`: of the terminal, now. */
  constructor(write: (text: string) => void, columns: () => number = () => Number.POSITIVE_INFINITY) {
    this.#write = write;
    this.#columns = columns;
  }

  /** Text that scrolls: whole lines. */
  scroll(text: string): void {
    this.#write(`${this.#erased()}${terminalText(text)}${block(this.#shown)}`);
  }

  /** What stays; none: nothing does. Lines must fit the terminal. */
  pin(given: readonly string[]): void {
    const lines = given.map(terminalText);
    if (lines.length === this.#shown.length && lines.every((line, i) => line === this.#shown[i])) return;
    const erased = this.#erased();
    this.#shown = lines;
    this.#write(`${erased}${block(lines)}`);
  }

  #erased = (): string =>
    this.#shown.length === 0 ? '' : `${UP(computeRows(this.#shown, this.#columns()))}${ERASE_BELOW}`;
}

/** A terminal that was made narrower since has folded what was written to it. */
const computeRows = (lines: readonly string[], columns: number): number =>
  lines.reduce(
    (sum, line) => sum + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
    0,
  );

const block = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
