// Why keys wake, in one byte per key: reasons are constants of the program ("deadline: ttl"), so there are few of them.

const OTHER = 'other';
const MOST = 255;

export class Reasons {
  readonly #codes = new Map<string, number>([[OTHER, 0]]);
  readonly #texts: string[] = [OTHER];

  /** Beyond 255 different texts, `other`. */
  code(text: string): number {
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    if (this.#texts.length > MOST) return 0;
    this.#codes.set(text, this.#texts.length);
    return this.#texts.push(text) - 1;
  }

  text(code: number): string {
    return this.#texts[code] ?? OTHER;
  }
}
