// A set that forgets its oldest members, for things worth remembering as long as they are few.

export class Remembered {
  readonly #members = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  has(member: string): boolean {
    return this.#members.has(member);
  }

  add(member: string): void {
    if (this.#members.size >= this.#most) {
      const [oldest] = this.#members;
      if (oldest !== undefined) this.#members.delete(oldest);
    }
    this.#members.add(member);
  }

  delete(member: string): boolean {
    return this.#members.delete(member);
  }

  get size(): number {
    return this.#members.size;
  }
}
