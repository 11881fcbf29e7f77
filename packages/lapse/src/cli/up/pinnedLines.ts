// Keeps the last lines of a terminal in place while other lines scroll above them.

import { stripVTControlCharacters } from 'node:util';
import { terminalText } from '../terminalText.ts';

const UP = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A`);
const ERASE_BELOW = '\r\u001b[0J';

export class PinnedLines {
  readonly #write: (text: string) => void;
  readonly #columns: () => number;
  #shown: readonly string[] = [];

  /** `columns`: current width of the terminal. */
  constructor(write: (text: string) => void, columns: () => number = () => Number.POSITIVE_INFINITY) {
    this.#write = write;
    this.#columns = columns;
  }

  /** Complete lines that scroll. */
  scroll(text: string): void {
    this.#write(`${this.#erased()}${terminalText(text)}${block(this.#shown)}`);
  }

  /** The pinned lines, which must fit the terminal. Empty: removes them. */
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

/** A terminal that became narrower has wrapped the printed lines. */
const computeRows = (lines: readonly string[], columns: number): number =>
  lines.reduce(
    (sum, line) => sum + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
    0,
  );

const block = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
