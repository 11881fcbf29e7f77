// Encodes the reason why a key was enqueued in one byte. Reasons are constants of the program ("deadline: ttl").

const OTHER = 'other';
const MAX_CODE = 255;

export class Reasons {
  readonly #codes = new Map<string, number>([[OTHER, 0]]);
  readonly #texts: string[] = [OTHER];

  /** After 255 different texts, further ones are encoded as `other`. */
  code(text: string): number {
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    if (this.#texts.length > MAX_CODE) return 0;
    this.#codes.set(text, this.#texts.length);
    return this.#texts.push(text) - 1;
  }

  text(code: number): string {
    return this.#texts[code] ?? OTHER;
  }
}
